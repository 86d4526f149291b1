// Descriptor of the matrix product.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// (batch..., M, K) times (batch..., K, N): equal batch axes, rank at least 2.
struct Matmul {
  static constexpr std::string_view name = "matmul";
  static constexpr std::string_view cost = "2 m k n operations";
  static constexpr Policy policy = {.accepts = kNumbers, .autocast = Autocasting::lower};
  void attributes(auto) const {}
  bool operator==(const Matmul&) const = default;
  Spec infer(const Operand& a, const Operand& b) const {
    const auto last = static_cast<size_t>(a.rank() - 1);
    if (a.shape()[last] != b.shape()[last - 1])
      throw ShapeError(text("inner sizes differ: ", a.shape()[last], " and ", b.shape()[last - 1]));
    Shape shape = a.shape();
    shape[last] = b.shape()[last];
    return spec_of(shape, a.dtype);
  }
  void cpu(const Operand& a, const Operand& b, const Operand& out) const;
};

}  // namespace weft::op
