// Descriptor of dropout.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// out[i] = x[i] / (1 - p), or 0 with probability p (0 <= p <= 1; all 0 for p = 1). The random key (seed, offset)
/// determines which elements are kept, so the gradient is the same op applied to g. Element i, in row-major order, uses
/// number skip + i of the stream that begins at block `offset`. `skip`, 0 to 3, is stored in two high bits of `offset`,
/// below those that count vmaps (dispatch/batched.h), so that the key alone is enough to repeat a draw.
struct Dropout {
  double p;
  uint64_t seed;
  uint64_t offset;
  static constexpr int kSkipBit = 58;
  /// The offset (with its skip bits) that begins at number `position` of a stream.
  static constexpr uint64_t offset_at(uint64_t position) {
    return (position / 4) % (uint64_t{1} << kSkipBit) | (position % 4) << kSkipBit;
  }
  static constexpr std::string_view name = "dropout";
  static constexpr Policy policy = {.accepts = kFloating};
  void attributes(auto visit) const { visit("p", p), visit("seed", seed), visit("offset", offset); }
  bool operator==(const Dropout&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

}  // namespace weft::op
