// Gradient accumulation over several batches per step.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "optim/grad_scaler.h"
#include "optim/optimizer.h"

namespace weft::optim {

/// Makes one optimizer step per `batches` calls, as if these were one batch whose loss is the mean of their losses:
///   optim::Accumulate accumulate(optimizer, 4);
///   for (const auto& [x, y] : loader)
///     if (accumulate.backward(nn::cross_entropy(model(x), y))) schedule.step();
/// Using an Accumulate after its optimizer was destroyed is an Error.
class Accumulate {
 public:
  /// Error unless batches >= 1.
  Accumulate(Optimizer& optimizer, int64_t batches);
  /// With loss scaling: backward() scales the loss, and a step is that of the scaler, which is updated after it. The
  /// gradients that on_step() sees are not scaled any more. The scaler must outlive this object.
  Accumulate(Optimizer& optimizer, int64_t batches, GradScaler& scaler);

  /// Calls backward() on loss / batches. After every `batches`-th call it runs a step and zero_grad(), and returns
  /// true. Clip gradients in on_step(). If backward of the loss throws, the gradients that it had accumulated until
  /// then remain, and the batch is not counted.
  bool backward(const Tensor& loss);
  /// Makes a step with the batches accumulated so far, for an epoch whose number of batches is not a multiple of
  /// `batches`. The gradients are still divided by `batches`, so that every batch has the same weight. Returns whether
  /// it made a step: false if no batch is waiting. An exception of on_step() or of the step discards the batches; the
  /// next call of backward() is the first of new ones.
  bool flush();
  /// Sets a function that runs immediately before each step: `[&] { nn::clip_grad_norm(model.parameters(), 1.0); }`.
  void on_step(std::function<void()> before);
  /// The number of batches accumulated since the last step.
  int64_t waiting() const { return waiting_; }

  /// The number of batches, how many are accumulated, and their gradients, by the parameter's position in the
  /// optimizer. The tensors share the gradients' memory.
  State state_dict() const;
  /// Replaces the gradients of the optimizer's parameters and continues with the batches of `state`. Error, without
  /// changing anything, if it belongs to another number of batches or other parameters.
  void load_state_dict(const State& state);

 private:
  void step(Optimizer& optimizer);
  OptimizerHandle optimizer_;
  GradScaler* scaler_ = nullptr;
  int64_t batches_, waiting_ = 0;
  std::function<void()> before_;
};

}  // namespace weft::optim
