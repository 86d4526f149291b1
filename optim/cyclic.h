// CyclicLR: the learning rate oscillates between two bounds (Smith, "Cyclical learning rates", arXiv 1506.01186).
#pragma once

#include "optim/schedule.h"

namespace weft::optim {

/// How the amplitude of the cycles changes: constant; halved after each cycle; multiplied by gamma after each step.
enum class CycleMode { triangular, triangular2, exp_range };

struct CyclicOptions {
  double base_lr = 0;                 // lower bound, for all groups
  double max_lr = 0;                  // upper bound of the first cycle
  std::vector<double> base_lrs = {};  // one per group; replaces base_lr
  std::vector<double> max_lrs = {};   // one per group; replaces max_lr
  int64_t up = 2000;                  // steps from the lower bound to the upper bound
  int64_t down = 0;                   // steps back to the lower bound; 0: the same as `up`
  CycleMode mode = CycleMode::triangular;
  double gamma = 1;  // exp_range: the amplitude after `step` steps is gamma^step
  /// The amplitude as a function of the cycle, counted from 1; replaces `mode`.
  std::function<double(double)> scale_fn = nullptr;
  bool scale_by_cycle = true;  // false: scale_fn takes the step instead of the cycle
  /// Also cycles the momentum of SGD and RMSprop, or beta1 of Adam, in the opposite direction. Ignored for an optimizer
  /// that has neither, where PyTorch raises an error.
  bool cycle_momentum = true;
  double base_momentum = 0.8;  // at the highest learning rate
  double max_momentum = 0.9;
};

/// base_lr + (max_lr - base_lr) * amplitude * x, where x goes linearly from 0 to 1 and back to 0 in each cycle. Same as
/// PyTorch.
class CyclicLR final : public Schedule {
 public:
  CyclicLR(Optimizer& optimizer, const CyclicOptions& options);

 private:
  void apply() override;
  bool sets_momentum() const override { return options_.cycle_momentum; }

  CyclicOptions options_;
};

}  // namespace weft::optim
