// PNG images (with libpng).
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace weft::io {

/// Writes a grayscale (H, W) or (1, H, W) or an RGB (3, H, W) image. A file of this name is replaced at once when the
/// image is complete. u8 values are written unchanged; floating values are scaled from [0, 1] and clamped (NaN is
/// black). ShapeError for other shapes, an empty image and sides above 1,000,000 pixels, DtypeError for other dtypes,
/// IoError if the file cannot be written.
void save_png(const std::string& path, const Tensor& image);

/// Reads an image as u8: (1, H, W) if it is grayscale, else (3, H, W), in sRGB. If the file states another gamma,
/// values are converted; if it states none, they are taken unchanged. 16-bit values become 8-bit. Transparent pixels
/// are blended with black in linear light (half transparent white gives 186). IoError, with the path, for a damaged
/// file or an image above 2^28 pixels.
Tensor load_png(const std::string& path);

/// Arranges images (N, C, H, W) in a grid with `columns` columns, with `padding` pixels of value `background` around
/// each image. Returns (C, height, width). ShapeError unless there are four axes, Error if columns < 1 or padding < 0.
Tensor make_grid(const Tensor& images, int64_t columns = 8, int64_t padding = 2, double background = 0);

}  // namespace weft::io
