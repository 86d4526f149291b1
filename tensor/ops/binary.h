// Element-wise arithmetic of two tensors, or of a tensor and a number. Operands broadcast (aligned right; equal or 1) and
// meet in promote(a, b); a number does not widen within its category. IEEE-754 throughout: nothing is sanitised.
#pragma once

#include "tensor/apply.h"

namespace weft {

Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
/// a / b; two integers give f32.
Tensor div(const Tensor& a, const Tensor& b);
Tensor add(const Tensor& a, const Scalar& b);
Tensor sub(const Tensor& a, const Scalar& b);
Tensor sub(const Scalar& a, const Tensor& b);
Tensor mul(const Tensor& a, const Scalar& b);
Tensor div(const Tensor& a, const Scalar& b);
Tensor div(const Scalar& a, const Tensor& b);
/// a^b. The gradient at a = 0 follows PyTorch: 0 where b = 0; d/db is 0 where a = 0 and b >= 0.
Tensor pow(const Tensor& a, const Tensor& b);
Tensor pow(const Tensor& a, const Scalar& b);
Tensor pow(const Scalar& a, const Tensor& b);
/// The larger / smaller of two; NaN propagates; ties share the gradient evenly.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator+(const Tensor& a, const Scalar& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Scalar& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Scalar& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Scalar& b) { return div(a, b); }
inline Tensor operator+(const Scalar& a, const Tensor& b) { return add(b, a); }
inline Tensor operator-(const Scalar& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Scalar& a, const Tensor& b) { return mul(b, a); }
inline Tensor operator/(const Scalar& a, const Tensor& b) { return div(a, b); }

namespace detail {
/// Both operands in one dtype and one shape (casts and expands are recorded ops). Used by every binary public function.
std::pair<Tensor, Tensor> meet(const Tensor& a, const Tensor& b);
}  // namespace detail

namespace op {

/// Ops of two tensors of one shape and dtype (the public functions see to it).
template <class Self>
struct Binary {
  void attributes(auto) const {}
  bool operator==(const Binary&) const = default;
  Spec infer(const Tensor& a, const Tensor& b) const;
  void run(const Tensor& a, const Tensor& b, Tensor& out) const;
};
struct Add : Binary<Add> {
  static constexpr std::string_view name = "add";
};
struct Sub : Binary<Sub> {
  static constexpr std::string_view name = "sub";
};
struct Mul : Binary<Mul> {
  static constexpr std::string_view name = "mul";
};
struct Div : Binary<Div> {
  static constexpr std::string_view name = "div";
};
struct Pow : Binary<Pow> {
  static constexpr std::string_view name = "pow";
};
struct Maximum : Binary<Maximum> {
  static constexpr std::string_view name = "maximum";
};
struct Minimum : Binary<Minimum> {
  static constexpr std::string_view name = "minimum";
};

/// Ops of a tensor and a number. The dtype of the result is the tensor's (the public function casts first).
template <class Self>
struct WithScalar {
  Scalar value = 0;
  void attributes(auto visit) const { visit("value", value); }
  bool operator==(const WithScalar&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};
/// x + value
struct AddScalar : WithScalar<AddScalar> {
  static constexpr std::string_view name = "add";
};
/// value - x
struct RsubScalar : WithScalar<RsubScalar> {
  static constexpr std::string_view name = "sub";
};
/// x * value
struct MulScalar : WithScalar<MulScalar> {
  static constexpr std::string_view name = "mul";
};
/// x / value
struct DivScalar : WithScalar<DivScalar> {
  static constexpr std::string_view name = "div";
};
/// value / x
struct RdivScalar : WithScalar<RdivScalar> {
  static constexpr std::string_view name = "div";
};
/// x^value
struct PowScalar : WithScalar<PowScalar> {
  static constexpr std::string_view name = "pow";
};
/// value^x
struct RpowScalar : WithScalar<RpowScalar> {
  static constexpr std::string_view name = "pow";
};

}  // namespace op
}  // namespace weft
