// Interpolation modes and the options of grid_sample.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

/// nearest: the pixel at floor(i * in / out). nearest_exact: the pixel whose center is nearest. linear, bilinear,
/// trilinear: linear interpolation of two, four or eight neighbors. bicubic: cubic convolution of 4 x 4 pixels. area:
/// the mean of the pixels that an output pixel covers.
enum class Interpolation : uint8_t { nearest, nearest_exact, linear, bilinear, trilinear, bicubic, area };
constexpr const char* name_of(Interpolation mode) {
  constexpr const char* kNames[] = {"nearest", "nearest_exact", "linear", "bilinear", "trilinear", "bicubic", "area"};
  static_assert(sizeof kNames / sizeof *kNames == static_cast<size_t>(Interpolation::area) + 1);
  return kNames[static_cast<size_t>(mode)];
}

/// Cubic convolution with a = -0.75 (Keys, "Cubic convolution interpolation for digital image processing", 1981): the
/// weights of pixels that are less than 1, and from 1 to 2, away. V: a number, a register of float or double, or a
/// Tensor.
template <class V> constexpr V cubic_inner(V t) { return (t * 1.25f - 2.25f) * t * t + 1; }
template <class V> constexpr V cubic_outer(V t) { return ((t * -0.75f + 3.75f) * t - 6) * t + 3; }

/// The values outside of an image: zeros, the nearest pixel of its border, or its mirror image.
enum class GridPadding : uint8_t { zeros, border, reflection };

struct GridSampleOptions {
  Interpolation mode = Interpolation::bilinear;  // or nearest, or bicubic (of images)
  GridPadding padding = GridPadding::zeros;
  bool align_corners = false;  // -1 and 1 are the centers of the corner pixels instead of the edges of the image
  bool operator==(const GridSampleOptions&) const = default;
};

}  // namespace weft
