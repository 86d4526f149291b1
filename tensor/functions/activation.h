// More activations (unary.h has the common ones): mish, hardswish, hardsigmoid, logsigmoid, softsign, and those below.
// They work element-wise unless they take an axis. Integer and bool inputs give f32. NaN propagates.
#pragma once

#include <concepts>

#include "tensor/functions/random.h"
#include "tensor/functions/unary_rows.h"

namespace weft {

// tensor/ops/activation.inc gives the formula of each function.
#define WEFT_UNARY WEFT_UNARY_DECLARATION
#include "tensor/ops/activation.inc"
#undef WEFT_UNARY

/// x where x > 0, else alpha (e^x - 1): Clevert et al., arXiv 1511.07289.
Tensor elu(const Tensor& x, double alpha = 1);
/// s elu(x, a) with s = 1.0507 and a = 1.6733. These constants keep mean 0 and variance 1 from layer to layer:
/// Klambauer et al., arXiv 1706.02515.
Tensor selu(const Tensor& x);
/// x where x > 0, else alpha (e^(x / alpha) - 1): Barron, arXiv 1704.07483. Error where alpha is 0.
Tensor celu(const Tensor& x, double alpha = 1);
/// x limited to [min, max]. Unlike clip(), the gradient is 0 where x equals a bound. Error if min > max.
Tensor hardtanh(const Tensor& x, double min = -1, double max = 1);
/// hardtanh(x, 0, 6)
Tensor relu6(const Tensor& x);
/// x where x > 0, else slope * x: He et al., arXiv 1502.01852. `weight` holds one slope, or one slope per channel.
/// Channels are axis 1 (axis 0 if x is 1-D). A bf16 or f16 x with an f32 weight keeps its dtype; f32 and f64 give f64.
/// ShapeError for any other number of slopes.
Tensor prelu(const Tensor& x, const Tensor& weight);
/// x - width where x > width, x + width where x < -width, else 0. Error if width < 0.
Tensor softshrink(const Tensor& x, double width = 0.5);
/// x where |x| > width, else 0.
Tensor hardshrink(const Tensor& x, double width = 0.5);
/// x - tanh(x)
Tensor tanhshrink(const Tensor& x);
/// x where x > threshold, else value.
Tensor threshold(const Tensor& x, double threshold, double value);
/// log(1 + e^(beta x)) / beta where beta x <= threshold, else x. Error if beta is 0.
Tensor softplus(const Tensor& x, double beta, double threshold = 20);
/// Splits x along `axis` into two halves a and b and gives a * sigmoid(b): Dauphin et al., arXiv 1612.08083. ShapeError
/// if the size of the axis is odd.
Tensor glu(const Tensor& x, int64_t axis = -1);
/// softmax(-x, axis)
Tensor softmin(const Tensor& x, int64_t axis);
/// x where x > 0, else slope * x: Xu et al., arXiv 1505.00853. In training, the slope of each element is drawn
/// uniformly from [lower, upper); otherwise it is (lower + upper) / 2. Error if lower > upper.
Tensor rrelu(const Tensor& x, double lower = 1.0 / 8, double upper = 1.0 / 3, bool training = false,
             Generator& generator = default_generator());

struct GumbelSoftmaxOptions {
  double tau = 1;
  bool hard = false;
  int64_t axis = -1;
};
/// softmax((logits + noise) / tau) along `axis` with Gumbel noise: samples of a relaxed categorical distribution (Jang
/// et al., arXiv 1611.01144). With `hard`, the values are one-hot rows and the gradient is that of the soft samples.
/// Error unless tau > 0.
Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxOptions& options = {},
                      Generator& generator = default_generator());
/// The same with separate arguments. A template, so that gumbel_softmax(x, {}) means default options and not tau = 0.
template <std::convertible_to<double> T>
Tensor gumbel_softmax(const Tensor& logits, T tau, bool hard = false, int64_t axis = -1,
                      Generator& generator = default_generator()) {
  return gumbel_softmax(logits, GumbelSoftmaxOptions{static_cast<double>(tau), hard, axis}, generator);
}

}  // namespace weft
