// PNG images, through libpng.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace weft::io {

/// Writes a grey (H, W) or (1, H, W) or an RGB (3, H, W) image, crash-safe (see AtomicFile). u8 is written as it is;
/// floating values are taken from [0, 1] (clamped; NaN is black). Errors: ShapeError, DtypeError; IoError where the
/// file cannot be written.
void save_png(const std::string& path, const Tensor& image);

/// An image as u8 (1, H, W) where it is grey, else (3, H, W), in sRGB: values of a file that states another gamma are
/// converted, those of a file that states none are taken as they are. 16 bits become 8. Transparent parts lie on black,
/// mixed as light (half transparent white is 186). IoError, naming the path, for a file that is damaged or above 2^28
/// pixels.
Tensor load_png(const std::string& path);

/// A sheet of images (N, C, H, W) -> (C, rows, columns of them), `padding` pixels of `background` around each.
Tensor make_grid(const Tensor& images, int64_t columns = 8, int64_t padding = 2, double background = 0);

}  // namespace weft::io
