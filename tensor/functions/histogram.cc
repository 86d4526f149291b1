#include "tensor/functions/histogram.h"

#include <cmath>

#include "tensor/adjoints/index.h"
#include "tensor/core/axis_lists.h"
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

/// The bin of each value between `edges`, of which the last is closed, and whether it lies in one.
std::pair<Tensor, Tensor> placed(const Tensor& values, const Tensor& edges) {
  const int64_t bins = edges.size(0) - 1;
  const Tensor plain = detach(edges), top = slice(plain, 0, bins);  // not 0-d: promoted as the edges are
  const Tensor place = searchsorted(plain, values, true) - 1;
  return {clip(place, 0, bins - 1), logical_and(place >= 0, values <= top)};
}

/// How many values lie in each of `bins` bins, or their weight. `shape` is what a given weight must have.
Tensor counted(const Tensor& bin, const Tensor& inside, int64_t bins, const Tensor& weight, const Shape& shape,
               DType dtype) {
  // What lies outside goes to a bin behind the last, which is cut off.
  const Tensor place = where(inside, bin, full({}, bins, i64, bin.device()));
  Tensor weights = weight;
  if (weights.defined()) {
    if (weights.shape() != shape)
      throw ShapeError(text("the weight must have shape ", shape, ", not ", weights.shape()));
    weights = cast(reshape(weights, {weights.numel()}), dtype);
  }
  return cast(slice(added_up(place, weights, checked_add(bins, 1)), 0, 0, bins), dtype);
}

HistogramResult between(const Tensor& x, const Tensor& edges, const HistogramOptions& options) {
  const auto [bin, inside] = placed(reshape(detach(x), {x.numel()}), edges);
  Tensor hist = counted(bin, inside, edges.size(0) - 1, options.weight, x.shape(), x.dtype());
  if (options.density) hist = hist / sum(hist) / diff(edges);
  return {hist, edges};
}

/// The edges of `bins` bins of equal width in `range`, by default from the smallest to the largest of the values.
Tensor equal_edges(const Tensor& values, int64_t bins, const std::optional<std::pair<double, double>>& given) {
  check_bins(bins);
  std::pair<double, double> range;
  if (given) {
    range = *given;
  } else {
    const auto [low, high] = whole_range(detach(values));
    range = {low.item<double>(), high.item<double>()};
  }
  auto [low, high] = range;
  check_range(low, high);
  if (low == high) low -= 0.5, high += 0.5;  // as NumPy does
  return linspace(low, high, bins + 1, values.dtype(), values.device());
}

void check_edges(const Tensor& edges) {
  if (edges.rank() != 1 || edges.size(0) < 2)
    throw ShapeError(text("the edges must have one axis and be two or more, not shape ", edges.shape()));
  const Tensor ascends = dispatch::all_samples(diff(detach(edges)) >= 0.0);
  if (ascends.numel() > 0 && !all(ascends).item<bool>()) throw Error("the edges must ascend, without NaN");
}

/// The number of coordinates of the points x.
int64_t coordinates(const Tensor& x) {
  dispatch::check_accepted(x.dtype(), kFloating);
  if (x.rank() == 0) throw ShapeError("the points have no axes; they are (..., coordinates)");
  const int64_t count = x.size(-1);
  if (count < 1 || count > kMaxAxes)
    throw ShapeError(text("the points have ", count, " coordinates, not 1 to ", kMaxAxes));
  return count;
}

HistogramddResult cells_between(const Tensor& x, const std::vector<Tensor>& edges, const HistogramddOptions& options) {
  const Tensor points = reshape(detach(x), {-1, static_cast<int64_t>(edges.size())});
  Tensor cell, inside;
  Shape shape, weights = x.shape();
  weights.erase(weights.rank() - 1);
  for (size_t d = 0; d < edges.size(); ++d) {
    const auto [bin, in] = placed(contiguous(select(points, 1, static_cast<int64_t>(d))), edges[d]);
    shape.push_back(edges[d].size(0) - 1);
    cell = d == 0 ? bin : cell * shape.back() + bin;
    inside = d == 0 ? in : logical_and(inside, in);
  }
  Tensor hist = reshape(counted(cell, inside, checked_numel(shape), options.weight, weights, x.dtype()), shape);
  if (options.density) hist = hist / sum(hist);
  for (int64_t d = 0; options.density && d < shape.rank(); ++d) {
    const Tensor widths = diff(edges[static_cast<size_t>(d)]);
    hist = hist / reshape(widths, internal::shape_along(d, shape.rank(), widths.numel()));
  }
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
  return between(x, equal_edges(x, bins, options.range), options);
}

HistogramResult histogram(const Tensor& x, const Tensor& edges, const HistogramOptions& options) {
  ErrorFrame frame("histogram", x, edges);
  dispatch::check_accepted(x.dtype(), kFloating);
  if (options.range) throw Error("a range goes with a number of bins, not with edges");
  check_edges(edges);
  return between(x, edges, options);
}

HistogramddResult histogramdd(const Tensor& x, const IntList& bins, const HistogramddOptions& options) {
  ErrorFrame frame("histogramdd", x);
  const auto count = static_cast<size_t>(coordinates(x));
  if (bins.size() != count && bins.size() != 1)
    throw ShapeError(text(bins.size(), " numbers of bins for ", count, " coordinates"));
  if (!options.ranges.empty() && options.ranges.size() != count)
    throw ShapeError(text(options.ranges.size(), " ranges for ", count, " coordinates"));
  std::vector<Tensor> edges;
  for (size_t d = 0; d < count; ++d)
    edges.push_back(equal_edges(select(x, -1, static_cast<int64_t>(d)), bins[bins.size() == 1 ? 0 : d],
                                options.ranges.empty() ? std::nullopt : std::optional(options.ranges[d])));
  return cells_between(x, edges, options);
}

HistogramddResult histogramdd(const Tensor& x, const std::vector<Tensor>& edges, const HistogramddOptions& options) {
  ErrorFrame frame("histogramdd", x);
  const auto count = static_cast<size_t>(coordinates(x));
  if (edges.size() != count) throw ShapeError(text("edges of ", edges.size(), " coordinates, the points have ", count));
  if (!options.ranges.empty()) throw Error("ranges go with numbers of bins, not with edges");
  for (const Tensor& of_one : edges) check_edges(of_one);
  return cells_between(x, edges, options);
}

}  // namespace weft
