#include "metrics/predictions.h"

#include "tensor/all.h"

namespace weft::metrics {
namespace {

/// The rows of `x` where `kept` is true, in order.
Tensor rows_where(const Tensor& x, const Tensor& kept) {
  const int64_t n = kept.size(0), count = sum(kept).item<int64_t>();
  if (count == n) return x;
  // Rows that stay come first in a stable order.
  return index_select(x, 0, slice(argsort(logical_not(kept), 0), 0, 0, count));
}

void check_labels(const Tensor& labels) {
  if (!is_integer(labels.dtype()) && labels.dtype() != boolean)
    throw DtypeError(text("labels are classes, integers, not ", labels.dtype()));
}

detail::Pairs without_ignored(const Tensor& predictions, const Tensor& labels, int64_t ignore_index) {
  const Tensor kept = labels != ignore_index;
  return {rows_where(predictions, kept), rows_where(labels, kept)};
}

Tensor flat_labels(const Tensor& labels) {
  check_labels(labels);
  return reshape(labels.detach().to(Device::cpu()).to(i64), {labels.numel()});
}

}  // namespace

void detail::check_classes(const Tensor& list, int64_t classes, const char* what) {
  if (list.numel() == 0) return;
  for (const Tensor& extreme : {min(list), max(list)}) {
    const int64_t value = extreme.item<int64_t>();
    if (value < 0 || value >= classes)
      throw IndexError(text(what, " ", value, " is out of range for ", classes, " classes"));
  }
}

void detail::check_no_nan(const Tensor& scores) {
  if (any(isnan(scores)).item<bool>()) throw Error("a score is NaN");
}

detail::Pairs detail::kept_scores(const Tensor& predictions, const Tensor& labels, int64_t ignore_index) {
  bool fits = predictions.rank() == labels.rank() + 1 && labels.rank() > 0 && predictions.size(0) == labels.size(0);
  for (int64_t i = 1; fits && i < labels.rank(); ++i) fits = predictions.size(i + 1) == labels.size(i);
  if (!fits)
    throw ShapeError(
        text("scores are (n, classes, ...) for labels (n, ...), not ", predictions.shape(), " for ", labels.shape()));
  const int64_t classes = predictions.size(1);
  if (classes == 0) throw ShapeError("there are scores of 0 classes");
  const Tensor scores = movedim(predictions.detach().to(Device::cpu()), 1, -1);
  return without_ignored(reshape(scores, {labels.numel(), classes}), flat_labels(labels), ignore_index);
}

detail::Pairs detail::scores_of(const Tensor& predictions, const Tensor& labels, int64_t ignore_index) {
  detail::Pairs pairs = detail::kept_scores(predictions, labels, ignore_index);
  detail::check_classes(pairs.labels, pairs.predicted.size(1), "label");
  return pairs;
}

detail::Pairs detail::pairs_of(const Tensor& predictions, const Tensor& labels, int64_t ignore_index) {
  if (predictions.shape() == labels.shape()) {
    if (!is_integer(predictions.dtype()) && predictions.dtype() != boolean)
      throw DtypeError(text("predictions of the labels' shape are classes, integers, not ", predictions.dtype(),
                            "; scores have the classes at axis 1"));
    return without_ignored(flat_labels(predictions), flat_labels(labels), ignore_index);
  }
  const detail::Pairs scores = detail::kept_scores(predictions, labels, ignore_index);
  if (scores.predicted.size(1) == 1)
    throw ShapeError(text("scores ", predictions.shape(),
                          " are of one class, which is always the best; give the classes themselves, as in "
                          "`scores.squeeze(1) > 0`"));
  detail::check_classes(scores.labels, scores.predicted.size(1), "label");
  detail::check_no_nan(scores.predicted);
  return {argmax(scores.predicted, 1), scores.labels};
}

}  // namespace weft::metrics
