// Scans along an axis.
//
// Where lines are interleaved in memory, many advance together; of other lines whose elements are the same distance
// apart a few do where that is faster; else lines are walked one by one. Sums of a line are blocked: a block is scanned
// from zero, a register at a time, and the sum of the blocks before is added. So the blocks of a long line can go to
// several threads, and the bits are the same.
#include "tensor/ops/scan.h"

#include "tensor/kernels/cpu/base/arithmetic.h"
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

template <class V, int... I> WEFT_SIMD V last_lane(V v, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(v, v, (I * 0 + static_cast<int>(sizeof...(I)) - 1)...);
}

/// The sum of a block. Running sums, `before` added, go to `out` unless it is null.
template <class A, class C, class O> A sum_block(const C* x, int64_t length, A before, O* out) {
  constexpr int N = simd::kLanes<A>;
  using V = simd::Vec<A, N>;
  V carried = {};  // all lanes: the sum so far. One register waits for the one before by no more than this addition.
  int64_t i = 0;
  for (; i + N <= length; i += N) {
    simd::prefetch(x + i, 1024);
    const V sums = running_sums<N>(simd::load<A, N>(x + i));
    if (out != nullptr) simd::store<A, N>(out + i, V((sums + carried) + before));
    carried += last_lane(sums, std::make_integer_sequence<int, N>());
  }
  A sum = carried[0];
  for (; i < length; ++i) {
    sum += static_cast<A>(x[i]);
    if (out != nullptr) out[i] = static_cast<O>(sum + before);
  }
  return sum;
}

/// A whole line; the blocks of a long one on several threads where there are any to spare.
template <class A, class C, class O> void sum_line(const C* x, int64_t length, O* out) {
  const int64_t blocks = ceil_div(length, kScanBlock);
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

/// Running extremes of a line. Most elements do not change the extreme, so whole registers are tested at once.
template <class Op, class T> void extreme_line(int64_t length, T* out, int64_t* positions, const T* x) {
  constexpr int64_t kStep = 32;
  typename Op::State state = Op::start();
  for (int64_t begin = 0; begin < length; begin += kStep) {
    const int64_t count = std::min(kStep, length - begin);
    if (begin > 0 && count == kStep) {
      const auto value = state.value;
      int any = 0;
      for (int64_t i = begin; i < begin + kStep; ++i) any |= Op::takes(value, x[i]) ? 1 : 0;
      if (any == 0) {
        std::fill_n(out + begin, kStep, static_cast<T>(value));
        std::fill_n(positions + begin, kStep, state.position);
        continue;
      }
    }
    for (int64_t i = begin; i < begin + count; ++i) {
      Op::step(state, i, x[i]);
      out[i] = static_cast<T>(state.value);
      positions[i] = state.position;
    }
  }
}

template <class Op> inline constexpr bool kIsExtreme = requires(typename Op::State state) { state.position; };

/// K lines of an operand, elements `step` apart (one, where kRuns).
template <class T, int K, bool kRuns> struct LineGroup {
  T* line[K];
  int64_t step;
  T& at(int k, int64_t i) const { return line[k][kRuns ? i : i * step]; }
};

/// K lines by Op, interleaved element by element: none waits for the last step of another.
template <class Op, int K, bool kRuns, class O, class... T>
void step_lines(int64_t length, LineGroup<O, K, kRuns> out, LineGroup<int64_t, K, kRuns> positions,
                LineGroup<const T, K, kRuns>... in) {
  typename Op::State states[K];
  for (int k = 0; k < K; ++k) states[k] = Op::start();
  for (int64_t i = 0; i < length; ++i) {
#pragma GCC unroll 8
    for (int k = 0; k < K; ++k) {
      Op::step(states[k], i, static_cast<Compute<T>>(in.at(k, i))...);
      out.at(k, i) = static_cast<O>(Op::value(states[k]));
      if constexpr (kIsExtreme<Op>) positions.at(k, i) = states[k].position;
    }
  }
}

template <class T> LineGroup<T, 1, true> one_line(T* x) { return {{x}, 1}; }

/// Scans lines of has_step() (or is_run(), where kRuns), a few at a time.
template <class Op, bool kRuns, class T, class O, class... L>
void scan_some(int64_t length, const Lines& out, const Lines* positions, const L&... in) {
  constexpr int K = 4;
  const Lines& at = positions != nullptr ? *positions : out;
  parallel_for(out.count(), std::max<int64_t>(K, row_grain(length)), [&](int64_t line, int64_t end) {
    LineWalk<O> to(out, line);
    LineWalk<int64_t> places(at, line);
    [&](auto... from) {
      const auto some = [&]<int kCount>() {
        const auto next = [&]<class E>(LineWalk<E>& walk) {
          LineGroup<E, kCount, kRuns> group{{}, walk.step()};
          for (int k = 0; k < kCount; ++k) group.line[k] = walk.next();
          return group;
        };
        step_lines<Op, kCount, kRuns>(length, next(to), next(places), next(from)...);
      };
      for (; line + K <= end; line += K) some.template operator()<K>();
      switch (end - line) {
        case 3: return some.template operator()<3>();
        case 2: return some.template operator()<2>();
        case 1: return some.template operator()<1>();
        default: return;
      }
    }(LineWalk<const T>(in, line)...);
  });
}

/// Lines up to this long are scanned in tiles: longer ones are faster line by line, those of sums soonest where
/// registers are wide.
template <class Op, class T>
inline constexpr int64_t kTiled = simd::kVectorBytes == 64 && (std::is_same_v<Op, SumScan<T>> || is_half<T>) ? 8 : 16;
constexpr int64_t kFewestTiled = 8;
/// Lines up to this long are scanned a few at a time: runs of memory (sums and all of halves, other scans), and lines
/// with gaps, of which longer ones are faster blocked, or on several threads.
constexpr int64_t kSerialSum = 32, kSerial = 16, kSerialWithGaps = 1 << 16;
/// From how many interleaved lines on they are scanned together. Halves of all lines are widened at once: few
/// lines that leave a part of a register empty are not worth it.
template <class T> int64_t fewest_neighbors(const Lines& lines) {
  if (!is_half<T>) return 8;
  return lines.neighbors().size % 16 == 0 ? 16 : 32;
}

/// Whether it is fastest to scan a few lines at a time: products and recurrences, and what is short. Not f16, which is
/// converted fast only in registers, exp(), which takes longer than a step waits, and halves that fit tiles.
template <class Op, class T> bool prefers_some(int64_t length, bool runs) {
  constexpr bool kSum = std::is_same_v<Op, SumScan<T>>, kProduct = !kSum && !kIsExtreme<Op>;
  if (std::is_same_v<T, Float16> || std::is_same_v<Op, LogSumScan<T>>) return false;
  if (is_half<T>) return length > kTiled<Op, T> && (length <= kSerialSum || (kProduct && !runs));
  return kProduct || length <= (!runs ? kSerialWithGaps : kSum ? kSerialSum : kSerial);
}

/// Scans elements of T to results of O.
template <class Op, class T, class O = T, class... In>
void scan(int64_t axis, const Operand& out, const Operand* positions, const In&... in) {
  const int64_t length = out.size(axis);
  if (out.numel() == 0) return;
  const Lines to(out, axis, out), places(positions != nullptr ? *positions : out, axis, out);
  const Lines* to_places = positions != nullptr ? &places : nullptr;
  [&](const auto&... from) {
    if (are_neighbors(fewest_neighbors<T>(to), to, places, from...))
      return scan_neighbors<Op, T, O>(length, to, to_places, from...);
    const bool runs = to.is_run() && places.is_run() && (true && ... && from.is_run());
    const auto is_regular = [&](const Lines& x) { return runs || (x.has_step() && x.is_even()); };
    if (prefers_some<Op, T>(length, runs) && is_regular(to) && is_regular(places) && (true && ... && is_regular(from)))
      return runs ? scan_some<Op, true, T, O>(length, to, to_places, from...)
                  : scan_some<Op, false, T, O>(length, to, to_places, from...);
    if (length <= kTiled<Op, T> && to.count() >= kFewestTiled && are_even_runs(to, places, from...))
      return scan_in_tiles<Op, T, O>(length, to, to_places, from...);
    const auto one = [&](auto* y, [[maybe_unused]] int64_t* at, const auto*... x) {
      if constexpr (std::is_same_v<Op, SumScan<T>>)
        sum_line<typename Op::State>(x..., length, y);
      else if constexpr (kIsExtreme<Op>)
        extreme_line<Op>(length, y, at, x...);
      else
        step_lines<Op>(length, one_line(y), LineGroup<int64_t, 1, true>(), one_line(x)...);
    };
    scan_each_line<T, O>(length, to, to_places, one, from...);
  }(Lines(in, axis, out)...);
}

template <template <class> class Op> void summation(const Operand& x, int64_t axis, const Operand& out) {
  visit_stored(x.dtype, [&]<class T>() {
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
  visit_stored(x.dtype, [&]<class T>() {
    largest ? scan<ExtremeScan<T, true>, T>(axis, values, &indices, x)
            : scan<ExtremeScan<T, false>, T>(axis, values, &indices, x);
  });
}

void op::LinearRecurrence::cpu(const Operand& a, const Operand& b, const Operand& out) const {
  visit_floating(b.dtype, [&]<class T>() { scan<RecurrenceScan<T>, T>(axis, out, nullptr, a, b); });
}

}  // namespace weft
