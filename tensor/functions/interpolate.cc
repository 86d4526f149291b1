#include "tensor/functions/interpolate.h"

#include <array>
#include <cmath>

#include "tensor/adjoints/resample.h"
#include "tensor/adjoints/spatial.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/copy.h"

namespace weft {
namespace {

/// The number of axes that a mode is named after; 0: any.
int64_t axes_of(Interpolation mode) {
  switch (mode) {
    case Interpolation::linear: return 1;
    case Interpolation::bilinear:
    case Interpolation::bicubic: return 2;
    case Interpolation::trilinear: return 3;
    default: return 0;
  }
}

AxisMap::Kind kind_of(Interpolation mode) {
  switch (mode) {
    case Interpolation::nearest: return AxisMap::Kind::nearest;
    case Interpolation::nearest_exact: return AxisMap::Kind::nearest_exact;
    case Interpolation::bicubic: return AxisMap::Kind::cubic;
    case Interpolation::area: return AxisMap::Kind::area;
    default: return AxisMap::Kind::linear;
  }
}

int64_t number_of_axes(const Tensor& x, const InterpolateOptions& o) {
  int64_t axes = axes_of(o.mode);
  if (axes == 0 && o.size.size() > 1) axes = o.size.rank();
  if (axes == 0 && o.scale.values.size() > 1) axes = static_cast<int64_t>(o.scale.values.size());
  if (axes == 0) axes = x.rank() - 2;
  if (axes < 1 || axes > 3 || (x.rank() != axes + 2 && x.rank() != axes + 1))
    throw ShapeError(
        axes < 1 || axes > 3
            ? text("x must have one to three axes after its channels, not shape ", x.shape())
            : text("x must have ", axes, axes == 1 ? " axis" : " axes", " after its channels, not shape ", x.shape()));
  return axes;
}

void check_count(const char* what, size_t count, int64_t axes) {
  if (count != 1 && count != static_cast<size_t>(axes))
    throw Error(text(what, " has ", count, " numbers for ", axes, axes == 1 ? " axis" : " axes"));
}

/// The size that a scale gives.
int64_t scaled(int64_t size, double scale) {
  if (!(scale > 0) || std::isinf(scale)) throw Error(text("scale ", scale, " must be positive and finite"));
  const double out = std::floor(static_cast<double>(size) * scale);
  if (out < 1) throw ShapeError(text("scale ", scale, " leaves nothing of an axis of ", size));
  if (out >= 0x1p62) throw ShapeError(text("an axis of ", size, " times ", scale, " does not fit into 64 bits"));
  return static_cast<int64_t>(out);
}

AxisMap map_of(int64_t size, size_t axis, const InterpolateOptions& o) {
  AxisMap map{.kind = kind_of(o.mode), .in = size, .align_corners = o.align_corners};
  if (size < 1) throw ShapeError("x has an axis of size 0: there is nothing to interpolate");
  if (!o.size.empty()) {
    map.out = o.size[o.size.size() == 1 ? 0 : axis];
    if (map.out < 1) throw ShapeError(text("size ", map.out, " must be 1 or more"));
  } else {
    const double scale = o.scale.values[o.scale.values.size() == 1 ? 0 : axis];
    map.out = scaled(size, scale);
    // As PyTorch, linear modes copy along an axis that keeps its size (3 times 1.3), whatever its scale says.
    const bool is_copied = map.kind == AxisMap::Kind::linear && map.out == size;
    if (map.kind != AxisMap::Kind::area && !is_copied) map.scale = 1 / scale;
  }
  return map;
}

}  // namespace

Tensor interpolate(const Tensor& x, const InterpolateOptions& o) {
  ErrorFrame frame("interpolate", x);
  if (o.size.empty() == o.scale.values.empty())
    throw Error(o.size.empty() ? "a size or a scale must be given" : "both a size and a scale are given; give one");
  if (o.align_corners && (axes_of(o.mode) == 0))
    throw Error(text("align_corners is for linear and cubic modes, not for ", name_of(o.mode)));
  const int64_t axes = number_of_axes(x, o);
  if (o.size.empty())
    check_count("scale", o.scale.values.size(), axes);
  else
    check_count("size", o.size.size(), axes);
  std::array<AxisMap, 3> maps;
  for (int64_t i = 0; i < axes; ++i) maps[static_cast<size_t>(i)] = map_of(x.size(i - axes), static_cast<size_t>(i), o);
  return adjoint::for_batch(x, axes, [&](const Tensor& batch) {
    return adjoint::resample(batch, {maps.data(), static_cast<size_t>(axes)});
  });
}

namespace adjoint {

Tensor resample(const Tensor& x, const AxisMap& lines, const AxisMap& columns) {
  ErrorFrame frame("resample", x);
  return dispatch::apply(op::Resample{lines, columns}, x);
}

Tensor resample(const Tensor& x, std::span<const AxisMap> maps) {
  if (maps.size() == 2) return resample(x, maps[0], maps[1]);
  if (maps.size() == 1) return for_line(x, [&](const Tensor& images) { return resample(images, AxisMap(), maps[0]); });
  // Two passes, and 16 bits are rounded once.
  const bool copies = maps[0].kind == AxisMap::Kind::nearest || maps[0].kind == AxisMap::Kind::nearest_exact;
  if (!copies && is_half_precision(x.dtype())) return cast(resample(cast(x, f32), maps), x.dtype());
  const auto planes = [&](const Tensor& y) {
    return for_planes(y, [&](const Tensor& images) { return resample(images, maps[1], maps[2]); });
  };
  const auto depth = [&](const Tensor& y) {
    const AxisMap columns{.in = y.size(3) * y.size(4), .out = y.size(3) * y.size(4)};
    return for_depth(y, [&](const Tensor& images) { return resample(images, maps[0], columns); });
  };
  return maps[0].out > maps[0].in ? planes(depth(x)) : depth(planes(x));  // whichever leaves less to do
}

}  // namespace adjoint
}  // namespace weft
