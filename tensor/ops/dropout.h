// Dropout: zeros elements with probability p and scales the rest by 1 / (1 - p).
#pragma once

#include "tensor/apply.h"

namespace weft {

/// Draws from the global generator; the op itself is pure (it carries its random key). Error unless 0 <= p <= 1.
Tensor dropout(const Tensor& x, double p = 0.5);

namespace op {

/// Which elements stay follows from the random key (seed, offset): its own gradient is the same op.
struct Dropout {
  double p;
  uint64_t seed;
  uint64_t offset;
  static constexpr std::string_view name = "dropout";
  void attributes(auto visit) const { visit("p", p), visit("seed", seed), visit("offset", offset); }
  bool operator==(const Dropout&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};

}  // namespace op
}  // namespace weft
