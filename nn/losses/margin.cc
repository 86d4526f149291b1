#include "nn/losses/margin.h"

#include "nn/losses/reduce.h"
#include "tensor/adjoints/index.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/distance.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/masked.h"
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
  return masked_fill(a, target != 1, 0.0) + masked_fill(b, target != -1, 0.0);
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

/// The largest number of true entries in a row, over all samples.
int64_t most_of_a_row(const Tensor& set) {
  const Tensor all = dispatch::all_samples(set);
  return all.numel() > 0 ? max(sum(all.to(i64), -1)).item<int64_t>() : 0;
}

/// max(x, 0), with gradient 1 at 0 too, as PyTorch's clamp_min(0) in these losses.
Tensor above_zero(const Tensor& x) { return clip(x, 0.0, std::nullopt); }

}  // namespace

Tensor soft_margin_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  ErrorFrame frame("soft_margin_loss", x, target);
  const auto [input, labels] = operands(x, target);
  return reduce(softplus(-(labels * input)), reduction);
}

Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, const HingeEmbeddingOptions& options) {
  ErrorFrame frame("hinge_embedding_loss", x, target);
  const auto [input, labels] = operands(x, target);
  // As PyTorch: what is neither 1 nor -1 gets both parts.
  Tensor far = masked_fill(above_zero(options.margin - input), labels == 1, 0.0);
  return reduce(masked_fill(input, labels == -1, 0.0) + std::move(far), options.reduction);
}

Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& target,
                           const MarginRankingOptions& options) {
  ErrorFrame frame("margin_ranking_loss", a, b, target);
  const auto [first, second] = operands(a, b);
  const Tensor labels = operands(a, target)[1];
  return reduce(above_zero(options.margin - labels * (first - second)), options.reduction);
}

Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target,
                             const CosineEmbeddingOptions& options) {
  ErrorFrame frame("cosine_embedding_loss", a, b, target);
  const auto [first, second] = operands(a, b);
  if (first.rank() < 1 || first.rank() > 2 || target.rank() != first.rank() - 1)
    throw ShapeError(
        text("(N, D), (N, D) and (N) are needed, or all without N, not ", first.shape(), " and ", target.shape()));
  if (!(options.margin >= -1 && options.margin <= 1))
    throw Error(text("margin must be in [-1, 1], not ", options.margin));
  if (target.rank() == 1 && target.size(0) != first.size(0))
    throw ShapeError(text("there are ", first.size(0), " pairs and ", target.size(0), " targets"));
  // 16 bits hold neither the product of the sums of squares of usual vectors, nor in f16 what keeps it above 0.
  if (const DType dtype = promote(first.dtype(), second.dtype()); is_half_precision(dtype))
    return cast(cosine_embedding_loss(cast(first, f32), cast(second, f32), target, options), dtype);
  constexpr double kEps = 1e-12;  // PyTorch's
  // (A function frees the squares before the next are computed.)
  const auto length = [](const Tensor& x) { return sum(square(x), -1) + kEps; };
  const Tensor squares = length(first) * length(second);
  const Tensor cosine = sum(first * second, -1) * rsqrt(squares);
  return reduce(by_sign(target, 1.0 - cosine, above_zero(cosine - options.margin)), options.reduction);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginOptions& options) {
  ErrorFrame frame("triplet_margin_loss", anchor, positive, negative);
  const Tensor start = operand(anchor), near = operand(positive), distant = operand(negative);
  if (!(options.margin > 0)) throw Error(text("margin must be positive, not ", options.margin));
  if (start.rank() == 0) throw ShapeError("vectors are needed");
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return options.distance ? options.distance(a, b) : pairwise_distance(a, b, options.p, options.eps);
  };
  Tensor far = distance(start, distant);
  if (options.swap) far = minimum(far, distance(near, distant));
  return reduce(above_zero(distance(start, near) - far + options.margin), options.reduction);
}

Tensor multi_margin_loss(const Tensor& x, const Tensor& target, const MultiMarginOptions& options) {
  ErrorFrame frame("multi_margin_loss", x, target);
  const Tensor input = operand(x);
  if (options.p != 1 && options.p != 2) throw Error(text("p must be 1 or 2, not ", options.p));
  check_rows(input, target, input.rank() == 2 ? Shape{input.size(0)} : Shape{});
  const int64_t classes = input.size(-1);
  check_class_weight(options.weight, classes);
  const Tensor index = unsqueeze(target.to(i64), -1);
  Tensor distance = relu(options.margin - gather(input, -1, index) + input);
  if (options.p == 2) distance = square(distance);
  if (options.weight.defined())
    distance = distance * reshape(index_select(options.weight, 0, flatten(index)), index.shape());
  const Tensor own = index == arange(classes, i64, input.device());
  return reduce(mean(masked_fill(std::move(distance), own, 0.0), -1), options.reduction);
}

Tensor multilabel_margin_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  ErrorFrame frame("multilabel_margin_loss", x, target);
  const Tensor input = operand(x);
  check_rows(input, target, input.shape());
  if (input.rank() == 1) {
    const Tensor loss = multilabel_margin_loss(unsqueeze(input, 0), unsqueeze(target, 0), reduction);
    return reduction == Reduction::none ? squeeze(loss, 0) : loss;
  }
  const int64_t classes = input.size(1);
  const Tensor given = target.to(i64);
  // A row's classes end before its first negative entry.
  const Tensor counts = classes > 0 ? cummin(given, 1).values >= 0 : given >= 0;
  const Tensor of_row = where(counts, given, 0);
  check_classes(of_row, classes);
  const Tensor is_class = adjoint::scatter_add(counts.to(i64), 1, of_row, input.shape()) > 0;
  // (N, most classes of a row, classes): which pairs count, and how far they are apart.
  const int64_t most = most_of_a_row(counts);
  const Tensor pairs = logical_and(unsqueeze(slice(counts, 1, 0, most), 2), logical_not(unsqueeze(is_class, 1)));
  const Tensor distance = relu(1.0 - unsqueeze(gather(input, 1, slice(of_row, 1, 0, most)), 2) + unsqueeze(input, 1));
  const Tensor loss = sum(where(pairs, distance, 0.0), {1, 2}) / static_cast<double>(classes);
  return reduce(loss, reduction);
}

Tensor multilabel_soft_margin_loss(const Tensor& x, const Tensor& target, const MultilabelSoftMarginOptions& options) {
  ErrorFrame frame("multilabel_soft_margin_loss", x, target);
  const auto [input, labels] = operands(x, target);
  if (input.rank() == 0) throw ShapeError("the input must be (..., C)");
  check_one_per_class(options.weight, input.size(-1));
  Tensor loss = labels * softplus(-input) + (1.0 - labels) * softplus(input);
  if (options.weight.defined()) loss = loss * options.weight;
  return reduce(mean(loss, -1), options.reduction);
}

}  // namespace weft::nn
