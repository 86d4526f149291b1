// Descriptor of the matrix exponential.
#pragma once

#include "tensor/ops/linear_algebra.h"

namespace weft::op {

/// The sum over k of a^k / k!.
struct MatrixExp {
  static constexpr std::string_view name = "matrix_exp";
  static constexpr std::string_view cost = "O(n^3 log norm)";
  static constexpr Policy policy = kFactorization;
  void attributes(auto) const {}
  bool operator==(const MatrixExp&) const = default;
  Spec infer(const Operand& a) const {
    check_square(a);
    return spec_of(a.shape(), a.dtype);
  }
  void cpu(const Operand& a, const Operand& out) const;
};

}  // namespace weft::op
