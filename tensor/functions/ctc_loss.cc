#include "tensor/functions/ctc_loss.h"

#include <limits>

#include "tensor/adjoints/ctc_loss.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/ctc_loss.h"

namespace weft {
namespace {

/// Targets one after the other as (N, S), padded with zeros.
Tensor padded(const Tensor& targets, const Tensor& lengths) {
  if (!is_integer(targets.dtype()) || !is_integer(lengths.dtype())) return targets;  // the op refuses them
  const std::vector<int64_t> all = targets.to_vector<int64_t>(), counts = lengths.to_vector<int64_t>();
  int64_t total = 0, longest = 0;
  for (const int64_t count : counts) {
    if (count < 0) throw IndexError(text("target length ", count, " is negative"));
    total = checked_add(total, count), longest = std::max(longest, count);
  }
  if (total != targets.numel())
    throw ShapeError(text("target lengths add up to ", total, ", but there are ", targets.numel(), " targets"));
  const auto rows = static_cast<int64_t>(counts.size());
  std::vector<int64_t> out(static_cast<size_t>(checked_multiply(rows, longest)), 0);
  auto from = all.begin();
  for (size_t i = 0; i < counts.size(); ++i) {
    std::copy_n(from, counts[i], out.begin() + static_cast<int64_t>(i) * longest);
    from += counts[i];
  }
  return Tensor::from(out, {rows, longest}).to(targets.device());
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CtcOptions& options) {
  Frame frame("ctc_loss", log_probs, targets, input_lengths, target_lengths);
  if (log_probs.rank() == 2) {
    const Tensor loss = ctc_loss(unsqueeze(log_probs, 1), unsqueeze(targets, 0), reshape(input_lengths, {1}),
                                 reshape(target_lengths, {1}), options);
    return options.reduction == Reduction::none ? squeeze(loss, 0) : loss;
  }
  const Tensor rows = targets.rank() == 1 ? padded(targets, target_lengths) : targets;
  Tensor loss = dispatch::apply(op::CtcLoss{options.blank}, log_probs, rows, input_lengths, target_lengths);
  if (options.zero_infinity) loss = where(loss == std::numeric_limits<double>::infinity(), zeros_like(loss), loss);
  if (options.reduction == Reduction::none) return loss;
  if (options.reduction == Reduction::sum) return sum(loss);
  return mean(loss / clip(cast(target_lengths, loss.dtype()), 1, std::nullopt));
}

Tensor adjoint::ctc_loss_backward(const Tensor& g, const Tensor& log_probs, const Tensor& targets,
                                  const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank) {
  Frame frame("ctc_loss_backward", g, log_probs, targets);
  return dispatch::apply(op::CtcLossBackward{blank}, g, log_probs, targets, input_lengths, target_lengths);
}

}  // namespace weft
