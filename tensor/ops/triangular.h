// Descriptors of the Cholesky factorization and of systems with a triangular matrix.
#pragma once

#include "tensor/ops/linear_algebra.h"

namespace weft::op {

/// The lower triangular l with l l^T = a, computed from the lower triangle of a; with `upper`, the upper triangular u
/// with u^T u = a, computed from the upper triangle.
struct Cholesky {
  bool upper;
  static constexpr std::string_view name = "cholesky";
  static constexpr std::string_view cost = "1/3 n^3 operations";
  static constexpr Policy policy = kFactorization;
  void attributes(auto visit) const { visit("upper", upper); }
  bool operator==(const Cholesky&) const = default;
  Spec infer(const Operand& a) const {
    check_square(a);
    return spec_of(a.shape(), a.dtype);
  }
  void cpu(const Operand& a, const Operand& out) const;
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
