#include "tensor/functions/conv.h"

#include <algorithm>
#include <array>
#include <vector>

#include "tensor/adjoints/conv.h"
#include "tensor/adjoints/spatial.h"
#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/apply_into.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/pad_mode.h"
#include "tensor/functions/view.h"
#include "tensor/ops/conv.h"

namespace weft {
namespace {

using adjoint::for_batch;

template <class Sizes>
Tensor conv(const char* name, const Tensor& x, const Tensor& weight, const Tensor& bias,
            const ConvOptionsOf<Sizes>& options) {
  ErrorFrame frame(name, x, weight, bias);
  const auto in = detail::padded(x, weight, options);
  const op::Conv op{in.second};
  return for_batch(in.first, Sizes::kAxes,
                   [&](const Tensor& batch) { return dispatch::apply(op, batch, weight, bias); });
}

Size1 from_list(const Shape& list, Size1) { return list[0]; }
Size2 from_list(const Shape& list, Size2) { return {list[0], list[1]}; }
Size3 from_list(const Shape& list, Size3) { return {list[0], list[1], list[2]}; }

/// The padding before and after axis `i`. With `same`, an odd total has its extra entry after.
template <class Sizes> Padding sides(const ConvOptionsOf<Sizes>& o, const Shape& weight, int64_t i) {
  if (!o.padding.is_same) return {o.padding[i], o.padding[i]};
  const int64_t size = weight[static_cast<size_t>(i + 2)];
  const int64_t whole = checked_multiply(o.dilation[i], std::max<int64_t>(size - 1, 0));
  return {whole / 2, whole - whole / 2};
}

template <class Sizes>
Tensor transposed(const char* name, const Tensor& x, const Tensor& weight, const Tensor& bias,
                  const ConvTransposeOptionsOf<Sizes>& o) {
  ErrorFrame frame(name, x, weight, bias);
  const ConvOptions options = ConvOptionsOf<Sizes>{o.stride, o.padding, o.dilation, o.groups, o.algorithm};
  const DType dtype = dispatch::promoted(std::array{x, weight, bias});
  return for_batch(cast(x, dtype), Sizes::kAxes, [&](const Tensor& batch) {
    const Shape shape = transposed_conv_shape(batch.shape(), weight.shape(), options, Size3::of(o.output_padding, 0));
    check_conv_bias(operand(bias), shape[1]);
    // With a dilation, output_padding may reach a stride or more: each stride is one more input, of zeros.
    std::vector<Padding> zeros(batch.shape().size());
    bool longer = false;
    for (int64_t i = 0; i < Sizes::kAxes; ++i) {
      zeros[static_cast<size_t>(i + 2)].second = o.output_padding[i] / o.stride[i];
      longer |= o.output_padding[i] >= o.stride[i];
    }
    Tensor y =
        dispatch::apply(op::ConvBackwardData{options, shape}, longer ? pad(batch, zeros) : batch, cast(weight, dtype));
    if (!bias.defined()) return y;
    const Tensor own = cast(bias, y.dtype());  // under Autocast that of the scope
    return std::move(y) + reshape(own, internal::shape_along(0, Sizes::kAxes + 1, shape[1]));
  });
}

}  // namespace

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv1dOptions& options) {
  return conv("conv1d", x, weight, bias, options);
}
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  return conv("conv2d", x, weight, bias, options);
}
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv3dOptions& options) {
  return conv("conv3d", x, weight, bias, options);
}

Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTranspose1dOptions& options) {
  return transposed("conv_transpose1d", x, weight, bias, options);
}
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTranspose2dOptions& options) {
  return transposed("conv_transpose2d", x, weight, bias, options);
}
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTranspose3dOptions& options) {
  return transposed("conv_transpose3d", x, weight, bias, options);
}

// With `same`, the op itself pads both sides by half of the total; if that is odd, the extra line is padded to x, as a
// view. In modes other than zeros, all padding is copied to x here.
template <class Sizes>
std::pair<Tensor, ConvOptionsOf<Sizes>> detail::padded(const Tensor& x, const Tensor& weight,
                                                       const ConvOptionsOf<Sizes>& options) {
  const bool zeros = options.padding_mode == PadMode::constant;
  check_padding(options.padding, options.stride);
  constexpr int64_t kAxes = Sizes::kAxes;
  // If these do not fit, the convolution reports what is wrong.
  bool fits = x.defined() && weight.defined() && x.rank() > kAxes && weight.rank() == kAxes + 2;
  for (int64_t i = 0; i < kAxes; ++i) fits = fits && options.padding[i] >= 0;
  ConvOptionsOf<Sizes> plain = options;
  if ((zeros && !options.padding.is_same) || !fits) {
    if (!fits && options.padding.is_same) plain.padding = 0;
    return {x, plain};
  }
  Shape half;
  std::vector<Padding> around(static_cast<size_t>(x.rank()));
  bool copies = !zeros;
  for (int64_t i = 0; i < kAxes; ++i) {
    const auto [before, after] = sides(options, weight.shape(), i);
    half.push_back(before);
    around[static_cast<size_t>(x.rank() - kAxes + i)] = zeros ? Padding{0, after - before} : Padding{before, after};
    copies = copies || before != after;
  }
  plain.padding = zeros ? from_list(half, Sizes()) : Sizes(0);
  plain.padding_mode = PadMode::constant;
  return {copies ? pad(x, around, options.padding_mode) : x, plain};
}
template std::pair<Tensor, Conv1dOptions> detail::padded(const Tensor&, const Tensor&, const Conv1dOptions&);
template std::pair<Tensor, Conv2dOptions> detail::padded(const Tensor&, const Tensor&, const Conv2dOptions&);
template std::pair<Tensor, Conv3dOptions> detail::padded(const Tensor&, const Tensor&, const Conv3dOptions&);

namespace adjoint {

Tensor conv(const Tensor& x, const Tensor& weight, const ConvOptions& options) {
  ErrorFrame frame("conv", x, weight);
  return dispatch::apply(op::Conv{options}, x, weight, Tensor());
}

Tensor conv_backward_data(const Tensor& g, const Tensor& weight, const Shape& input_shape, const ConvOptions& options) {
  ErrorFrame frame("conv_backward_data", g, weight);
  return dispatch::apply(op::ConvBackwardData{options, input_shape}, g, weight);
}

Tensor conv_backward_weights(const Tensor& x, const Tensor& g, const View& weight, const ConvOptions& options,
                             const Tensor& into) {
  ErrorFrame frame("conv_backward_weights", x, g);
  const Strides strides = weight.is_dense() ? weight.strides() : row_major_strides(weight.shape());
  return dispatch::apply_into(op::ConvBackwardWeights{options, weight.shape(), strides}, into, x, g);
}

}  // namespace adjoint
}  // namespace weft
