// Rearranging channels and pixels. Any dtype. pixel_shuffle and its inverse take any number of leading axes.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// x (..., C r^2, H, W) gives (..., C, H r, W r): out(c, h r + i, w r + j) = x(c r^2 + i r + j, h, w). Shi et al.,
/// arXiv 1609.05158. ShapeError if the number of channels is not divisible by r^2.
Tensor pixel_shuffle(const Tensor& x, int64_t upscale_factor);
/// The inverse of pixel_shuffle(): x (..., C, H r, W r) gives (..., C r^2, H, W).
Tensor pixel_unshuffle(const Tensor& x, int64_t downscale_factor);
/// Permutes the channels of x (N, C, ...): channel g C / groups + c moves to position c groups + g. Zhang et al., arXiv
/// 1707.01083.
Tensor channel_shuffle(const Tensor& x, int64_t groups);

}  // namespace weft
