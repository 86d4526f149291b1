// Descriptors of activations.
#pragma once

#include "tensor/ops/binary.h"
#include "tensor/ops/unary.h"

namespace weft::op {

#define WEFT_UNARY WEFT_UNARY_DESCRIPTOR
#include "tensor/ops/activation.inc"
#undef WEFT_UNARY

/// scale x where x > 0, else scale alpha (e^(input_scale x) - 1): elu, selu and celu.
struct Elu {
  double alpha;
  double scale;
  double input_scale;
  static constexpr std::string_view name = "elu";
  static constexpr Policy policy = kToFloating;
  void attributes(auto visit) const { visit("alpha", alpha), visit("scale", scale), visit("input_scale", input_scale); }
  bool operator==(const Elu&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// x limited to [min, max]. Unlike Clip, the gradient is 0 where x equals a bound.
struct Hardtanh {
  double min;
  double max;
  static constexpr std::string_view name = "hardtanh";
  static constexpr Policy policy = kToFloating;
  void attributes(auto visit) const { visit("min", min), visit("max", max); }
  bool operator==(const Hardtanh&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// 0 where |x| <= width; elsewhere x moved towards 0 by the width (softshrink), or x (hardshrink).
struct Shrinkage {
  double width;
  static constexpr Policy policy = kToFloating;
  void attributes(auto visit) const { visit("width", width); }
  bool operator==(const Shrinkage&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
};
struct Softshrink : Shrinkage {
  static constexpr std::string_view name = "softshrink";
  void cpu(const Operand& x, const Operand& out) const;
};
struct Hardshrink : Shrinkage {
  static constexpr std::string_view name = "hardshrink";
  void cpu(const Operand& x, const Operand& out) const;
};

/// x where x > threshold, else value.
struct Threshold {
  double threshold;
  double value;
  static constexpr std::string_view name = "threshold";
  static constexpr Policy policy = kToFloating;
  void attributes(auto visit) const { visit("threshold", threshold), visit("value", value); }
  bool operator==(const Threshold&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// x where x > 0, else slope * x.
struct Prelu : Binary {
  static constexpr std::string_view name = "prelu";
  static constexpr Policy policy = kQuotient;
  void cpu(const Operand& x, const Operand& slope, const Operand& out) const;
};

}  // namespace weft::op
