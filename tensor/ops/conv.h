// 2-D convolution (cross-correlation, as everywhere in the field).
#pragma once

#include "tensor/apply.h"

namespace weft {

/// A pair of sizes, height and width; one number means both.
struct Pair {
  int64_t height = 0;
  int64_t width = 0;
  constexpr Pair() = default;
  constexpr Pair(int64_t both) : height(both), width(both) {}
  constexpr Pair(int64_t h, int64_t w) : height(h), width(w) {}
  bool operator==(const Pair&) const = default;
};

struct Conv2dOptions {
  Pair stride = 1;
  Pair padding = 0;
  Pair dilation = 1;
  int64_t groups = 1;
};

/// x (N, C, H, W), weight (O, C / groups, kh, kw), bias (O) or undefined; the result is (N, O, H', W') in channels-last
/// memory order. H' = (H + 2 padding - dilation (kh - 1) - 1) / stride + 1.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options = {});
Tensor conv2d(const Tensor& x, const Tensor& weight, const Conv2dOptions& options = {});

}  // namespace weft
