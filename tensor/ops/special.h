// Descriptors of special functions, and of element-wise formulas used by losses.
#pragma once

#include "tensor/ops/binary.h"
#include "tensor/ops/unary.h"

namespace weft::op {

#define WEFT_UNARY WEFT_UNARY_DESCRIPTOR
#include "tensor/ops/special.inc"
#undef WEFT_UNARY

/// The derivative of digamma of the given order (1 or more).
struct Polygamma {
  int64_t order;
  static constexpr std::string_view name = "polygamma";
  static constexpr Policy policy = kDelicate;
  void attributes(auto visit) const { visit("order", order); }
  bool operator==(const Polygamma&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// The derivative of log_ndtr: the density of the normal distribution divided by its distribution function.
struct LogNdtrSlope : Elementwise {
  static constexpr std::string_view name = "log_ndtr_slope";
  static constexpr Policy policy = kDelicate;
  void cpu(const Operand& x, const Operand& out) const;
};

/// x^(a - 1) e^-x / Gamma(a), the derivative of igamma by x: the density of the gamma distribution.
struct GammaDensity : Binary {
  static constexpr std::string_view name = "gamma_density";
  static constexpr Policy policy = kDelicatePair;
  void cpu(const Operand& a, const Operand& x, const Operand& out) const;
};

/// (a - b)^2
struct SquaredDifference : Binary {
  static constexpr std::string_view name = "squared_difference";
  static constexpr Policy policy = kDelicatePair;
  void cpu(const Operand& a, const Operand& b, const Operand& out) const;
};

/// log(1 + e^x) - x y
struct LogisticLoss : Binary {
  static constexpr std::string_view name = "logistic_loss";
  static constexpr Policy policy = kDelicatePair;
  void cpu(const Operand& x, const Operand& y, const Operand& out) const;
};

/// (a - b)^2 / 2 where |a - b| <= delta, else delta (|a - b| - delta / 2).
struct Huber : Binary {
  double delta = 1;
  static constexpr std::string_view name = "huber";
  static constexpr Policy policy = kDelicatePair;
  void attributes(auto visit) const { visit("delta", delta); }
  bool operator==(const Huber&) const = default;
  void cpu(const Operand& a, const Operand& b, const Operand& out) const;
};

}  // namespace weft::op
