// Descriptors of optimizer steps: one pass over memory that writes parameters and states in place. All operands have
// one shape and one dtype, f32 or f64, any strides. The order of operations is PyTorch's (torch.optim, single-tensor
// forms), so trajectories agree.
#pragma once

#include <initializer_list>

#include "tensor/ops/infer.h"

namespace weft::op {

/// ShapeError or DtypeError where one of those that are given is not like the parameter.
void check_step_operands(const Operand& parameter, std::initializer_list<Operand> others);

/// g += weight_decay * parameter; buffer = momentum * buffer + (1 - dampening) * g;
/// parameter -= lr * (nesterov ? g + momentum * buffer : buffer), or lr * g without momentum, where there is no buffer.
struct SgdStep {
  double lr = 0;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool first = false;  // the first step with momentum: the buffer becomes the gradient itself, and is not read
  static constexpr std::string_view name = "sgd_step";
  static constexpr int outputs = 0;
  static constexpr uint32_t writes = 0b101;
  static constexpr Policy policy = {.accepts = only(f32) | only(f64), .optional = 0b100};
  void attributes(auto visit) const {
    visit("lr", lr), visit("momentum", momentum), visit("dampening", dampening), visit("weight_decay", weight_decay);
    visit("nesterov", nesterov), visit("first", first);
  }
  bool operator==(const SgdStep&) const = default;
  void infer(const Operand& parameter, const Operand& gradient, const Operand& buffer) const;
  void cpu(const Operand& parameter, const Operand& gradient, const Operand& buffer) const;
};

/// average += (1 - beta1) (g - average); square = beta2 * square + (1 - beta2) g^2;
/// parameter -= lr / (1 - beta1^t) * average / (sqrt(square) / sqrt(1 - beta2^t) + eps).
struct AdamStep {
  double lr = 0;
  double beta1 = 0;
  double beta2 = 0;
  double eps = 0;
  double weight_decay = 0;
  bool decoupled = false;  // AdamW: decay shrinks the parameter instead of joining the gradient
  int64_t step = 1;        // t, counts from 1
  static constexpr std::string_view name = "adam_step";
  static constexpr int outputs = 0;
  static constexpr uint32_t writes = 0b1101;
  static constexpr Policy policy = {.accepts = only(f32) | only(f64)};
  void attributes(auto visit) const {
    visit("lr", lr), visit("beta1", beta1), visit("beta2", beta2), visit("eps", eps);
    visit("weight_decay", weight_decay), visit("decoupled", decoupled), visit("step", step);
  }
  bool operator==(const AdamStep&) const = default;
  void infer(const Operand& parameter, const Operand& gradient, const Operand& average, const Operand& square) const;
  void cpu(const Operand& parameter, const Operand& gradient, const Operand& average, const Operand& square) const;
};

/// square = alpha * square + (1 - alpha) g^2; scaled = g / (sqrt(square) + eps), or with `average` (centered) the
/// root of square - average^2; buffer = momentum * buffer + scaled; parameter -= lr * buffer, or lr * scaled without
/// momentum, where there is no buffer.
struct RmspropStep {
  double lr = 0;
  double alpha = 0;
  double eps = 0;
  double weight_decay = 0;
  double momentum = 0;
  static constexpr std::string_view name = "rmsprop_step";
  static constexpr int outputs = 0;
  static constexpr uint32_t writes = 0b11101;
  static constexpr Policy policy = {.accepts = only(f32) | only(f64), .optional = 0b11000};
  void attributes(auto visit) const {
    visit("lr", lr), visit("alpha", alpha), visit("eps", eps), visit("weight_decay", weight_decay);
    visit("momentum", momentum);
  }
  bool operator==(const RmspropStep&) const = default;
  void infer(const Operand& parameter, const Operand& gradient, const Operand& square, const Operand& buffer,
             const Operand& average) const;
  void cpu(const Operand& parameter, const Operand& gradient, const Operand& square, const Operand& buffer,
           const Operand& average) const;
};

}  // namespace weft::op
