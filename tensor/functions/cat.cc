#include "tensor/functions/cat.h"

#include "tensor/dispatch/apply.h"
#include "tensor/functions/view.h"
#include "tensor/ops/cat.h"

namespace weft {

Tensor cat(const std::vector<Tensor>& tensors, int64_t axis) {
  ErrorFrame frame("cat", std::span<const Tensor>(tensors));
  if (tensors.empty()) throw Error("it takes at least one tensor");
  if (tensors[0].rank() == 0) throw ShapeError("tensors without axes cannot be joined; use stack");
  return dispatch::apply_list(op::Cat{normalize_axis(axis, tensors[0].rank())}, tensors);
}

Tensor stack(const std::vector<Tensor>& tensors, int64_t axis) {
  ErrorFrame frame("stack", std::span<const Tensor>(tensors));
  if (tensors.empty()) throw Error("it takes at least one tensor");
  const int64_t at = normalize_axis(axis, tensors[0].rank() + 1);
  std::vector<Tensor> with_axis;
  for (const Tensor& x : tensors) {
    if (x.shape() != tensors[0].shape())
      throw ShapeError(text("shapes differ: ", tensors[0].shape(), " and ", x.shape()));
    with_axis.push_back(unsqueeze(x, at));
  }
  return cat(with_axis, at);
}

}  // namespace weft
