#include "nn/losses/margin.h"

#include "nn/losses/reduce.h"
#include "tensor/adjoints/index.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/distance.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/scan.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft::nn {
namespace {

using detail::check_class_weight;
using detail::check_one_per_class;
using detail::operand;
using detail::operands;
using detail::reduce;

/// a where the target is 1, b where it is -1, 0 elsewhere.
Tensor by_sign(const Tensor& target, const Tensor& a, const Tensor& b) {
  const Tensor none = zeros_like(a);
  return where(target == 1, a, none) + where(target == -1, b, none);
}

/// x (N, C) and integers of N rows; (C) counts as one row.
void check_rows(const Tensor& x, const Tensor& target, const Shape& expected) {
  if (x.rank() != 1 && x.rank() != 2) throw ShapeError(text("the input must be (N, C) or (C), not ", x.shape()));
  if (!is_integer(target.dtype())) throw DtypeError(text("targets must be integers, not ", target.dtype()));
  if (target.shape() != expected) throw ShapeError(text("targets must be ", expected, ", not ", target.shape()));
}

void check_classes(const Tensor& given, int64_t classes) {
  const Tensor all = dispatch::all_samples(given);
  const int64_t largest = all.numel() > 0 ? max(all).item<int64_t>() : -1;
  if (largest >= classes) throw IndexError(text("class ", largest, " is out of range for ", classes, " classes"));
}

/// The most entries that are set in a row, of any sample.
int64_t most_of_a_row(const Tensor& set) {
  const Tensor all = dispatch::all_samples(set);
  return all.numel() > 0 ? max(sum(all.to(i64), -1)).item<int64_t>() : 0;
}

/// What is above 0, with gradient 1 at 0 as well: PyTorch's clamp_min(0) in these losses.
Tensor above_zero(const Tensor& x) { return clip(x, 0.0, std::nullopt); }

}  // namespace

Tensor soft_margin_loss(const Tensor& input, const Tensor& labels, Reduction reduction) {
  ErrorFrame frame("soft_margin_loss", input, labels);
  const auto [x, target] = operands(input, labels);
  return reduce(softplus(-(target * x)), reduction);
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& labels, const HingeEmbeddingOptions& options) {
  ErrorFrame frame("hinge_embedding_loss", input, labels);
  const auto [x, target] = operands(input, labels);
  // As PyTorch: what is neither 1 nor -1 gets both parts.
  const Tensor none = zeros_like(x);
  const Tensor far = where(target == 1, none, above_zero(options.margin - x));
  return reduce(where(target == -1, none, x) + far, options.reduction);
}

Tensor margin_ranking_loss(const Tensor& first, const Tensor& second, const Tensor& labels,
                           const MarginRankingOptions& options) {
  ErrorFrame frame("margin_ranking_loss", first, second, labels);
  const auto [a, b] = operands(first, second);
  const Tensor target = operands(first, labels)[1];
  return reduce(above_zero(options.margin - target * (a - b)), options.reduction);
}

Tensor cosine_embedding_loss(const Tensor& first, const Tensor& second, const Tensor& target,
                             const CosineEmbeddingOptions& options) {
  ErrorFrame frame("cosine_embedding_loss", first, second, target);
  const auto [a, b] = operands(first, second);
  if (a.rank() < 1 || a.rank() > 2 || target.rank() != a.rank() - 1)
    throw ShapeError(
        text("(N, D), (N, D) and (N) are needed, or all without N, not ", a.shape(), " and ", target.shape()));
  if (!(options.margin >= -1 && options.margin <= 1))
    throw Error(text("margin must be in [-1, 1], not ", options.margin));
  if (target.rank() == 1 && target.size(0) != a.size(0))
    throw ShapeError(text("there are ", a.size(0), " pairs and ", target.size(0), " targets"));
  constexpr double kEps = 1e-12;  // PyTorch's
  const Tensor squares = (sum(square(a), -1) + kEps) * (sum(square(b), -1) + kEps);
  const Tensor cosine = sum(a * b, -1) * rsqrt(squares);
  return reduce(by_sign(target, 1.0 - cosine, above_zero(cosine - options.margin)), options.reduction);
}

Tensor triplet_margin_loss(const Tensor& start, const Tensor& near, const Tensor& distant,
                           const TripletMarginOptions& options) {
  ErrorFrame frame("triplet_margin_loss", start, near, distant);
  const Tensor anchor = operand(start), positive = operand(near), negative = operand(distant);
  if (!(options.margin > 0)) throw Error(text("margin must be positive, not ", options.margin));
  if (anchor.rank() == 0) throw ShapeError("vectors are needed");
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return options.distance ? options.distance(a, b) : pairwise_distance(a, b, options.p, options.eps);
  };
  Tensor far = distance(anchor, negative);
  if (options.swap) far = minimum(far, distance(positive, negative));
  return reduce(above_zero(distance(anchor, positive) - far + options.margin), options.reduction);
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginOptions& options) {
  ErrorFrame frame("multi_margin_loss", input, target);
  const Tensor x = operand(input);
  if (options.p != 1 && options.p != 2) throw Error(text("p must be 1 or 2, not ", options.p));
  check_rows(x, target, x.rank() == 2 ? Shape{x.size(0)} : Shape{});
  const int64_t classes = x.size(-1);
  check_class_weight(options.weight, classes);
  const Tensor index = unsqueeze(target.to(i64), -1);
  Tensor distance = relu(options.margin - gather(x, -1, index) + x);
  if (options.p == 2) distance = square(distance);
  if (options.weight.defined())
    distance = distance * reshape(index_select(options.weight, 0, flatten(index)), index.shape());
  const Tensor own = one_hot(target, classes) != 0.0;
  const Tensor loss = sum(where(own, zeros_like(distance), distance), -1) / static_cast<double>(classes);
  return reduce(loss, options.reduction);
}

Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  ErrorFrame frame("multilabel_margin_loss", input, target);
  const Tensor x = operand(input);
  check_rows(x, target, x.shape());
  if (x.rank() == 1) {
    const Tensor loss = multilabel_margin_loss(unsqueeze(x, 0), unsqueeze(target, 0), reduction);
    return reduction == Reduction::none ? squeeze(loss, 0) : loss;
  }
  const int64_t classes = x.size(1);
  const Tensor given = target.to(i64);
  // A row's classes end before its first negative entry.
  const Tensor counts = classes > 0 ? cummin(given, 1).values >= 0 : given >= 0;
  const Tensor of_row = where(counts, given, 0);
  check_classes(of_row, classes);
  const Tensor is_class = adjoint::scatter_add(counts.to(i64), 1, of_row, x.shape()) > 0;
  // (N, most classes of a row, classes): which pairs count, and how far they are apart.
  const int64_t most = most_of_a_row(counts);
  const Tensor pairs = logical_and(unsqueeze(slice(counts, 1, 0, most), 2), logical_not(unsqueeze(is_class, 1)));
  const Tensor distance = relu(1.0 - unsqueeze(gather(x, 1, slice(of_row, 1, 0, most)), 2) + unsqueeze(x, 1));
  const Tensor loss = sum(where(pairs, distance, zeros_like(distance)), {1, 2}) / static_cast<double>(classes);
  return reduce(loss, reduction);
}

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& labels,
                                   const MultilabelSoftMarginOptions& options) {
  ErrorFrame frame("multilabel_soft_margin_loss", input, labels);
  const auto [x, target] = operands(input, labels);
  if (x.rank() == 0) throw ShapeError("the input must be (..., C)");
  check_one_per_class(options.weight, x.size(-1));
  Tensor loss = target * softplus(-x) + (1.0 - target) * softplus(x);
  if (options.weight.defined()) loss = loss * options.weight;
  return reduce(mean(loss, -1), options.reduction);
}

}  // namespace weft::nn
