// Gradients of several batches before a step.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "optim/optimizer.h"

namespace weft::optim {

/// Steps once per `batches` calls, as if these were one batch whose loss is the mean of theirs:
///   optim::Accumulate accumulate(optimizer, 4);
///   for (const auto& [x, y] : loader)
///     if (accumulate.backward(nn::cross_entropy(model(x), y))) schedule.step();
/// An Accumulate that outlives its optimizer throws an Error when it is used.
class Accumulate {
 public:
  /// Error unless batches is 1 or more.
  Accumulate(Optimizer& optimizer, int64_t batches);

  /// backward() of loss / batches; after every `batches`-th call a step and zero_grad(). Returns whether it stepped.
  /// Clip gradients in on_step().
  bool backward(const Tensor& loss);
  /// Steps with what is there: at the end of an epoch whose batches do not divide. The sum of fewer batches is divided
  /// by `batches` all the same, so that each batch counts alike. Does nothing where there is nothing.
  bool flush();
  /// What runs right before each step: `[&] { nn::clip_grad_norm(model.parameters(), 1.0); }`.
  void on_step(std::function<void()> before) { before_ = std::move(before); }
  /// How many batches wait for a step.
  int64_t waiting() const { return waiting_; }

 private:
  OptimizerHandle optimizer_;
  int64_t batches_, waiting_ = 0;
  std::function<void()> before_;
};

}  // namespace weft::optim
