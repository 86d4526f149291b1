// Scans along an axis.
//
// Where neighbouring lines lie side by side, many advance together; else lines are walked one by one. Sums of a line
// are blocked: a block is scanned from zero, a register at a time, and the sum of the blocks before is added. So the
// blocks of a long line can go to several threads, and the bits are the same.
#include "tensor/ops/scan.h"

#include "tensor/kernels/cpu/rowwise/scan_ops.h"
#include "tensor/kernels/cpu/rowwise/scan_walk.h"

namespace weft::kernels::cpu {
namespace {

/// v moved up by kBy lanes, zeros below.
template <int kBy, class V, int... I> WEFT_SIMD V moved_up(V v, std::integer_sequence<int, I...>) {
  constexpr int N = sizeof...(I);
  return __builtin_shufflevector(V{}, v, (I < kBy ? I : N + I - kBy)...);
}
/// Lane i: the sum of lanes 0 .. i.
template <int N, int kBy = 1, class V> WEFT_SIMD V running_sums(V v) {
  if constexpr (kBy >= N)
    return v;
  else
    return running_sums<N, 2 * kBy>(V(v + moved_up<kBy>(v, std::make_integer_sequence<int, N>())));
}

/// The sum of a block. Running sums, `before` added, go to `out` unless it is null.
template <class A, class C, class O> A sum_block(const C* x, int64_t length, A before, O* out) {
  constexpr int N = simd::kLanes<A>;
  using V = simd::Vec<A, N>;
  A sum = 0;
  int64_t i = 0;
  for (; i + N <= length; i += N) {
    simd::look_ahead(x + i, 1024);
    const V sums = running_sums<N>(simd::load<A, N>(x + i)) + sum;
    sum = sums[N - 1];
    if (out != nullptr) simd::store<A, N>(out + i, V(sums + before));
  }
  for (; i < length; ++i) {
    sum += static_cast<A>(x[i]);
    if (out != nullptr) out[i] = static_cast<O>(sum + before);
  }
  return sum;
}

/// A whole line; the blocks of a long one on several threads where there are any to spare.
template <class A, class C, class O> void sum_line(const C* x, int64_t length, O* out) {
  const int64_t blocks = (length + kScanBlock - 1) / kScanBlock;
  const auto block = [&](int64_t b, A before, O* to) {
    const int64_t begin = b * kScanBlock;
    return sum_block<A>(x + begin, std::min(kScanBlock, length - begin), before, to != nullptr ? to + begin : to);
  };
  A before = 0;
  if (blocks < 8 || region_threads() == 1) {
    for (int64_t b = 0; b < blocks; ++b) before += block(b, before, out);
    return;
  }
  const Scratch<A> starts(blocks);
  parallel_for(blocks, 4, [&](int64_t b, int64_t end) {
    for (; b < end; ++b) starts.data()[b] = block(b, 0, nullptr);
  });
  for (int64_t b = 0; b < blocks; ++b) before += std::exchange(starts.data()[b], before);
  parallel_for(blocks, 4, [&](int64_t b, int64_t end) {
    for (; b < end; ++b) block(b, starts.data()[b], out);
  });
}

/// `length` elements of one line by Op.
template <class Op, class O, class... C> void step_line(int64_t length, O* out, int64_t* positions, const C*... in) {
  typename Op::State state = Op::start();
  for (int64_t i = 0; i < length; ++i) {
    Op::step(state, i, in[i]...);
    out[i] = static_cast<O>(Op::value(state));
    if constexpr (requires { state.position; }) positions[i] = state.position;
  }
}

/// Scans elements of T to results of O.
template <class Op, class T, class O = T, class... In>
void scan(int64_t axis, const Operand& out, const Operand* positions, const In&... in) {
  const int64_t length = out.size(axis);
  if (out.numel() == 0) return;
  const Lines to(out, axis), places(positions != nullptr ? *positions : out, axis);
  const Lines* to_places = positions != nullptr ? &places : nullptr;
  if constexpr (std::is_same_v<T, Compute<T>>)
    if (are_neighbours(to, places, Lines(in, axis)...))
      return scan_neighbours<Op, T, O>(length, to, to_places, Lines(in, axis)...);
  const auto one = [&](auto* y, int64_t* at, const auto*... x) {
    if constexpr (std::is_same_v<Op, SumScan<T>>)
      sum_line<typename Op::State>(x..., length, y);
    else
      step_line<Op>(length, y, at, x...);
  };
  [&](const auto&... lines) { scan_each_line<T, O>(length, to, to_places, one, lines...); }(Lines(in, axis)...);
}

template <template <class> class Op> void summation(const Operand& x, int64_t axis, const Operand& out) {
  visit_dtype(x.dtype, [&]<class T>() {
    using O = std::conditional_t<kFloating<T>, T, int64_t>;
    scan<Op<T>, T, O>(axis, out, nullptr, x);
  });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Cumsum::cpu(const Operand& x, const Operand& out) const { summation<SumScan>(x, axis, out); }
void op::Cumprod::cpu(const Operand& x, const Operand& out) const { summation<ProductScan>(x, axis, out); }

void op::Logcumsumexp::cpu(const Operand& x, const Operand& out) const {
  visit_floating(x.dtype, [&]<class T>() { scan<LogSumScan<T>, T>(axis, out, nullptr, x); });
}

void op::CumulativeExtremum::cpu(const Operand& x, const Operand& values, const Operand& indices) const {
  visit_dtype(x.dtype, [&]<class T>() {
    largest ? scan<ExtremeScan<T, true>, T>(axis, values, &indices, x)
            : scan<ExtremeScan<T, false>, T>(axis, values, &indices, x);
  });
}

void op::LinearRecurrence::cpu(const Operand& a, const Operand& b, const Operand& out) const {
  visit_floating(b.dtype, [&]<class T>() { scan<RecurrenceScan<T>, T>(axis, out, nullptr, a, b); });
}

}  // namespace weft
