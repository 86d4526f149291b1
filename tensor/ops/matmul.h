// Descriptors of the matrix product and of distances between rows.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// (batch..., M, K) times (batch..., K, N) with equal batch axes and rank at least 2.
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

/// (M, K) times (K, N) for floating operands, whose dtypes may differ. Both are rounded to dtype `operands`, sums are
/// at least f32, and the result has dtype `result`, which is `operands` or f32. Used for the gradients of a linear
/// layer under Autocast: the products are 16-bit, while the parameter and its gradient are f32.
struct RoundedMatmul {
  DType operands, result;
  static constexpr std::string_view name = "rounded_matmul";
  static constexpr std::string_view cost = "2 m k n operations";
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0};
  void attributes(auto visit) const { visit("operands", operands), visit("result", result); }
  bool operator==(const RoundedMatmul&) const = default;
  Spec infer(const Operand& a, const Operand& b) const;
  void cpu(const Operand& a, const Operand& b, const Operand& out) const;
};

/// The p-norms of the differences of the rows of a (batch..., P, M) and of b (batch..., R, M): (batch..., P, R),
/// with equal batch axes; p is 0, 1, 2 or inf. For p = 2 they are computed from squared differences and not from
/// products, so that distances of nearly equal rows stay accurate.
struct Cdist {
  double p = 2;
  static constexpr std::string_view name = "cdist";
  static constexpr std::string_view cost = "3 p r m operations";
  static constexpr Policy policy = {.accepts = kFloating, .widens_integers = true, .autocast = Autocasting::full};
  void attributes(auto visit) const { visit("p", p); }
  bool operator==(const Cdist&) const = default;
  Spec infer(const Operand& a, const Operand& b) const {
    Shape shape = a.shape();
    shape[static_cast<size_t>(a.rank() - 1)] = b.size(b.rank() - 2);
    return spec_of(shape, a.dtype);
  }
  void cpu(const Operand& a, const Operand& b, const Operand& out) const;
};

}  // namespace weft::op
