// SWALR: anneals the learning rate to a constant value, for the steps whose weights Swa averages.
#pragma once

#include "optim/one_cycle.h"
#include "optim/schedule.h"

namespace weft::optim {

struct SwaLrOptions {
  double swa_lr = 0;                 // the final learning rate, for all groups
  std::vector<double> swa_lrs = {};  // one per group; replaces swa_lr
  int64_t steps = 10;                // number of steps until it is reached; 0: immediately
  Anneal anneal = Anneal::cosine;
};

/// Anneals from the learning rates that the groups have at its first step to swa_lr. Same as PyTorch. Another schedule
/// may run before it:
///   if (epoch < 160) cosine.step(); else swa_lr.step(), swa.update();
/// A group that is added later takes part too; with `swa_lrs`, a step is then an Error.
class SWALR final : public Schedule {
 public:
  /// Error unless swa_lr > 0 (each of swa_lrs, of which there is one for each group) and steps >= 0.
  SWALR(Optimizer& optimizer, const SwaLrOptions& options);
  void step() override;

 private:
  /// With steps = 0, sets the learning rate to swa_lr at construction.
  void apply() override;
  void check_rates() const;
  /// The weight of swa_lr in the learning rate after `step` steps.
  double share(int64_t step) const;
  /// Moves the learning rates from share(step - 1) to share(step).
  void set_rates(int64_t step);

  SwaLrOptions options_;
};

}  // namespace weft::optim
