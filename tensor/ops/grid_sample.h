// Descriptors of sampling images at arbitrary points (spatial transformer networks: Jaderberg et al., arXiv
// 1506.02025), and of its gradients.
#pragma once

#include <array>

#include "tensor/core/interpolation.h"
#include "tensor/ops/infer.h"

namespace weft {

std::string attribute_text(const GridSampleOptions& value);

namespace op {

/// Samples x (N, C, [D,] H, W) at the points of grid (N, [D',] H', W', 2 or 3), which are (column, row[, depth]) in
/// [-1, 1]: (N, C, [D',] H', W').
struct GridSample {
  GridSampleOptions options;
  static constexpr std::string_view name = "grid_sample";
  static constexpr std::string_view cost = "4 to 16 taps an output";
  static constexpr Policy policy = {.accepts = kFloating, .autocast = Autocasting::full};
  void attributes(auto visit) const { visit("options", options); }
  bool operator==(const GridSample&) const = default;
  Spec infer(const Operand& x, const Operand& grid) const;
  void cpu(const Operand& x, const Operand& grid, const Operand& out) const;
};

/// The gradients of x and grid. Gradients whose bit (0, 1) is not in `wanted` are not computed and have shape [0].
struct GridSampleBackward {
  GridSampleOptions options;
  int wanted = 0b11;
  static constexpr std::string_view name = "grid_sample_backward";
  static constexpr std::string_view cost = "8 to 32 taps an output";
  static constexpr int outputs = 2;
  static constexpr Policy policy = {.accepts = kFloating, .autocast = Autocasting::full};
  void attributes(auto visit) const { visit("options", options), visit("wanted", wanted); }
  bool operator==(const GridSampleBackward&) const = default;
  std::array<Spec, 2> infer(const Operand& g, const Operand& x, const Operand& grid) const;
  void cpu(const Operand& g, const Operand& x, const Operand& grid, const Operand& dx, const Operand& dgrid) const;
};

}  // namespace op
}  // namespace weft
