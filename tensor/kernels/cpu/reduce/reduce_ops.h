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
  static constexpr bool kLongMap = true;
  template <class V> static V map(V v, V p) { return vmath::pow(vmath::absolute(v), p); }
};

template <class T> struct CountOp : FloatSum<Compute<T>> {
  template <class V> static V map(V v, V) { return v != 0 ? V{} + 1 : V{}; }
};

/// Sum of exp(x - p) where no x is above p.
template <class T> struct ExpSumOp : FloatSum<Compute<T>> {
  static constexpr bool kLongMap = true;
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

/// The largest |x| (p = 0) or the largest -|x| (p = -0).
template <class T> struct AbsExtremeOp : ExtremeOp<T, true> {
  template <class V> static V map(V v, V p) {
    using Bits = decltype(v < p);
    constexpr auto kSign = std::numeric_limits<std::remove_cvref_t<decltype(Bits{}[0])>>::min();
    return (V)(((Bits)v & ~kSign) | (Bits)p);
  }
};

/// All bits set where any x is not zero (p = 0), or where any is zero (p = -1); NaN is not zero.
template <class T> struct TruthOp {
  using Load = CompareType<T>;
  using Pre = std::conditional_t<
      sizeof(Load) == 1, int8_t,
      std::conditional_t<sizeof(Load) == 2, int16_t, std::conditional_t<sizeof(Load) == 4, int32_t, int64_t>>>;
  using Acc = Pre;
  template <class V, class P> static P map(V v, P p) { return (P)(v != 0) ^ p; }
  template <class V> static V combine(V a, V b) { return static_cast<V>(a | b); }
  template <class V> static constexpr V identity() { return V(0); }
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

/// A policy for elements of C given others: blocks are converted first. For policies that compute much per element, or
/// run rarely: they are compiled for C alone.
template <class Policy, class C> struct Widened : Policy {
  using Partial = typename Policy::Partial;
  static constexpr int64_t kFewest = 8;  // columns at a time
  static constexpr int64_t kRoom = kFewest * kMostRows;

  template <class T> Partial rows(const Block<T>& block) const {
    C room[kRoom];
    Nest nest;
    return Policy::rows(widened(block, 0, block.length, room, nest));
  }
  template <class T>
  void dense_rows(const T* p, int64_t length, int64_t between, int64_t count, Partial* out) const requires requires {
    Policy::kApart;
  }
  {
    C row[kRowBlock];
    for (int64_t i = 0; i < count; ++i) {
      copy_run(p + i * between, row, length);
      Policy::dense_rows(row, length, 0, 1, out + i);
    }
  }
  template <class T> void columns(const Block<T>& block, Partial* out) const {
    C room[kRoom];
    const int64_t strip = kRoom / block.rows / kFewest * kFewest;
    for (int64_t first = 0; first < block.length; first += strip) {
      Nest nest;
      Policy::columns(widened(block, first, std::min(strip, block.length - first), room, nest), out + first);
    }
  }

 private:
  /// Some columns of the block, converted.
  template <class T>
  static Block<C> widened(const Block<T>& block, int64_t first, int64_t columns, C* room, Nest& nest) {
    const T* const from = block.base + first * block.stride;
    if (detail::lies_along_memory(block)) {
      const int64_t joined = block.stride == block.rows ? columns : 1;
      for (int64_t j = 0; j < columns; j += joined)
        copy_run(from + block.first + j * block.stride, room + j * block.rows, joined * block.rows);
      nest.push({block.rows, 1, 0});
      return {room, &nest, 0, block.rows, columns, block.rows};
    }
    NestWalk walk(*block.nest, block.first);
    detail::DenseRows<T, kRowBlock> dense;
    for (int64_t i = 0; i < block.rows; ++i, walk.next()) {
      const T* row = from + walk.in();
      if (block.stride != 1) row = dense.copy(row, block.stride, columns);
      copy_run(row, room + i * columns, columns);
    }
    nest.push({block.rows, columns, 0});
    return {room, &nest, 0, block.rows, columns, 1};
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

/// What reduce() is to call: what results(partials, count, out) makes of a few partial results goes to the sink. It
/// does not depend on the dtype of the input, so that it is compiled once for all.
template <class Results> struct IntoSink {
  Sink sink;
  Results results;
  template <class Partial> void operator()(int64_t offset, int64_t step, const Partial* partials, int64_t count) const {
    constexpr int64_t kMost = 64;
    typename Results::template Of<Partial> out[kMost];
    for (int64_t i = 0; i < count; i += kMost) {
      const int64_t some = std::min(kMost, count - i);
      results(partials + i, some, out);
      sink(offset + i * step, step, out, some);
    }
  }
};

}  // namespace weft::kernels::cpu
