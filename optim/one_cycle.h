// OneCycle: the learning rate rises to a maximum and then falls far below its initial value; the momentum changes in
// the opposite direction (Smith and Topin, "Super-convergence", arXiv 1708.07120). PyTorch's OneCycleLR.
#pragma once

#include "optim/schedule.h"

namespace weft::optim {

enum class Anneal { cosine, linear };

struct OneCycleOptions {
  double max_lr = 0;                 // highest learning rate, for all groups
  std::vector<double> max_lrs = {};  // one per group; replaces max_lr
  int64_t steps = 0;                 // length of the cycle; at least 2
  double rising = 0.3;               // fraction of the steps in which the learning rate rises
  Anneal anneal = Anneal::cosine;
  /// The learning rate first falls back to its initial value, in as many steps as it rose, then to the final one.
  bool three_phases = false;
  double start_divisor = 25;   // the initial learning rate is max_lr / start_divisor
  double final_divisor = 1e4;  // the final one is the initial one / final_divisor
  /// Also cycles the momentum of SGD and RMSprop, or beta1 of Adam. Ignored for an optimizer that has neither, where
  /// PyTorch raises an error.
  bool cycle_momentum = true;
  double base_momentum = 0.85;  // at the highest learning rate
  double max_momentum = 0.95;
};

/// `steps` is PyTorch's total_steps: as many learning rates, the first at construction and the last, the final one,
/// after steps - 1 steps. As in PyTorch, one more step is accepted (it keeps the final learning rate, where PyTorch's
/// goes on along its curve: up again, or below 0 with linear annealing), and the step after it is an Error.
class OneCycle final : public Schedule {
 public:
  OneCycle(Optimizer& optimizer, const OneCycleOptions& options);

 private:
  void apply() override;
  bool sets_momentum() const override { return options_.cycle_momentum; }

  OneCycleOptions options_;
};
using OneCycleLR = OneCycle;  // PyTorch's name

}  // namespace weft::optim
