// SWALR: the rate goes to a constant one, for the steps whose weights Swa averages.
#pragma once

#include "optim/one_cycle.h"
#include "optim/schedule.h"

namespace weft::optim {

struct SwaLrOptions {
  double swa_lr = 0;   // of every group, in the end
  int64_t steps = 10;  // until it is reached; 0: at once
  Anneal anneal = Anneal::cosine;
};

/// From the rates that the groups have at its first step to swa_lr; PyTorch's. Another schedule may run before:
///   if (epoch < 160) cosine.step(); else swa_lr.step(), swa.update();
class SWALR final : public Schedule {
 public:
  /// Error unless swa_lr is positive and steps are 0 or more.
  SWALR(Optimizer& optimizer, const SwaLrOptions& options);
  void step() override;

 private:
  /// Without steps the rate is swa_lr from the beginning, which is now.
  void apply() override;
  /// The share of swa_lr in the rate after `step` steps.
  double share(int64_t step) const;
  /// Takes the rates from share(step - 1) to share(step).
  void set_rates(int64_t step);

  SwaLrOptions options_;
};

}  // namespace weft::optim
