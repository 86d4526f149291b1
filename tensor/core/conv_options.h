// The options of conv2d: plain numbers, which the op's descriptor and its kernel read as they are.
#pragma once

#include <cstdint>

namespace weft {

/// A pair of sizes, height and width; one number means both.
struct Pair {
  int64_t height = 0;
  int64_t width = 0;
  constexpr Pair() = default;
  constexpr Pair(int64_t both) : height(both), width(both) {}
  constexpr Pair(int64_t h, int64_t w) : height(h), width(w) {}
  /// 0 is the height, 1 the width.
  constexpr int64_t operator[](int64_t axis) const { return axis == 0 ? height : width; }
  bool operator==(const Pair&) const = default;
};

struct Conv2dOptions {
  Pair stride = 1;
  Pair padding = 0;
  Pair dilation = 1;
  int64_t groups = 1;
  bool operator==(const Conv2dOptions&) const = default;
};

}  // namespace weft
