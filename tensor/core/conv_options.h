// The options of convolutions: those of the public functions, and the form that the op's descriptor and kernel use.
#pragma once

#include <cstdint>

namespace weft {

/// The size of one axis. It has the interface of Size2 and Size3, for code that handles one to three axes.
struct Size1 {
  static constexpr int64_t kAxes = 1;
  int64_t width = 0;
  constexpr Size1() = default;
  constexpr Size1(int64_t w) : width(w) {}
  constexpr int64_t operator[](int64_t) const { return width; }
  bool operator==(const Size1&) const = default;
};

/// A pair of sizes, height and width; one number means both.
struct Size2 {
  static constexpr int64_t kAxes = 2;
  int64_t height = 0;
  int64_t width = 0;
  constexpr Size2() = default;
  constexpr Size2(int64_t both) : height(both), width(both) {}
  constexpr Size2(int64_t h, int64_t w) : height(h), width(w) {}
  /// 0 is the height, 1 the width.
  constexpr int64_t operator[](int64_t axis) const { return axis == 0 ? height : width; }
  bool operator==(const Size2&) const = default;
};

/// Three sizes, depth, height and width; one number means all.
struct Size3 {
  static constexpr int64_t kAxes = 3;
  int64_t depth = 0;
  int64_t height = 0;
  int64_t width = 0;
  constexpr Size3() = default;
  constexpr Size3(int64_t all) : depth(all), height(all), width(all) {}
  constexpr Size3(int64_t d, int64_t h, int64_t w) : depth(d), height(h), width(w) {}
  /// `sizes` as three sizes; the axes that it does not have come first and get the value `missing`.
  static constexpr Size3 of(const Size1& sizes, int64_t missing) { return {missing, missing, sizes.width}; }
  static constexpr Size3 of(const Size2& sizes, int64_t missing) { return {missing, sizes.height, sizes.width}; }
  static constexpr Size3 of(const Size3& sizes, int64_t) { return sizes; }
  /// 0 is the depth, 1 the height, 2 the width.
  constexpr int64_t operator[](int64_t axis) const { return axis == 0 ? depth : axis == 1 ? height : width; }
  bool operator==(const Size3&) const = default;
};

/// The algorithm of a convolution.
/// `direct` sums the products of each window. f64 always uses it, and so does bf16 where the CPU multiplies bf16.
/// `fastest` selects an algorithm by the sizes alone. For f32 (in which 16 bits are computed elsewhere), stride 1, and
/// at least 32 input and output channels, this can be Winograd's minimal filtering F(4 x 4, 3 x 3), applied to parts of
/// at most 3 x 3 taps. Its rounding differs from `direct`. For 3 x 3 windows, the root mean square error of a result is
/// about 1.8 times that of `direct` (relative to the root mean square of the results: 8e-7 at 64 channels, 2e-6 at 512;
/// after 16 layers with relu, 1.0 to 1.5 times). The error of a result is at most (n + 32) 2^-24 n c max|x|
/// max|weight|. n is the number of channels times the number of parts (1 for 3 x 3, 4 for 5 x 5, 3 for 3 x 3 x 3); c is
/// 563 for 3 x 3 windows, 24 for 1-d windows (parts of 3 taps) and 9 for `direct`. The error of an element of the
/// weight's gradient is at most (t + 32) 2^-24 t c max|x| max|gradient| for t tiles; c is 802 for tiles of 4 x 4
/// results, and 28.4 for 1-d windows, whose tiles have 4 results. If a result is not finite, all results are computed
/// by `direct`, so that NaN and infinity appear in the same elements.
enum class Convolution : uint8_t { fastest, direct };

/// The padding that keeps the size of every axis, for convolutions of stride 1. If the total padding of an axis is odd,
/// the extra element comes last.
struct SamePadding {};

/// The padding of a convolution: one number, one per axis, or SamePadding() (nn::same).
template <class Sizes> struct ConvPadding : Sizes {
  bool is_same = false;
  using Sizes::Sizes;
  constexpr ConvPadding(const Sizes& sizes) : Sizes(sizes) {}
  constexpr ConvPadding(SamePadding) : is_same(true) {}
  bool operator==(const ConvPadding&) const = default;
};

/// The elements that pad an axis. For the axis a b c d and padding 2: `constant` 0 0 a b c d 0 0, `reflect`
/// c b a b c d c b, `replicate` a a a b c d d d, `circular` c d a b c d a b.
enum class PadMode { constant, reflect, replicate, circular };

template <class Sizes> struct ConvOptionsOf {
  Sizes stride = 1;
  ConvPadding<Sizes> padding = 0;
  Sizes dilation = 1;
  int64_t groups = 1;
  Convolution algorithm = Convolution::fastest;
  PadMode padding_mode = PadMode::constant;  // pad with zeros, or with elements of x
  bool operator==(const ConvOptionsOf&) const = default;
};
using Conv1dOptions = ConvOptionsOf<Size1>;
using Conv2dOptions = ConvOptionsOf<Size2>;
using Conv3dOptions = ConvOptionsOf<Size3>;

template <class Sizes> struct ConvTransposeOptionsOf {
  Sizes stride = 1;
  Sizes padding = 0;
  Sizes output_padding = 0;  // added to the output size, which a stride above 1 does not determine uniquely
  int64_t groups = 1;
  Sizes dilation = 1;
  Convolution algorithm = Convolution::fastest;
  bool operator==(const ConvTransposeOptionsOf&) const = default;
};
using ConvTranspose1dOptions = ConvTransposeOptionsOf<Size1>;
using ConvTranspose2dOptions = ConvTransposeOptionsOf<Size2>;
using ConvTranspose3dOptions = ConvTransposeOptionsOf<Size3>;

/// The options of a convolution over `axes` (1 to 3) axes in the form that the op's descriptor keeps. The padding is
/// always with zeros. Missing axes come first, with stride 1, padding 0 and dilation 1.
struct ConvOptions {
  int64_t axes = 2;
  Size3 stride = 1;
  Size3 padding = 0;
  Size3 dilation = 1;
  int64_t groups = 1;
  Convolution algorithm = Convolution::fastest;
  ConvOptions() = default;
  template <class Sizes>
  ConvOptions(const ConvOptionsOf<Sizes>& o)
      : axes(Sizes::kAxes),
        stride(Size3::of(o.stride, 1)),
        padding(Size3::of(o.padding, 0)),
        dilation(Size3::of(o.dilation, 1)),
        groups(o.groups),
        algorithm(o.algorithm) {}
  bool operator==(const ConvOptions&) const = default;
};

}  // namespace weft
