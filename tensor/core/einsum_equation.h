// The equation of einsum, read and checked against the operands' shapes.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "tensor/core/shape.h"

namespace weft::detail {

/// Letters have labels 0 to 51 (A to Z, a to z), the axes of the ellipsis those after them, the last axis first.
inline constexpr int kLetters = 52;
inline constexpr int kMostLabels = kLetters + kMaxAxes;
using Labels = std::vector<int>;

struct Equation {
  std::vector<Labels> inputs;  // of every axis of each operand
  Labels output;
  std::array<int64_t, kMostLabels> sizes{};  // of each label; what is not 1 wins
};

/// Error naming the character where `equation` is malformed, ShapeError where it does not fit the shapes.
Equation read_equation(std::string_view equation, const std::vector<Shape>& shapes);

}  // namespace weft::detail
