// Random tensors, from the global generator (see tensor/core/random.h): the same numbers at any thread count.
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

enum class Distribution { uniform, normal, integers, permutation };
std::string attribute_text(const Distribution& value);

namespace op {

/// Random values of `shape`; a pure function of its random key (seed, offset).
struct RandomFill {
  Distribution distribution;
  Shape shape;
  DType dtype;
  int64_t low;   // of integers, inclusive
  int64_t high;  // exclusive
  uint64_t seed;
  uint64_t offset;
  static constexpr std::string_view name = "random";
  void attributes(auto visit) const {
    visit("distribution", distribution), visit("shape", shape), visit("dtype", dtype), visit("low", low),
        visit("high", high), visit("seed", seed), visit("offset", offset);
  }
  bool operator==(const RandomFill&) const = default;
  Spec infer() const;
  void run(Tensor& out) const;
};

}  // namespace op
}  // namespace weft
