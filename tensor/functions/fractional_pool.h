// Max-pooling to a size or by a ratio, with windows at random positions (Graham 2014, arXiv 1412.6071).
#pragma once

#include "tensor/core/conv_options.h"
#include "tensor/core/random.h"
#include "tensor/functions/interpolate.h"
#include "tensor/tensor.h"

namespace weft {

template <class Sizes> struct FractionalPoolOptionsOf {
  Sizes kernel_size = 0;
  Sizes output_size = 0;     // of the result; 0: by output_ratio
  Scales output_ratio = {};  // the result has floor(size * ratio), a ratio in (0, 1) for all axes or for each
};
using FractionalMaxPool2dOptions = FractionalPoolOptionsOf<Size2>;
using FractionalMaxPool3dOptions = FractionalPoolOptionsOf<Size3>;

/// The maximum of each window of x (N, C, H, W) or (N, C, D, H, W), or the same without N. With a = (in - kernel) /
/// (out - 1), window i of an axis begins at floor((i + u) a) - floor(u a), the last one at in - kernel; windows may
/// overlap. u in [0, 1) is drawn for each axis of each channel of each image, or is that of `random_samples` (N, C, 2)
/// for (width, height), or (N, C, 3) for (depth, height, width); N is 1 where x has none (PyTorch's rules and order).
/// NaN propagates; the first maximum of a window gets the gradient. DtypeError unless floating; ShapeError where
/// windows do not fit x or `random_samples` has another shape; Error where not one of size and ratio is given.
Tensor fractional_max_pool2d(const Tensor& x, const FractionalMaxPool2dOptions& options,
                             const Tensor& random_samples = {}, Generator& generator = default_generator());
Tensor fractional_max_pool3d(const Tensor& x, const FractionalMaxPool3dOptions& options,
                             const Tensor& random_samples = {}, Generator& generator = default_generator());

/// The maxima, and where in x each one is (i64): row * width + column of its plane, and so on.
ValuesAndIndices fractional_max_pool2d_with_indices(const Tensor& x, const FractionalMaxPool2dOptions& options,
                                                    const Tensor& random_samples = {},
                                                    Generator& generator = default_generator());
ValuesAndIndices fractional_max_pool3d_with_indices(const Tensor& x, const FractionalMaxPool3dOptions& options,
                                                    const Tensor& random_samples = {},
                                                    Generator& generator = default_generator());

}  // namespace weft
