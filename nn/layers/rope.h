// Rotary position embeddings (Su et al., arXiv 2104.09864).
#pragma once

#include "tensor/tensor.h"

namespace weft::nn {

struct RopeOptions {
  double base = 10000;  // base of the wavelengths, which are 2 pi base^(2 i / D)
  int64_t offset = 0;   // the position of the first row
  /// true: a pair is two neighbors, (0, 1), (2, 3), ...; false: (0, D / 2), (1, D / 2 + 1), ...
  bool interleaved = false;
};

/// x (..., T, D) -> the same shape. Rotates pair i of the features of row t by the angle (offset + t) base^(-2 i / D).
/// The dot product of two rotated vectors then depends only on the difference of their positions. ShapeError if D is
/// odd.
Tensor rope(const Tensor& x, const RopeOptions& options = {});

}  // namespace weft::nn
