// The descriptors of cat, roll and padding with elements of the tensor.
#pragma once

#include "tensor/core/conv_options.h"
#include "tensor/ops/infer.h"

namespace weft {
std::string attribute_text(PadMode mode);
}  // namespace weft

namespace weft::op {

/// Joins tensors of one dtype along an axis.
struct Cat {
  int64_t axis;
  static constexpr std::string_view name = "cat";
  static constexpr Policy policy = {};
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const Cat&) const = default;
  Spec infer(Operands tensors) const;
  void cpu(Operands tensors, const Operand& out) const;
};

/// Element i along axis a is element (i - shifts[a]) mod size of x. Shifts are in [0, size).
struct Roll {
  IntList shifts;
  static constexpr std::string_view name = "roll";
  static constexpr Policy policy = {};
  void attributes(auto visit) const { visit("shifts", shifts); }
  bool operator==(const Roll&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// Adds widths[i] = {before, after} elements of x itself on axis i. Widths are not negative; the mode is not
/// `constant`.
struct PadMode {
  std::vector<Padding> widths;
  weft::PadMode mode;
  static constexpr std::string_view name = "pad_mode";
  static constexpr Policy policy = {};
  void attributes(auto visit) const { visit("widths", widths), visit("mode", mode); }
  bool operator==(const PadMode&) const = default;
  Spec infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& out) const;
};

/// The gradient of PadMode: for every element of x, the sum of the elements of g that are copies of it.
struct PadModeBackward {
  std::vector<Padding> widths;
  weft::PadMode mode;
  static constexpr std::string_view name = "pad_mode_backward";
  static constexpr Policy policy = {.accepts = kFloating};
  void attributes(auto visit) const { visit("widths", widths), visit("mode", mode); }
  bool operator==(const PadModeBackward&) const = default;
  Spec infer(const Operand& g) const;
  void cpu(const Operand& g, const Operand& out) const;
};

}  // namespace weft::op
