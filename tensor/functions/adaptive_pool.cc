#include "tensor/functions/adaptive_pool.h"

#include <algorithm>
#include <array>
#include <optional>

#include "tensor/adjoints/resample.h"
#include "tensor/adjoints/spatial.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/arg_reduce.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/pool.h"
#include "tensor/functions/reduce.h"

namespace weft {
namespace {

const char* wanted(int64_t axes) {
  return axes == 1   ? "(N, C, L) or (C, L)"
         : axes == 2 ? "(N, C, H, W) or (C, H, W)"
                     : "(N, C, D, H, W) or (C, D, H, W)";
}

/// The windows of each axis as maps; all checks.
template <class Sizes> std::array<AxisMap, Sizes::kAxes> windows(const Tensor& x, const Sizes& size) {
  constexpr int64_t axes = Sizes::kAxes;
  if (!is_floating(x.dtype()))
    throw DtypeError(text(x.dtype(), " is not accepted here; it takes floating dtypes; cast first, e.g. x.to(f32)"));
  if (x.rank() != axes + 1 && x.rank() != axes + 2)
    throw ShapeError(text("x must be ", wanted(axes), ", not ", x.shape()));
  std::array<AxisMap, Sizes::kAxes> maps;
  for (int64_t i = 0; i < axes; ++i) {
    if (size[i] < 1) throw ShapeError(text("size ", size[i], " must be at least 1"));
    if (x.size(i - axes) < 1) throw ShapeError("x has an axis of size 0: there is nothing to pool");
    maps[static_cast<size_t>(i)] = {.kind = AxisMap::Kind::area, .in = x.size(i - axes), .out = size[i]};
  }
  return maps;
}

template <class Sizes> Tensor means(const char* name, const Tensor& x, const Sizes& size) {
  ErrorFrame frame(name, x);
  const auto maps = windows(x, size);
  if (std::all_of(maps.begin(), maps.end(), [](const AxisMap& map) { return map.out == 1; })) {
    IntList axes;
    for (int64_t i = 0; i < Sizes::kAxes; ++i) axes.push_back(i - Sizes::kAxes);
    return mean(x, axes, keepdim);
  }
  return adjoint::for_batch(x, Sizes::kAxes, [&](const Tensor& batch) { return adjoint::resample(batch, maps); });
}

/// The pixels of every window of an axis, (out, longest); shorter windows repeat their last pixel.
Tensor pixels_of(const AxisMap& map, Device device) {
  (void)empty({map.out}, i64);  // MemoryError for windows that no machine holds, before they are counted
  const Taps taps = taps_of(map);
  int64_t longest = 0;
  for (int64_t i = 0; i < map.out; ++i) longest = std::max(longest, taps.count(i));
  std::vector<int64_t> pixels;
  for (int64_t i = 0; i < map.out; ++i)
    for (int64_t k = 0; k < longest; ++k)
      pixels.push_back(
          taps.at[static_cast<size_t>(taps.first[static_cast<size_t>(i)] + std::min(k, taps.count(i) - 1))]);
  return Tensor::from<int64_t>(pixels, {map.out, longest}).to(device);
}

/// Axis after axis, the last one first, so that the first maximum in row-major order is found. `indices` may be
/// undefined; else it has the position of every element of x.
template <class Sizes> ValuesAndIndices maxima(const Tensor& x, const Tensor& indices, const Sizes& size) {
  const auto maps = windows(x, size);
  ValuesAndIndices out{x, indices};
  for (int64_t i = Sizes::kAxes; i-- > 0;) {
    const int64_t axis = x.rank() - Sizes::kAxes + i;
    const Tensor pixels = pixels_of(maps[static_cast<size_t>(i)], x.device());
    const auto in_windows = [&](const Tensor& t) {
      return unflatten(index_select(t, axis, pixels.view({-1})), axis, pixels.shape());
    };
    const ValuesAndIndices found = max_with_indices(in_windows(out.values), axis + 1);
    out.values = found.values;
    if (indices.defined())
      out.indices = squeeze(gather(in_windows(out.indices), axis + 1, unsqueeze(found.indices, axis + 1)), axis + 1);
  }
  return out;
}

/// The windows of a max pool, where all of an axis have one size and lie side by side.
template <class Sizes> std::optional<PoolOptionsOf<Sizes>> even_windows(const Tensor& x, const Sizes& size) {
  const auto maps = windows(x, size);
  const bool even = std::all_of(maps.begin(), maps.end(), [](const AxisMap& map) { return map.in % map.out == 0; });
  if (!even) return std::nullopt;
  const auto width = [&](size_t i) { return maps[i].in / maps[i].out; };
  if constexpr (Sizes::kAxes == 1) return PoolOptionsOf<Sizes>{.kernel_size = width(0)};
  if constexpr (Sizes::kAxes == 2) return PoolOptionsOf<Sizes>{.kernel_size = {width(0), width(1)}};
  if constexpr (Sizes::kAxes == 3) return PoolOptionsOf<Sizes>{.kernel_size = {width(0), width(1), width(2)}};
}

template <class Sizes, class Pool>
Tensor maximum(const char* name, const Tensor& x, const Sizes& size, const Pool& pool) {
  ErrorFrame frame(name, x);
  if (const auto even = even_windows(x, size)) return pool(x, *even);
  return maxima(x, Tensor(), size).values;
}

template <class Sizes, class Pool>
ValuesAndIndices found(const char* name, const Tensor& x, const Sizes& size, const Pool& pool) {
  ErrorFrame frame(name, x);
  if (const auto even = even_windows(x, size)) return pool(x, *even);
  Shape image;
  int64_t pixels = 1;
  for (int64_t i = 0; i < Sizes::kAxes; ++i) {
    image.push_back(x.size(i - Sizes::kAxes));
    pixels *= image.back();
  }
  return maxima(x, broadcast(arange(0, pixels, 1, i64, x.device()).view(image), x.shape()), size);
}

}  // namespace

Tensor adaptive_avg_pool1d(const Tensor& x, const Size1& size) { return means("adaptive_avg_pool1d", x, size); }
Tensor adaptive_avg_pool2d(const Tensor& x, const Size2& size) { return means("adaptive_avg_pool2d", x, size); }
Tensor adaptive_avg_pool3d(const Tensor& x, const Size3& size) { return means("adaptive_avg_pool3d", x, size); }

Tensor adaptive_max_pool1d(const Tensor& x, const Size1& size) {
  return maximum("adaptive_max_pool1d", x, size, max_pool1d);
}
Tensor adaptive_max_pool2d(const Tensor& x, const Size2& size) {
  return maximum("adaptive_max_pool2d", x, size, max_pool2d);
}
Tensor adaptive_max_pool3d(const Tensor& x, const Size3& size) {
  return maximum("adaptive_max_pool3d", x, size, max_pool3d);
}

ValuesAndIndices adaptive_max_pool1d_with_indices(const Tensor& x, const Size1& size) {
  return found("adaptive_max_pool1d_with_indices", x, size, max_pool1d_with_indices);
}
ValuesAndIndices adaptive_max_pool2d_with_indices(const Tensor& x, const Size2& size) {
  return found("adaptive_max_pool2d_with_indices", x, size, max_pool2d_with_indices);
}
ValuesAndIndices adaptive_max_pool3d_with_indices(const Tensor& x, const Size3& size) {
  return found("adaptive_max_pool3d_with_indices", x, size, max_pool3d_with_indices);
}

}  // namespace weft
