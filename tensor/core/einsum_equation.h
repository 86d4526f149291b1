// The parser of einsum equations, which also checks the shapes of the operands.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "tensor/core/shape.h"

namespace weft::detail {

/// Letters have labels 0 to 51 (A to Z, a to z). The axes of the ellipsis have the labels from 52 on, the last axis
/// first.
inline constexpr int kLetters = 52;
inline constexpr int kMostLabels = kLetters + kMaxAxes;
using Labels = std::vector<int>;

struct Equation {
  std::vector<Labels> inputs;  // for each operand, the labels of its axes
  Labels output;
  std::array<int64_t, kMostLabels> sizes{};  // the size of each label after broadcasting
};

/// Error, naming the character, if `equation` is malformed; ShapeError if it does not match the shapes.
Equation read_equation(std::string_view equation, const std::vector<Shape>& shapes);

}  // namespace weft::detail
