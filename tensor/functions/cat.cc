#include "tensor/functions/cat.h"

#include <algorithm>

#include "tensor/dispatch/apply.h"
#include "tensor/functions/view.h"
#include "tensor/ops/cat.h"

namespace weft {
namespace {

bool is_empty(const Tensor& x) { return x.shape() == Shape{0}; }

/// Whether tensors of shape (0) are among others, which have more axes.
bool mixes_empty(const std::vector<Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), is_empty) &&
         std::any_of(tensors.begin(), tensors.end(), [](const Tensor& x) { return x.rank() > 1; });
}

/// The others, in the dtype of all.
std::vector<Tensor> without_empty(const std::vector<Tensor>& tensors) {
  const DType dtype = dispatch::promoted(tensors);
  std::vector<Tensor> kept;
  for (const Tensor& x : tensors)
    if (!is_empty(x)) kept.push_back(x.to(dtype));
  return kept;
}

/// What `view` gives for each tensor.
std::vector<Tensor> each(const std::vector<Tensor>& tensors, Tensor (*view)(const Tensor&)) {
  std::vector<Tensor> out;
  for (const Tensor& x : tensors) out.push_back(view(x));
  return out;
}

}  // namespace

Tensor cat(const std::vector<Tensor>& tensors, int64_t axis) {
  ErrorFrame frame("cat", std::span<const Tensor>(tensors));
  if (tensors.empty()) throw Error("1 tensor or more is needed");
  if (tensors[0].rank() == 0) throw ShapeError("tensors without axes cannot be joined; use stack");
  if (mixes_empty(tensors)) return cat(without_empty(tensors), axis);
  return dispatch::apply_list(op::Cat{normalize_axis(axis, tensors[0].rank())}, tensors);
}

Tensor stack(const std::vector<Tensor>& tensors, int64_t axis) {
  ErrorFrame frame("stack", std::span<const Tensor>(tensors));
  if (tensors.empty()) throw Error("1 tensor or more is needed");
  const int64_t at = normalize_axis(axis, tensors[0].rank() + 1);
  std::vector<Tensor> with_axis;
  for (const Tensor& x : tensors) {
    if (x.shape() != tensors[0].shape())
      throw ShapeError(text("shapes differ: ", tensors[0].shape(), " and ", x.shape()));
    with_axis.push_back(unsqueeze(x, at));
  }
  return cat(with_axis, at);
}

Tensor hstack(const std::vector<Tensor>& tensors) {
  ErrorFrame frame("hstack", std::span<const Tensor>(tensors));
  const std::vector<Tensor> parts = each(tensors, atleast_1d);
  return cat(parts, parts.empty() || parts[0].rank() == 1 ? 0 : 1);
}

Tensor vstack(const std::vector<Tensor>& tensors) {
  ErrorFrame frame("vstack", std::span<const Tensor>(tensors));
  return cat(each(tensors, atleast_2d), 0);
}

Tensor dstack(const std::vector<Tensor>& tensors) {
  ErrorFrame frame("dstack", std::span<const Tensor>(tensors));
  return cat(each(tensors, atleast_3d), 2);
}

Tensor column_stack(const std::vector<Tensor>& tensors) {
  ErrorFrame frame("column_stack", std::span<const Tensor>(tensors));
  std::vector<Tensor> columns = tensors;
  for (Tensor& x : columns)
    if (x.rank() <= 1) x = reshape(x, {x.numel(), 1});
  return cat(columns, 1);
}

Tensor block_diag(const std::vector<Tensor>& tensors) {
  ErrorFrame frame("block_diag", std::span<const Tensor>(tensors));
  std::vector<Tensor> rows = each(tensors, atleast_2d);
  int64_t columns = 0, before = 0;
  for (const Tensor& x : rows) {
    if (x.rank() != 2) throw ShapeError(text("matrices are joined, not shape ", x.shape()));
    columns = checked_add(columns, x.size(1));
  }
  for (Tensor& x : rows) {
    const int64_t width = x.size(1);
    x = pad(x, {{0, 0}, {before, columns - before - width}});
    before += width;
  }
  return cat(rows, 0);
}

}  // namespace weft
