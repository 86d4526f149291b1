// The options of pooling: plain numbers, which the op's descriptor and its kernel read as they are.
#pragma once

#include <optional>

#include "tensor/core/conv_options.h"

namespace weft {

/// The distance of two windows: one number, one per axis as `{2, 1}`, or none.
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
  PoolStride<Sizes> stride = std::nullopt;  // the kernel size where absent
  Sizes padding = 0;
  Sizes dilation = 1;             // max pools only
  bool ceil_mode = false;         // windows that begin inside of the padded input count, whole or not
  bool count_include_pad = true;  // avg pools only: whether padding counts in what a mean divides by
  std::optional<int64_t> divisor_override = std::nullopt;  // avg pools only: what sums are divided by instead
  /// The distance of two windows: the stride, or what stands for it.
  constexpr Sizes step() const { return stride.value_or(kernel_size); }
  bool operator==(const PoolOptionsOf&) const = default;
};
using Pool1dOptions = PoolOptionsOf<Size1>;
using Pool2dOptions = PoolOptionsOf<Size2>;
using Pool3dOptions = PoolOptionsOf<Size3>;

}  // namespace weft
