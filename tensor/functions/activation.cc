#include "tensor/functions/activation.h"

#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/over.h"
#include "tensor/functions/arg_reduce.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/index.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/softmax.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/activation.h"

namespace weft {
namespace {

/// One slope per channel as a shape that broadcasts with x.
Tensor channel_weight(const Tensor& x, const Tensor& weight) {
  if (weight.numel() == 1) return weight.reshape({});
  const int64_t channels = x.rank() == 0 ? 1 : x.rank() == 1 ? x.size(0) : x.size(1);
  if (weight.rank() != 1 || weight.size(0) != channels)
    throw ShapeError(text("the weight has shape ", weight.shape(), "; it holds 1 slope or ", channels, " of channels"));
  return weight.reshape(internal::shape_along(x.rank() == 1 ? 0 : 1, x.rank(), channels));
}

}  // namespace

#define WEFT_UNARY WEFT_UNARY_FUNCTION
#include "tensor/ops/activation.inc"
#undef WEFT_UNARY

Tensor elu(const Tensor& x, double alpha) {
  ErrorFrame frame("elu", x);
  return dispatch::apply(op::Elu{alpha, 1, 1}, x);
}

Tensor selu(const Tensor& x) {
  ErrorFrame frame("selu", x);
  return dispatch::apply(op::Elu{1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1}, x);
}

Tensor celu(const Tensor& x, double alpha) {
  ErrorFrame frame("celu", x);
  if (alpha == 0) throw Error("alpha must not be 0");
  return dispatch::apply(op::Elu{alpha, 1, 1 / alpha}, x);
}

Tensor hardtanh(const Tensor& x, double min, double max) {
  ErrorFrame frame("hardtanh", x);
  if (!(min <= max)) throw Error(text("min ", min, " is above max ", max));
  return dispatch::apply(op::Hardtanh{min, max}, x);
}

Tensor relu6(const Tensor& x) {
  ErrorFrame frame("relu6", x);
  return dispatch::apply(op::Hardtanh{0, 6}, x);
}

Tensor prelu(const Tensor& x, const Tensor& weight) {
  ErrorFrame frame("prelu", x, weight);
  const Tensor slopes = channel_weight(x, weight);
  // Slopes of f32 are not rounded, and do not widen 16 bits; one slope alone would not by promotion either.
  if (is_half_precision(x.dtype()) && slopes.dtype() == f32)
    return cast(dispatch::apply(op::Prelu{}, cast(x, f32), slopes), x.dtype());
  // One slope widens as many do: by promotion a 0-d tensor would not.
  if (x.dtype() == f32 && slopes.dtype() == f64) return dispatch::apply(op::Prelu{}, cast(x, f64), slopes);
  return dispatch::apply(op::Prelu{}, x, slopes);
}

Tensor softshrink(const Tensor& x, double width) {
  ErrorFrame frame("softshrink", x);
  if (!(width >= 0)) throw Error(text("width ", width, " must be 0 or more"));
  return dispatch::apply(op::Softshrink{{width}}, x);
}

Tensor hardshrink(const Tensor& x, double width) {
  ErrorFrame frame("hardshrink", x);
  return dispatch::apply(op::Hardshrink{{width}}, x);
}

Tensor tanhshrink(const Tensor& x) {
  ErrorFrame frame("tanhshrink", x);
  return x - tanh(x);
}

Tensor threshold(const Tensor& x, double threshold, double value) {
  ErrorFrame frame("threshold", x);
  return dispatch::apply(op::Threshold{threshold, value}, x);
}

Tensor softplus(const Tensor& x, double beta, double threshold) {
  ErrorFrame frame("softplus", x);
  if (beta == 0) throw Error("beta must not be 0");
  Tensor scaled = x * beta;
  const Tensor is_linear = scaled > threshold;
  return where(is_linear, x, softplus(std::move(scaled)) / beta);
}

Tensor glu(const Tensor& x, int64_t axis) {
  ErrorFrame frame("glu", x);
  const int64_t size = x.size(axis);
  if (x.rank() == 0 || size % 2 != 0) throw ShapeError(text("axis ", axis, " has size ", size, ", which is not even"));
  return narrow(x, axis, 0, size / 2) * sigmoid(narrow(x, axis, size / 2, size / 2));
}

Tensor softmin(const Tensor& x, int64_t axis) {
  ErrorFrame frame("softmin", x);
  return softmax(-x, axis);
}

Tensor rrelu(const Tensor& x, double lower, double upper, bool training, Generator& generator) {
  ErrorFrame frame("rrelu", x);
  if (!(lower <= upper)) throw Error(text("lower ", lower, " is above upper ", upper));
  if (!training) return leaky_relu(x, (lower + upper) / 2);
  return where(x > 0, x, x * (rand_like(x, generator) * (upper - lower) + lower));
}

Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxOptions& options, Generator& generator) {
  ErrorFrame frame("gumbel_softmax", logits);
  const auto& [tau, hard, axis] = options;
  if (!(tau > 0)) throw Error(text("tau = ", tau, " must be positive"));
  // -log of an exponential number, which is kept above 0. Not drawn in bf16 and f16: their steps are too large.
  Tensor u = rand(logits.shape(), generator, logits.dtype() == f64 ? f64 : f32, logits.device());
  const DType dtype = is_floating(logits.dtype()) ? logits.dtype() : f32;
  const Tensor noise = -log(clip(-log1p(-std::move(u)), 0x1p-25, std::nullopt));
  const Tensor soft = softmax((logits + cast(noise, dtype)) / tau, axis);
  if (!hard) return soft;
  const Tensor chosen = one_hot(argmax(soft.detach(), axis), soft.size(axis));
  const Tensor rows = soft.rank() == 0 ? chosen.reshape({}) : movedim(chosen, -1, axis);
  return cast(rows, soft.dtype()) - soft.detach() + soft;
}

}  // namespace weft
