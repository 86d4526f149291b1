// Activations beside those of unary.h, element by element but where an axis is named: mish, hardswish, hardsigmoid,
// logsigmoid, softsign, and those below. Integers and bool become f32; NaN propagates.
#pragma once

#include <concepts>

#include "tensor/functions/random.h"
#include "tensor/functions/unary_rows.h"

namespace weft {

// The formulas are beside the rows.
#define WEFT_UNARY WEFT_UNARY_DECLARATION
#include "tensor/ops/activation.inc"
#undef WEFT_UNARY

/// x where x > 0, else alpha (e^x - 1): Clevert et al., arXiv 1511.07289.
Tensor elu(const Tensor& x, double alpha = 1);
/// s elu(x, a) with s = 1.0507 and a = 1.6733, which keep mean 0 and variance 1: Klambauer et al., arXiv 1706.02515.
Tensor selu(const Tensor& x);
/// x where x > 0, else alpha (e^(x / alpha) - 1): Barron, arXiv 1704.07483. Error where alpha is 0.
Tensor celu(const Tensor& x, double alpha = 1);
/// x limited to [min, max]; unlike clip its gradient is 0 at the bounds. Error where min > max.
Tensor hardtanh(const Tensor& x, double min = -1, double max = 1);
/// hardtanh(x, 0, 6)
Tensor relu6(const Tensor& x);
/// x where x > 0, else slope x: He et al., arXiv 1502.01852. `weight` holds one slope, or one for each channel (axis 1,
/// or axis 0 of a tensor with one axis). bf16 and f16 stay what they are beside slopes of f32. ShapeError for another
/// number.
Tensor prelu(const Tensor& x, const Tensor& weight);
/// x moved towards 0 by `width`, 0 where |x| <= width. Error where width < 0.
Tensor softshrink(const Tensor& x, double width = 0.5);
/// x where |x| > width, else 0.
Tensor hardshrink(const Tensor& x, double width = 0.5);
/// x - tanh(x)
Tensor tanhshrink(const Tensor& x);
/// x where x > threshold, else value.
Tensor threshold(const Tensor& x, double threshold, double value);
/// log(1 + e^(beta x)) / beta, and x itself where beta x > threshold. Error where beta is 0.
Tensor softplus(const Tensor& x, double beta, double threshold = 20);
/// a sigmoid(b) of the two halves a, b along `axis`: Dauphin et al., arXiv 1612.08083. ShapeError where the size is
/// odd.
Tensor glu(const Tensor& x, int64_t axis = -1);
/// softmax(-x, axis)
Tensor softmin(const Tensor& x, int64_t axis);
/// x where x > 0, else a slope times x: (lower + upper) / 2, in training drawn for each element from [lower, upper): Xu
/// et al., arXiv 1505.00853. Error where lower > upper.
Tensor rrelu(const Tensor& x, double lower = 1.0 / 8, double upper = 1.0 / 3, bool training = false,
             Generator& generator = default_generator());

struct NormalizeOptions {
  double p = 2;
  int64_t axis = 1;
  double eps = 1e-12;
};
/// x / max(|x|, eps), with the p-norm along `axis`.
Tensor normalize(const Tensor& x, const NormalizeOptions& options = {});
/// A template, so that normalize(x, {}) takes options, not p = 0.
template <std::convertible_to<double> T> Tensor normalize(const Tensor& x, T p, int64_t axis = 1, double eps = 1e-12) {
  return normalize(x, NormalizeOptions{static_cast<double>(p), axis, eps});
}
/// a b / (max(|a|, eps) max(|b|, eps)) along `axis`, which is gone; a and b broadcast.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, int64_t axis = 1, double eps = 1e-8);
/// The p-norm of a - b + eps along the last axis; a and b broadcast.
Tensor pairwise_distance(const Tensor& a, const Tensor& b, double p = 2, double eps = 1e-6, KeepDim keep = {});

struct GumbelSoftmaxOptions {
  double tau = 1;
  bool hard = false;
  int64_t axis = -1;
};
/// softmax((logits + noise) / tau) along `axis` with Gumbel noise: samples of a relaxed categorical distribution (Jang
/// et al., arXiv 1611.01144). `hard` gives one-hot rows with the gradient of the soft ones. Error unless tau > 0.
Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxOptions& options = {},
                      Generator& generator = default_generator());
/// A template, so that gumbel_softmax(x, {}) takes options, not tau = 0.
template <std::convertible_to<double> T>
Tensor gumbel_softmax(const Tensor& logits, T tau, bool hard = false, int64_t axis = -1,
                      Generator& generator = default_generator()) {
  return gumbel_softmax(logits, GumbelSoftmaxOptions{static_cast<double>(tau), hard, axis}, generator);
}

}  // namespace weft
