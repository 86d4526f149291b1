// Comparisons and logic (bool results, no gradient), and the choice between two tensors.
#pragma once

#include "tensor/apply.h"

namespace weft {

Tensor eq(const Tensor& a, const Tensor& b);
Tensor ne(const Tensor& a, const Tensor& b);
Tensor lt(const Tensor& a, const Tensor& b);
Tensor le(const Tensor& a, const Tensor& b);
Tensor gt(const Tensor& a, const Tensor& b);
Tensor ge(const Tensor& a, const Tensor& b);
Tensor eq(const Tensor& a, const Scalar& b);
Tensor ne(const Tensor& a, const Scalar& b);
Tensor lt(const Tensor& a, const Scalar& b);
Tensor le(const Tensor& a, const Scalar& b);
Tensor gt(const Tensor& a, const Scalar& b);
Tensor ge(const Tensor& a, const Scalar& b);
/// Logic on x != 0.
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_xor(const Tensor& a, const Tensor& b);
Tensor logical_not(const Tensor& x);
Tensor isnan(const Tensor& x);
Tensor isfinite(const Tensor& x);
/// a where `condition` (bool) holds, else b; all three broadcast. A NaN on the side not taken does not reach the gradient.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
/// Shape, dtype and every value are the same (NaN differs from NaN).
bool equal(const Tensor& a, const Tensor& b);
/// |a - b| <= atol + rtol |b| everywhere, NaN equal to NaN where asked; broadcasts.
bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);

inline Tensor operator==(const Tensor& a, const Tensor& b) { return eq(a, b); }
inline Tensor operator!=(const Tensor& a, const Tensor& b) { return ne(a, b); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return lt(a, b); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return le(a, b); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return gt(a, b); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return ge(a, b); }
inline Tensor operator==(const Tensor& a, const Scalar& b) { return eq(a, b); }
inline Tensor operator!=(const Tensor& a, const Scalar& b) { return ne(a, b); }
inline Tensor operator<(const Tensor& a, const Scalar& b) { return lt(a, b); }
inline Tensor operator<=(const Tensor& a, const Scalar& b) { return le(a, b); }
inline Tensor operator>(const Tensor& a, const Scalar& b) { return gt(a, b); }
inline Tensor operator>=(const Tensor& a, const Scalar& b) { return ge(a, b); }
// C++20 would rewrite `2.0 == t` into a reversed call and find it ambiguous: its own overloads.
inline Tensor operator==(const Scalar& a, const Tensor& b) { return eq(b, a); }
inline Tensor operator!=(const Scalar& a, const Tensor& b) { return ne(b, a); }
inline Tensor operator<(const Scalar& a, const Tensor& b) { return gt(b, a); }
inline Tensor operator<=(const Scalar& a, const Tensor& b) { return ge(b, a); }
inline Tensor operator>(const Scalar& a, const Tensor& b) { return lt(b, a); }
inline Tensor operator>=(const Scalar& a, const Tensor& b) { return le(b, a); }

namespace op {

/// Element-wise questions about two tensors of one shape and dtype; the answer is bool.
template <class Self>
struct Compare {
  void attributes(auto) const {}
  bool operator==(const Compare&) const = default;
  Spec infer(const Tensor& a, const Tensor& b) const;
  void run(const Tensor& a, const Tensor& b, Tensor& out) const;
};
struct Eq : Compare<Eq> {
  static constexpr std::string_view name = "eq";
};
struct Ne : Compare<Ne> {
  static constexpr std::string_view name = "ne";
};
struct Lt : Compare<Lt> {
  static constexpr std::string_view name = "lt";
};
struct Le : Compare<Le> {
  static constexpr std::string_view name = "le";
};
struct Gt : Compare<Gt> {
  static constexpr std::string_view name = "gt";
};
struct Ge : Compare<Ge> {
  static constexpr std::string_view name = "ge";
};
struct LogicalAnd : Compare<LogicalAnd> {
  static constexpr std::string_view name = "logical_and";
};
struct LogicalOr : Compare<LogicalOr> {
  static constexpr std::string_view name = "logical_or";
};
struct LogicalXor : Compare<LogicalXor> {
  static constexpr std::string_view name = "logical_xor";
};

/// A tensor compared with a number.
template <class Self>
struct CompareScalar {
  Scalar value = 0;
  void attributes(auto visit) const { visit("value", value); }
  bool operator==(const CompareScalar&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};
struct EqScalar : CompareScalar<EqScalar> {
  static constexpr std::string_view name = "eq";
};
struct NeScalar : CompareScalar<NeScalar> {
  static constexpr std::string_view name = "ne";
};
struct LtScalar : CompareScalar<LtScalar> {
  static constexpr std::string_view name = "lt";
};
struct LeScalar : CompareScalar<LeScalar> {
  static constexpr std::string_view name = "le";
};
struct GtScalar : CompareScalar<GtScalar> {
  static constexpr std::string_view name = "gt";
};
struct GeScalar : CompareScalar<GeScalar> {
  static constexpr std::string_view name = "ge";
};

/// Element-wise questions about one tensor.
template <class Self>
struct Predicate {
  void attributes(auto) const {}
  bool operator==(const Predicate&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};
struct LogicalNot : Predicate<LogicalNot> {
  static constexpr std::string_view name = "logical_not";
};
struct IsNan : Predicate<IsNan> {
  static constexpr std::string_view name = "isnan";
};
struct IsFinite : Predicate<IsFinite> {
  static constexpr std::string_view name = "isfinite";
};

/// condition (bool), a and b have one shape; a and b one dtype.
struct Where {
  static constexpr std::string_view name = "where";
  void attributes(auto) const {}
  bool operator==(const Where&) const = default;
  Spec infer(const Tensor& condition, const Tensor& a, const Tensor& b) const;
  void run(const Tensor& condition, const Tensor& a, const Tensor& b, Tensor& out) const;
};

}  // namespace op
}  // namespace weft
