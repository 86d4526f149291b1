// Descriptors of the singular value decomposition and the pseudoinverse.
#pragma once

#include <array>

#include "tensor/ops/linear_algebra.h"

namespace weft::op {

/// a = u diag(s) vh with s descending. u is (m, k) and vh is (k, n) with k = min(m, n); with `full` they are (m, m) and
/// (n, n). Without `vectors` they are not computed and have shape [0].
struct Svd {
  bool full;
  bool vectors = true;
  static constexpr std::string_view name = "svd";
  static constexpr std::string_view cost = "O(m n min(m, n))";
  static constexpr Policy policy = kFactorization;
  static constexpr int outputs = 3;
  void attributes(auto visit) const { visit("full", full), visit("vectors", vectors); }
  bool operator==(const Svd&) const = default;
  std::array<Spec, 3> infer(const Operand& a) const;
  void cpu(const Operand& a, const Operand& u, const Operand& s, const Operand& vh) const;
};

/// The pseudoinverse (n, m): singular values up to max(atol, rtol s_max) count as zero. With `hermitian`, the matrix is
/// symmetric and only its lower triangle is read.
struct Pinv {
  double rtol;
  double atol;
  bool hermitian = false;
  static constexpr std::string_view name = "pinv";
  static constexpr std::string_view cost = "O(m n min(m, n))";
  static constexpr Policy policy = kFactorization;
  void attributes(auto visit) const { visit("rtol", rtol), visit("atol", atol), visit("hermitian", hermitian); }
  bool operator==(const Pinv&) const = default;
  Spec infer(const Operand& a) const {
    hermitian ? check_square(a) : check_matrices(a);
    return spec_of(matrices_like(a, a.size(a.rank() - 1), a.size(a.rank() - 2)), a.dtype);
  }
  void cpu(const Operand& a, const Operand& out) const;
};

}  // namespace weft::op
