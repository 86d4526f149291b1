#include "tensor/functions/quantile.h"

#include <limits>

#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/sort.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft {
namespace {

/// The weight of the element after `low`, in [0, 1], in the quantile at `rank`; `low` itself has the rest.
Tensor weight_of(const Tensor& rank, const Tensor& low, QuantileMode mode) {
  const Tensor part = rank - low;
  switch (mode) {
    case QuantileMode::linear: return part;
    case QuantileMode::lower: return zeros_like(part);
    case QuantileMode::higher: return cast(part > 0.0, f64);
    case QuantileMode::midpoint: return cast(part > 0.0, f64) * 0.5;
    case QuantileMode::nearest: break;
  }
  const Tensor is_odd = cast(low * 0.5, i64) * 2 != low;
  return cast(logical_or(part > 0.5, logical_and(part == 0.5, is_odd)), f64);
}

/// The ranks (..., count of q) of the quantiles among the sorted values; in f64, because f32 cannot count long rows.
/// NaNs are sorted to the end: they are skipped, or a row that has one gets the rank of the last element.
Tensor ranks_of(const Tensor& values, const Tensor& top, const Tensor& q, bool skips_nan) {
  const int64_t n = values.size(-1);
  const Tensor several = cast(q, f64);
  const Tensor rank = skips_nan ? several * clip(cast(sum(values == values, -1, keepdim), f64) - 1.0, 0.0, std::nullopt)
                                : where(isnan(top), full_like(top, static_cast<double>(n - 1), f64),
                                        several * static_cast<double>(n - 1));
  // A q beside f32 stands for a decimal number, as in PyTorch: 0.7 of 10 steps is 7 of them, not 6.9999999.
  const bool rounds = (q.dtype() != f64 || values.dtype() != f64) && n < int64_t{1} << 24;
  return rounds ? cast(cast(rank, f32), f64) : rank;
}

/// (..., count of q): quantiles along the last axis of rows (..., n).
Tensor of_rows(const Tensor& rows, const Tensor& q, bool skips_nan, QuantileMode mode) {
  const int64_t n = rows.size(-1);
  const Tensor sorted = sort(rows, -1).values;
  const Tensor values = detach(sorted), top = slice(values, -1, n - 1);
  const Tensor rank = ranks_of(values, top, q, skips_nan);
  const Tensor low = cast(rank, i64);
  const Tensor weight = weight_of(rank, low, mode);
  // 16-bit elements are interpolated in f32 and rounded once.
  const DType wide = is_half_precision(rows.dtype()) ? f32 : rows.dtype();
  const Tensor a = cast(gather(sorted, -1, low), wide);
  const Tensor b = cast(gather(sorted, -1, low + cast(weight > 0.0, i64)), wide);
  // b - a is NaN if both are the same infinity; a + (b - a) is NaN if only a is -infinity.
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor stays = logical_or(logical_and(a == b, isinf(a)), logical_and(a == -infinity, b < infinity));
  const Tensor between = a + where(stays, zeros_like(a), b - a) * cast(weight, wide);
  return cast(where(weight == 1.0, b, between), rows.dtype());
}

void check_range(const Tensor& q) {
  for (double value : dispatch::all_samples(q).to_vector<double>())
    if (!(value >= 0 && value <= 1)) throw Error(text("q = ", value, " is not in [0, 1]"));
}

/// The results of the numbers `q` are a new first axis; there is none for a single number without axes.
Tensor quantiles(const Tensor& x, const Tensor& q, bool skips_nan, const QuantileOptions& options) {
  dispatch::check_accepted(x.dtype(), kFloating);
  if (q.rank() > 1) throw ShapeError(text("q must be a number or have one axis, not shape ", q.shape()));
  check_range(q);
  const int64_t axis = options.axis ? normalize_axis_or_scalar(*options.axis, x.rank()) : 0;
  const Tensor rows = options.axis && x.rank() > 0 ? movedim(x, axis, -1) : flatten(x);
  if (rows.size(-1) == 0) throw ShapeError(text("axis ", axis, " has size 0: nothing to choose from"));
  // Samples of vmap meet tensors of all samples without being moved.
  Tensor several = reshape(q, {-1});
  if (q.device().kind != DeviceKind::vmap) several = to(several, x.device());
  Tensor out = movedim(of_rows(rows, several, skips_nan, options.mode), -1, 0);
  if (options.keepdim && x.rank() > 0)
    out = options.axis ? unsqueeze(out, axis + 1) : reshape(out, internal::shape_along(0, x.rank() + 1, q.numel()));
  return q.rank() == 0 ? select(out, 0, 0) : out;
}

Tensor number(double q) { return full({}, q, f64); }

}  // namespace

Tensor quantile(const Tensor& x, double q, const QuantileOptions& options) {
  ErrorFrame frame("quantile", x);
  return quantiles(x, number(q), false, options);
}
Tensor quantile(const Tensor& x, const Tensor& q, const QuantileOptions& options) {
  ErrorFrame frame("quantile", x, q);
  return quantiles(x, q, false, options);
}
Tensor nanquantile(const Tensor& x, double q, const QuantileOptions& options) {
  ErrorFrame frame("nanquantile", x);
  return quantiles(x, number(q), true, options);
}
Tensor nanquantile(const Tensor& x, const Tensor& q, const QuantileOptions& options) {
  ErrorFrame frame("nanquantile", x, q);
  return quantiles(x, q, true, options);
}

}  // namespace weft
