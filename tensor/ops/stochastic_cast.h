// Descriptor of a cast to bf16 or f16 with stochastic rounding.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// Casts x to bf16 or f16. A value between two representable numbers is rounded up with the probability that makes the
/// expected result equal to the value (in steps of 2^-16 for bf16, 2^-13 for f16). Representable values do not change.
/// Element i, in row-major order, uses number i of the random key (seed, offset).
struct StochasticCast {
  DType dtype;
  uint64_t seed;
  uint64_t offset;
  static constexpr std::string_view name = "stochastic_cast";
  static constexpr Policy policy = {.accepts = kFloating};
  void attributes(auto visit) const { visit("dtype", dtype), visit("seed", seed), visit("offset", offset); }
  bool operator==(const StochasticCast&) const = default;
  /// DtypeError unless `dtype` is bf16 or f16.
  Spec infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& out) const;
};

}  // namespace weft::op
