#include "tensor/functions/histogram.h"

#include <cmath>

#include "tensor/adjoints/index.h"
#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/scan.h"
#include "tensor/functions/search.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/index.h"

namespace weft {
namespace {

/// How often each of `size` places occurs in the 1-D `places`, or what the weights there add up to (integers in i64).
Tensor added_up(const Tensor& places, const Tensor& weights, int64_t size) {
  Tensor all = weights;
  if (!all.defined())
    all = expand(ones({1}, i64, places.device()), places.shape());
  else if (!is_floating(all.dtype()))
    all = cast(all, i64);
  return adjoint::scatter_add(all, 0, places, {size});
}

void check_bins(int64_t bins) {
  if (bins < 1) throw Error(text("the number of bins must be 1 or more, not ", bins));
  (void)checked_add(bins, 1);  // edges
}

void check_range(double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high) || low > high)
    throw Error(text("the range ", low, " .. ", high, " must be finite and ascending"));
}

/// A number as a tensor without axes, which does not widen x.
Tensor number_like(double value, const Tensor& x) { return full({}, value, f64, x.device()); }

/// The least and the largest of `values`; 0 and 1 if there are none.
std::pair<Tensor, Tensor> whole_range(const Tensor& values) {
  if (values.numel() == 0) return {number_like(0, values), number_like(1, values)};  // as NumPy and PyTorch do
  const Tensor low = cast(min(values), f64), high = cast(max(values), f64);
  const Tensor lows = dispatch::all_samples(low), highs = dispatch::all_samples(high);
  if (lows.numel() > 0) check_range(min(lows).item<double>(), max(highs).item<double>());
  return {low, high};
}

/// A power of two by which low and high are scaled so that (high - low) * bins does not overflow; 1 if it does not.
double scale_for(const Tensor& low, const Tensor& high, int64_t bins, DType dtype) {
  const Tensor quarters = dispatch::all_samples(high * 0.25 - low * 0.25);
  if (quarters.numel() == 0) return 1;
  const int limit = dtype == f64 ? 1018 : 122;  // of quarters, well below the largest exponent
  const double count = std::log2(static_cast<double>(bins));
  return std::log2(max(quarters).item<double>()) + count < limit ? 1 : std::exp2(-std::ceil(count) - 4);
}

HistogramResult between(const Tensor& x, const Tensor& edges, const HistogramOptions& options) {
  const int64_t bins = edges.size(0) - 1;
  const Tensor values = reshape(detach(x), {x.numel()});
  const Tensor plain = detach(edges), top = slice(plain, 0, bins);  // not 0-d: promoted as the edges are
  // The last bin is closed; what lies outside goes to a bin behind the last, which is cut off.
  const Tensor place = searchsorted(plain, values, true) - 1;
  const Tensor inside = logical_and(place >= 0, values <= top);
  const Tensor bin = where(inside, clip(place, std::nullopt, bins - 1), full({}, bins, i64, x.device()));
  Tensor weight = options.weight;
  if (weight.defined()) {
    if (weight.shape() != x.shape())
      throw ShapeError(text("the weight must have shape ", x.shape(), ", not ", weight.shape()));
    weight = cast(reshape(weight, {weight.numel()}), x.dtype());
  }
  Tensor hist = cast(slice(added_up(bin, weight, bins + 1), 0, 0, bins), x.dtype());
  if (options.density) hist = hist / sum(hist) / diff(edges);
  return {hist, edges};
}

}  // namespace

Tensor bincount(const Tensor& x, const Tensor& weights, int64_t minlength) {
  ErrorFrame frame("bincount", x);
  op::check_index_dtype(x.dtype());
  if (x.rank() != 1) throw ShapeError(text("the values must have one axis, not shape ", x.shape()));
  if (weights.defined() && weights.shape() != x.shape())
    throw ShapeError(text("the weights must have shape ", x.shape(), ", not ", weights.shape()));
  if (minlength < 0) throw Error(text("minlength must be 0 or more, not ", minlength));
  dispatch::check_shape_is_known(x, "scatter_add() counts into zeros of a given size");
  int64_t size = minlength;
  if (x.numel() > 0) {
    const int64_t smallest = min(x).item<int64_t>(), largest = max(x).item<int64_t>();
    if (smallest < 0) throw IndexError(text("the value ", smallest, " is negative"));
    if (largest == INT64_MAX) throw IndexError(text("the value ", largest, " is too large to count up to"));
    size = std::max(size, largest + 1);
  }
  return added_up(x, weights, size);
}

Tensor histc(const Tensor& x, int64_t bins, double min, double max) {
  ErrorFrame frame("histc", x);
  dispatch::check_accepted(x.dtype(), kFloating);
  check_bins(bins);
  check_range(min, max);
  const bool all = min == max;
  // In 16 bits there are too few values between the ends of a bin.
  Tensor values = cast(reshape(detach(x), {x.numel()}), is_half_precision(x.dtype()) ? f32 : x.dtype());
  auto [low, high] = all ? whole_range(values) : std::pair(number_like(min, x), number_like(max, x));
  const double scale = scale_for(low, high, bins, values.dtype());
  if (scale != 1) values = values * scale, low = low * scale, high = high * scale;
  const Tensor same = cast(low == high, f64) * 0.5;  // as NumPy does
  low = low - same, high = high + same;
  // In this order: the quotient of bins and width is rounded, and edges that are whole numbers would not be.
  Tensor bin = clip(cast((values - low) * static_cast<double>(bins) / (high - low), i64), 0, bins - 1);
  if (!all) {  // what lies outside goes to a bin behind the last, which is cut off
    const Tensor inside = logical_and(values >= low, values <= high);
    bin = where(inside, bin, full({}, bins, i64, x.device()));
  }
  return cast(slice(added_up(bin, {}, bins + 1), 0, 0, bins), x.dtype());
}

HistogramResult histogram(const Tensor& x, int64_t bins, const HistogramOptions& options) {
  ErrorFrame frame("histogram", x);
  dispatch::check_accepted(x.dtype(), kFloating);
  check_bins(bins);
  std::pair<double, double> range;
  if (options.range) {
    range = *options.range;
  } else {
    const auto [low, high] = whole_range(detach(x));
    range = {low.item<double>(), high.item<double>()};
  }
  auto [low, high] = range;
  check_range(low, high);
  if (low == high) low -= 0.5, high += 0.5;  // as NumPy does
  return between(x, linspace(low, high, bins + 1, x.dtype(), x.device()), options);
}

HistogramResult histogram(const Tensor& x, const Tensor& edges, const HistogramOptions& options) {
  ErrorFrame frame("histogram", x, edges);
  dispatch::check_accepted(x.dtype(), kFloating);
  if (edges.rank() != 1 || edges.size(0) < 2)
    throw ShapeError(text("the edges must have one axis and be two or more, not shape ", edges.shape()));
  if (options.range) throw Error("a range goes with a number of bins, not with edges");
  const Tensor ascends = dispatch::all_samples(diff(detach(edges)) >= 0.0);
  if (ascends.numel() > 0 && !all(ascends).item<bool>()) throw Error("the edges must ascend, without NaN");
  return between(x, edges, options);
}

}  // namespace weft
