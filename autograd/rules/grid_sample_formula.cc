// The formula of sampling images at any places, and of its fused backward kernel, with public ops.
#include <array>
#include <vector>

#include "autograd/backward.h"
#include "autograd/rules/grid_sample.h"
#include "autograd/transforms/recorded.h"
#include "tensor/core/axis_lists.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft::autograd::formulas {
namespace {

/// The largest whole number that is not above x; without history.
Tensor whole(const Tensor& x) { return floor(x.detach()); }

/// The nearest whole number, the even one of two; without history.
Tensor nearest_whole(const Tensor& x) { return round(x.detach()); }

/// The mirror image of coordinates in [low, high].
Tensor reflected(const Tensor& at, double low, double high) {
  const double span = high - low;
  if (span <= 0) return at * 0.0;
  const Tensor from = at - low, wave = from - whole(from / (2 * span)) * (2 * span);
  return (span + low) - abs(wave - span);
}

/// The nearest coordinates in [0, last]. As the kernel's, their gradient is 0 from the outer pixels on: clip() alone
/// would hand it on where a point lies at the center of one.
Tensor clamped(const Tensor& at, double last) {
  return where(logical_and(at > 0.0, at < last), at, clip(at.detach(), 0.0, last));
}

/// Coordinates among the pixels 0 .. size - 1 of an axis, brought into it as the padding says.
Tensor padded(const Tensor& at, int64_t size, const GridSampleOptions& o) {
  const auto last = static_cast<double>(size - 1);
  if (o.padding == GridPadding::zeros) return at;
  if (o.padding == GridPadding::border) return clamped(at, last);
  const double edge = o.align_corners ? 0 : 0.5;
  return clamped(reflected(at, -edge, last + edge), last);
}

/// One of the pixels that every point of the grid reads along an axis: its index and its weight.
struct Tap {
  Tensor at;      // whole numbers, floating
  Tensor weight;  // undefined: 1
};

std::vector<Tap> taps_of(const Tensor& grid, int64_t size, const GridSampleOptions& o) {
  const auto pixels = static_cast<double>(size);
  const Tensor at = o.align_corners ? (grid + 1.0) * ((pixels - 1) / 2) : (grid + 1.0) * (pixels / 2) - 0.5;
  if (o.mode == Interpolation::nearest) return {{nearest_whole(padded(at, size, o)), Tensor()}};
  if (o.mode == Interpolation::bilinear) {
    const Tensor inside = padded(at, size, o), low = whole(inside), part = inside - low;
    return {{low, 1.0 - part}, {low + 1.0, part}};
  }
  const Tensor low = whole(at), part = where(isfinite(at), at - low, zeros_like(at));  // as the kernel's
  const std::array<Tensor, 4> weights = {cubic_outer(part + 1.0), cubic_inner(part), cubic_inner(1.0 - part),
                                         cubic_outer(2.0 - part)};
  std::vector<Tap> taps;
  for (int i = 0; i < 4; ++i) taps.push_back({padded(low + (i - 1.0), size, o), weights[static_cast<size_t>(i)]});
  return taps;
}

/// One pixel of the image for every point of the grid: its row-major index, its weight, and whether it lies inside.
struct PixelPerPoint {
  Tensor index, weight, inside;
};

PixelPerPoint combined(const PixelPerPoint& before, const Tap& tap, int64_t size) {
  const Tensor index = clip(tap.at.to(i64), 0, size - 1);
  const Tensor inside = logical_and(tap.at >= 0.0, tap.at <= static_cast<double>(size - 1));
  if (!before.index.defined()) return {index, tap.weight, inside};
  return {before.index * size + index, tap.weight.defined() ? before.weight * tap.weight : Tensor(),
          logical_and(before.inside, inside)};
}

/// The pixels of every combination of the axes' taps.
std::vector<PixelPerPoint> pixels_of(const std::vector<std::vector<Tap>>& axes, const Shape& sizes) {
  std::vector<PixelPerPoint> all = {{}};
  for (size_t i = 0; i < axes.size(); ++i) {
    std::vector<PixelPerPoint> next;
    for (const PixelPerPoint& before : all)
      for (const Tap& tap : axes[i]) next.push_back(combined(before, tap, sizes[i]));
    all = std::move(next);
  }
  return all;
}

}  // namespace

Tensor grid_sample_formula(const GridSampleOptions& o, const Tensor& x, const Tensor& grid) {
  const int64_t axes = x.rank() - 2, batch = x.size(0), channels = x.size(1);
  Shape sizes(x.shape().begin() + 2, x.shape().end());
  std::vector<std::vector<Tap>> taps;
  for (int64_t i = 0; i < axes; ++i)
    taps.push_back(taps_of(select(grid, -1, axes - 1 - i), sizes[static_cast<size_t>(i)], o));
  const int64_t pixels = checked_numel(sizes);
  const Tensor rows = reshape(movedim(x, 1, -1), {batch * pixels, channels});  // a pixel is a row of channels
  const Tensor image = view(arange(0, batch, 1, i64, x.device()) * pixels, internal::shape_along(0, axes + 1, batch));
  Tensor sum;
  for (const PixelPerPoint& pixel : pixels_of(taps, sizes)) {
    const Tensor read = index_select(rows, 0, reshape(pixel.index + image, {-1}));
    const Tensor seen = reshape(pixel.inside, {-1, 1});
    const Tensor term = pixel.weight.defined() ? read * reshape(pixel.weight, {-1, 1}) : read;
    const Tensor shown =
        o.padding == GridPadding::zeros || pixel.weight.defined() ? where(seen, term, zeros_like(term.detach())) : term;
    sum = sum.defined() ? sum + shown : shown;
  }
  Shape out(grid.shape().begin(), grid.shape().end() - 1);
  out.push_back(channels);
  return movedim(reshape(sum, out), -1, 1);
}

std::vector<Tensor> grid_sample_backward_formula(const GridSampleOptions& options, const std::vector<Tensor>& inputs) {
  // (Not of detach(), which would cut the history of the batch behind a sample of vmap.)
  const auto followed = [](const Tensor& t) { return t.requires_grad() ? t : proxy_leaf(t); };
  const Tensor x = followed(inputs[1]), grid = followed(inputs[2]);
  return weft::grad({grid_sample_formula(options, x, grid)}, {x, grid},
                    {.create_graph = true, .allow_unused = true, .seeds = {inputs[0]}});
}

}  // namespace weft::autograd::formulas
