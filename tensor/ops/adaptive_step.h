// Descriptors of the steps of further adaptive optimizers. optimizer_step.h has Adam and RMSprop, and describes what
// all steps have in common. g is the gradient, plus weight_decay * parameter unless weight decay is decoupled.
#pragma once

#include "tensor/ops/optimizer_step.h"

namespace weft::op {

/// sum += g^2; parameter -= lr / (1 + (t - 1) lr_decay) * g / (sqrt(sum) + eps).
struct AdagradStep : CountedStep<optim::AdagradOptions> {
  static constexpr std::string_view name = "adagrad_step";
  static constexpr uint32_t writes = 0b101;
  void infer(const Operand& parameter, const Operand& gradient, const Operand& sum) const;
  void cpu(const Operand& parameter, const Operand& gradient, const Operand& sum) const;
};

/// square = rho * square + (1 - rho) g^2; d = sqrt(change + eps) / sqrt(square + eps) * g;
/// change = rho * change + (1 - rho) d^2; parameter -= lr * d.
struct AdadeltaStep : Step<optim::AdadeltaOptions> {
  static constexpr std::string_view name = "adadelta_step";
  static constexpr uint32_t writes = 0b1101;
  void infer(const Operand& parameter, const Operand& gradient, const Operand& square, const Operand& change) const;
  void cpu(const Operand& parameter, const Operand& gradient, const Operand& square, const Operand& change) const;
};

/// average += (1 - beta1) (g - average); largest = max(beta2 * largest, |g| + eps);
/// parameter -= lr / (1 - beta1^t) * average / largest.
struct AdamaxStep : CountedStep<optim::AdamaxOptions> {
  static constexpr std::string_view name = "adamax_step";
  static constexpr uint32_t writes = 0b1101;
  void infer(const Operand& parameter, const Operand& gradient, const Operand& average, const Operand& largest) const;
  void cpu(const Operand& parameter, const Operand& gradient, const Operand& average, const Operand& largest) const;
};

/// average and square are updated as in AdamStep. With m(t) = beta1 (1 - 0.96^(t * momentum_decay) / 2) and
/// P(t) = m(1) ... m(t),
/// parameter -= lr * (g (1 - m(t)) / (1 - P(t)) + average * m(t + 1) / (1 - P(t + 1)))
/// / (sqrt(square / (1 - beta2^t)) + eps).
struct NAdamStep : Step<optim::NAdamOptions> {
  int64_t step = 1;    // t, counts from 1
  double product = 1;  // m(1) ... m(t)
  static constexpr std::string_view name = "nadam_step";
  static constexpr uint32_t writes = 0b1101;
  void attributes(auto visit) const {
    Step::attributes(visit);
    visit("step", step), visit("product", product);
  }
  bool operator==(const NAdamStep&) const = default;
  void infer(const Operand& parameter, const Operand& gradient, const Operand& average, const Operand& square) const;
  void cpu(const Operand& parameter, const Operand& gradient, const Operand& average, const Operand& square) const;
};

/// average and square are updated as in AdamStep. With r = 2 / (1 - beta2) - 1 and
/// s = r - 2 t beta2^t / (1 - beta2^t): if s > 5,
/// parameter -= lr / (1 - beta1^t) * average * sqrt((s - 4) (s - 2) r / ((r - 4) (r - 2) s))
/// * sqrt(1 - beta2^t) / (sqrt(square) + eps), else parameter -= lr / (1 - beta1^t) * average.
struct RAdamStep : CountedStep<optim::RAdamOptions> {
  static constexpr std::string_view name = "radam_step";
  static constexpr uint32_t writes = 0b1101;
  void infer(const Operand& parameter, const Operand& gradient, const Operand& average, const Operand& square) const;
  void cpu(const Operand& parameter, const Operand& gradient, const Operand& average, const Operand& square) const;
};

/// parameter = (1 - lr * weight_decay) parameter - lr * sign(beta1 * average + (1 - beta1) g), where the sign of NaN is
/// NaN; average = beta2 * average + (1 - beta2) g.
struct LionStep : Step<optim::LionOptions> {
  static constexpr std::string_view name = "lion_step";
  static constexpr uint32_t writes = 0b101;
  void infer(const Operand& parameter, const Operand& gradient, const Operand& average) const;
  void cpu(const Operand& parameter, const Operand& gradient, const Operand& average) const;
};

}  // namespace weft::op
