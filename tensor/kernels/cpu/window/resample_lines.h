// Nearest and linear resampling of few long lines: what a target reads is computed on the way, as a table of it would
// take longer than what it is for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/window/conv_shape.h"
#include "tensor/ops/resample.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// What a run of targets of a map reads: weight[0] of pixel at[0] and, unless weight[1] is 0, that part of pixel at[1].
/// (A nearest map's have no weights.) Pixels are counted from `first`, the first one that the run reads.
template <class T> struct TapRun {
  static constexpr int64_t kLength = 512;
  int64_t first;
  int32_t at[2][kLength];
  T weight[2][kLength];

  static bool is_linear(const AxisMap& map) { return map.kind == AxisMap::Kind::linear; }
  /// Of targets [begin, begin + count), of a map that is not transposed.
  void compute(const AxisMap& map, int64_t begin, int64_t count) {
    if (is_linear(map)) return compute_linear(map, begin, count);
    int64_t pixels[kLength];
    nearest_pixels(map, begin, count, pixels);
    first = pixels[0];
    for (int64_t i = 0; i < count; ++i) at[0][i] = static_cast<int32_t>(pixels[i] - pixels[0]);
  }

 private:
  void compute_linear(const AxisMap& map, int64_t begin, int64_t count) {
    const AxisMap known = map;  // not what is written here
    const double start = linear_place(map, begin).low, last = static_cast<double>(map.in - 1);
    first = static_cast<int64_t>(start);
    for (int64_t i = 0; i < count; ++i) {
      const auto [low, part] = linear_place(known, begin + i);
      const bool one = (part == 0) | (low == last);
      const auto pixel = static_cast<int32_t>(low - start);
      at[0][i] = pixel;
      at[1][i] = one ? pixel : pixel + 1;
      weight[0][i] = static_cast<T>(one ? 1 : 1 - part);
      weight[1][i] = static_cast<T>(one ? 0 : part);
    }
  }
};

/// Lines of floats of `from`, dense, to those of `to`.
template <class T> class LineResampling {
 public:
  LineResampling(const AxisMap& map, int64_t lines) : map_(map), lines_(lines) {}

  void run(const T* from, T* to) const {
    const int64_t grain = std::max<int64_t>(1, 64 / lines_);
    parallel_for(ceil_div(map_.out, kRun), grain, [&](int64_t first, int64_t last) {
      TapRun<T> taps;
      for (int64_t begin = first * kRun, end = std::min(map_.out, last * kRun); begin < end; begin += kRun) {
        const int64_t count = std::min(kRun, end - begin);
        taps.compute(map_, begin, count);
        for (int64_t line = 0; line < lines_; ++line)
          mix(taps, count, from + line * map_.in + taps.first, to + line * map_.out + begin);
      }
    });
  }

  /// The adjoint: `from` has lines of targets, `to` gets lines of source pixels. Each block of these collects from the
  /// targets that read it, in their order.
  void run_back(const T* from, T* to) const {
    constexpr int64_t kBlock = 4096;
    parallel_for(ceil_div(map_.in, kBlock), 1, [&](int64_t first, int64_t last) {
      TapRun<T> taps;
      for (int64_t begin = first * kBlock, stop = std::min(map_.in, last * kBlock); begin < stop; begin += kBlock) {
        const int64_t end = std::min(stop, begin + kBlock);
        // A target that reads the block's first pixel may be placed at the one before.
        const int64_t target = first_from(begin - 1), last_target = first_from(end);
        for (int64_t line = 0; line < lines_; ++line)
          std::fill(to + line * map_.in + begin, to + line * map_.in + end, T{});
        for (int64_t i = target; i < last_target; i += kRun) {
          const int64_t count = std::min(kRun, last_target - i);
          taps.compute(map_, i, count);
          for (int64_t line = 0; line < lines_; ++line)
            add(taps, count, from + line * map_.out + i, begin - taps.first, end - taps.first,
                to + line * map_.in + taps.first);
        }
      }
    });
  }

 private:
  static constexpr int64_t kRun = TapRun<T>::kLength;

  void mix(const TapRun<T>& taps, int64_t count, const T* __restrict from, T* __restrict to) const {
    const int32_t* __restrict at = taps.at[0], * __restrict next = taps.at[1];
    if (!TapRun<T>::is_linear(map_)) {
      for (int64_t i = 0; i < count; ++i) to[i] = from[at[i]];
      return;
    }
    const T* __restrict low = taps.weight[0], * __restrict high = taps.weight[1];
    for (int64_t i = 0; i < count; ++i) {
      const T one = low[i] * from[at[i]], both = one + high[i] * from[next[i]];
      to[i] = high[i] == 0 ? one : both;  // NaN times 0 is no 0
    }
  }

  /// Adds what a run of targets hands to pixels [begin, end), counted from the run's first as those of `to`.
  void add(const TapRun<T>& taps, int64_t count, const T* from, int64_t begin, int64_t end, T* to) const {
    const bool linear = TapRun<T>::is_linear(map_);
    const bool inside = taps.at[0][0] >= begin && taps.at[linear ? 1 : 0][count - 1] < end;
    if (linear)
      inside ? add_run<true, true>(taps, count, from, begin, end, to)
             : add_run<true, false>(taps, count, from, begin, end, to);
    else
      inside ? add_run<false, true>(taps, count, from, begin, end, to)
             : add_run<false, false>(taps, count, from, begin, end, to);
  }
  template <bool kLinear, bool kInside>
  static void add_run(const TapRun<T>& taps, int64_t count, const T* from, int64_t begin, int64_t end, T* to) {
    const auto put = [=](int64_t pixel, T value) {
      if (kInside || (pixel >= begin && pixel < end)) to[pixel] = static_cast<T>(to[pixel] + value);
    };
    for (int64_t i = 0; i < count; ++i) {
      put(taps.at[0][i], kLinear ? static_cast<T>(taps.weight[0][i] * from[i]) : from[i]);
      if (kLinear && taps.weight[1][i] != 0) put(taps.at[1][i], static_cast<T>(taps.weight[1][i] * from[i]));
    }
  }

  /// The first target that is placed at `pixel` or after it.
  int64_t first_from(int64_t pixel) const {
    int64_t low = 0, high = map_.out;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      place_of(middle) < pixel ? low = middle + 1 : high = middle;
    }
    return low;
  }
  int64_t place_of(int64_t target) const {
    if (TapRun<T>::is_linear(map_)) return static_cast<int64_t>(linear_place(map_, target).low);
    int64_t pixel = 0;
    nearest_pixels(map_, target, 1, &pixel);
    return pixel;
  }

  AxisMap map_;
  int64_t lines_;
};

/// Whether 32 bits can count the pixels of a run.
inline bool fits_runs(const AxisMap& map) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return map.in <= kMost || map.in / map.out < kMost / (2 * TapRun<float>::kLength);
}

/// Whether resampling takes lines alone, so few that a table of their columns would not pay.
inline bool prefers_runs(const op::Resample& op, const Operand& x) {
  using Kind = AxisMap::Kind;
  constexpr int64_t kMostLines = 16;
  const Kind kind = op.columns.kind;
  return op.lines.kind == Kind::identity && x.size(0) * x.size(1) * x.size(2) <= kMostLines && fits_runs(op.columns) &&
         (kind == Kind::linear || kind == Kind::nearest || kind == Kind::nearest_exact);
}

/// Dense lines of S, computed in floats; where pixels are copied S may stand for their bits.
template <class S> void resample_by_runs(const op::Resample& op, int64_t lines, const S* x, S* out) {
  const LineResampling<Compute<S>> runs(op.columns, lines);
  const auto run = [&](const auto* from, auto* to) {
    op.columns.transposed ? runs.run_back(from, to) : runs.run(from, to);
  };
  if constexpr (is_half<S>) {
    const int64_t source = lines * op.columns.source(), target = lines * op.columns.target();
    const Scratch<float> wide(source), result(target);
    widen(x, wide.data(), source);
    run(wide.data(), result.data());
    narrow(result.data(), out, target);
  } else {
    run(x, out);
  }
}

/// The same of operands (N, C, H, W) of any strides.
template <class S> void resample_by_runs(const op::Resample& op, const Operand& x, const Operand& out) {
  const FiveAxes x5(x), out5(out);
  const bool x_dense = x.view->is_contiguous(), out_dense = out.view->is_contiguous();
  const Scratch<S> from(x_dense ? 0 : x.numel()), to(out_dense ? 0 : out.numel());
  if (!x_dense) copy_image<S, S>(x.data<S>(), x5->strides(), from.data(), row_major_strides(x5->shape()), x5->shape());
  resample_by_runs<S>(op, x.size(0) * x.size(1) * x.size(2), x_dense ? x.data<S>() : from.data(),
                      out_dense ? out.data<S>() : to.data());
  if (!out_dense)
    copy_image<S, S>(to.data(), row_major_strides(out5->shape()), out.data<S>(), out5->strides(), out5->shape());
}

}  // namespace weft::kernels::cpu
