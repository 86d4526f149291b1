// Descriptors of the Cholesky factorization and of systems with a triangular matrix.
#pragma once

#include <array>

#include "tensor/ops/linear_algebra.h"

namespace weft::op {

/// The lower triangular l with l l^T = a, computed from the lower triangle of a; with `upper`, the upper triangular u
/// with u^T u = a, computed from the upper triangle. The second result, i32, is 0, or i if the leading i x i matrix of
/// a is the first one that is not positive definite: an error if `checked`; otherwise the factor is NaN.
struct Cholesky {
  bool upper;
  bool checked = true;
  static constexpr std::string_view name = "cholesky";
  static constexpr std::string_view cost = "1/3 n^3 operations";
  static constexpr Policy policy = kFactorization;
  static constexpr int outputs = 2;
  void attributes(auto visit) const { visit("upper", upper), visit("checked", checked); }
  bool operator==(const Cholesky&) const = default;
  std::array<Spec, 2> infer(const Operand& a) const {
    check_square(a);
    return {spec_of(a.shape(), a.dtype), spec_of(batch_like(a), i32)};
  }
  void cpu(const Operand& a, const Operand& out, const Operand& info) const;
};

/// Solves a x = b. Only one triangle of a is read; with `unit`, its diagonal is not read and counts as ones.
struct SolveTriangular {
  bool upper;
  bool unit;
  static constexpr std::string_view name = "solve_triangular";
  static constexpr std::string_view cost = "n^2 k operations";
  static constexpr Policy policy = kFactorization;
  void attributes(auto visit) const { visit("upper", upper), visit("unit", unit); }
  bool operator==(const SolveTriangular&) const = default;
  Spec infer(const Operand& a, const Operand& b) const;
  void cpu(const Operand& a, const Operand& b, const Operand& out) const;
};

}  // namespace weft::op
