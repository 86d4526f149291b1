// EarlyStopping: tells when a metric has stopped improving.
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

struct EarlyStoppingOptions {
  int64_t patience = 5;   // number of steps without an improvement that are tolerated
  double threshold = 0;   // an improvement must be larger than this
  bool maximize = false;  // true: a higher metric is better
};

/// Tells a training loop when to stop:
///   if (stopping.step(validation_loss)) break;
///   if (stopping.improved()) io::save_checkpoint(...);
class EarlyStopping {
 public:
  explicit EarlyStopping(const EarlyStoppingOptions& options = {});
  /// Returns true after more than `patience` consecutive steps without an improvement. NaN is never an improvement.
  bool step(double metric);
  /// Whether the last step was an improvement.
  bool improved() const { return bad_steps_ == 0 && steps_ > 0; }
  /// The best metric so far; infinity (with the sign of the worst value) before the first step.
  double best() const { return best_; }
  /// The number of steps since the last improvement.
  int64_t bad_steps() const { return bad_steps_; }

  State state_dict() const;
  /// Error, without changing anything, if a number is missing.
  void load_state_dict(const State& state);

 private:
  EarlyStoppingOptions options_;
  double best_;
  int64_t bad_steps_ = 0, steps_ = 0;
};

}  // namespace weft::optim
