// Random tensors, from the process's generator or from one that is given (see tensor/core/random.h): the same numbers
// at any thread count.
#pragma once

#include "tensor/core/random.h"
#include "tensor/tensor.h"

namespace weft {

/// Uniform in [0, 1). DtypeError unless floating.
Tensor rand(const Shape& shape, DType dtype = f32, Device device = {});
Tensor rand(const Shape& shape, Generator& generator, DType dtype = f32, Device device = {});
/// Normal with mean 0 and standard deviation 1. DtypeError unless floating.
Tensor randn(const Shape& shape, DType dtype = f32, Device device = {});
Tensor randn(const Shape& shape, Generator& generator, DType dtype = f32, Device device = {});
/// Integers in [low, high). Error where there is none, or where the dtype does not hold them.
Tensor randint(int64_t low, int64_t high, const Shape& shape, DType dtype = i64, Device device = {});
Tensor randint(int64_t low, int64_t high, const Shape& shape, Generator& generator, DType dtype = i64,
               Device device = {});
/// In [0, high).
Tensor randint(int64_t high, const Shape& shape, DType dtype = i64, Device device = {});
/// A permutation of 0 .. count-1 (i64).
Tensor randperm(int64_t count, Device device = {});
Tensor randperm(int64_t count, Generator& generator, Device device = {});
/// The shape, dtype and device of `x`.
Tensor rand_like(const Tensor& x, Generator& generator = default_generator());
Tensor randn_like(const Tensor& x, Generator& generator = default_generator());
Tensor randint_like(const Tensor& x, int64_t low, int64_t high, Generator& generator = default_generator());
Tensor randint_like(const Tensor& x, int64_t high);
/// Normal with this mean and standard deviation, numbers or tensors that broadcast. The gradient reaches both tensors.
/// Error where a std is below 0.
Tensor normal(double mean, double std, const Shape& shape, DType dtype = f32, Device device = {});
Tensor normal(double mean, double std, const Shape& shape, Generator& generator, DType dtype = f32, Device device = {});
Tensor normal(const Tensor& mean, const Tensor& std, Generator& generator = default_generator());
Tensor normal(const Tensor& mean, double std = 1, Generator& generator = default_generator());
Tensor normal(double mean, const Tensor& std, Generator& generator = default_generator());

/// 1 with the probability that each element of `p` (floating) is, else 0; no gradient. Error outside of [0, 1].
Tensor bernoulli(const Tensor& p, Generator& generator = default_generator());
/// `count` indices of categories, drawn with probabilities in proportion to `weights` (n) or to each row of (rows, n):
/// i64 of shape (count) or (rows, count), in the order drawn. Without replacement none comes twice in a row. Error
/// where weights are negative or not finite, sum to 0, or too few of them are above 0.
Tensor multinomial(const Tensor& weights, int64_t count, bool replacement = false,
                   Generator& generator = default_generator());
/// Numbers of events whose mean each element of `rates` (floating) is, in its dtype; no gradient. Error for a rate that
/// is negative or not finite.
Tensor poisson(const Tensor& rates, Generator& generator = default_generator());

}  // namespace weft
