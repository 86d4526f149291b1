#include "tensor/functions/nonzero.h"

#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"
#include "tensor/ops/masked.h"

namespace weft {
namespace {

Tensor positions(const Tensor& x, bool coordinates) {
  dispatch::check_shape_is_known(x, "where() with three arguments keeps the shape");
  const Tensor mask = x.dtype() == boolean ? x : x != 0;
  return dispatch::apply(op::Nonzero{sum(mask).item<int64_t>(), coordinates}, mask);
}

}  // namespace

Tensor nonzero(const Tensor& x) {
  ErrorFrame frame("nonzero", x);
  return positions(x, true);
}

Tensor flatnonzero(const Tensor& x) {
  ErrorFrame frame("flatnonzero", x);
  return positions(x, false);
}

Tensor argwhere(const Tensor& x) {
  ErrorFrame frame("argwhere", x);
  return positions(x, true);
}

std::vector<Tensor> where(const Tensor& condition) {
  ErrorFrame frame("where", condition);
  const Tensor all = positions(condition.rank() == 0 ? unsqueeze(condition, 0) : condition, true);
  std::vector<Tensor> out;
  for (int64_t axis = 0; axis < all.size(1); ++axis) out.push_back(select(all, 1, axis));
  return out;
}

}  // namespace weft
