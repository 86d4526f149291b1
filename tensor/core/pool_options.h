// The options of pooling, used by the public functions, the op's descriptor and its kernel.
#pragma once

#include <optional>

#include "tensor/core/conv_options.h"

namespace weft {

/// The distance between consecutive windows: one number, one per axis as `{2, 1}`, or absent.
template <class Sizes> struct PoolStride : std::optional<Sizes> {
  using std::optional<Sizes>::optional;
  using std::optional<Sizes>::operator=;
  constexpr PoolStride(int64_t height, int64_t width) requires(Sizes::kAxes == 2)
      : std::optional<Sizes>(Sizes(height, width)) {}
  constexpr PoolStride(int64_t depth, int64_t height, int64_t width) requires(Sizes::kAxes == 3)
      : std::optional<Sizes>(Sizes(depth, height, width)) {}
  const std::optional<Sizes>& sizes() const { return *this; }
  friend bool operator==(const PoolStride& a, const PoolStride& b) { return a.sizes() == b.sizes(); }
};

template <class Sizes> struct PoolOptionsOf {
  Sizes kernel_size = 0;
  PoolStride<Sizes> stride = std::nullopt;  // default: the kernel size
  Sizes padding = 0;
  Sizes dilation = 1;  // max pools only
  /// Also use a last window that begins inside the input or its leading padding and ends beyond the padded input.
  bool ceil_mode = false;
  bool count_include_pad = true;                           // avg pools only: padding is part of the divisor of a mean
  std::optional<int64_t> divisor_override = std::nullopt;  // avg pools only: divide the sums by this number
  /// The distance between consecutive windows: the stride if given, else the kernel size.
  constexpr Sizes step() const { return stride.value_or(kernel_size); }
  bool operator==(const PoolOptionsOf&) const = default;
};
using Pool1dOptions = PoolOptionsOf<Size1>;
using Pool2dOptions = PoolOptionsOf<Size2>;
using Pool3dOptions = PoolOptionsOf<Size3>;

}  // namespace weft
