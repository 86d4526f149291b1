// What layers and attention share with dropout.
#pragma once

#include "tensor/core/random.h"
#include "tensor/tensor.h"

namespace weft::internal {

/// Channel dropout of x with `places` axes behind the channels, where p is in [0, 1]; x itself if p is 0. ShapeError
/// unless x has places + 2 axes, or one less without N.
Tensor channel_dropout(const Tensor& x, int64_t places, double p, Generator& generator);

/// The random key for a dropout of `count` elements on `device`: from the SampleScope if one is open, else from
/// `generator`.
RandomKey dropout_key(Device device, int64_t count, Generator& generator);

}  // namespace weft::internal
