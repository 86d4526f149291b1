// Descriptors of LU factorization, and of ops that use its factors.
#pragma once

#include <array>

#include "tensor/ops/linear_algebra.h"

namespace weft::op {

/// a = P L U: one matrix (..., m, n) that holds U and, below its diagonal, L without its unit diagonal; and the pivots
/// (..., min(m, n)), i32: row i was exchanged with row pivots[i] - 1 (LAPACK's getrf). A singular matrix has a zero on
/// the diagonal of U, which is an error if `checked`.
struct LuFactor {
  bool checked = false;
  static constexpr std::string_view name = "lu_factor";
  static constexpr std::string_view cost = "2/3 n^3 operations";
  static constexpr Policy policy = kFactorization;
  static constexpr int outputs = 2;
  void attributes(auto visit) const { visit("checked", checked); }
  bool operator==(const LuFactor&) const = default;
  std::array<Spec, 2> infer(const Operand& a) const {
    check_matrices(a);
    const int64_t m = a.size(a.rank() - 2), n = a.size(a.rank() - 1);
    return {spec_of(a.shape(), a.dtype), spec_of(vectors_like(a, m < n ? m : n), i32)};
  }
  void cpu(const Operand& a, const Operand& lu, const Operand& pivots) const;
};

/// The order of `rows` rows that the pivots (..., k), k <= rows, of a factorization make: row i of L U is row order[i]
/// of a (..., rows), i64. With `inverse`: row i of a is row order[i] of L U. Pivot i lies in [i + 1, rows].
struct PivotOrder {
  int64_t rows;
  bool inverse;
  static constexpr std::string_view name = "pivot_order";
  static constexpr Policy policy = {.accepts = DTypes{i32}};
  void attributes(auto visit) const { visit("rows", rows), visit("inverse", inverse); }
  bool operator==(const PivotOrder&) const = default;
  Spec infer(const Operand& pivots) const;
  void cpu(const Operand& pivots, const Operand& order) const;
};

/// Solves a x = b, or with `transposed`, a^T x = b. The kernel reads only the factors; gradients are with respect to a
/// and b.
struct LuSolve {
  bool transposed;
  static constexpr std::string_view name = "lu_solve";
  static constexpr std::string_view cost = "2 n^2 k operations";
  static constexpr Policy policy = {
      .accepts = kFactorization.accepts, .numeric = 0b1011, .autocast = Autocasting::full};
  void attributes(auto visit) const { visit("transposed", transposed); }
  bool operator==(const LuSolve&) const = default;
  Spec infer(const Operand& a, const Operand& lu, const Operand& pivots, const Operand& b) const;
  void cpu(const Operand& a, const Operand& lu, const Operand& pivots, const Operand& b, const Operand& out) const;
};

/// The determinant of a, from its factors.
struct Det {
  static constexpr std::string_view name = "det";
  static constexpr std::string_view cost = "n operations on the factors";
  static constexpr Policy policy = {.accepts = kFactorization.accepts, .numeric = 0b011, .autocast = Autocasting::full};
  void attributes(auto) const {}
  bool operator==(const Det&) const = default;
  Spec infer(const Operand& a, const Operand&, const Operand&) const {
    check_square(a);
    return spec_of(batch_like(a), a.dtype);
  }
  void cpu(const Operand& a, const Operand& lu, const Operand& pivots, const Operand& out) const;
};

/// The sign of det a and log |det a|, from the factors of a: 0 and -infinity for a singular matrix.
struct Slogdet {
  static constexpr std::string_view name = "slogdet";
  static constexpr std::string_view cost = "n operations on the factors";
  static constexpr Policy policy = Det::policy;
  static constexpr int outputs = 2;
  void attributes(auto) const {}
  bool operator==(const Slogdet&) const = default;
  std::array<Spec, 2> infer(const Operand& a, const Operand&, const Operand&) const {
    check_square(a);
    return {spec_of(batch_like(a), a.dtype), spec_of(batch_like(a), a.dtype)};
  }
  void cpu(const Operand& a, const Operand& lu, const Operand& pivots, const Operand& sign, const Operand& log) const;
};

}  // namespace weft::op
