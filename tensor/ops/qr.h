// Descriptors of the QR factorization.
#pragma once

#include <array>

#include "tensor/ops/linear_algebra.h"

namespace weft::op {

/// a = q r for a (m, n), m >= n: q (m, n) has orthonormal columns and r (n, n) is upper triangular. With `complete`,
/// q is (m, m) and r is (m, n). Without `vectors`, q is not computed and has shape [0].
struct Qr {
  bool complete;
  bool vectors = true;
  static constexpr std::string_view name = "qr";
  static constexpr std::string_view cost = "4 m n min(m, n) operations";
  static constexpr Policy policy = kFactorization;
  static constexpr int outputs = 2;
  void attributes(auto visit) const { visit("complete", complete), visit("vectors", vectors); }
  bool operator==(const Qr&) const = default;
  std::array<Spec, 2> infer(const Operand& a) const {
    check_matrices(a);
    const int64_t m = a.size(a.rank() - 2), n = a.size(a.rank() - 1), k = complete ? m : n;
    if (m < n) throw ShapeError(text("it takes at least as many rows as columns, not shape ", a.shape()));
    return {spec_of(vectors ? matrices_like(a, m, k) : Shape{0}, a.dtype), spec_of(matrices_like(a, k, n), a.dtype)};
  }
  void cpu(const Operand& a, const Operand& q, const Operand& r) const;
};

/// The reflections I - tau_j v_j v_j^T, j < k, whose product is the q of a (m, n), m >= n: one matrix (..., m, n) with
/// r on and above the diagonal, and v_j below it in column j, without its first element, 1; and tau (..., n) (LAPACK's
/// geqrf).
struct Geqrf {
  static constexpr std::string_view name = "geqrf";
  static constexpr std::string_view cost = "2 m n^2 operations";
  static constexpr Policy policy = kFactorization;
  static constexpr int outputs = 2;
  void attributes(auto) const {}
  bool operator==(const Geqrf&) const = default;
  std::array<Spec, 2> infer(const Operand& a) const {
    check_matrices(a);
    const int64_t m = a.size(a.rank() - 2), n = a.size(a.rank() - 1);
    if (m < n) throw ShapeError(text("it takes at least as many rows as columns, not shape ", a.shape()));
    return {spec_of(a.shape(), a.dtype), spec_of(vectors_like(a, n), a.dtype)};
  }
  void cpu(const Operand& a, const Operand& factors, const Operand& tau) const;
};

}  // namespace weft::op
