#include "tensor/functions/fractional_pool.h"

#include "tensor/adjoints/spatial.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/random.h"
#include "tensor/functions/view.h"
#include "tensor/ops/pool.h"
#include "tensor/ops/window.h"

namespace weft {
namespace {

/// The size of axis `i` of the result; all checks of it.
template <class Sizes> int64_t pooled_size(int64_t i, int64_t size, const FractionalPoolOptionsOf<Sizes>& o) {
  const std::vector<double>& ratios = o.output_ratio.values;
  int64_t out = o.output_size[i];
  if (!ratios.empty()) {
    const double ratio = ratios[ratios.size() == 1 ? 0 : static_cast<size_t>(i)];
    if (!(ratio > 0 && ratio < 1)) throw Error(text("output_ratio ", ratio, " must lie between 0 and 1"));
    out = static_cast<int64_t>(static_cast<double>(size) * ratio);
  }
  const int64_t kernel = o.kernel_size[i];
  if (kernel < 1) throw ShapeError(text("kernel_size ", kernel, " must be 1 or more"));
  if (out < 1) throw ShapeError(text("output size ", out, " must be 1 or more"));
  if (out > size - kernel + 1)
    throw ShapeError(text(out, " windows of ", kernel, " do not fit an axis of size ", size));
  return out;
}

/// Of x (N, C, ...); images are volumes of depth 1.
ValuesAndIndices maxima(const Tensor& x, const FractionalMaxPool3dOptions& o, const Tensor& samples) {
  const Size3 size{pooled_size(0, x.size(2), o), pooled_size(1, x.size(3), o), pooled_size(2, x.size(4), o)};
  auto [values, indices] = dispatch::apply(op::FractionalMaxPool{o.kernel_size, size}, x, samples);
  return {values, indices};
}
ValuesAndIndices maxima(const Tensor& x, const FractionalMaxPool2dOptions& o, const Tensor& samples) {
  const Size3 size{1, pooled_size(0, x.size(2), o), pooled_size(1, x.size(3), o)};
  // (width, height) become (depth, height, width).
  const Tensor volume_samples = pad(flip(samples, {-1}), {{0, 0}, {0, 0}, {1, 0}});
  auto [values, indices] =
      dispatch::apply(op::FractionalMaxPool{Size3::of(o.kernel_size, 1), size}, unsqueeze(x, 2), volume_samples);
  return {squeeze(values, 2), squeeze(indices, 2)};
}

template <class Sizes>
ValuesAndIndices pooled(const Tensor& x, const FractionalPoolOptionsOf<Sizes>& o, const Tensor& random_samples,
                        Generator& generator) {
  constexpr int64_t axes = Sizes::kAxes;
  dispatch::check_accepted(x.dtype(), kFloating);
  check_spatial(x.shape(), axes);
  const size_t ratios = o.output_ratio.values.size();
  if ((o.output_size == Sizes(0)) == (ratios == 0)) throw Error("it takes one of output_size and output_ratio");
  if (ratios > 1 && ratios != static_cast<size_t>(axes))
    throw Error(text(ratios, " ratios for ", axes, " axes; give one, or one for each"));
  return adjoint::find_in_batch(x, axes, [&](const Tensor& batch) {
    const Shape wanted = {batch.size(0), batch.size(1), axes};
    Tensor samples = random_samples;
    if (!samples.defined()) samples = rand(wanted, generator, x.dtype() == f64 ? f64 : f32, x.device());
    if (samples.shape() != wanted) throw ShapeError(text("random_samples must be ", wanted, ", not ", samples.shape()));
    if (!is_floating(samples.dtype())) throw DtypeError(text("random_samples must be floating, not ", samples.dtype()));
    // In 16 bits windows would begin elsewhere.
    if (samples.dtype() != f64) samples = samples.to(f32);
    return maxima(batch, o, samples.detach());
  });
}

}  // namespace

Tensor fractional_max_pool2d(const Tensor& x, const FractionalMaxPool2dOptions& options, const Tensor& random_samples,
                             Generator& generator) {
  ErrorFrame frame("fractional_max_pool2d", x);
  return pooled(x, options, random_samples, generator).values;
}

Tensor fractional_max_pool3d(const Tensor& x, const FractionalMaxPool3dOptions& options, const Tensor& random_samples,
                             Generator& generator) {
  ErrorFrame frame("fractional_max_pool3d", x);
  return pooled(x, options, random_samples, generator).values;
}

ValuesAndIndices fractional_max_pool2d_with_indices(const Tensor& x, const FractionalMaxPool2dOptions& options,
                                                    const Tensor& random_samples, Generator& generator) {
  ErrorFrame frame("fractional_max_pool2d_with_indices", x);
  return pooled(x, options, random_samples, generator);
}

ValuesAndIndices fractional_max_pool3d_with_indices(const Tensor& x, const FractionalMaxPool3dOptions& options,
                                                    const Tensor& random_samples, Generator& generator) {
  ErrorFrame frame("fractional_max_pool3d_with_indices", x);
  return pooled(x, options, random_samples, generator);
}

}  // namespace weft
