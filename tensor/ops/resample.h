// Descriptor of resampling. Each axis of an image is mapped linearly: every output pixel is a weighted sum of input
// pixels.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tensor/ops/infer.h"

namespace weft {

/// A linear map from an axis of `in` pixels to an axis of `out` pixels.
struct AxisMap {
  enum class Kind : uint8_t { identity, nearest, nearest_exact, linear, cubic, area };
  Kind kind = Kind::identity;
  int64_t in = 1;
  int64_t out = 1;
  double scale = 0;            // input pixels per output pixel; 0: in / out
  bool align_corners = false;  // align the centers of the first and last pixels instead of the edges of the image
  bool transposed = false;     // the adjoint, from `out` pixels to `in` pixels
  int64_t source() const { return transposed ? out : in; }
  int64_t target() const { return transposed ? in : out; }
  AxisMap transpose() const {
    AxisMap map = *this;
    map.transposed = !transposed;
    return map;
  }
  bool operator==(const AxisMap&) const = default;
};

std::string attribute_text(const AxisMap& value);

/// The source pixels and weights of each target pixel of a map. Those of target i are entries first[i] up to (not
/// including) first[i + 1] of `at` (the source pixel) and `weight` (never 0).
struct Taps {
  std::vector<int64_t> first = {0};
  std::vector<int64_t> at;
  std::vector<double> weight;
  int64_t count(int64_t i) const { return first[static_cast<size_t>(i) + 1] - first[static_cast<size_t>(i)]; }
};
/// Those of all targets.
Taps taps_of(const AxisMap& map);

/// Where the center of target pixel `i` of a map that is not transposed lies among the source pixels.
inline double center_of(const AxisMap& map, int64_t i) {
  const auto at = static_cast<double>(i), in = static_cast<double>(map.in), out = static_cast<double>(map.out);
  if (map.align_corners) return map.out > 1 ? at * (in - 1) / (out - 1) : 0.0;
  return (at + 0.5) * (map.scale > 0 ? map.scale : in / out) - 0.5;
}
/// Target pixel `i` of a linear map is `1 - part` of source pixel `low` and `part` of the next; the last one is the
/// next of itself.
struct LinearPlace {
  double low, part;
};
inline LinearPlace linear_place(const AxisMap& map, int64_t i) {
  const double at = std::max(center_of(map, i), 0.0), low = std::floor(at);
  return {std::min(low, static_cast<double>(map.in - 1)), at - low};
}
/// The source pixels of targets [begin, begin + count) of a nearest map.
void nearest_pixels(const AxisMap& map, int64_t begin, int64_t count, int64_t* pixels);

namespace op {

/// out(n, c, i, j) is the sum of w_i(a) w_j(b) x(n, c, a, b) over the source pixels a of the row map (`lines`) and b of
/// the column map. A pixel with weight 0 is not read. The gradient is the same op with both maps transposed.
struct Resample {
  AxisMap lines, columns;
  static constexpr std::string_view name = "resample";
  static constexpr std::string_view cost = "2 taps operations an output";
  static constexpr Policy policy = {.accepts = kFloating};
  void attributes(auto visit) const { visit("lines", lines), visit("columns", columns); }
  bool operator==(const Resample&) const = default;
  Spec infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& out) const;
};

}  // namespace op
}  // namespace weft
