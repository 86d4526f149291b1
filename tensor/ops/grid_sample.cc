#include "tensor/ops/grid_sample.h"

#include "tensor/ops/window.h"

namespace weft {

std::string attribute_text(const GridSampleOptions& o) {
  static constexpr std::array<const char*, 3> kPaddings = {"zeros", "border", "reflection"};
  return text("{", name_of(o.mode), ", ", kPaddings[static_cast<size_t>(o.padding)],
              o.align_corners ? ", aligned corners}" : "}");
}

namespace op {

Spec GridSample::infer(const Operand& x, const Operand& grid) const {
  const int64_t axes = x.rank() - 2;
  if (axes != 2 && axes != 3) throw ShapeError(text("x must be (N, C, H, W) or (N, C, D, H, W), not ", x.shape()));
  if (grid.rank() != axes + 2 || grid.size(grid.rank() - 1) != axes || grid.size(0) != x.size(0))
    throw ShapeError(
        text("grid must be (", x.size(0), axes == 2 ? ", H, W, 2)" : ", D, H, W, 3)", ", not ", grid.shape()));
  for (int64_t i = 2; i < x.rank(); ++i)
    if (x.size(i) < 1) throw ShapeError(text("x ", x.shape(), " has no pixels"));
  if (options.mode != Interpolation::bilinear && options.mode != Interpolation::nearest &&
      options.mode != Interpolation::bicubic)
    throw Error(text("the mode must be bilinear, nearest or bicubic, not ", name_of(options.mode)));
  if (options.mode == Interpolation::bicubic && axes == 3) throw Error("bicubic is for images, not for volumes");
  Shape shape = {x.size(0), x.size(1)};
  for (int64_t i = 1; i <= axes; ++i) shape.push_back(grid.size(i));
  return {x.view->is_contiguous() ? View::contiguous(shape) : channels_last_view(shape), x.dtype};
}

std::array<Spec, 2> GridSampleBackward::infer(const Operand& g, const Operand& x, const Operand& grid) const {
  check_gradient(g, GridSample{options}.infer(x, grid).view.shape());
  const auto gradient = [&](int bit, const Operand& of) {
    return wanted & bit ? spec_like(of) : spec_of({0}, of.dtype);
  };
  return {gradient(1, x), gradient(2, grid)};
}

}  // namespace op
}  // namespace weft
