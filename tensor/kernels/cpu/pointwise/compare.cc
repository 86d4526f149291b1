#include "tensor/kernels/cpu/pointwise/compare.h"

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/elementwise.h"

namespace weft::kernels::cpu {
namespace {

template <class F>
void tensors(const F& f, const Operand& a, const Operand& b, const Operand& out) {
  visit_dtype(a.dtype, [&]<class T>() { elementwise<bool, T, T>(kCheapGrain, f, out, a, b); });
}

template <class F>
void scalar(const F& f, const Operand& x, const Scalar& value, const Operand& out) {
  visit_dtype(x.dtype, [&]<class T>() {
    using C = detail::Stored<Compute<T>>;
    elementwise<bool, T>(
        kCheapGrain, [&f, right = scalar_as<C>(value)](C e) { return f(e, right); }, out, x);
  });
}

}  // namespace

void eq(const Operand& a, const Operand& b, const Operand& out) {
  tensors([](auto x, auto y) { return x == y; }, a, b, out);
}
void ne(const Operand& a, const Operand& b, const Operand& out) {
  tensors([](auto x, auto y) { return x != y; }, a, b, out);
}
void lt(const Operand& a, const Operand& b, const Operand& out) {
  tensors([](auto x, auto y) { return x < y; }, a, b, out);
}
void le(const Operand& a, const Operand& b, const Operand& out) {
  tensors([](auto x, auto y) { return x <= y; }, a, b, out);
}
void gt(const Operand& a, const Operand& b, const Operand& out) {
  tensors([](auto x, auto y) { return x > y; }, a, b, out);
}
void ge(const Operand& a, const Operand& b, const Operand& out) {
  tensors([](auto x, auto y) { return x >= y; }, a, b, out);
}

void eq_scalar(const Operand& x, const Scalar& value, const Operand& out) {
  scalar([](auto e, auto v) { return e == v; }, x, value, out);
}
void ne_scalar(const Operand& x, const Scalar& value, const Operand& out) {
  scalar([](auto e, auto v) { return e != v; }, x, value, out);
}
void lt_scalar(const Operand& x, const Scalar& value, const Operand& out) {
  scalar([](auto e, auto v) { return e < v; }, x, value, out);
}
void le_scalar(const Operand& x, const Scalar& value, const Operand& out) {
  scalar([](auto e, auto v) { return e <= v; }, x, value, out);
}
void gt_scalar(const Operand& x, const Scalar& value, const Operand& out) {
  scalar([](auto e, auto v) { return e > v; }, x, value, out);
}
void ge_scalar(const Operand& x, const Scalar& value, const Operand& out) {
  scalar([](auto e, auto v) { return e >= v; }, x, value, out);
}

void logical_and(const Operand& a, const Operand& b, const Operand& out) {
  tensors([](auto x, auto y) { return (x != 0) & (y != 0); }, a, b, out);
}
void logical_or(const Operand& a, const Operand& b, const Operand& out) {
  tensors([](auto x, auto y) { return (x != 0) | (y != 0); }, a, b, out);
}
void logical_xor(const Operand& a, const Operand& b, const Operand& out) {
  tensors([](auto x, auto y) { return (x != 0) != (y != 0); }, a, b, out);
}

}  // namespace weft::kernels::cpu
