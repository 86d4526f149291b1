// CyclicLR: the rate goes up and down between two bounds (Smith, "Cyclical learning rates", arXiv 1506.01186).
#pragma once

#include "optim/schedule.h"

namespace weft::optim {

/// The height of the cycles: constant; half of the one before; exponential in the steps.
enum class CycleMode { triangular, triangular2, exp_range };

struct CyclicOptions {
  double base_lr = 0;                 // the lower bound, of every group
  double max_lr = 0;                  // the upper bound of the first cycle
  std::vector<double> base_lrs = {};  // of each group, in place of base_lr
  std::vector<double> max_lrs = {};   // of each group, in place of max_lr
  int64_t up = 2000;                  // steps from the lower bound to the upper one
  int64_t down = 0;                   // and back; 0: as many
  CycleMode mode = CycleMode::triangular;
  double gamma = 1;                                  // exp_range: the height after `step` steps is gamma^step
  std::function<double(double)> scale_fn = nullptr;  // the height in place of a mode's: of the cycle, from 1 on,
  bool scale_by_cycle = true;                        // or of the step where this is false
  bool cycle_momentum = true;                        // the other way round: SGD's and RMSprop's momentum, Adam's beta1
  double base_momentum = 0.8;                        // where the rate is highest
  double max_momentum = 0.9;
};

/// base_lr + (max_lr - base_lr) height (0 ... 1 ... 0). PyTorch's.
class CyclicLR final : public Schedule {
 public:
  CyclicLR(Optimizer& optimizer, const CyclicOptions& options);

 private:
  void apply() override;

  CyclicOptions options_;
};

}  // namespace weft::optim
