// ReduceOnPlateau: the rate falls where a metric has stopped to improve.
#pragma once

#include "optim/schedule.h"

namespace weft::optim {

struct PlateauOptions {
  double factor = 0.1;      // of the rate
  int64_t patience = 10;    // steps without an improvement that are let pass
  double threshold = 1e-4;  // the least improvement that counts
  bool relative = true;     // the threshold is a share of the best metric; else it is an amount
  int64_t cooldown = 0;     // steps after a change in which nothing is counted
  double min_lr = 0;
  std::vector<double> min_lrs = {};  // of each group, in place of min_lr
  double eps = 1e-8;                 // a change that is smaller is not made
  bool maximize = false;             // a higher metric is better
};

/// Multiplies the rate of every group by `factor` when the metric has not improved in more than `patience` steps; NaN
/// is no improvement. A group that is added later takes part; with `min_lrs`, a step is an Error then.
///   plateau.step(validation_loss);
class ReduceOnPlateau final : public Schedule {
 public:
  explicit ReduceOnPlateau(Optimizer& optimizer, const PlateauOptions& options = {});

  void step(double metric);
  /// The best metric so far; infinite before the first step.
  double best() const { return best_; }

 private:
  void step() override;
  void advance(std::optional<double> metric) override;
  void save(State& out) const override;
  void load(const State& state) override;
  bool improves(double metric) const;
  void reduce();

  PlateauOptions options_;
  double best_;
  int64_t bad_steps_ = 0, cooling_ = 0;
};
using ReduceLROnPlateau = ReduceOnPlateau;  // PyTorch's name

}  // namespace weft::optim
