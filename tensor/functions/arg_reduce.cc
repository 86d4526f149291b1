#include "tensor/functions/arg_reduce.h"

#include "tensor/dispatch/apply.h"
#include "tensor/functions/view.h"
#include "tensor/ops/arg_reduce.h"

namespace weft {
namespace {

ValuesAndIndices extremum(const char* name, const Tensor& x, int64_t axis, bool largest, KeepDim keep) {
  ErrorFrame frame(name, x);
  const int64_t a = normalize_axis_or_scalar(axis, x.rank());
  const bool scalar = x.rank() == 0;
  auto [values, indices] =
      dispatch::apply(op::ExtremumWithIndices{a, largest, keep.value && !scalar}, scalar ? reshape(x, {1}) : x);
  return {values, indices};
}

template <class Op> Tensor position(const char* name, const Tensor& x, std::optional<int64_t> axis, KeepDim keep) {
  ErrorFrame frame(name, x);
  Op op;
  if (axis) op.axis = normalize_axis_or_scalar(*axis, x.rank());
  if (x.rank() == 0) op.axis = std::nullopt;
  op.keepdim = keep.value;
  return dispatch::apply(op, x);
}

}  // namespace

ValuesAndIndices max_with_indices(const Tensor& x, int64_t axis, KeepDim keep) {
  return extremum("max_with_indices", x, axis, true, keep);
}
ValuesAndIndices min_with_indices(const Tensor& x, int64_t axis, KeepDim keep) {
  return extremum("min_with_indices", x, axis, false, keep);
}
Tensor argmax(const Tensor& x, std::optional<int64_t> axis, KeepDim keep) {
  return position<op::Argmax>("argmax", x, axis, keep);
}
Tensor argmin(const Tensor& x, std::optional<int64_t> axis, KeepDim keep) {
  return position<op::Argmin>("argmin", x, axis, keep);
}

}  // namespace weft
