// Descriptors of optimizer steps. A descriptor has the hyper-parameters (tensor/core/hyper_parameters.h) and the state
// of a single step. A step is one pass over memory that writes parameters and states in place. All operands have one
// shape and one dtype, f32 or f64, and any strides. `maximize` is not read here: the gradient already has the sign for
// minimizing. The order of operations is that of PyTorch (torch.optim, single-tensor implementations), so that
// parameters develop in the same way.
#pragma once

#include <initializer_list>
#include <span>

#include "tensor/core/hyper_parameters.h"
#include "tensor/ops/infer.h"

namespace weft::op {

/// ShapeError or DtypeError if a defined operand does not have the parameter's shape and dtype.
void check_step_operands(const Operand& parameter, std::span<const Operand> others);
/// The same, and DtypeError unless the parameter is f32 or f64.
void check_step(const Operand& parameter, std::initializer_list<Operand> others);

/// The base of all step descriptors: the hyper-parameters are attributes.
template <class Options> struct Step : Options {
  static constexpr int outputs = 0;
  static constexpr Policy policy = {.accepts = DTypes{f32, f64}};
  void attributes(auto visit) const {
    Options::fields(*this, [&](const char* field, const auto& value, auto) { visit(field, value); });
  }
  bool operator==(const Step&) const = default;
};
/// A step descriptor with the number of the step.
template <class Options> struct CountedStep : Step<Options> {
  int64_t step = 1;  // t, counts from 1
  void attributes(auto visit) const {
    Step<Options>::attributes(visit);
    visit("step", step);
  }
  bool operator==(const CountedStep&) const = default;
};

/// g += weight_decay * parameter; buffer = momentum * buffer + (1 - dampening) * g;
/// parameter -= lr * (nesterov ? g + momentum * buffer : buffer). Without momentum there is no buffer and
/// parameter -= lr * g.
struct SgdStep : Step<optim::SGDOptions> {
  bool first = false;  // the first step with momentum: the buffer is not read and is set to g
  static constexpr std::string_view name = "sgd_step";
  static constexpr uint32_t writes = 0b101;
  static constexpr Policy policy = {.accepts = DTypes{f32, f64}, .optional = 0b100};
  void attributes(auto visit) const {
    Step::attributes(visit);
    visit("first", first);
  }
  bool operator==(const SgdStep&) const = default;
  void infer(const Operand& parameter, const Operand& gradient, const Operand& buffer) const;
  void cpu(const Operand& parameter, const Operand& gradient, const Operand& buffer) const;
};

/// average += (1 - beta1) (g - average); square = beta2 * square + (1 - beta2) g^2;
/// parameter -= lr / (1 - beta1^t) * average / (sqrt(square) / sqrt(1 - beta2^t) + eps). With `largest` (AMSGrad),
/// largest = max(largest, square) replaces square in the last formula.
struct AdamStep : Step<optim::AdamOptions> {
  bool decoupled = false;  // AdamW: decay scales the parameter and is not added to the gradient
  int64_t step = 1;        // t, counts from 1
  static constexpr std::string_view name = "adam_step";
  static constexpr uint32_t writes = 0b11101;
  static constexpr Policy policy = {.accepts = DTypes{f32, f64}, .optional = 0b10000};
  void attributes(auto visit) const {
    Step::attributes(visit);
    visit("decoupled", decoupled), visit("step", step);
  }
  bool operator==(const AdamStep&) const = default;
  void infer(const Operand& parameter, const Operand& gradient, const Operand& average, const Operand& square,
             const Operand& largest) const;
  void cpu(const Operand& parameter, const Operand& gradient, const Operand& average, const Operand& square,
           const Operand& largest) const;
};

/// square = alpha * square + (1 - alpha) g^2; scaled = g / (sqrt(square) + eps), or with `average` (centered),
/// sqrt(square - average^2) instead of sqrt(square); buffer = momentum * buffer + scaled; parameter -= lr * buffer.
/// Without momentum there is no buffer and parameter -= lr * scaled.
struct RmspropStep : Step<optim::RMSpropOptions> {
  static constexpr std::string_view name = "rmsprop_step";
  static constexpr uint32_t writes = 0b11101;
  static constexpr Policy policy = {.accepts = DTypes{f32, f64}, .optional = 0b11000};
  void infer(const Operand& parameter, const Operand& gradient, const Operand& square, const Operand& buffer,
             const Operand& average) const;
  void cpu(const Operand& parameter, const Operand& gradient, const Operand& square, const Operand& buffer,
           const Operand& average) const;
};

}  // namespace weft::op
