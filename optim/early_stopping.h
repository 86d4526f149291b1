// EarlyStopping: says when a metric has not improved for too long.
#pragma once

#include "optim/optimizer.h"

namespace weft::optim {

struct EarlyStoppingOptions {
  int64_t patience = 5;   // steps without an improvement that are let pass
  double threshold = 0;   // an improvement is more than this
  bool maximize = false;  // a higher metric is better
};

///   if (stopping.step(validation_loss)) break;
///   if (stopping.improved()) io::save_checkpoint(...);
class EarlyStopping {
 public:
  explicit EarlyStopping(const EarlyStoppingOptions& options = {});
  /// Whether more than `patience` steps in a row brought no improvement; NaN is none.
  bool step(double metric);
  /// Whether the last step brought one.
  bool improved() const { return bad_steps_ == 0 && steps_ > 0; }
  /// The best metric so far; infinite before the first step.
  double best() const { return best_; }
  /// Steps since then.
  int64_t bad_steps() const { return bad_steps_; }

  State state_dict() const;
  /// Error where a number is missing, with nothing changed.
  void load_state_dict(const State& state);

 private:
  EarlyStoppingOptions options_;
  double best_;
  int64_t bad_steps_ = 0, steps_ = 0;
};

}  // namespace weft::optim
