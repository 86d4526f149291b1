// Descriptor of a cast to 16 bits that rounds up or down at random.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// x as bf16 or f16: a value between two neighbours becomes the upper one with the probability that keeps its mean (in
/// steps of 2^-16 for bf16, 2^-13 for f16). What is exact stays. Element i draws number i of the random key (seed,
/// offset), counted in row-major order.
struct StochasticCast {
  DType dtype;
  uint64_t seed;
  uint64_t offset;
  static constexpr std::string_view name = "stochastic_cast";
  static constexpr Policy policy = {.accepts = kFloating};
  void attributes(auto visit) const { visit("dtype", dtype), visit("seed", seed), visit("offset", offset); }
  bool operator==(const StochasticCast&) const = default;
  /// DtypeError where `dtype` is not bf16 or f16.
  Spec infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& out) const;
};

}  // namespace weft::op
