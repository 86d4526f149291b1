// What reductions fold: the Ops of reduce_block.h and the policy of those that need one pass.
#pragma once

#include <limits>
#include <type_traits>

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/vector_library.h"
#include "tensor/kernels/cpu/base/vector_math.h"
#include "tensor/kernels/cpu/reduce/reduce_core.h"

namespace weft::kernels::cpu {

template <class T> inline constexpr bool kFloating = std::is_floating_point_v<Compute<T>>;

/// Sums of T are kept in double, or modulo 2^64 for integers and bool.
template <class T> using SumType = std::conditional_t<kFloating<T>, double, uint64_t>;

/// What T is compared in: bool as u8.
template <class T> using CompareType = typename simd::detail::RawOf<Compute<T>>::type;

struct Add {
  template <class V> static V combine(V a, V b) { return a + b; }
  template <class V> static constexpr V identity() { return V(0); }
};

/// What integers are read as for their sum: eight of up to 16 bits are first added in 32 bits.
template <class T> using IntegerLoad = std::conditional_t<sizeof(T) <= 2, int32_t, uint64_t>;

template <class T> struct SumOp : Add {
  using Load = std::conditional_t<kFloating<T>, Compute<T>, IntegerLoad<T>>;
  using Pre = Load;
  using Acc = SumType<T>;
  template <class V> static V map(V v, V) { return v; }
};

/// The sum of what is no NaN.
template <class T> struct NanSumOp : SumOp<T> {
  template <class V> static V map(V v, V) { return v == v ? v : V{}; }
};

/// The base of sums of functions of floats that are computed in C.
template <class C> struct FloatSum : Add {
  using Load = C;
  using Pre = C;
  using Acc = double;
};

/// Sum of (x - p)^2, in double throughout: f32 neither overflows nor cancels.
struct SquareOp : FloatSum<double> {
  template <class V> static V map(V v, V p) { return (v - p) * (v - p); }
};

/// Sum of (x - p)^2, in the type of computation: for deviations from a mean, which do not cancel.
template <class T> struct DeviationOp : FloatSum<Compute<T>> {
  template <class V> static V map(V v, V p) { return (v - p) * (v - p); }
};

/// Sum of (x * p)^2.
struct ScaledSquareOp : FloatSum<double> {
  template <class V> static V map(V v, V p) { return (v * p) * (v * p); }
};

template <class T> struct AbsSumOp : FloatSum<Compute<T>> {
  template <class V> static V map(V v, V) { return v < 0 ? -v : v; }
};

/// Sum of |x|^p.
struct PowerSumOp : FloatSum<double> {
  template <class V> static V map(V v, V p) { return vmath::pow(vmath::absolute(v), p); }
};

template <class T> struct CountOp : FloatSum<Compute<T>> {
  template <class V> static V map(V v, V) { return v != 0 ? V{} + 1 : V{}; }
};

/// Sum of exp(x - p) where no x is above p.
template <class T> struct ExpSumOp : FloatSum<Compute<T>> {
  template <class V> static V map(V v, V p) { return vmath::exp_below(v - p); }
};

template <class T> struct ProdOp {
  using Load = SumType<T>;
  using Pre = Load;
  using Acc = Load;
  template <class V> static V map(V v, V) { return v; }
  template <class V> static V combine(V a, V b) { return a * b; }
  template <class V> static constexpr V identity() { return V(1); }
};

/// The largest (or smallest) value; a NaN wins.
template <class T, bool kLargest> struct ExtremeOp {
  using Load = CompareType<T>;
  using Pre = Load;
  using Acc = Load;
  using Limits = std::numeric_limits<Load>;
  template <class V> static V map(V v, V) { return v; }
  template <class V> static V combine(V a, V b) {
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64 && std::is_same_v<Load, float>) {
      // NaN where either is one, else the instruction for the extreme (which drops a NaN on its left).
      const __m512 x = (__m512)a, y = (__m512)b,
                   extreme = (__m512)(kLargest ? simd::larger(a, b) : simd::smaller(a, b));
      return (V)_mm512_mask_add_ps(extreme, _mm512_cmp_ps_mask(x, y, _CMP_UNORD_Q), x, y);
    }
#endif
    if constexpr (std::is_floating_point_v<Load>) {
      if constexpr (kLargest)
        return ((a > b) | (a != a)) ? a : b;
      else
        return ((a < b) | (a != a)) ? a : b;
    } else if constexpr (kLargest) {
      return a > b ? a : b;
    } else {
      return a < b ? a : b;
    }
  }
  template <class V> static constexpr V identity() {
    if constexpr (Limits::has_infinity)
      return kLargest ? -Limits::infinity() : Limits::infinity();
    else
      return kLargest ? Limits::lowest() : Limits::max();
  }
};

template <class T, bool kLargest> struct AbsExtremeOp : ExtremeOp<T, kLargest> {
  // A difference: |-0| is 0, and a norm never -0.
  template <class V> static V map(V v, V) { return v <= 0 ? V{} - v : v; }
};

/// 1 where any (all) are not zero; NaN is not zero.
template <class T, bool kAny> struct TruthOp {
  using Load = CompareType<T>;
  using Pre = Load;
  using Acc = Load;
  template <class V> static V map(V v, V) { return v != 0 ? V{} + 1 : V{}; }
  template <class V> static V combine(V a, V b) {
    if constexpr (kAny)
      return a > b ? a : b;
    else
      return a < b ? a : b;
  }
  template <class V> static constexpr V identity() { return V(kAny ? 0 : 1); }
};

/// A partial result is the fold itself, with one parameter for all outputs.
template <class Op> struct OnePass {
  typename Op::Pre parameter{};

  using Partial = typename Op::Acc;
  static constexpr int kPasses = 1;
  static constexpr bool kApart = true;
  static Partial identity() { return Op::template identity<Partial>(); }
  static Partial combine(Partial a, Partial b) { return Op::combine(a, b); }
  template <class T> Partial rows(const Block<T>& block) const { return fold_rows<Op>(block, parameter); }
  template <class T> void dense_rows(const T* p, int64_t length, int64_t between, int64_t count, Partial* out) const {
    fold_dense_rows<Op>(p, length, between, count, parameter, out);
  }
  template <class T> void columns(const Block<T>& block, Partial* out) const {
    fold_columns<Op>(block, parameter, nullptr, out);
  }
};

/// Writes results of type V to an output of whatever dtype.
class Sink {
 public:
  Sink(const Operand& out, int64_t offset) : base_(out.base), offset_(offset), dtype_(out.dtype) {}
  /// values[i] to offset + i * step.
  template <class V> void operator()(int64_t offset, int64_t step, const V* values, int64_t count) const {
    visit_dtype(dtype_, [&]<class T>() {
      T* out = static_cast<T*>(base_) + offset_ + offset;
      for (int64_t i = 0; i < count; ++i) out[i * step] = convert<T>(values[i]);
    });
  }

 private:
  void* base_;
  int64_t offset_;
  DType dtype_;
};

/// What reduce() is to call: result(partial) goes to the sink, a few at a time.
template <class F> auto into(const Sink& sink, F result) {
  return [=]<class Partial>(int64_t offset, int64_t step, const Partial* partials, int64_t count) {
    constexpr int64_t kMost = 64;
    decltype(result(*partials)) results[kMost];
    for (int64_t i = 0; i < count; i += kMost) {
      const int64_t some = std::min(kMost, count - i);
      for (int64_t k = 0; k < some; ++k) results[k] = result(partials[i + k]);
      sink(offset + i * step, step, results, some);
    }
  };
}

}  // namespace weft::kernels::cpu
