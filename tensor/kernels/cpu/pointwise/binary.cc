#include "tensor/ops/binary.h"

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/vector_functions.h"
#include "tensor/kernels/cpu/pointwise/binary_loops.h"

namespace weft::kernels::cpu {
namespace {

template <class F> void number(int64_t grain, const F& f, const Operand& a, const Operand& b, const Operand& out) {
  visit_number(out.dtype, [&]<class T>() { elementwise<T, T, T>(grain, f, out, a, b); });
}
template <class F> void floating(const F& f, const Operand& a, const Operand& b, const Operand& out) {
  visit_floating(out.dtype, [&]<class T>() { elementwise<T, T, T>(kCheapGrain, few_instructions(f), out, a, b); });
}
template <class F> void any(const F& f, const Operand& a, const Operand& b, const Operand& out) {
  visit_stored(out.dtype, [&]<class T>() { elementwise<T, T, T>(kCheapGrain, few_instructions(f), out, a, b); });
}

struct Power {
  auto operator()(auto x, auto y) const {
    if constexpr (std::is_arithmetic_v<decltype(x)>)
      return power(x, y);
    else
      return vmath::pow(x, y);
  }
};

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

// clang-format off
// Of truth values: or, and.
WEFT_BINARY_KERNEL(Add, if (out.dtype == DType::boolean) return Maximum{}.cpu(a, b, out);
                   number(kCheapGrain, few_instructions([](auto x, auto y) { return wrapping_add(x, y); }), a, b, out))
WEFT_BINARY_KERNEL(Sub,
                   number(kCheapGrain, few_instructions([](auto x, auto y) { return wrapping_sub(x, y); }), a, b, out))
WEFT_BINARY_KERNEL(Mul, if (out.dtype == DType::boolean) return Minimum{}.cpu(a, b, out);
                   number(kCheapGrain, few_instructions([](auto x, auto y) { return wrapping_mul(x, y); }), a, b, out))
WEFT_BINARY_KERNEL(Div, floating([](auto x, auto y) { return x / y; }, a, b, out))
WEFT_BINARY_KERNEL(Pow, number(kSlowGrain, on_registers(Power{}), a, b, out))
WEFT_BINARY_KERNEL(Maximum, any([](auto x, auto y) { return nan_max(x, y); }, a, b, out))
WEFT_BINARY_KERNEL(Minimum, any([](auto x, auto y) { return nan_min(x, y); }, a, b, out))
WEFT_BINARY_KERNEL(ClampMin, Maximum{}.cpu(a, b, out))
WEFT_BINARY_KERNEL(ClampMax, Minimum{}.cpu(a, b, out))
WEFT_BINARY_KERNEL(AddScaled,
                   floating([w = alpha](auto x, auto y) { return x + y * static_cast<decltype(x)>(w); }, a, b, out))
// clang-format on

}  // namespace weft
