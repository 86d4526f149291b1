// Bits of integers and bool, and shifts.
#include "tensor/kernels/cpu/pointwise/binary_loops.h"
#include "tensor/ops/binary.h"

namespace weft::kernels::cpu {
namespace {

// bool is stored as 0 and 1: the bits of its bytes are right.
template <class F> void bits(const F& f, const Operand& a, const Operand& b, const Operand& out) {
  visit_size(out.dtype, [&]<class T>() { elementwise<T, T, T>(kCheapGrain, f, out, a, b); });
}

template <class F> void shift(const F& f, const Operand& a, const Operand& b, const Operand& out) {
  visit_integer(out.dtype, [&]<class T>() { elementwise<T, T, T>(kCheapGrain, f, out, a, b); });
}

template <class T> bool is_inside(T count) { return (count >= 0) & (count < static_cast<T>(8 * sizeof(T))); }

struct Left {
  template <class T> T operator()(T a, T b) const {
    using Unsigned = std::make_unsigned_t<T>;
    const Unsigned value = static_cast<Unsigned>(a);
    return is_inside(b) ? static_cast<T>(static_cast<Unsigned>(value << b)) : T(0);
  }
};
struct Right {
  template <class T> T operator()(T a, T b) const {
    const T all_but_one = static_cast<T>(8 * sizeof(T) - 1), emptied = std::is_signed_v<T> && a < 0 ? T(-1) : T(0);
    return is_inside(b) ? static_cast<T>(a >> (b & all_but_one)) : emptied;
  }
};

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

// clang-format off
WEFT_BINARY_KERNEL(BitwiseAnd, bits([]<class T>(T x, T y) { return static_cast<T>(x & y); }, a, b, out))
WEFT_BINARY_KERNEL(BitwiseOr, bits([]<class T>(T x, T y) { return static_cast<T>(x | y); }, a, b, out))
WEFT_BINARY_KERNEL(BitwiseXor, bits([]<class T>(T x, T y) { return static_cast<T>(x ^ y); }, a, b, out))
WEFT_BINARY_KERNEL(BitwiseLeftShift, shift(Left{}, a, b, out))
WEFT_BINARY_KERNEL(BitwiseRightShift, shift(Right{}, a, b, out))
// clang-format on

}  // namespace weft
