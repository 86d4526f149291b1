#include "tensor/kernels/cpu/pointwise/binary.h"

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/elementwise.h"

namespace weft::kernels::cpu {
namespace {

template <class F>
void number(int64_t grain, const F& f, const Operand& a, const Operand& b, const Operand& out) {
  visit_number(out.dtype, [&]<class T>() { elementwise<T, T, T>(grain, f, out, a, b); });
}

template <class F>
void any(const F& f, const Operand& a, const Operand& b, const Operand& out) {
  visit_dtype(out.dtype, [&]<class T>() { elementwise<T, T, T>(kCheapGrain, f, out, a, b); });
}

}  // namespace

void add(const Operand& a, const Operand& b, const Operand& out) {
  number(
      kCheapGrain, [](auto x, auto y) { return wrapping_add(x, y); }, a, b, out);
}
void sub(const Operand& a, const Operand& b, const Operand& out) {
  number(
      kCheapGrain, [](auto x, auto y) { return wrapping_sub(x, y); }, a, b, out);
}
void mul(const Operand& a, const Operand& b, const Operand& out) {
  number(
      kCheapGrain, [](auto x, auto y) { return wrapping_mul(x, y); }, a, b, out);
}
void div(const Operand& a, const Operand& b, const Operand& out) {
  visit_floating(out.dtype, [&]<class T>() {
    elementwise<T, T, T>(
        kCheapGrain, [](auto x, auto y) { return x / y; }, out, a, b);
  });
}
void pow(const Operand& a, const Operand& b, const Operand& out) {
  number(
      kSlowGrain, [](auto x, auto y) { return power(x, y); }, a, b, out);
}
void maximum(const Operand& a, const Operand& b, const Operand& out) {
  any([](auto x, auto y) { return nan_max(x, y); }, a, b, out);
}
void minimum(const Operand& a, const Operand& b, const Operand& out) {
  any([](auto x, auto y) { return nan_min(x, y); }, a, b, out);
}

}  // namespace weft::kernels::cpu
