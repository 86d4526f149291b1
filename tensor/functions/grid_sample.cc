#include "tensor/functions/grid_sample.h"

#include <vector>

#include "tensor/adjoints/grid_sample.h"
#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/view.h"
#include "tensor/ops/grid_sample.h"

namespace weft {

Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options) {
  ErrorFrame frame("grid_sample", x, grid);
  return dispatch::apply(op::GridSample{options}, x, grid);
}

std::array<Tensor, 2> adjoint::grid_sample_backward(const Tensor& g, const Tensor& x, const Tensor& grid,
                                                    const GridSampleOptions& options, int wanted) {
  ErrorFrame frame("grid_sample_backward", g, x, grid);
  return dispatch::apply(op::GridSampleBackward{options, wanted}, g, x, grid);
}

Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners) {
  ErrorFrame frame("affine_grid", theta);
  dispatch::check_accepted(theta.dtype(), kFloating);
  const int64_t axes = size.rank() - 2;
  if (axes != 2 && axes != 3) throw ShapeError(text("size must be (N, C, H, W) or (N, C, D, H, W), not ", size));
  if (theta.shape() != Shape{size[0], axes, axes + 1})
    throw ShapeError(text("theta must have shape ", Shape{size[0], axes, axes + 1}, ", not ", theta.shape()));
  Shape grid(size.begin() + 2, size.end());
  std::vector<Tensor> columns;  // of (column, row, depth, 1)
  for (int64_t i = axes; i-- > 0;) {
    const int64_t count = grid[static_cast<size_t>(i)];
    if (count < 1) throw ShapeError(text("size ", size, " has no pixels"));
    const double end = align_corners ? 1 : 1 - 1 / static_cast<double>(count);
    const Tensor line = count == 1 ? zeros({1}, theta.dtype(), theta.device())
                                   : linspace(-end, end, count, theta.dtype(), theta.device());
    columns.push_back(broadcast(view(line, internal::shape_along(i, axes, count)), grid));
  }
  columns.push_back(ones(grid, theta.dtype(), theta.device()));
  const Tensor points = reshape(stack(columns, -1), {-1, axes + 1});
  Shape out = {size[0]};
  for (int64_t g : grid) out.push_back(g);
  out.push_back(axes);
  return reshape(matmul(points, transpose(theta, 1, 2)), out);
}

}  // namespace weft
