// Channels to pixels and back; channels among each other. Any axes may lie in front of the channels; any dtype.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// x (..., C r^2, H, W) to (..., C, H r, W r): out(c, h r + i, w r + j) = x(c r^2 + i r + j, h, w). Shi et al., arXiv
/// 1609.05158. ShapeError where r^2 does not divide the channels.
Tensor pixel_shuffle(const Tensor& x, int64_t upscale_factor);
/// The inverse: x (..., C, H r, W r) to (..., C r^2, H, W).
Tensor pixel_unshuffle(const Tensor& x, int64_t downscale_factor);
/// x (N, C, ...) with channel g C / groups + c at c groups + g. Zhang et al., arXiv 1707.01083.
Tensor channel_shuffle(const Tensor& x, int64_t groups);

}  // namespace weft
