// Activations of one pass.
#include "tensor/ops/activation.h"

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/vector_functions.h"
#include "tensor/kernels/cpu/pointwise/binary_loops.h"
#include "tensor/kernels/cpu/pointwise/unary_loops.h"

namespace weft::kernels::cpu {
namespace {

/// x tanh(log(1 + e)) = x (e^2 + 2 e) / (e^2 + 2 e + 2) with e = e^x; the factor is 1 to rounding beyond 20 (40 in
/// f64).
struct MishOf {
  template <class V> V operator()(V x) const {
    using T = vmath::Lane<V>;
    const V e = vmath::exp(simd::smaller(vmath::splat<V>(sizeof(T) == 4 ? 20 : 40), x)), n = e * (e + T(2));
    return x * (n / (n + T(2)));
  }
};

struct EluOf {
  double below, scale, input_scale;
  template <class V> V operator()(V x) const {
    using T = vmath::Lane<V>;
    if (!vmath::any_lane(~(x > T(0)))) return x * static_cast<T>(scale);
    const V rest = vmath::expm1(x * static_cast<T>(input_scale)) * static_cast<T>(below);
    return vmath::select(x > T(0), x * static_cast<T>(scale), rest);
  }
};

/// min(max(x + 3, 0), 6) / 6 without the division: 6 times a sixth is 1 in either dtype.
template <class T> T hard_gate(T x) { return clamped<T>(x + 3, 0, 6) * (T(1) / 6); }

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

WEFT_UNARY_KERNEL(Mish, floating(kMathGrain, on_registers(MishOf{}), x, out))
WEFT_UNARY_KERNEL(Logsigmoid, floating(kMathGrain, on_registers([](auto v) { return -vmath::softplus(-v); }), x, out))
WEFT_UNARY_KERNEL(Hardswish, floating(kCheapGrain, few_instructions([](auto v) { return v * hard_gate(v); }), x, out))
WEFT_UNARY_KERNEL(Hardsigmoid, floating(kCheapGrain, few_instructions([](auto v) { return hard_gate(v); }), x, out))
WEFT_UNARY_KERNEL(Softsign,
                  floating(kCheapGrain, few_instructions([](auto v) { return v / (1 + std::fabs(v)); }), x, out))

void op::Elu::cpu(const Operand& x, const Operand& out) const {
  floating(kMathGrain, on_registers(EluOf{scale * alpha, scale, input_scale}), x, out);
}

void op::Hardtanh::cpu(const Operand& x, const Operand& out) const { op::Clip{min, max}.cpu(x, out); }

void op::Softshrink::cpu(const Operand& x, const Operand& out) const {
  const auto f = [by = width]<class T>(T v) {
    const T w = static_cast<T>(by), inside = v == v ? T(0) : v, below = v < -w ? v + w : inside;
    return v > w ? v - w : below;
  };
  floating(kCheapGrain, few_instructions(f), x, out);
}

void op::Hardshrink::cpu(const Operand& x, const Operand& out) const {
  const auto f = [by = width]<class T>(T v) { return std::fabs(v) <= static_cast<T>(by) ? T(0) : v; };
  floating(kCheapGrain, few_instructions(f), x, out);
}

void op::Threshold::cpu(const Operand& x, const Operand& out) const {
  const auto f = [at = threshold, to = value]<class T>(T v) {
    const T low = static_cast<T>(at), other = static_cast<T>(to);  // read in any case: else it is a jump
    return v <= low ? other : v;
  };
  floating(kCheapGrain, few_instructions(f), x, out);
}

void op::Prelu::cpu(const Operand& x, const Operand& slope, const Operand& out) const {
  floating_pair(kCheapGrain, few_instructions([](auto v, auto s) { return v > 0 ? v : v * s; }), x, slope, out);
}

}  // namespace weft
