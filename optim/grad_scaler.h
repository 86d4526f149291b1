// GradScaler: loss scaling for f16, so that small gradients do not underflow.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "optim/optimizer.h"

namespace weft::optim {

struct GradScalerOptions {
  double init_scale = 65536;
  double growth_factor = 2;        // above 1
  double backoff_factor = 0.5;     // in (0, 1)
  int64_t growth_interval = 2000;  // number of steps without Inf or NaN before the scale grows
  bool enabled = true;             // false: nothing is scaled and no step is skipped
};

/// Gradients below 6e-8 are 0 in f16. A GradScaler multiplies the loss by a scale and divides the gradients by it
/// before the step. A step whose gradients contain Inf or NaN is skipped and the scale is reduced; after many good
/// steps the scale grows. bf16 does not need a GradScaler. Same as torch.amp.GradScaler.
///   optim::GradScaler scaler;
///   {
///     Autocast autocast(f16);
///     loss = nn::cross_entropy(model(x), y);
///   }
///   scaler.scale(loss).backward();
///   scaler.unscale_(optimizer);                  // only where gradients are read or clipped
///   nn::clip_grad_norm(model.parameters(), 1.0);
///   scaler.step(optimizer);
///   scaler.update();
class GradScaler {
 public:
  /// Error if an option is out of range.
  explicit GradScaler(const GradScalerOptions& options = {});

  /// loss * scale, recorded for backward.
  Tensor scale(const Tensor& loss) const;
  /// Divides the gradients of the optimizer's parameters by the scale. Error if they were already divided since the
  /// last update(). DtypeError if a gradient is f16, where the quotient could underflow; only step() divides those, in
  /// f32.
  void unscale_(Optimizer& optimizer);
  /// Divides the gradients unless unscale_() did, then runs optimizer.step() unless a gradient contains Inf or NaN.
  /// Returns whether it made a step. 16-bit gradients are divided in f32 within the step; the stored gradients stay
  /// scaled. Error if step() was called since the last update(); after one that failed, call update() and go on with
  /// the next batch. No gradient at all counts as finite, where PyTorch raises an error.
  bool step(Optimizer& optimizer);
  /// Call it once per iteration, after the steps of all optimizers. Reduces the scale if a step was skipped, and
  /// increases it after growth_interval iterations without a skipped step; it stays where f32 would not hold the new
  /// one. Error if neither step() nor unscale_() was called.
  void update();
  /// Ends the iteration and sets the scale to `new_scale`. Error unless f32 holds it as a normal number above 0.
  void update(double new_scale);

  /// The current scale; 1 if not enabled.
  double get_scale() const { return options_.enabled ? scale_ : 1; }
  /// The number of iterations without a skipped step since update() last changed the scale; update(new_scale) keeps it,
  /// as in PyTorch.
  int64_t growth_tracker() const { return growth_tracker_; }
  /// The number of skipped steps.
  int64_t skipped() const { return skipped_; }
  const GradScalerOptions& options() const { return options_; }

  /// The numbers "scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker" (PyTorch's keys) and
  /// "skipped"; empty if not enabled.
  std::map<std::string, double> state_dict() const;
  /// Error, without changing anything, if a key is missing or out of range. Does nothing if not enabled.
  void load_state_dict(const std::map<std::string, double>& state);

 private:
  /// What happened to one optimizer's gradients since the last update().
  struct Record {
    const Optimizer* optimizer = nullptr;
    bool unscaled = false, stepped = false, finite = true;
  };
  friend class Accumulate;
  Record& record_of(const Optimizer& optimizer);
  /// Ends the iteration of an optimizer whose step failed.
  void forget(const Optimizer& optimizer);
  /// What happens to 16-bit gradients, which could vanish when divided.
  enum class Halves { refuse, leave_to_step };
  bool unscale_gradients(Optimizer& optimizer, Halves halves) const;
  void finish(bool all_finite);

  GradScalerOptions options_;
  double scale_;
  int64_t growth_tracker_ = 0, skipped_ = 0;
  std::vector<Record> records_;
};

}  // namespace weft::optim
