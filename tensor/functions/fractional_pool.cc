#include "tensor/functions/fractional_pool.h"

#include "tensor/functions/arg_reduce.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/random.h"
#include "tensor/functions/view.h"

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
  if (kernel < 1) throw ShapeError(text("kernel_size ", kernel, " must be at least 1"));
  if (out < 1) throw ShapeError(text("output size ", out, " must be at least 1"));
  if (out > size - kernel + 1)
    throw ShapeError(text(out, " windows of ", kernel, " do not fit an axis of size ", size));
  return out;
}

/// The pixels of every window of an axis, (N, C, out, kernel), from numbers u (N, C).
Tensor pixels_of(const Tensor& u, int64_t size, int64_t out, int64_t kernel) {
  const Tensor column = unsqueeze(u, -1);
  Tensor starts = full({u.size(0), u.size(1), 1}, size - kernel, i64, u.device());
  if (out > 1) {
    const double step = static_cast<double>(size - kernel) / static_cast<double>(out - 1);
    const Tensor windows = arange(0, out - 1, 1, u.dtype(), u.device());
    starts = cat({((column + windows) * step).to(i64) - (column * step).to(i64), starts}, -1);
  }
  return unsqueeze(starts, -1) + arange(0, kernel, 1, i64, u.device());
}

/// Of x (N, C, ...). Axis after axis, the last one first, so that the first maximum in row-major order is found.
template <class Sizes>
ValuesAndIndices maxima(const Tensor& x, bool wants_indices, const FractionalPoolOptionsOf<Sizes>& o,
                        const Tensor& samples) {
  Shape image(x.shape().end() - Sizes::kAxes, x.shape().end());
  ValuesAndIndices out{x, Tensor()};
  if (wants_indices)
    out.indices = broadcast(arange(0, checked_numel(image), 1, i64, x.device()).view(image), x.shape());
  for (int64_t i = Sizes::kAxes; i-- > 0;) {
    const int64_t axis = 2 + i, size = x.size(axis), windows = pooled_size(i, size, o);
    const Tensor u = select(samples, -1, Sizes::kAxes == 2 ? 1 - i : i);
    const Tensor pixels = flatten(pixels_of(u, size, windows, o.kernel_size[i]), 2, 3);
    // (N, C, out * kernel), the same for each line along the axis.
    Shape lines(static_cast<size_t>(x.rank()), 1), wide = out.values.shape();
    lines[0] = x.size(0), lines[1] = x.size(1);
    lines[static_cast<size_t>(axis)] = wide[static_cast<size_t>(axis)] = pixels.size(2);
    const Tensor index = broadcast(reshape(pixels, lines), wide);
    const auto in_windows = [&](const Tensor& t) {
      return unflatten(gather(t, axis, index), axis, {windows, o.kernel_size[i]});
    };
    const ValuesAndIndices found = max_with_indices(in_windows(out.values), axis + 1);
    out.values = found.values;
    if (wants_indices)
      out.indices = squeeze(gather(in_windows(out.indices), axis + 1, unsqueeze(found.indices, axis + 1)), axis + 1);
  }
  return out;
}

template <class Sizes>
ValuesAndIndices pooled(const Tensor& x, bool wants_indices, const FractionalPoolOptionsOf<Sizes>& o,
                        const Tensor& random_samples, Generator& generator) {
  constexpr int64_t axes = Sizes::kAxes;
  if (!is_floating(x.dtype()))
    throw DtypeError(text(x.dtype(), " is not accepted here; it takes floating dtypes; cast first, e.g. x.to(f32)"));
  if (x.rank() != axes + 1 && x.rank() != axes + 2)
    throw ShapeError(text("x must be ", axes == 2 ? "(N, C, H, W) or (C, H, W)" : "(N, C, D, H, W) or (C, D, H, W)",
                          ", not ", x.shape()));
  const size_t ratios = o.output_ratio.values.size();
  if ((o.output_size == Sizes(0)) == (ratios == 0)) throw Error("it takes one of output_size and output_ratio");
  if (ratios > 1 && ratios != static_cast<size_t>(axes))
    throw Error(text(ratios, " ratios for ", axes, " axes; give one, or one for each"));
  if (x.rank() == axes + 1) {
    const ValuesAndIndices one = pooled(unsqueeze(x, 0), wants_indices, o, random_samples, generator);
    return {squeeze(one.values, 0), wants_indices ? squeeze(one.indices, 0) : Tensor()};
  }
  const Shape wanted = {x.size(0), x.size(1), axes};
  Tensor samples = random_samples;
  if (!samples.defined()) samples = rand(wanted, generator, x.dtype() == f64 ? f64 : f32, x.device());
  if (samples.shape() != wanted) throw ShapeError(text("random_samples must be ", wanted, ", not ", samples.shape()));
  if (!is_floating(samples.dtype())) throw DtypeError(text("random_samples must be floating, not ", samples.dtype()));
  // In 16 bits windows would begin elsewhere.
  if (samples.dtype() != f64) samples = samples.to(f32);
  return maxima(x, wants_indices, o, samples.detach());
}

}  // namespace

Tensor fractional_max_pool2d(const Tensor& x, const FractionalMaxPool2dOptions& options, const Tensor& random_samples,
                             Generator& generator) {
  ErrorFrame frame("fractional_max_pool2d", x);
  return pooled(x, false, options, random_samples, generator).values;
}

Tensor fractional_max_pool3d(const Tensor& x, const FractionalMaxPool3dOptions& options, const Tensor& random_samples,
                             Generator& generator) {
  ErrorFrame frame("fractional_max_pool3d", x);
  return pooled(x, false, options, random_samples, generator).values;
}

ValuesAndIndices fractional_max_pool2d_with_indices(const Tensor& x, const FractionalMaxPool2dOptions& options,
                                                    const Tensor& random_samples, Generator& generator) {
  ErrorFrame frame("fractional_max_pool2d_with_indices", x);
  return pooled(x, true, options, random_samples, generator);
}

ValuesAndIndices fractional_max_pool3d_with_indices(const Tensor& x, const FractionalMaxPool3dOptions& options,
                                                    const Tensor& random_samples, Generator& generator) {
  ErrorFrame frame("fractional_max_pool3d_with_indices", x);
  return pooled(x, true, options, random_samples, generator);
}

}  // namespace weft
