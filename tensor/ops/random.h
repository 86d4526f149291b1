// Descriptor of random tensors.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// uniform: [0, 1), f32 in steps of 2^-24, f64 2^-53, f16 2^-11, bf16 2^-8 (all exact, so 1 never appears); normal:
/// mean 0, standard deviation 1; integers: [low, high); permutation: of 0 .. n-1, 1-D, i64.
enum class Distribution { uniform, normal, integers, permutation };
std::string attribute_text(const Distribution& value);

/// Random values of `shape`. Element i, counted in row-major order, is a pure function of the random key (seed,
/// offset) and i, so that neither memory order nor number of threads matters.
struct RandomFill {
  Distribution distribution;
  Shape shape;
  DType dtype;
  int64_t low;   // of integers, inclusive
  int64_t high;  // exclusive
  uint64_t seed;
  uint64_t offset;
  Device device = {};
  static constexpr std::string_view name = "random";
  void attributes(auto visit) const {
    visit("distribution", distribution), visit("shape", shape), visit("dtype", dtype), visit("low", low),
        visit("high", high), visit("seed", seed), visit("offset", offset), visit("device", device);
  }
  bool operator==(const RandomFill&) const = default;
  Spec infer() const;
  void cpu(const Operand& out) const;
};

}  // namespace weft::op
