#include "nn/losses/linear_cross_entropy.h"

#include <algorithm>
#include <vector>

#include "autograd/checkpoint.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/cross_entropy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/linear.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"

namespace weft::nn {
namespace {

int64_t rows_of_a_part(int64_t classes, int64_t asked) {
  constexpr int64_t kLogits = int64_t{1} << 24, kLeast = 128;
  return asked > 0 ? asked : std::max(kLeast, kLogits / std::max<int64_t>(classes, 1));
}

/// The divisor of the mean: the number of targets that count, or the sum of their weights.
Tensor total_weight(const Tensor& targets, const LinearCrossEntropyOptions& options, DType dtype) {
  if (is_floating(targets.dtype())) return full({}, targets.size(0), dtype, targets.device());
  const Tensor counts = targets != options.ignore_index;
  if (!options.weight.defined()) return cast(sum(counts), dtype);
  const Tensor weights = index_select(options.weight, 0, where(counts, targets, 0));
  return sum(cast(where(counts, weights, 0), dtype));
}

}  // namespace

Tensor linear_cross_entropy(const Tensor& x, const Tensor& matrix, const Tensor& targets,
                            const LinearCrossEntropyOptions& options) {
  ErrorFrame frame("linear_cross_entropy", x, matrix, targets);
  if (x.rank() == 0 || matrix.rank() != 2) throw ShapeError("x must be (..., F) and the matrix (C, F)");
  const bool soft = is_floating(targets.dtype());
  const Shape places(x.shape().begin(), x.shape().end() - 1);
  Shape expected = places;
  if (soft) expected.push_back(matrix.size(0));
  if (targets.shape() != expected) throw ShapeError(text("the targets must be ", expected, ", not ", targets.shape()));
  if (options.rows < 0) throw Error(text("rows must be 0 or more, not ", options.rows));

  const int64_t count = checked_numel(places), classes = matrix.size(0);
  const Tensor inputs = reshape(x, {count, x.size(-1)});
  const Tensor wanted = reshape(targets, soft ? Shape{count, classes} : Shape{count});
  const CrossEntropyOptions each = {options.weight, options.ignore_index, options.label_smoothing, Reduction::none};
  const int64_t part = rows_of_a_part(classes, options.rows);
  // 16-bit parameters are cast to f32 outside of the parts and back inside, so that the parts' gradients are added in
  // f32 and rounded once.
  const auto wide = [&](const Tensor& t) {
    const bool adds = count > part && t.defined() && is_half_precision(t.dtype()) && t.requires_grad();
    return adds ? cast(t, f32) : t;
  };
  const auto narrow = [](const Tensor& t, const Tensor& like) { return t.defined() ? cast(t, like.dtype()) : t; };
  const auto part_loss = [=, w = wide(matrix), b = wide(options.bias), bias = options.bias](const Tensor& rows,
                                                                                            const Tensor& of) {
    return cross_entropy(linear(rows, narrow(w, matrix), narrow(b, bias)), of, each);
  };
  std::vector<Tensor> losses;
  for (int64_t at = 0; at < count && count > part; at += part)
    losses.push_back(autograd::checkpoint(part_loss, slice(inputs, 0, at, at + part), slice(wanted, 0, at, at + part)));
  const Tensor all = losses.empty() ? part_loss(inputs, wanted) : cat(losses);
  if (options.reduction == Reduction::none) return reshape(all, places);
  if (options.reduction == Reduction::sum) return sum(all);
  const DType sums = promote(all.dtype(), f32);  // the sum of thousands of losses is more than f16 holds
  return cast(sum(cast(all, sums)) / total_weight(wanted, options, sums), all.dtype());
}

}  // namespace weft::nn
