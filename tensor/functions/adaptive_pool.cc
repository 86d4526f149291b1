#include "tensor/functions/adaptive_pool.h"

#include <array>

#include "tensor/adjoints/pool.h"
#include "tensor/adjoints/resample.h"
#include "tensor/adjoints/spatial.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/reduce.h"
#include "tensor/ops/window.h"

namespace weft {
namespace {

using adjoint::find_in_batch;
using adjoint::find_in_line;
using adjoint::for_batch;
using adjoint::for_line;

template <class Sizes> void check(const Tensor& x, const Sizes& size) {
  constexpr int64_t axes = Sizes::kAxes;
  dispatch::check_accepted(x.dtype(), kFloating);
  check_spatial(x.shape(), axes);
  for (int64_t i = 0; i < axes; ++i) {
    if (size[i] < 1) throw ShapeError(text("size ", size[i], " must be 1 or more"));
    if (x.size(i - axes) < 1) throw ShapeError("x has an axis of size 0: there is nothing to pool");
  }
}

template <class Sizes> Tensor means(const char* name, const Tensor& x, const Sizes& size) {
  constexpr int64_t axes = Sizes::kAxes;
  ErrorFrame frame(name, x);
  check(x, size);
  if (size == Sizes(1)) {
    IntList all;
    for (int64_t i = 0; i < axes; ++i) all.push_back(i - axes);
    return mean(x, all, keepdim);
  }
  std::array<AxisMap, axes> maps;
  for (int64_t i = 0; i < axes; ++i)
    maps[static_cast<size_t>(i)] = {.kind = AxisMap::Kind::area, .in = x.size(i - axes), .out = size[i]};
  return for_batch(x, axes, [&](const Tensor& batch) { return adjoint::resample(batch, maps); });
}

/// The windows of lines, as images (N, C, 1, L), and of volumes: of planes, and of the depth of (N, C, D, H W).
MaxWindows lines_of(const Tensor& x, const Size1& size) { return {x.shape(), {1, size.width}}; }
MaxWindows planes_of(const Tensor& x, const Size3& size) {
  return {{x.size(0), x.size(1), x.size(3), x.size(4)}, {size.height, size.width}};
}
MaxWindows depth_of(const Tensor& x, const Size3& size) {
  const int64_t plane = checked_multiply(size.height, size.width);
  return {{x.size(0), x.size(1), x.size(2), plane}, {size.depth, plane}};
}

}  // namespace

Tensor adaptive_avg_pool1d(const Tensor& x, const Size1& size) { return means("adaptive_avg_pool1d", x, size); }
Tensor adaptive_avg_pool2d(const Tensor& x, const Size2& size) { return means("adaptive_avg_pool2d", x, size); }
Tensor adaptive_avg_pool3d(const Tensor& x, const Size3& size) { return means("adaptive_avg_pool3d", x, size); }

Tensor adaptive_max_pool1d(const Tensor& x, const Size1& size) {
  ErrorFrame frame("adaptive_max_pool1d", x);
  check(x, size);
  return for_batch(x, 1, [&](const Tensor& batch) {
    return for_line(batch, [&](const Tensor& lines) { return adjoint::max_pool2d(lines, lines_of(lines, size)); });
  });
}
Tensor adaptive_max_pool2d(const Tensor& x, const Size2& size) {
  ErrorFrame frame("adaptive_max_pool2d", x);
  check(x, size);
  return for_batch(x, 2, [&](const Tensor& images) { return adjoint::max_pool2d(images, {images.shape(), size}); });
}
Tensor adaptive_max_pool3d(const Tensor& x, const Size3& size) {
  ErrorFrame frame("adaptive_max_pool3d", x);
  check(x, size);
  return for_batch(x, 3, [&](const Tensor& volumes) {
    return adjoint::max_pool3d(volumes, planes_of(volumes, size), depth_of(volumes, size));
  });
}

ValuesAndIndices adaptive_max_pool1d_with_indices(const Tensor& x, const Size1& size) {
  ErrorFrame frame("adaptive_max_pool1d_with_indices", x);
  check(x, size);
  return find_in_batch(x, 1, [&](const Tensor& batch) {
    return find_in_line(
        batch, [&](const Tensor& lines) { return adjoint::max_pool2d_with_indices(lines, lines_of(lines, size)); });
  });
}
ValuesAndIndices adaptive_max_pool2d_with_indices(const Tensor& x, const Size2& size) {
  ErrorFrame frame("adaptive_max_pool2d_with_indices", x);
  check(x, size);
  return find_in_batch(x, 2, [&](const Tensor& images) {
    return adjoint::max_pool2d_with_indices(images, {images.shape(), size});
  });
}
ValuesAndIndices adaptive_max_pool3d_with_indices(const Tensor& x, const Size3& size) {
  ErrorFrame frame("adaptive_max_pool3d_with_indices", x);
  check(x, size);
  return find_in_batch(x, 3, [&](const Tensor& volumes) {
    return adjoint::max_pool3d_with_indices(volumes, planes_of(volumes, size), depth_of(volumes, size));
  });
}

}  // namespace weft
