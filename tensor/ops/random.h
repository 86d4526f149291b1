// Descriptor of random tensors.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// uniform: [0, 1), in steps of 2^-24 (f32), 2^-53 (f64), 2^-11 (f16) or 2^-8 (bf16). Every step is exact, so 1 does
/// not occur. normal: mean 0, standard deviation 1. integers: [low, high). permutation: of 0 .. n-1, 1-D, i64.
enum class Distribution { uniform, normal, integers, permutation };
std::string attribute_text(const Distribution& value);

/// A tensor of random values. Element i, in row-major order, is a pure function of the random key (seed, offset) and i,
/// so it does not depend on the memory order or the number of threads.
struct RandomFill {
  Distribution distribution;
  Shape shape;
  DType dtype;
  int64_t low;   // for integers, inclusive
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

/// Category indices drawn with probabilities proportional to the last axis of `weights`: (n) gives (count), (rows, n)
/// gives (rows, count), i64. Without replacement a row has no index twice.
struct Multinomial {
  int64_t count;
  bool replacement;
  uint64_t seed;
  uint64_t offset;
  static constexpr std::string_view name = "multinomial";
  static constexpr std::string_view cost =
      "categories + log(categories) a draw; without replacement a sort of the categories";
  static constexpr Policy policy = {.accepts = kFloating};
  void attributes(auto visit) const {
    visit("count", count), visit("replacement", replacement), visit("seed", seed), visit("offset", offset);
  }
  bool operator==(const Multinomial&) const = default;
  Spec infer(const Operand& weights) const;
  void cpu(const Operand& weights, const Operand& out) const;
};

/// Poisson-distributed numbers whose means are the rates, in the dtype of the rates.
struct Poisson {
  uint64_t seed;
  uint64_t offset;
  static constexpr std::string_view name = "poisson";
  static constexpr Policy policy = {.accepts = kFloating};
  void attributes(auto visit) const { visit("seed", seed), visit("offset", offset); }
  bool operator==(const Poisson&) const = default;
  Spec infer(const Operand& rates) const { return spec_of(rates.shape(), rates.dtype); }
  void cpu(const Operand& rates, const Operand& out) const;
};

}  // namespace weft::op
