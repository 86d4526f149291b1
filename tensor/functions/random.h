// Random tensors, from the global generator (see tensor/core/random.h): the same numbers at any thread count.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// Uniform in [0, 1). DtypeError unless floating.
Tensor rand(const Shape& shape, DType dtype = f32, Device device = {});
/// Normal with mean 0 and standard deviation 1. DtypeError unless floating.
Tensor randn(const Shape& shape, DType dtype = f32, Device device = {});
/// Integers in [low, high). Error where there is none, or where the dtype does not hold them.
Tensor randint(int64_t low, int64_t high, const Shape& shape, DType dtype = i64, Device device = {});
/// A permutation of 0 .. count-1 (i64).
Tensor randperm(int64_t count, Device device = {});
/// The shape, dtype and device of `x`.
Tensor rand_like(const Tensor& x);
Tensor randn_like(const Tensor& x);

}  // namespace weft
