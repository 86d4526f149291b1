// Random tensors, from the global generator (see tensor/random.h): the same numbers at any thread count.
#pragma once

#include "tensor/apply.h"

namespace weft {

/// Uniform in [0, 1).
Tensor rand(const Shape& shape, DType dtype = f32);
/// Normal with mean 0 and standard deviation 1.
Tensor randn(const Shape& shape, DType dtype = f32);
/// Integers in [low, high).
Tensor randint(int64_t low, int64_t high, const Shape& shape, DType dtype = i64);
/// A permutation of 0 .. count-1 (i64).
Tensor randperm(int64_t count);
Tensor rand_like(const Tensor& x);
Tensor randn_like(const Tensor& x);

}  // namespace weft
