#include "tensor/functions/search.h"

#include "tensor/dispatch/apply.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/index_put.h"
#include "tensor/functions/sort.h"
#include "tensor/functions/view.h"
#include "tensor/ops/search.h"

namespace weft {

Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right, const Tensor& sorter) {
  ErrorFrame frame("searchsorted", sorted, values);
  if (sorter.defined()) {
    if (sorter.shape() != sorted.shape())
      throw ShapeError(text("the sorter must have shape ", sorted.shape(), ", not ", sorter.shape()));
    return searchsorted(gather(sorted, -1, sorter), values, right);
  }
  if (sorted.rank() != 1 || values.rank() == 1) return dispatch::apply(op::Searchsorted{right}, sorted, values);
  const Tensor list = reshape(values, {values.numel()});
  return reshape(dispatch::apply(op::Searchsorted{right}, sorted, list), values.shape());
}

Tensor bucketize(const Tensor& values, const Tensor& boundaries, bool right) {
  ErrorFrame frame("bucketize", values, boundaries);
  if (boundaries.rank() != 1)
    throw ShapeError(text("the boundaries must have one axis, not shape ", boundaries.shape()));
  return searchsorted(boundaries, values, right);
}

Tensor isin(const Tensor& x, const Tensor& values, bool invert) {
  ErrorFrame frame("isin", x, values);
  if (values.numel() == 0) return full(x.shape(), invert, boolean, x.device());
  const Tensor sorted = sort(reshape(detach(values), {-1})).values, own = detach(x);
  const Tensor place = minimum(searchsorted(sorted, own), tensor(sorted.numel() - 1).to(x.device()));
  return invert ? ne(take(sorted, place), own) : eq(take(sorted, place), own);
}

}  // namespace weft
