// The options of convolutions: of the functions, and as plain numbers, which the op's descriptor and its kernel read.
#pragma once

#include <cstdint>

namespace weft {

/// The size of one axis, so that code for one to three axes reads alike.
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
  /// 0 is the depth, 1 the height, 2 the width.
  constexpr int64_t operator[](int64_t axis) const { return axis == 0 ? depth : axis == 1 ? height : width; }
  bool operator==(const Size3&) const = default;
};

/// `sizes` as three, `missing` for the axes that are not there.
constexpr Size3 as_triple(const Size1& sizes, int64_t missing) { return {missing, missing, sizes.width}; }
constexpr Size3 as_triple(const Size2& sizes, int64_t missing) { return {missing, sizes.height, sizes.width}; }
constexpr Size3 as_triple(const Size3& sizes, int64_t) { return sizes; }

/// How a convolution is computed. `fastest`: by sizes alone, whatever is fastest. For windows of stride 1 in f32 with
/// 32 channels and more on either side that may be Winograd's minimal filtering F(4 x 4, 3 x 3), on parts of at most
/// 3 x 3 taps, whose rounding is another: the root mean square error of a result of 3 x 3 windows is some 1.8 times
/// that of `direct` (8e-7 of the results' own at 64 channels, 2e-6 at 512; 1.0 to 1.5 times after 16 layers with
/// relu), and it is at most (n + 32) 2^-24 n c max|x| max|weight|, where n is the number of channels times that of
/// parts (1 for 3 x 3, 4 for 5 x 5, 3 for 3 x 3 x 3), and c is 563 for 3 x 3 windows, 24 for 1-d windows (parts of 3
/// taps) and 9 for `direct`. An element of the weight's gradient is off by at most (t + 32) 2^-24 t c max|x|
/// max|gradient| for t tiles: c is 802 for tiles of 4 x 4 results, 28.4 for 1-d windows, whose tiles have 4. Where some
/// result is not finite, all are computed by `direct`: NaN and infinities reach the same results.
/// `direct`: sums of the window's products. f64 and halves are computed so in either case.
enum class Convolution : uint8_t { fastest, direct };

/// Stands for as much padding as keeps the size of every axis; for convolutions of stride 1. Where their number is odd,
/// the additional one comes last.
struct SamePadding {};

/// The padding of a convolution: one number, one per axis, or SamePadding() (nn::same).
template <class Sizes> struct ConvPadding : Sizes {
  bool is_same = false;
  using Sizes::Sizes;
  constexpr ConvPadding(const Sizes& sizes) : Sizes(sizes) {}
  constexpr ConvPadding(SamePadding) : is_same(true) {}
  bool operator==(const ConvPadding&) const = default;
};

/// What lies outside of a b c d: `constant` 0 0 a b c d 0 0, `reflect` c b a b c d c b, `replicate` a a a b c d d d,
/// `circular` c d a b c d a b.
enum class PadMode { constant, reflect, replicate, circular };

template <class Sizes> struct ConvOptionsOf {
  Sizes stride = 1;
  ConvPadding<Sizes> padding = 0;
  Sizes dilation = 1;
  int64_t groups = 1;
  Convolution algorithm = Convolution::fastest;
  PadMode padding_mode = PadMode::constant;  // what the padding holds: zeros, or entries of x
  bool operator==(const ConvOptionsOf&) const = default;
};
using Conv1dOptions = ConvOptionsOf<Size1>;
using Conv2dOptions = ConvOptionsOf<Size2>;
using Conv3dOptions = ConvOptionsOf<Size3>;

template <class Sizes> struct ConvTransposeOptionsOf {
  Sizes stride = 1;
  Sizes padding = 0;
  Sizes output_padding = 0;  // added to one side of the result's size: which of the sizes that `stride` leaves open
  int64_t groups = 1;
  Sizes dilation = 1;
  Convolution algorithm = Convolution::fastest;
  bool operator==(const ConvTransposeOptionsOf&) const = default;
};
using ConvTranspose1dOptions = ConvTransposeOptionsOf<Size1>;
using ConvTranspose2dOptions = ConvTransposeOptionsOf<Size2>;
using ConvTranspose3dOptions = ConvTransposeOptionsOf<Size3>;

/// Those of a convolution over `axes` (1 to 3) axes, as its op keeps them: the padding is a number of zeros. Axes that
/// are not there come first, with stride 1, padding 0 and dilation 1.
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
        stride(as_triple(o.stride, 1)),
        padding(as_triple(o.padding, 0)),
        dilation(as_triple(o.dilation, 1)),
        groups(o.groups),
        algorithm(o.algorithm) {}
  bool operator==(const ConvOptions&) const = default;
};

}  // namespace weft
