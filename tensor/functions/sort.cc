#include "tensor/functions/sort.h"

#include <limits>

#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/arg_reduce.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/scan.h"
#include "tensor/functions/view.h"
#include "tensor/ops/sort.h"

namespace weft {
namespace {

/// Applies `op` to x, which gets an axis where it has none; `kept`: the result has x's rank.
template <class Op> ValuesAndIndices choose(const Tensor& x, const Op& op, bool kept) {
  auto [values, indices] = dispatch::apply(op, atleast_1d(x));
  if (x.rank() > 0 || !kept || values.numel() != 1) return {values, indices};
  return {reshape(values, {}), reshape(indices, {})};
}

ValuesAndIndices middle(const char* name, const Tensor& x, int64_t axis, bool skips_nan, KeepDim keep) {
  ErrorFrame frame(name, x);
  return choose(x, op::Median{normalize_axis_or_scalar(axis, x.rank()), skips_nan, keep.value}, keep.value);
}

/// Of 1-D x. Elements of the value share its gradient, as those of max() do: PyTorch's convention.
Tensor middle_of_all(const Tensor& x, bool skips_nan) {
  const Tensor middle = dispatch::apply(op::Median{0, skips_nan, false}, detach(x))[0];
  if (!is_floating(x.dtype()) || !dispatch::may_need_gradient(x)) return middle;
  const Tensor is_it = logical_or(x == middle, logical_and(isnan(x), isnan(middle)));
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor value = max(where(is_it, x, -infinity)), lowest = middle == -infinity;
  if (!any(dispatch::all_samples(lowest)).item<bool>()) return value;
  return where(lowest, min(where(is_it, x, infinity)), value);  // -infinity would tie with the others
}

}  // namespace

ValuesAndIndices sort(const Tensor& x, int64_t axis, bool descending) {
  ErrorFrame frame("sort", x);
  return choose(x, op::Sort{normalize_axis_or_scalar(axis, x.rank()), descending}, true);
}

Tensor argsort(const Tensor& x, int64_t axis, bool descending) {
  ErrorFrame frame("argsort", x);
  return sort(detach(x), axis, descending).indices;
}

Tensor msort(const Tensor& x) {
  ErrorFrame frame("msort", x);
  return sort(x, 0).values;
}

ValuesAndIndices topk(const Tensor& x, int64_t k, const TopkOptions& options) {
  ErrorFrame frame("topk", x);
  return choose(x, op::Topk{normalize_axis_or_scalar(options.axis, x.rank()), k, options.largest}, true);
}

ValuesAndIndices kthvalue(const Tensor& x, int64_t k, int64_t axis, KeepDim keep) {
  ErrorFrame frame("kthvalue", x);
  return choose(x, op::Kthvalue{normalize_axis_or_scalar(axis, x.rank()), k, keep.value}, keep.value);
}

ValuesAndIndices mode(const Tensor& x, int64_t axis, KeepDim keep) {
  ErrorFrame frame("mode", x);
  const int64_t a = normalize_axis_or_scalar(axis, x.rank());
  const Tensor rows = atleast_1d(x);
  const int64_t n = rows.size(a);
  if (n == 0) throw ShapeError(text("axis ", a, " has size 0: nothing to choose from"));
  const auto [values, order] = sort(detach(rows), a);
  // Runs of equals: where each begins, how far each place is in its run; the longest ends where that is largest first.
  const Shape along = internal::shape_along(a, rows.rank(), n);
  const Tensor places = expand(reshape(arange(0, n, 1, i64, x.device()), along), rows.shape());
  const Tensor begins =
      cat({ones_like(slice(places, a, 0, 1), boolean), slice(values, a, 1) != slice(values, a, 0, -1)}, a);
  const Tensor begin = cummax(where(begins, places, zeros_like(places)), a).values;
  const Tensor end = argmax(places - begin, a, keepdim);
  const Tensor position = gather(order, a, end);
  const Tensor chosen = gather(rows, a, position);
  if (keep.value && x.rank() > 0) return {chosen, position};
  return {squeeze(chosen, a), squeeze(position, a)};
}

Tensor median(const Tensor& x) {
  ErrorFrame frame("median", x);
  return middle_of_all(flatten(x), false);
}
ValuesAndIndices median(const Tensor& x, int64_t axis, KeepDim keep) { return middle("median", x, axis, false, keep); }
Tensor nanmedian(const Tensor& x) {
  ErrorFrame frame("nanmedian", x);
  return middle_of_all(flatten(x), true);
}
ValuesAndIndices nanmedian(const Tensor& x, int64_t axis, KeepDim keep) {
  return middle("nanmedian", x, axis, true, keep);
}

}  // namespace weft
