// The formula of connectionist temporal classification, with public ops.
#include "autograd/rules/ctc_loss.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft::autograd::detail {
namespace {

/// The log of what cannot be: its exponential is 0, and no difference of two is NaN.
constexpr double kNever = -1e30;

/// The states of all sequences, (N, 2 S + 1): their classes, which of them a path may enter past a blank, and which end
/// one.
struct States {
  Tensor classes, skips, first, last;
};

States states_of(int64_t blank, const Tensor& targets, const Tensor& lengths) {
  const std::vector<int64_t> list = targets.to_vector<int64_t>(), counts = lengths.to_vector<int64_t>();
  const int64_t n = targets.size(0), longest = targets.size(1), width = 2 * longest + 1;
  std::vector<int64_t> classes(static_cast<size_t>(n * width), blank), skips(classes.size(), 0),
      last(classes.size(), 0);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t count = counts[static_cast<size_t>(i)], row = i * width;
    for (int64_t k = 0; k < count; ++k) {
      const auto at = static_cast<size_t>(i * longest + k), state = static_cast<size_t>(row + 2 * k + 1);
      classes[state] = list[at];
      skips[state] = k > 0 && list[at] != list[at - 1];
    }
    last[static_cast<size_t>(row + 2 * count)] = 1;
    if (count > 0) last[static_cast<size_t>(row + 2 * count - 1)] = 1;
  }
  const auto made = [&](const std::vector<int64_t>& values) {
    return Tensor::from(values, {n, width}).to(targets.device());
  };
  return {made(classes), made(skips) != 0, arange(0, width, 1, i64, targets.device()) < 2, made(last) != 0};
}

}  // namespace

Tensor ctc_loss_formula(int64_t blank, const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                        const Tensor& target_lengths) {
  const States states = states_of(blank, targets, target_lengths);
  const int64_t width = states.classes.size(1), n = targets.size(0);
  const Tensor never = full({n, width}, kNever, log_probs.dtype(), log_probs.device());
  // Row t of log_probs as the states read it; below what cannot be there is nothing to tell apart.
  const auto at = [&](int64_t t) { return gather(select(log_probs, 0, t), 1, states.classes); };
  const auto shifted = [&](const Tensor& alpha, int64_t by) {
    by = std::min(by, width);
    return cat({narrow(never, 1, 0, by), narrow(alpha, 1, 0, width - by)}, 1);
  };
  Tensor alpha = never, loss = zeros({n}, log_probs.dtype(), log_probs.device());
  for (int64_t t = 0; t < log_probs.size(0); ++t) {
    Tensor next = where(states.first, at(0), never);
    if (t > 0) {
      const Tensor skipped = where(states.skips, shifted(alpha, 2), never);
      next = logsumexp(stack({alpha, shifted(alpha, 1), skipped}), 0) + at(t);
    }
    alpha = where(unsqueeze(input_lengths > t, 1), next, alpha);
  }
  const Tensor total = logsumexp(where(states.last, alpha, never), 1);
  return where(total > kNever / 2, -total, loss);
}

}  // namespace weft::autograd::detail
