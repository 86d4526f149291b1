// Rotary position embeddings (Su et al., arXiv 2104.09864).
#pragma once

#include "tensor/tensor.h"

namespace weft::nn {

struct RopeOptions {
  double base = 10000;       // of the wavelengths 2 pi base^(2 i / D)
  int64_t offset = 0;        // the position of the first row
  bool interleaved = false;  // pairs are neighbours, (0, 1), (2, 3), ...; else halves, (0, D / 2), (1, D / 2 + 1), ...
};

/// x (..., T, D), D even: each pair i of features of row t is rotated by (offset + t) base^(-2 i / D). Products of two
/// rotated vectors depend on the distance of their positions only. ShapeError where D is odd.
Tensor rope(const Tensor& x, const RopeOptions& options = {});

}  // namespace weft::nn
