// Descriptors of eigenvalue decompositions.
#pragma once

#include <array>

#include "tensor/ops/linear_algebra.h"

namespace weft::op {

/// The eigenvalues (ascending) and orthonormal eigenvectors (columns) of a symmetric matrix, of which one triangle is
/// read. Without `vectors`, the eigenvectors are not computed and have shape [0].
struct Eigh {
  bool upper;
  bool vectors = true;
  static constexpr std::string_view name = "eigh";
  static constexpr std::string_view cost = "O(n^3)";
  static constexpr Policy policy = kFactorization;
  static constexpr int outputs = 2;
  void attributes(auto visit) const { visit("upper", upper), visit("vectors", vectors); }
  bool operator==(const Eigh&) const = default;
  std::array<Spec, 2> infer(const Operand& a) const {
    check_square(a);
    return {spec_of(vectors_like(a, a.size(a.rank() - 1)), a.dtype),
            vectors ? spec_of(a.shape(), a.dtype) : spec_of({0}, a.dtype)};
  }
  void cpu(const Operand& a, const Operand& values, const Operand& eigenvectors) const;
};

/// The eigenvalues and eigenvectors (columns of length 1) of a square matrix whose eigenvalues are real.
struct Eig {
  bool vectors = true;
  static constexpr std::string_view name = "eig";
  static constexpr std::string_view cost = "O(n^3)";
  static constexpr Policy policy = kFactorization;
  static constexpr int outputs = 2;
  void attributes(auto visit) const { visit("vectors", vectors); }
  bool operator==(const Eig&) const = default;
  std::array<Spec, 2> infer(const Operand& a) const {
    check_square(a);
    return {spec_of(vectors_like(a, a.size(a.rank() - 1)), a.dtype),
            vectors ? spec_of(a.shape(), a.dtype) : spec_of({0}, a.dtype)};
  }
  void cpu(const Operand& a, const Operand& values, const Operand& eigenvectors) const;
};

}  // namespace weft::op
