// The descriptors of padding with elements of the tensor.
#pragma once

#include <string>
#include <vector>

#include "tensor/core/conv_options.h"
#include "tensor/ops/infer.h"

namespace weft {
std::string attribute_text(PadMode mode);
}  // namespace weft

namespace weft::op {

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
