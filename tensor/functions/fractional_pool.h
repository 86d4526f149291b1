// Fractional max-pooling: windows at random positions, with a given output size or ratio (Graham 2014, arXiv
// 1412.6071).
#pragma once

#include "tensor/core/conv_options.h"
#include "tensor/core/random.h"
#include "tensor/functions/interpolate.h"
#include "tensor/tensor.h"

namespace weft {

template <class Sizes> struct FractionalPoolOptionsOf {
  Sizes kernel_size = 0;
  Sizes output_size = 0;     // 0: use output_ratio
  Scales output_ratio = {};  // output size = floor(size * ratio); one ratio in (0, 1), or one per axis
};
using FractionalMaxPool2dOptions = FractionalPoolOptionsOf<Size2>;
using FractionalMaxPool3dOptions = FractionalPoolOptionsOf<Size3>;

/// The maximum of each window of x (N, C, H, W) or (N, C, D, H, W); N may be absent. With a = (in - kernel) / (out -
/// 1), window i of an axis begins at floor((i + u) a) - floor(u a), and the last one at in - kernel. Windows may
/// overlap. u in [0, 1) is drawn for each axis of each channel of each image, or taken from `random_samples`: (N, C, 2)
/// for (width, height), (N, C, 3) for (depth, height, width), with N = 1 if x has no N. This is PyTorch's definition
/// and order. NaN propagates. If elements of a window tie, the first gets the gradient. DtypeError unless floating;
/// ShapeError if windows do not fit into x or `random_samples` has a wrong shape; Error unless exactly one of size and
/// ratio is given.
Tensor fractional_max_pool2d(const Tensor& x, const FractionalMaxPool2dOptions& options,
                             const Tensor& random_samples = {}, Generator& generator = default_generator());
Tensor fractional_max_pool3d(const Tensor& x, const FractionalMaxPool3dOptions& options,
                             const Tensor& random_samples = {}, Generator& generator = default_generator());

/// The maxima, and the position of each one (i64): its row-major index within the spatial axes of x, for example
/// row * width + column in 2-D.
ValuesAndIndices fractional_max_pool2d_with_indices(const Tensor& x, const FractionalMaxPool2dOptions& options,
                                                    const Tensor& random_samples = {},
                                                    Generator& generator = default_generator());
ValuesAndIndices fractional_max_pool3d_with_indices(const Tensor& x, const FractionalMaxPool3dOptions& options,
                                                    const Tensor& random_samples = {},
                                                    Generator& generator = default_generator());

}  // namespace weft
