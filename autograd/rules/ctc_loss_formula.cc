// The formula of connectionist temporal classification, with public ops.
#include <limits>

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

namespace weft::autograd::formulas {
namespace {

/// The log of what cannot be: its exponential is 0, and no difference of two is NaN.
constexpr double kNever = -1e30;

/// The states of all sequences, (N, 2 S + 1): their classes, which of them a path may enter past a blank, and which end
/// one.
struct States {
  Tensor classes, skips, first, last;
};

States states_of(int64_t blank, const Tensor& targets, const Tensor& lengths) {
  const int64_t n = targets.size(0), longest = targets.size(1), width = 2 * longest + 1;
  const Device device = targets.device();
  const Tensor counts = unsqueeze(cast(lengths, i64), 1), labels = cast(targets, i64);
  const Tensor states = arange(0, width, 1, i64, device), counted = arange(0, longest, 1, i64, device) < counts;
  // A blank, then each class with the blank behind it.
  const auto spread = [&](const Tensor& at_classes, const Tensor& at_blanks) {
    const Tensor pairs = reshape(stack({at_classes, expand(at_blanks, {n, longest})}, 2), {n, 2 * longest});
    return cat({expand(at_blanks, {n, 1}), pairs}, 1);
  };
  const Tensor nothing = zeros({1, 1}, boolean, device);
  Tensor differs = expand(nothing, {n, longest});
  if (longest > 0)
    differs = cat({expand(nothing, {n, 1}), narrow(labels, 1, 1, longest - 1) != narrow(labels, 1, 0, longest - 1)}, 1);
  const Tensor none = full({1, 1}, blank, i64, device);
  return {spread(where(counted, labels, none), none), spread(logical_and(counted, differs), nothing), states < 2,
          logical_or(states == counts * 2, states == counts * 2 - 1)};
}

}  // namespace

Tensor ctc_loss_formula(int64_t blank, bool zero_infinity, const Tensor& log_probs, const Tensor& targets,
                        const Tensor& input_lengths, const Tensor& target_lengths) {
  const States states = states_of(blank, targets, target_lengths);
  const int64_t width = states.classes.size(1), n = targets.size(0);
  const Tensor never = full({n, width}, kNever, log_probs.dtype(), log_probs.device());
  // Row t of log_probs as the states read it; below what cannot be there is nothing to tell apart.
  const auto at = [&](int64_t t) { return gather(select(log_probs, 0, t), 1, states.classes); };
  const auto shifted = [&](const Tensor& alpha, int64_t by) {
    by = std::min(by, width);
    return cat({narrow(never, 1, 0, by), narrow(alpha, 1, 0, width - by)}, 1);
  };
  Tensor alpha = never;
  for (int64_t t = 0; t < log_probs.size(0); ++t) {
    Tensor next = where(states.first, at(0), never);
    if (t > 0) {
      const Tensor skipped = where(states.skips, shifted(alpha, 2), never);
      next = logsumexp(stack({alpha, shifted(alpha, 1), skipped}), 0) + at(t);
    }
    alpha = where(unsqueeze(input_lengths > t, 1), next, alpha);
  }
  const Tensor total = logsumexp(where(states.last, alpha, never), 1);
  const double impossible = zero_infinity ? 0 : std::numeric_limits<double>::quiet_NaN();
  return -total * where(total > kNever / 2, ones_like(total.detach()), impossible);
}

}  // namespace weft::autograd::formulas
