#include "tensor/functions/ctc_loss.h"

#include "tensor/adjoints/ctc_loss.h"
#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/scan.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/ctc_loss.h"

namespace weft {
namespace {

/// The longest of a batch, in vmap of all samples' batches: rows may be padded further than needed. Each batch must
/// name all of `targets`.
int64_t longest_of(const Tensor& lengths, int64_t targets) {
  int64_t total = 0, longest = 0, named = 0;
  for (const int64_t count : dispatch::all_samples(lengths).to_vector<int64_t>()) {
    if (count < 0) throw IndexError(text("target length ", count, " is negative"));
    total = checked_add(total, count), longest = std::max(longest, count);
    if (++named < lengths.numel()) continue;
    if (total != targets)
      throw ShapeError(text("target lengths add up to ", total, ", but there are ", targets, " targets"));
    total = named = 0;
  }
  return longest;
}

/// Targets one after the other as (N, S), padded with zeros.
Tensor padded(const Tensor& targets, const Tensor& lengths) {
  if (!is_integer(targets.dtype()) || !is_integer(lengths.dtype())) return targets;  // the op refuses them
  if (lengths.rank() != 1) throw ShapeError(text("lengths must be (N), not shape ", lengths.shape()));
  const int64_t rows = lengths.numel(), longest = longest_of(lengths, targets.numel());
  if (targets.numel() == 0) return zeros({rows, 0}, targets.dtype(), targets.device());
  const Tensor counts = unsqueeze(cast(lengths, i64), 1);
  const Tensor steps = arange(0, longest, 1, i64, targets.device());
  const Tensor place = where(steps < counts, cumsum(counts, 0) - counts + steps, 0);
  const Tensor taken = reshape(index_select(targets, 0, reshape(place, {-1})), {rows, longest});
  return where(steps < counts, taken, 0);
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CtcOptions& options) {
  ErrorFrame frame("ctc_loss", log_probs, targets, input_lengths, target_lengths);
  if (log_probs.rank() == 2) {
    if (targets.rank() != 1 || input_lengths.numel() != 1 || target_lengths.numel() != 1)
      throw ShapeError(text("log_probs (T, C) need targets (S) and 0-d lengths, not ", targets.shape(), ", ",
                            input_lengths.shape(), " and ", target_lengths.shape()));
    const Tensor loss = ctc_loss(unsqueeze(log_probs, 1), unsqueeze(targets, 0), reshape(input_lengths, {1}),
                                 reshape(target_lengths, {1}), options);
    return options.reduction == Reduction::none ? squeeze(loss, 0) : loss;
  }
  const Tensor rows = targets.rank() == 1 ? padded(targets, target_lengths) : targets;
  const Tensor loss = dispatch::apply(op::CtcLoss{options.blank, options.zero_infinity}, log_probs, rows, input_lengths,
                                      target_lengths);
  if (options.reduction == Reduction::none) return loss;
  if (options.reduction == Reduction::sum) return sum(loss);
  return mean(loss / clip(cast(target_lengths, loss.dtype()), 1, std::nullopt));
}

Tensor adjoint::ctc_loss_backward(const Tensor& g, const Tensor& log_probs, const Tensor& targets,
                                  const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank,
                                  bool zero_infinity) {
  ErrorFrame frame("ctc_loss_backward", g, log_probs, targets);
  return dispatch::apply(op::CtcLossBackward{blank, zero_infinity}, g, log_probs, targets, input_lengths,
                         target_lengths);
}

}  // namespace weft
