// Random tensors. Numbers come from `generator`, by default the process's (see tensor/core/random.h), and are the same
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
/// Uniform integers in [low, high). Error if the interval is empty or if the dtype cannot hold its integers.
Tensor randint(int64_t low, int64_t high, const Shape& shape, DType dtype = i64, Device device = {});
Tensor randint(int64_t low, int64_t high, const Shape& shape, Generator& generator, DType dtype = i64,
               Device device = {});
/// Uniform integers in [0, high).
Tensor randint(int64_t high, const Shape& shape, DType dtype = i64, Device device = {});
/// A random permutation of 0 .. count-1 (i64).
Tensor randperm(int64_t count, Device device = {});
Tensor randperm(int64_t count, Generator& generator, Device device = {});
/// The same with the shape, dtype and device of `x`.
Tensor rand_like(const Tensor& x, Generator& generator = default_generator());
Tensor randn_like(const Tensor& x, Generator& generator = default_generator());
Tensor randint_like(const Tensor& x, int64_t low, int64_t high, Generator& generator = default_generator());
Tensor randint_like(const Tensor& x, int64_t high);
/// Normal with the given mean and standard deviation, which are numbers or tensors that broadcast. Differentiable in
/// both tensors. Error if a std is negative.
Tensor normal(double mean, double std, const Shape& shape, DType dtype = f32, Device device = {});
Tensor normal(double mean, double std, const Shape& shape, Generator& generator, DType dtype = f32, Device device = {});
Tensor normal(const Tensor& mean, const Tensor& std, Generator& generator = default_generator());
Tensor normal(const Tensor& mean, double std = 1, Generator& generator = default_generator());
Tensor normal(double mean, const Tensor& std, Generator& generator = default_generator());

/// Each element is 1 with the probability given by the element of `p` (floating), else 0. No gradient. Error for a
/// probability outside of [0, 1].
Tensor bernoulli(const Tensor& p, Generator& generator = default_generator());
/// Draws `count` category indices with probabilities proportional to `weights`: (n) gives (count), (rows, n) gives
/// (rows, count), i64, in the order drawn. Without replacement, a row has no index twice. Error if weights are negative
/// or not finite, sum to 0, or if fewer than `count` of them are positive when drawing without replacement.
Tensor multinomial(const Tensor& weights, int64_t count, bool replacement = false,
                   Generator& generator = default_generator());
/// Poisson-distributed numbers whose means are the elements of `rates` (floating), in its dtype. No gradient. Error for
/// a rate that is negative or not finite.
Tensor poisson(const Tensor& rates, Generator& generator = default_generator());

}  // namespace weft
