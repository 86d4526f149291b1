#include "tensor/ops/resample.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/window/conv_shape.h"
#include "tensor/kernels/cpu/window/mix_rows.h"
#include "tensor/kernels/cpu/window/resample_lines.h"

namespace weft::kernels::cpu {
namespace {

/// The taps of an axis with weights of the type that is computed in.
template <class T> struct TapsIn {
  Taps taps;
  std::vector<T> weight;
  int64_t most = 0;    // taps of one target
  bool same = false;   // targets are the source's pixels
  bool filled = true;  // every target has a tap

  TapsIn() = default;
  explicit TapsIn(const AxisMap& map)
      : taps(taps_of(map)), weight(taps.weight.begin(), taps.weight.end()), same(map.source() == map.target()) {
    for (int64_t i = 0; i < map.target(); ++i) {
      most = std::max(most, taps.count(i));
      filled = filled && taps.count(i) > 0;
      same = same && taps.count(i) == 1 && at(i)[0] == i && weight_of(i)[0] == T{1};
    }
  }
  const int64_t* at(int64_t i) const { return taps.at.data() + taps.first[static_cast<size_t>(i)]; }
  const T* weight_of(int64_t i) const { return weight.data() + taps.first[static_cast<size_t>(i)]; }
  /// Whether two targets read the same.
  bool equal(int64_t i, int64_t j) const {
    return taps.count(i) == taps.count(j) && std::equal(at(i), at(i) + taps.count(i), at(j)) &&
           std::equal(weight_of(i), weight_of(i) + taps.count(i), weight_of(j));
  }
};

/// The columns of a line of single values: every target has K taps, those of place k one after another.
template <class T> class ColumnTable {
 public:
  static constexpr int64_t kMost = 8;
  ColumnTable(const TapsIn<T>& columns, int64_t targets) : targets_(targets), most_(columns.most) {
    at_.resize(static_cast<size_t>(targets * most_));
    weight_.resize(at_.size());
    for (int64_t i = 0; i < targets; ++i) {
      const int64_t count = columns.taps.count(i), spare = most_ - count + 1;
      for (int64_t k = 0; k < most_; ++k) {
        // A target with fewer taps reads its last one in equal parts: a weight of 0 would make NaN of what is infinite.
        const int64_t tap = std::min(k, count - 1);
        at_[static_cast<size_t>(k * targets + i)] = static_cast<int32_t>(columns.at(i)[tap]);
        weight_[static_cast<size_t>(k * targets + i)] =
            tap == count - 1 ? columns.weight_of(i)[tap] / static_cast<T>(spare) : columns.weight_of(i)[tap];
      }
    }
  }
  void run(const T* from, T* out) const {
    if (most_ == 1) return run<1>(from, out);
    if (most_ == 2) return run<2>(from, out);
    if (most_ == 4) return run<4>(from, out);
    run<0>(from, out);
  }

 private:
  template <int K> void run(const T* __restrict from, T* __restrict out) const {
    const int32_t* __restrict at = at_.data();
    const T* __restrict weight = weight_.data();
    const int64_t terms = K ? K : most_, targets = targets_;
#pragma GCC ivdep
    for (int64_t i = 0; i < targets; ++i) {
      T sum = weight[i] * from[at[i]];
      for (int64_t k = 1; k < terms; ++k) sum += weight[k * targets + i] * from[at[k * targets + i]];
      out[i] = sum;
    }
  }
  int64_t targets_, most_;
  std::vector<int32_t> at_;
  std::vector<T> weight_;
};

/// The sum of weight * x: the mean of a run of pixels.
template <class T> T mean_of(const T* x, int64_t length, T weight) {
  constexpr int N = simd::kLanes<T>, kSums = 4;
  const auto factor = simd::splat<T>(weight);
  simd::Vec<T> sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums * N <= length; i += kSums * N)
    for (int s = 0; s < kSums; ++s) sums[s] += simd::load<T>(x + i + s * N) * factor;
  for (; i < length; i += N)
    sums[0] += simd::load_part<T>(x + i, static_cast<int>(std::min<int64_t>(N, length - i))) * factor;
  const simd::Vec<T> sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  T out{};
  for (int lane = 0; lane < N; ++lane) out += sum[lane];
  return out;
}

/// Images as lines of pixels, each of `values` contiguous numbers: (images, height, width, values), dense. Elements
/// are S, computed in T: lines of bf16 and f16 are widened when they are read.
template <class S> class Resampling {
 public:
  using T = Compute<S>;
  Resampling(const op::Resample& op, int64_t images, int64_t values)
      : images_(images),
        values_(values),
        height_(op.lines.source()),
        width_(op.columns.source()),
        out_height_(op.lines.target()),
        out_width_(op.columns.target()),
        means_(are_means(op.columns, values)),
        lines_(op.lines),
        columns_(means_ ? TapsIn<T>() : TapsIn<T>(op.columns)) {
    if (values == 1 && !means_ && !columns_.same && columns_.filled && columns_.most <= ColumnTable<T>::kMost &&
        width_ <= std::numeric_limits<int32_t>::max())
      table_.emplace(columns_, out_width_);
    if constexpr (is_half<S>) {
      widened_.resize(static_cast<size_t>(lines_.most));
      std::iota(widened_.begin(), widened_.end(), 0);
    }
  }

  void run(const S* x, S* out) const {
    const int64_t work = std::max(width_ * std::max<int64_t>(1, lines_.most), out_width_) * values_;
    const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(1, work));
    parallel_for(images_ * out_height_, grain, [&](int64_t begin, int64_t end) {
      const Buffers buffers(*this);
      for (int64_t line = begin; line < end; ++line) {
        const int64_t h = line % out_height_;
        const int64_t length = out_width_ * values_;
        S* to = out + line * length;
        if (line > begin && h > 0 && lines_.equal(h, h - 1))
          std::copy_n(to - length, length, to);
        else
          one_line(x + line / out_height_ * height_ * width_ * values_, h, buffers, to);
      }
    });
  }

 private:
  /// Whether columns are means of runs of single values, which need no taps.
  static bool are_means(const AxisMap& columns, int64_t values) {
    return values == 1 && columns.kind == AxisMap::Kind::area && !columns.transposed &&
           columns.in / columns.out >= simd::kLanes<T>;
  }
  T mean_at(const T* line, int64_t w) const {
    const auto [begin, end] = shared_range(w, out_width_, width_);
    return mean_of<T>(line + begin, end - begin, static_cast<T>(T{1} / static_cast<T>(end - begin)));
  }

  /// A thread's: a line mixed of whole lines; of bf16 and f16, the lines of a target and the target too.
  struct Buffers {
    explicit Buffers(const Resampling& r)
        : mixed(r.width_ * r.values_),
          from(is_half<S> ? checked_multiply(r.lines_.most, r.width_ * r.values_) : 0),
          to(is_half<S> ? r.out_width_ * r.values_ : 0) {}
    Scratch<T> mixed, from, to;
  };

  void one_line(const S* image, int64_t h, const Buffers& buffers, S* to) const {
    if constexpr (is_half<S>) {
      const int64_t line = width_ * values_;
      for (int64_t k = 0; k < lines_.taps.count(h); ++k)
        widen(image + lines_.at(h)[k] * line, buffers.from.data() + k * line, line);
      mix(buffers.from.data(), widened_.data(), h, buffers.mixed.data(), buffers.to.data());
      narrow(buffers.to.data(), to, out_width_ * values_);
    } else {
      mix(image, lines_.at(h), h, buffers.mixed.data(), to);
    }
  }
  /// Target line h of the source lines `at`.
  void mix(const T* image, const int64_t* at, int64_t h, T* mixed, T* to) const {
    const int64_t line = width_ * values_, count = lines_.taps.count(h);
    if (columns_.same) return mix_rows(image, line, at, lines_.weight_of(h), count, line, to);
    const T* from = mixed;
    if (count == 1 && lines_.weight_of(h)[0] == T{1})
      from = image + at[0] * line;
    else
      mix_rows(image, line, at, lines_.weight_of(h), count, line, mixed);
    if (table_) return table_->run(from, to);
    for (int64_t w = 0; w < out_width_; ++w)
      if (means_)
        to[w] = mean_at(from, w);
      else if (values_ == 1)
        to[w] = single(from, w);
      else
        mix_rows(from, values_, columns_.at(w), columns_.weight_of(w), columns_.taps.count(w), values_,
                 to + w * values_);
  }
  T single(const T* from, int64_t w) const {
    T sum{};
    for (int64_t k = 0; k < columns_.taps.count(w); ++k) sum += columns_.weight_of(w)[k] * from[columns_.at(w)[k]];
    return sum;
  }

  int64_t images_, values_, height_, width_, out_height_, out_width_;
  bool means_;
  TapsIn<T> lines_, columns_;
  std::optional<ColumnTable<T>> table_;
  std::vector<int64_t> widened_;  // where the widened lines of a target lie: one after another
};

/// Whether every pixel of the result is one of x.
bool copies_pixels(const AxisMap& map) {
  using Kind = AxisMap::Kind;
  return map.kind == Kind::identity ||
         (!map.transposed && (map.kind == Kind::nearest || map.kind == Kind::nearest_exact));
}

/// Whether row-major planes of many channels are better copied: their short lines, or the many weights of a cubic map,
/// take longer than two copies, and contiguous channels fill registers.
template <class S> bool prefers_channels_last(const AxisMap& columns, int64_t channels) {
  constexpr int64_t kMany = 16, kShortLine = is_half<S> ? 32 : 12;
  return channels >= kMany && !copies_pixels(columns) &&
         (columns.kind == AxisMap::Kind::cubic || columns.source() < kShortLine);
}

template <class S> void resample(const op::Resample& op, const Operand& x, const Operand& out) {
  if (prefers_runs(op, x)) return resample_by_runs<S>(op, x, out);
  if (x.view->is_contiguous() && out.view->is_contiguous() && !prefers_channels_last<S>(op.columns, x.size(1))) {
    Resampling<S>(op, x.size(0) * x.size(1), 1).run(x.data<S>(), out.data<S>());
    return;
  }
  const FiveAxes x5(x), out5(out);
  const ImageIn<S, S> in(*x5);
  ImageOut<S, S> result(*out5);
  Resampling<S>(op, x.size(0), x.size(1)).run(in.data(), result.data());
  result.finish();
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

/// Row-major planes are taken as they are where that is faster, all else as channels-last, copied where it is not. bf16
/// and f16 are computed in f32, but where their pixels are copied, as bits. A line of the result is first mixed of
/// whole lines, then along the columns.
void op::Resample::cpu(const Operand& x, const Operand& out) const {
  if (out.numel() == 0) return;
  visit_floating(out.dtype, [&]<class S>() {
    if constexpr (is_half<S>)
      if (copies_pixels(lines) && copies_pixels(columns)) return resample<int16_t>(*this, x, out);
    resample<S>(*this, x, out);
  });
}

}  // namespace weft
