// GradScaler: losses scaled up so that small gradients survive in f16.
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
  int64_t growth_interval = 2000;  // steps without Inf or NaN after which the scale grows
  bool enabled = true;             // otherwise nothing is scaled and no step is skipped
};

/// Gradients below 6e-8 are 0 in f16. The loss is multiplied by a scale, gradients are divided by it before the step,
/// and a step whose gradients hold Inf or NaN is left out; the scale shrinks then, and grows after many good steps.
/// bf16 needs none of this. As torch.amp.GradScaler.
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
  /// Error for options out of range.
  explicit GradScaler(const GradScalerOptions& options = {});

  /// loss * scale, with history.
  Tensor scale(const Tensor& loss) const;
  /// Divides the gradients of the optimizer's parameters by the scale. Error where that was done since the last
  /// update(); DtypeError where a gradient is f16, in which the quotient could vanish: step() alone divides it, in f32.
  void unscale_(Optimizer& optimizer);
  /// Divides the gradients unless unscale_() did, and steps unless one of them holds Inf or NaN. Whether it stepped.
  /// Gradients of 16 bits are divided in f32 within the step: themselves, they stay multiplied by the scale. Error
  /// where it was called since the last update().
  bool step(Optimizer& optimizer);
  /// Once per iteration, after the steps of all optimizers: a smaller scale where one of them was left out, a larger
  /// one after growth_interval iterations without. Error where there was no step() or unscale_().
  void update();
  /// The same, with this scale from here on.
  void update(double new_scale);

  /// The scale; 1 where not enabled.
  double get_scale() const { return options_.enabled ? scale_ : 1; }
  /// Iterations since the scale changed.
  int64_t growth_tracker() const { return growth_tracker_; }
  /// How many steps were left out.
  int64_t skipped() const { return skipped_; }
  const GradScalerOptions& options() const { return options_; }

  /// "scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker" (as PyTorch's) and "skipped";
  /// empty where not enabled.
  std::map<std::string, double> state_dict() const;
  /// Error where a key is missing or out of range, with nothing changed. Does nothing where not enabled.
  void load_state_dict(const std::map<std::string, double>& state);

 private:
  /// What happened to the gradients of one optimizer since the last update().
  struct Record {
    const Optimizer* optimizer = nullptr;
    bool unscaled = false, stepped = false, finite = true;
  };
  Record& record_of(const Optimizer& optimizer);
  bool unscale_gradients(Optimizer& optimizer, bool halves_stay) const;
  void finish(bool all_finite);

  GradScalerOptions options_;
  double scale_;
  int64_t growth_tracker_ = 0, skipped_ = 0;
  std::vector<Record> records_;
};

}  // namespace weft::optim
