// Scans along an axis.
//
// Lines that are interleaved in memory are scanned together, many at a time. Short ones of others are transposed first,
// or a few are scanned together, where that is faster; the rest are scanned one by one. Sums of a line are blocked: a
// block is scanned from zero, a register at a time, and the sum of the blocks before is added. So the blocks of a long
// line can go to several threads, and the bits are the same.
#include "tensor/ops/scan.h"

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/rowwise/scan_lines.h"
#include "tensor/kernels/cpu/rowwise/scan_ops.h"

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
      Op::step_alone(state, i, x[i]);
      out[i] = static_cast<T>(state.value);
      positions[i] = state.position;
    }
  }
}

template <class Op> inline constexpr bool kIsExtreme = requires(typename Op::State state) { state.position; };

/// K lines of an operand, elements `step` apart.
template <class T, int K> struct LineGroup {
  T* line[K];
  int64_t step;
  T& at(int k, int64_t i) const { return line[k][i * step]; }
};

/// K lines by Op, interleaved element by element: none waits for the last step of another.
template <class Op, int K, class O, class... T>
void step_lines(int64_t length, LineGroup<O, K> out, LineGroup<int64_t, K> positions, LineGroup<const T, K>... in) {
  typename Op::State states[K];
  for (int k = 0; k < K; ++k) states[k] = Op::start();
  for (int64_t i = 0; i < length; ++i) {
#pragma GCC unroll 8
    for (int k = 0; k < K; ++k) {
      if constexpr (kIsExtreme<Op>)
        Op::step_alone(states[k], i, static_cast<Compute<T>>(in.at(k, i))...);
      else
        Op::step(states[k], i, static_cast<Compute<T>>(in.at(k, i))...);
      out.at(k, i) = static_cast<O>(Op::value(states[k]));
      if constexpr (kIsExtreme<Op>) positions.at(k, i) = states[k].position;
    }
  }
}

template <class T> LineGroup<T, 1> one_line(T* x) { return {{x}, 1}; }

/// Scans lines of has_step(), a few at a time.
template <class Op, class T, class O, size_t N> void scan_some(int64_t length, const ScanLines<N>& lines) {
  constexpr int K = 4;
  parallel_for(lines.out.count(), std::max<int64_t>(K, row_grain(length)), [&](int64_t line, int64_t end) {
    LineWalk<O> to(lines.out, line);
    LineWalk<int64_t> places(lines.positions, line);
    [&]<size_t... n>(std::index_sequence<n...>) {
      std::array<LineWalk<const T>, N> from{LineWalk<const T>(lines.in[n], line)...};
      const auto some = [&]<int kCount>() {
        const auto next = [&]<class E>(LineWalk<E>& walk) {
          LineGroup<E, kCount> group{{}, walk.step()};
          for (int k = 0; k < kCount; ++k) group.line[k] = walk.next();
          return group;
        };
        step_lines<Op, kCount>(length, next(to), next(places), next(from[n])...);
      };
      for (; line + K <= end; line += K) some.template operator()<K>();
      switch (end - line) {
        case 3: return some.template operator()<3>();
        case 2: return some.template operator()<2>();
        case 1: return some.template operator()<1>();
        default: return;
      }
    }
    (std::make_index_sequence<N>());
  });
}

/// Lines up to this long are scanned in tiles: longer ones are faster line by line, those of sums soonest where
/// registers are wide, and halves last, as they are converted register by register.
template <class Op, class T>
inline constexpr int64_t kTiled = is_half<T> && !kIsExtreme<Op>                                ? 32
                                  : simd::kVectorBytes == 64 && std::is_same_v<Op, SumScan<T>> ? 8
                                                                                               : 16;
constexpr int64_t kFewestTiled = 8;
/// Lines up to this long are scanned a few at a time: runs of memory (sums and extremes of integers, other scans), and
/// lines with gaps, of which longer ones are faster blocked, or on several threads.
constexpr int64_t kSerialLonger = 32, kSerial = 16, kSerialWithGaps = 1 << 16;
/// Interleaved lines up to kLongestTogether long are scanned in tiles where a run of memory with all of their elements
/// is no longer than this. (Running extremes are faster side by side.)
template <class T> inline constexpr int64_t kLongestRun = sizeof(T) == 8 ? 64 : 128;
constexpr int64_t kLongestTogether = 32;
/// From how many interleaved lines on they are scanned together. Halves of all lines are widened at once: few
/// lines that leave a part of a register empty are not worth it, unless what is next in memory is widened with them.
template <class Op, class T> int64_t fewest_neighbors(const Lines& lines) {
  if (!is_half<T>) return 8;
  if (lines.step == lines.neighbors().size) return kIsExtreme<Op> ? 16 : 4;
  return lines.neighbors().size % 16 == 0 ? 16 : 32;
}

/// Whether it is fastest to scan a few lines at a time: products and recurrences, and what is short. Not f16, which is
/// converted fast only in registers, exp(), which takes longer than a step waits, and halves that fit tiles.
template <class Op, class T> bool prefers_some(int64_t length, bool runs) {
  constexpr bool kSum = std::is_same_v<Op, SumScan<T>>, kProduct = !kSum && !kIsExtreme<Op>;
  if (std::is_same_v<T, Float16> || std::is_same_v<Op, LogSumScan<T>>) return false;
  if (is_half<T>) return length > kTiled<Op, T> && !kSum && !runs;
  constexpr bool kLonger = kSum || (kIsExtreme<Op> && !kFloating<T>);
  return kProduct || length <= (!runs ? kSerialWithGaps : kLonger ? kSerialLonger : kSerial);
}

/// Whether tiles are faster than a few lines at a time: those of very short lines are transposed by few shuffles, and
/// running extremes gain most.
template <class Op, class T> constexpr bool prefers_tiles(int64_t length) {
  if (kIsExtreme<Op>) return length >= (kFloating<T> ? 3 : 5) && length <= 8;
  const bool light = std::is_same_v<Op, SumScan<T>> || std::is_same_v<Op, ProductScan<T>>;
  return light && length >= 2 && length <= 4;
}

/// A line whose elements follow each other.
template <class Op, class T, class O, size_t N>
void scan_line(int64_t length, Compute<O>* out, [[maybe_unused]] int64_t* positions,
               const std::array<const Compute<T>*, N>& in) {
  if constexpr (std::is_same_v<Op, SumScan<T>>)
    sum_line<typename Op::State>(in[0], length, out);
  else if constexpr (kIsExtreme<Op>)
    extreme_line<Op>(length, out, positions, in[0]);
  else
    [&]<size_t... k>(std::index_sequence<k...>) {
      step_lines<Op>(length, one_line(out), LineGroup<int64_t, 1>(), one_line(in[k])...);
    }
  (std::make_index_sequence<N>());
}

/// Scans elements of T to results of O.
template <class Op, class T, class O = T, class... In>
void scan(int64_t axis, const Operand& out, const Operand* positions, const In&... in) {
  constexpr size_t N = sizeof...(In);
  constexpr ScanLoops<T, O, N> kLoops{&BandScan<Op, T, O, N>::run, &scan_line<Op, T, O, N>};
  const int64_t length = out.size(axis);
  if (out.numel() == 0) return;
  const ScanLines<N> lines{Lines(out, axis, out),
                           Lines(positions != nullptr ? *positions : out, axis, out),
                           positions != nullptr,
                           {Lines(in, axis, out)...}};
  const int64_t interleaved = lines.out.neighbors().size;
  const bool fits = length <= kLongestTogether && interleaved * length <= kLongestRun<T>;
  if (!kIsExtreme<Op> && fits && lines.are_interleaved()) return scan_in_tiles(kLoops, length, lines, interleaved);
  if (lines.are_neighbors(fewest_neighbors<Op, T>(lines.out))) return scan_neighbors(kLoops, length, lines);
  const bool tiles = lines.out.count() >= kFewestTiled && lines.are_even_runs();
  if (tiles && prefers_tiles<Op, T>(length)) return scan_in_tiles(kLoops, length, lines, 1);
  const bool runs = lines.all([](const Lines& x) { return x.is_run(); });
  // Lines that are not evenly spaced go in groups too, except sums of floats, whose order decides the last bits, and
  // halves, which take longer.
  constexpr bool kNeedsEven = (std::is_same_v<Op, SumScan<T>> && kFloating<T>) || is_half<T>;
  const auto is_regular = [=](const Lines& x) { return runs || (x.has_step() && (x.is_even() || !kNeedsEven)); };
  if (prefers_some<Op, T>(length, runs) && lines.all(is_regular)) return scan_some<Op, T, O>(length, lines);
  if (length <= kTiled<Op, T> && tiles) return scan_in_tiles(kLoops, length, lines, 1);
  scan_each_line(kLoops, length, lines);
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
