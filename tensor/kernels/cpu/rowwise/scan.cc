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

/// Scans all lines of a band together.
template <class Op, class T, class O, int N> class BandScan {
 public:
  static void run(const Band& band) { BandScan(band).scan(); }

 private:
  explicit BandScan(const Band& band) : band_(band), out_(static_cast<O*>(band.out)) {
    for (int k = 0; k < N; ++k) in_[k] = static_cast<const T*>(band.in[k]);
  }

  void scan() {
    typename Op::State states[kScanLines];
    for (int64_t j = 0; j < band_.count; ++j) states[j] = Op::start();
    if constexpr (is_half<T>) {
      // Rows that follow each other in memory are widened and narrowed together.
      const int64_t together = rows_follow() ? kScanLines / band_.count : 1;
      for (int64_t i = 0; i < band_.length; i += together)
        scan_widened(states, i, std::min(together, band_.length - i));
    } else {
      for (int64_t i = 0; i < band_.length; ++i) {
        step(states, i, in_[0], in_[N - 1]);
        put(states, i, out_ + i * band_.out_step);
        for (int k = 0; k < N; ++k) in_[k] += band_.in_steps[k];
      }
    }
  }
  bool rows_follow() const {
    const auto follows = [&](int64_t step) { return step == band_.count; };
    return follows(band_.out_step) && std::all_of(band_.in_steps, band_.in_steps + N, follows);
  }
  void scan_widened(typename Op::State* states, int64_t first, int64_t rows) {
    Compute<T> in[N][kScanLines], out[kScanLines];
    for (int k = 0; k < N; ++k) {
      widen(in_[k], in[k], rows * band_.count);
      in_[k] += rows * band_.in_steps[k];
    }
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t at = i * band_.count;
      step(states, first + i, in[0] + at, in[N - 1] + at);
      put(states, first + i, out + at);
    }
    narrow(out, out_ + first * band_.out_step, rows * band_.count);
  }
  /// y is not read where there is one input.
  template <class P> void step(typename Op::State* states, int64_t i, const P* x, const P* y) const {
    for (int64_t j = 0, count = band_.count; j < count; ++j) {
      if constexpr (N == 1)
        Op::step(states[j], i, x[j]);
      else
        Op::step(states[j], i, x[j], y[j]);
    }
  }
  template <class R> void put(const typename Op::State* states, int64_t i, R* to) const {
    const int64_t count = band_.count;  // not read again after each write: an i64 that is written may be any
    for (int64_t j = 0; j < count; ++j) to[j] = static_cast<R>(Op::value(states[j]));
    if constexpr (requires { states[0].position; }) {
      int64_t* const positions = band_.positions + i * band_.position_step;
      for (int64_t j = 0; j < count; ++j) positions[j] = states[j].position;
    }
  }

  const Band band_;  // a copy: what is written may not be part of it
  const T* in_[N];
  O* out_;
};

/// K lines of an operand, elements `step` apart.
template <class T, int K> struct LineGroup {
  LineGroup(const LineBatch::Side& side, int64_t first) : step(side.step) {
    for (int k = 0; k < K; ++k) line[k] = static_cast<T*>(side.first[first + k]);
  }
  T& at(int k, int64_t i) const { return line[k][i * step]; }
  T* line[K];
  int64_t step;
};

/// K lines by Op, interleaved element by element: none waits for the last step of another.
template <class Op, class T, class O, int N, int K> void step_lines(const LineBatch& batch, int64_t first) {
  const int64_t length = batch.length;  // not read again after each write: an i64 that is written may be any
  const LineGroup<O, K> out(batch.out, first);
  [[maybe_unused]] const LineGroup<int64_t, K> positions(kIsExtreme<Op> ? batch.positions : batch.out, first);
  const LineGroup<const T, K> x(batch.in[0], first), y(batch.in[N - 1], first);
  typename Op::State states[K];
  for (int k = 0; k < K; ++k) states[k] = Op::start();
  for (int64_t i = 0; i < length; ++i) {
#pragma GCC unroll 8
    for (int k = 0; k < K; ++k) {
      const auto value = static_cast<Compute<T>>(x.at(k, i));
      if constexpr (kIsExtreme<Op>)
        Op::step_alone(states[k], i, value);
      else if constexpr (N == 1)
        Op::step(states[k], i, value);
      else
        Op::step(states[k], i, value, static_cast<Compute<T>>(y.at(k, i)));
      out.at(k, i) = static_cast<O>(Op::value(states[k]));
      if constexpr (kIsExtreme<Op>) positions.at(k, i) = states[k].position;
    }
  }
}

/// Lines from `first` on, K at a time as far as they go; returns the first that is left.
template <class Op, class T, class O, int N, int K>
[[gnu::noinline]] int64_t step_groups(const LineBatch& batch, int64_t first) {
  for (const int64_t count = batch.count; first + K <= count; first += K) step_lines<Op, T, O, N, K>(batch, first);
  return first;
}

template <class Op, class T, class O, int N> void step_batch(const LineBatch& batch) {
  const int64_t line = batch.count >= 4 ? step_groups<Op, T, O, N, 4>(batch, 0) : 0;
  switch (batch.count - line) {
    case 3: step_groups<Op, T, O, N, 3>(batch, line); break;
    case 2: step_groups<Op, T, O, N, 2>(batch, line); break;
    case 1: step_groups<Op, T, O, N, 1>(batch, line); break;
    default: break;
  }
}

/// A line whose elements follow each other, of values as they are computed.
template <class Op, class C, class O, int N>
void scan_line(int64_t length, void* out, [[maybe_unused]] int64_t* positions, void* const* in) {
  [[maybe_unused]] O* const to = static_cast<O*>(out);
  [[maybe_unused]] const C* const x = static_cast<const C*>(in[0]);
  if constexpr (std::is_same_v<Op, SumScan<C>>) {
    sum_line<typename Op::State>(x, length, to);
  } else if constexpr (kIsExtreme<Op>) {
    extreme_line<Op>(length, to, positions, x);
  } else {
    LineBatch batch;
    batch.length = length, batch.count = 1;
    batch.out.first[0] = out, batch.out.step = 1;
    for (int k = 0; k < N; ++k) batch.in[k].first[0] = in[k], batch.in[k].step = 1;
    step_groups<Op, C, O, N, 1>(batch, 0);
  }
}

enum class Kind : uint8_t { sum, product, recurrence, log_sum, extreme };

/// Which loops are fastest for scans of one kind and dtype.
struct Choice {
  Kind kind;
  DType dtype;

  bool half() const { return is_half_precision(dtype); }
  bool extreme() const { return kind == Kind::extreme; }

  /// Lines up to this long are scanned in tiles: longer ones are faster line by line, those of sums soonest where
  /// registers are wide, and halves last, as they are converted register by register.
  int64_t longest_tiled() const {
    if (half() && !extreme()) return 32;
    return simd::kVectorBytes == 64 && kind == Kind::sum ? 8 : 16;
  }
  /// Whether interleaved lines are scanned in tiles: up to 32 long, where a run of memory with all of their elements is
  /// short. (Running extremes are faster side by side.)
  bool tiles_interleaved(int64_t length, int64_t interleaved) const {
    return !extreme() && length <= 32 && interleaved * length <= (size_of(dtype) == 8 ? 64 : 128);
  }
  /// From how many interleaved lines on they are scanned together. Halves of all lines are widened at once: few
  /// lines that leave a part of a register empty are not worth it, unless what is next in memory is widened with them.
  int64_t fewest_neighbors(const Lines& lines) const {
    if (!half()) return 8;
    if (lines.step == lines.neighbors().size) return extreme() ? 16 : 4;
    return lines.neighbors().size % 16 == 0 ? 16 : 32;
  }
  /// Whether it is fastest to scan a few lines at a time: products and recurrences, and what is short, or has gaps and
  /// is not so long that it is faster blocked, or on several threads. Not f16, which is converted fast only in
  /// registers, exp(), which takes longer than a step waits, and halves that fit tiles.
  bool in_batches(int64_t length, bool runs) const {
    if (dtype == DType::f16 || kind == Kind::log_sum) return false;
    const bool product = kind == Kind::product || kind == Kind::recurrence;
    if (half()) return length > longest_tiled() && kind != Kind::sum && !runs;
    const bool longer = kind == Kind::sum || (extreme() && !is_floating(dtype));
    return product || length <= (!runs ? 1 << 16 : longer ? 32 : 16);
  }
  /// Whether tiles are faster than a few lines at a time: those of very short lines are transposed by few shuffles, and
  /// running extremes gain most.
  bool prefers_tiles(int64_t length) const {
    if (extreme()) return length >= (is_floating(dtype) ? 3 : 5) && length <= 8;
    return (kind == Kind::sum || kind == Kind::product) && length >= 2 && length <= 4;
  }
  /// Lines that are not evenly spaced go a few at a time too, except sums of floats, whose order decides the last
  /// bits, and halves, which take longer.
  bool needs_even() const { return (kind == Kind::sum && is_floating(dtype)) || half(); }
};

void scan(const ScanLoops& loops, const Choice& choice, int64_t length, const ScanLines& lines) {
  constexpr int64_t kFewestTiled = 8;
  const int64_t interleaved = lines.out.neighbors().size;
  if (choice.tiles_interleaved(length, interleaved) && lines.are_interleaved())
    return scan_in_tiles(loops, length, lines, interleaved);
  if (lines.are_neighbors(choice.fewest_neighbors(lines.out))) return scan_neighbors(loops, length, lines);
  const bool tiles = lines.out.count() >= kFewestTiled && lines.are_even_runs();
  if (tiles && choice.prefers_tiles(length)) return scan_in_tiles(loops, length, lines, 1);
  const bool runs = lines.all([](const Lines& x) { return x.is_run(); });
  const auto is_regular = [&](const Lines& x) { return runs || x.is_even() || !choice.needs_even(); };
  if (choice.in_batches(length, runs) && lines.all(is_regular)) return scan_in_batches(loops, length, lines);
  if (length <= choice.longest_tiled() && tiles) return scan_in_tiles(loops, length, lines, 1);
  scan_each_line(loops, length, lines);
}

/// `positions` and `y` are null where the scan has none.
void scan(const ScanLoops& loops, Kind kind, int64_t axis, const Operand& out, const Operand& x,
          const Operand* positions = nullptr, const Operand* y = nullptr) {
  if (out.numel() == 0) return;
  const Choice choice{kind, x.dtype};
  const int64_t length = out.size(axis);
  const Lines out_lines(out, axis, out), x_lines(x, axis, out);
  if (positions == nullptr && y == nullptr) return scan(loops, choice, length, {out_lines, nullptr, x_lines, nullptr});
  const Lines other(y != nullptr ? *y : *positions, axis, out);  // no scan has both
  scan(loops, choice, length, {out_lines, y != nullptr ? nullptr : &other, x_lines, y != nullptr ? &other : nullptr});
}

/// What Op, which takes elements as they are computed, does with elements of T, for results of O.
template <class Op, class T, class O, int N = 1> ScanLoops loops_of() {
  ScanLoops loops{&BandScan<Op, T, O, N>::run, nullptr, &scan_line<Op, Compute<T>, Compute<O>, N>};
  if constexpr (!std::is_same_v<T, Float16> && !std::is_same_v<Op, LogSumScan<Compute<T>>>)
    loops.batch = &step_batch<Op, T, O, N>;
  return loops;
}

template <template <class> class Op> void summation(Kind kind, const Operand& x, int64_t axis, const Operand& out) {
  visit_stored(x.dtype, [&]<class T>() {
    using O = std::conditional_t<kFloating<T>, T, int64_t>;
    scan(loops_of<Op<Compute<T>>, T, O>(), kind, axis, out, x);
  });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Cumsum::cpu(const Operand& x, const Operand& out) const { summation<SumScan>(Kind::sum, x, axis, out); }
void op::Cumprod::cpu(const Operand& x, const Operand& out) const {
  summation<ProductScan>(Kind::product, x, axis, out);
}

void op::Logcumsumexp::cpu(const Operand& x, const Operand& out) const {
  visit_floating(x.dtype,
                 [&]<class T>() { scan(loops_of<LogSumScan<Compute<T>>, T, T>(), Kind::log_sum, axis, out, x); });
}

void op::CumulativeExtremum::cpu(const Operand& x, const Operand& values, const Operand& indices) const {
  visit_stored(x.dtype, [&]<class T>() {
    const ScanLoops loops =
        largest ? loops_of<ExtremeScan<Compute<T>, true>, T, T>() : loops_of<ExtremeScan<Compute<T>, false>, T, T>();
    scan(loops, Kind::extreme, axis, values, x, &indices);
  });
}

void op::LinearRecurrence::cpu(const Operand& a, const Operand& b, const Operand& out) const {
  visit_floating(b.dtype, [&]<class T>() {
    scan(loops_of<RecurrenceScan<Compute<T>>, T, T, 2>(), Kind::recurrence, axis, out, a, nullptr, &b);
  });
}

}  // namespace weft
