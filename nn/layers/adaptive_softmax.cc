#include "nn/layers/adaptive_softmax.h"

#include <cmath>

#include "nn/layers/options.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/arg_reduce.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/index_put.h"
#include "tensor/functions/nonzero.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/softmax.h"
#include "tensor/functions/view.h"

namespace weft::nn {
namespace {

const AdaptiveLogSoftmaxOptions& checked(const AdaptiveLogSoftmaxOptions& o) {
  ErrorFrame frame("AdaptiveLogSoftmaxWithLoss");
  detail::check_positive("in_features", o.in_features);
  detail::check_positive("n_classes", o.n_classes);
  if (o.cutoffs.empty()) throw Error("cutoffs are missing");
  for (size_t i = 0; i < o.cutoffs.size(); ++i)
    if (o.cutoffs[i] < 1 || o.cutoffs[i] >= o.n_classes || (i > 0 && o.cutoffs[i] <= o.cutoffs[i - 1]))
      throw Error(text("cutoffs must ascend from 1 to below ", o.n_classes, ", not ", o.cutoffs[i], " at place ", i));
  if (!(o.div_value > 0)) throw Error(text("div_value must be positive, not ", o.div_value));
  return o;
}

/// The scores of the most frequent classes and of the clusters.
Linear head_of(const AdaptiveLogSoftmaxOptions& o) {
  const int64_t scores = o.cutoffs[0] + static_cast<int64_t>(o.cutoffs.size());
  return Linear({.in_features = o.in_features, .out_features = scores, .bias = o.head_bias, .dtype = o.dtype});
}

Linear projection(int64_t in, int64_t out, DType dtype) {
  return Linear({.in_features = in, .out_features = out, .bias = false, .dtype = dtype});
}

void check_classes(const Tensor& target, int64_t classes) {
  const Tensor all = dispatch::all_samples(target);
  if (all.numel() == 0) return;
  for (const int64_t t : {min(all).item<int64_t>(), max(all).item<int64_t>()})
    if (t < 0 || t >= classes) throw IndexError(text("target ", t, " is out of range for ", classes, " classes"));
}

}  // namespace

AdaptiveLogSoftmaxWithLoss::AdaptiveLogSoftmaxWithLoss(const AdaptiveLogSoftmaxOptions& o)
    : options_(checked(o)),
      head_(register_module("head", head_of(o))),
      tail_(register_module("tail", ModuleList<Sequential>())) {
  for (size_t i = 0; i < o.cutoffs.size(); ++i) {
    const double wanted = static_cast<double>(o.in_features) / std::pow(o.div_value, static_cast<double>(i + 1));
    const auto width = static_cast<int64_t>(wanted);
    ErrorFrame frame("AdaptiveLogSoftmaxWithLoss");
    if (width == 0)
      throw Error(text("cluster ", i, " would project ", o.in_features, " features to none (divided by ", o.div_value,
                       "^", i + 1, "); give a smaller div_value or fewer cutoffs"));
    const int64_t end = i + 1 < o.cutoffs.size() ? o.cutoffs[i + 1] : o.n_classes;
    tail_.push_back(
        Sequential(projection(o.in_features, width, o.dtype), projection(width, end - o.cutoffs[i], o.dtype)));
  }
}

Tensor AdaptiveLogSoftmaxWithLoss::log_prob(const Tensor& x) const {
  ErrorFrame frame("AdaptiveLogSoftmaxWithLoss", x);
  const Tensor head = log_softmax(head_(x), -1);
  const int64_t frequent = options_.cutoffs[0];
  std::vector<Tensor> parts = {narrow(head, -1, 0, frequent)};
  int64_t at = frequent;
  for (const Sequential& cluster : tail_) parts.push_back(log_softmax(cluster(x), -1) + narrow(head, -1, at++, 1));
  return cat(parts, -1);
}

Tensor AdaptiveLogSoftmaxWithLoss::of_targets(const Tensor& x, const Tensor& target) const {
  const Tensor head = log_softmax(head_(x), -1);
  Tensor entry = target, inside = zeros_like(select(head, -1, 0));
  size_t i = 0;
  for (const Sequential& cluster : tail_) {
    const int64_t column = options_.cutoffs[0] + static_cast<int64_t>(i), begin = options_.cutoffs[i++];
    const int64_t end = i < options_.cutoffs.size() ? options_.cutoffs[i] : options_.n_classes;
    const Tensor is_in = logical_and(target >= begin, target < end), rows = flatnonzero(is_in);
    if (rows.numel() == 0) continue;
    entry = where(is_in, column, entry);
    const Tensor own = log_softmax(cluster(index_select(x, 0, rows)), -1);
    const Tensor place = unsqueeze(index_select(target, 0, rows) - begin, 1);
    inside = index_add(inside, 0, rows, squeeze(gather(own, 1, place), 1));
  }
  return squeeze(gather(head, 1, unsqueeze(entry, 1)), 1) + inside;
}

AdaptiveLogSoftmaxOutput AdaptiveLogSoftmaxWithLoss::forward(const Tensor& x, const Tensor& target) const {
  ErrorFrame frame("AdaptiveLogSoftmaxWithLoss", x, target);
  if (!is_integer(target.dtype())) throw DtypeError(text("targets must be integers, not ", target.dtype()));
  if (x.rank() != target.rank() + 1 || x.rank() > 2 || (x.rank() == 2 && x.size(0) != target.size(0)))
    throw ShapeError("the inputs must be (N, in_features) and (N), or (in_features) and ()");
  if (x.rank() == 1) {
    const auto [output, loss] = forward(unsqueeze(x, 0), unsqueeze(target, 0));
    return {squeeze(output, 0), loss};
  }
  const Tensor classes = target.to(i64);
  check_classes(classes, options_.n_classes);
  // In vmap all clusters are computed for all rows: which rows a cluster needs depends on the targets' values.
  const bool is_batched = x.device().kind == DeviceKind::vmap || target.device().kind == DeviceKind::vmap;
  const Tensor output = is_batched ? squeeze(gather(log_prob(x), 1, unsqueeze(classes, 1)), 1) : of_targets(x, classes);
  return {output, -mean(output)};
}

Tensor AdaptiveLogSoftmaxWithLoss::predict(const Tensor& x) const { return argmax(log_prob(x), -1); }

AdaptiveLogSoftmaxOutput AdaptiveLogSoftmaxWithLoss::operator()(const Tensor& x, const Tensor& target) const {
  return in_layer(
      *this, [&](const Tensor& a, const Tensor& b) { return forward(a, b); }, x, target);
}

}  // namespace weft::nn
