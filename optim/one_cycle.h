// OneCycle: the rate rises to a maximum and falls far below its start, the momentum the other way round (Smith and
// Topin, "Super-convergence", arXiv 1708.07120). PyTorch's OneCycleLR.
#pragma once

#include "optim/schedule.h"

namespace weft::optim {

enum class Anneal { cosine, linear };

struct OneCycleOptions {
  double max_lr = 0;                 // of every group
  std::vector<double> max_lrs = {};  // of each group, in place of max_lr
  int64_t steps = 0;                 // of the whole cycle, at least 2
  double rising = 0.3;               // the share of the steps in which the rate rises
  Anneal anneal = Anneal::cosine;
  bool three_phases = false;    // back to the first rate as fast as it rose, and only then far below
  double start_divisor = 25;    // the first rate is max_lr / start_divisor
  double final_divisor = 1e4;   // the last one is the first / final_divisor
  bool cycle_momentum = true;   // SGD's and RMSprop's momentum, Adam's beta1
  double base_momentum = 0.85;  // where the rate is highest
  double max_momentum = 0.95;
};

/// The last rate holds after `steps` steps; Error in a step beyond.
class OneCycle final : public Schedule {
 public:
  OneCycle(Optimizer& optimizer, const OneCycleOptions& options);

 private:
  void apply() override;

  OneCycleOptions options_;
};
using OneCycleLR = OneCycle;  // PyTorch's name

}  // namespace weft::optim
