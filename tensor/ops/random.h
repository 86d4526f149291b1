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

/// Indices of categories with probabilities in proportion to the last axis of `weights` (n) or (rows, n): (count) or
/// (rows, count), i64. Without replacement no index comes twice in a row.
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

/// Numbers of events, in the dtype of the rates, whose mean they are.
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
