#include "tensor/functions/unique.h"

#include <algorithm>

#include "tensor/adjoints/index.h"
#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/nonzero.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/scan.h"
#include "tensor/functions/sort.h"
#include "tensor/functions/view.h"
#include "tensor/ops/sort.h"

namespace weft {
namespace {

/// The runs of equals among `values` (n) or rows of them (n, m), whose places in x are `order` (their own where
/// undefined). The inverse has the shape `places`.
UniqueResult runs_of(const Tensor& values, const Tensor& order, const Shape& places, const UniqueOptions& options) {
  const int64_t n = values.size(0);
  dispatch::check_shape_is_known(values, "return the tensor and call it outside");
  if (n == 0) {
    const Tensor none = zeros({0}, i64, values.device());
    return {values, options.inverse ? reshape(none, places) : Tensor(), options.counts ? none : Tensor()};
  }
  const Tensor plain = detach(values);
  Tensor differs = slice(plain, 0, 1) != slice(plain, 0, 0, -1);
  if (differs.rank() == 2) differs = any(differs, {1});
  const Tensor end = ones({1}, boolean, values.device());
  const Tensor ends = cat({end, differs, end}), begins = slice(ends, 0, 0, n);  // of each run
  UniqueResult out;
  const bool flat = values.rank() == 1;
  if (flat) out.values = masked_select(values, begins);
  if (options.counts || !flat) {
    const Tensor bounds = flatnonzero(ends), firsts = slice(bounds, 0, 0, -1);  // the last of them is n
    if (!flat) out.values = index_select(values, 0, firsts);
    if (options.counts) out.counts = slice(bounds, 0, 1) - firsts;
  }
  if (options.inverse) {
    const Tensor run = cumsum(cat({zeros({1}, boolean, values.device()), differs}), 0);
    out.inverse = reshape(order.defined() ? adjoint::scatter_add(run, 0, order, {n}) : run, places);
  }
  return out;
}

/// Of booleans, which need not be sorted.
UniqueResult unique_of_two(const Tensor& x, const UniqueOptions& options) {
  dispatch::check_shape_is_known(x, "return the tensor and call it outside");
  const int64_t n = x.numel(), trues = sum(x).item<int64_t>(), first = trues == n ? 1 : 0, end = trues == 0 ? 1 : 2;
  const auto those_met = [&](const Tensor& of_both) { return slice(of_both, 0, first, end); };
  UniqueResult out{those_met(cast(arange(2, i64, x.device()), boolean)), {}, {}};
  if (options.inverse) out.inverse = cast(x, i64) - first;
  if (options.counts) {
    const Tensor count = full({1}, trues, i64, x.device());
    out.counts = those_met(cat({n - count, count}));
  }
  return out;
}

/// Slices of x along an axis as rows.
UniqueResult slices_of(const Tensor& x, bool consecutive, const UniqueOptions& options) {
  const int64_t axis = normalize_axis(*options.axis, std::max<int64_t>(x.rank(), 1));
  const Tensor first = x.rank() == 0 ? reshape(x, {1}) : movedim(x, axis, 0);
  Shape shape = first.shape();
  const int64_t n = shape[0];
  const Tensor rows = reshape(first, {n, n == 0 ? 0 : first.numel() / n});
  const Tensor order = consecutive ? Tensor() : dispatch::apply(op::SortRows{}, detach(rows));
  UniqueResult out = runs_of(consecutive ? rows : index_select(rows, 0, order), order, {n}, options);
  shape[0] = out.values.size(0);
  out.values = movedim(reshape(out.values, shape), 0, axis);
  return out;
}

}  // namespace

UniqueResult unique(const Tensor& x, const UniqueOptions& options) {
  ErrorFrame frame("unique", x);
  if (options.axis) return slices_of(x, false, options);
  if (x.dtype() == boolean) return unique_of_two(x, options);
  const auto [values, order] = sort(reshape(x, {x.numel()}), 0);
  return runs_of(values, order, x.shape(), options);
}

UniqueResult unique_consecutive(const Tensor& x, const UniqueOptions& options) {
  ErrorFrame frame("unique_consecutive", x);
  if (options.axis) return slices_of(x, true, options);
  return runs_of(reshape(x, {x.numel()}), Tensor(), x.shape(), options);
}

}  // namespace weft
