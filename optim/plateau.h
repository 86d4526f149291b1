// ReduceOnPlateau: reduces the learning rate when a metric stops improving.
#pragma once

#include "optim/schedule.h"

namespace weft::optim {

struct PlateauOptions {
  double factor = 0.1;      // factor on the learning rate
  int64_t patience = 10;    // number of steps without an improvement that are tolerated
  double threshold = 1e-4;  // the smallest change that counts as an improvement
  /// true: the threshold is relative to the best metric; false: it is an absolute difference.
  bool relative = true;
  int64_t cooldown = 0;  // number of steps after a reduction in which none are counted
  double min_lr = 0;
  std::vector<double> min_lrs = {};  // one per group; replaces min_lr
  double eps = 1e-8;                 // smaller changes of the learning rate are not made
  bool maximize = false;             // true: a higher metric is better
};

/// Multiplies the learning rate of every group by `factor` when the metric has not improved for more than `patience`
/// steps. NaN is never an improvement. A group that is added later takes part too; with `min_lrs`, a step is then an
/// Error.
///   plateau.step(validation_loss);
class ReduceOnPlateau final : public Schedule {
 public:
  explicit ReduceOnPlateau(Optimizer& optimizer, const PlateauOptions& options = {});

  void step(double metric);
  /// The best metric so far; infinity (with the sign of the worst value) before the first step.
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
