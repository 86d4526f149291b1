// Forward: the statistics, then each window is read once and its maximum written. Backward: each window sends its
// gradient to one of its elements, so the sums read the gradient and the indices once and x once, and so does the pass
// that writes dx. The normalized image and its gradient never exist in memory.
#include "tensor/ops/batch_norm_pool.h"

#include <cmath>

#include "tensor/kernels/cpu/loops/small_operand.h"
#include "tensor/kernels/cpu/reduce/reduce_ops.h"
#include "tensor/kernels/cpu/rowwise/batch_norm.h"
#include "tensor/kernels/cpu/rowwise/channel_sums.h"
#include "tensor/kernels/cpu/window/pool_loops.h"

namespace weft::kernels::cpu {
namespace {

/// A few values per channel in the type of the computation (f32 for 16 bits), with room for whole registers.
template <class C> class ChannelTable {
 public:
  explicit ChannelTable(int64_t channels)
      : width_(ceil_div(channels, simd::kLanes<C>) * simd::kLanes<C>), values_(kCount * width_) {
    std::fill_n(values_.data(), kCount * width_, C(0));
  }
  void set(int row, int64_t channel, double value) { values_.data()[row * width_ + channel] = static_cast<C>(value); }
  simd::Vec<C> at(int row, int64_t channel) const { return simd::load<C>(values_.data() + row * width_ + channel); }

 private:
  static constexpr int64_t kCount = 4;
  int64_t width_;
  Scratch<C> values_;
};

/// One row of maxima.
template <class S, class C = Compute<S>>
void forward_line(Image<S> x, Size2 window, int64_t h, int64_t width, int64_t channels, const ChannelTable<C>& table,
                  Image<S> y, Image<uint8_t> indices) {
  constexpr int N = simd::kLanes<C>;
  using I = IndexLane<C>;
  with_counts(window.height, window.width, [&]<int A, int B>() {
    const int64_t rows = A ? A : window.height, columns = B ? B : window.width;
    for_each_vector<N>(channels, true, [&]<bool kFull>(int64_t c, int count) {
      const auto mean = table.at(0, c), lost = table.at(1, c), scale = table.at(2, c), shift = table.at(3, c);
      for (int64_t w = 0; w < width; ++w) {
        simd::Vec<C> best{};  // relu's 0
        auto index = simd::splat<I, N>(kNoIndex<uint8_t>);
        for (int64_t a = 0; a < rows; ++a)
          for (int64_t b = 0; b < columns; ++b) {
            const auto in = load_channels<kFull, C, N>(x.at(h * rows + a, w * columns + b) + c, 1, count);
            const simd::Vec<C> value = ((in - mean) - lost) * scale + shift;
            const auto wins = simd::takes_place(value, best);
            best = wins ? value : best;
            index = wins ? simd::splat<I, N>(static_cast<I>(a * columns + b)) : index;
          }
        store_channels<kFull, C, N>(y.at(h, w) + c, 1, best, count);
        store_channels<kFull, I, N>(indices.at(h, w) + c, 1, index, count);
      }
    });
  });
}

/// sums and dots (of g with centered x) of one row of windows, added in double every 64 windows.
template <class S, class C = Compute<S>>
void sum_line(Image<S> g, Image<uint8_t> indices, Image<S> x, Size2 window, int64_t h, int64_t width, int64_t channels,
              const ChannelTable<C>& table, double* sums, double* dots) {
  constexpr int N = simd::kLanes<C>;
  using I = IndexLane<C>;
  const bool contiguous = g.channel == 1;
  with_counts(window.height, window.width, [&]<int A, int B>() {
    const int64_t rows = A ? A : window.height, columns = B ? B : window.width;
    for_each_vector<N>(channels, contiguous, [&]<bool kFull>(int64_t c, int count) {
      const auto mean = table.at(1, c);
      for (int64_t first = 0; first < width; first += 64) {
        simd::Vec<C> sum{}, dot{};
        for (int64_t w = first; w < std::min(first + 64, width); ++w) {
          const auto grad = load_channels<kFull, C, N>(g.at(h, w) + c * g.channel, g.channel, count);
          const auto index = load_channels<kFull, I, N>(indices.at(h, w) + c, 1, count);
          simd::Vec<C> at_index = mean;
          for (int64_t a = 0; a < rows; ++a)
            for (int64_t b = 0; b < columns; ++b) {
              const auto in = load_channels<kFull, C, N>(x.at(h * rows + a, w * columns + b) + c, 1, count);
              at_index = index == simd::splat<I, N>(static_cast<I>(a * columns + b)) ? in : at_index;
            }
          const simd::Vec<C> passed = index == simd::splat<I, N>(kNoIndex<uint8_t>) ? simd::Vec<C>{} : grad;
          sum += passed;
          dot += passed * (at_index - mean);
        }
        for (int i = 0; i < count; ++i) {
          sums[c + i] += static_cast<double>(sum[i]);
          dots[c + i] += static_cast<double>(dot[i]);
        }
      }
    });
  });
}

/// The rows of dx that one row of windows covers.
template <class S, class C = Compute<S>>
void backward_line(Image<S> g, Image<uint8_t> indices, Image<S> x, Size2 window, int64_t h, int64_t width,
                   int64_t channels, const ChannelTable<C>& table, Image<S> dx) {
  constexpr int N = simd::kLanes<C>;
  using I = IndexLane<C>;
  const bool contiguous = g.channel == 1;
  with_counts(window.height, window.width, [&]<int A, int B>() {
    const int64_t rows = A ? A : window.height, columns = B ? B : window.width;
    for_each_vector<N>(channels, contiguous, [&]<bool kFull>(int64_t c, int count) {
      const auto mean_g = table.at(0, c), mean = table.at(1, c), slope = table.at(2, c), scale = table.at(3, c);
      for (int64_t w = 0; w < width; ++w) {
        const auto grad = load_channels<kFull, C, N>(g.at(h, w) + c * g.channel, g.channel, count);
        const auto index = load_channels<kFull, I, N>(indices.at(h, w) + c, 1, count);
        for (int64_t a = 0; a < rows; ++a)
          for (int64_t b = 0; b < columns; ++b) {
            const int64_t i = h * rows + a, j = w * columns + b;
            const auto in = load_channels<kFull, C, N>(x.at(i, j) + c, 1, count);
            const auto here = index == simd::splat<I, N>(static_cast<I>(a * columns + b));
            const simd::Vec<C> passed = here ? grad : simd::Vec<C>{};
            store_channels<kFull, C, N>(dx.at(i, j) + c, 1, ((passed - mean_g) - (in - mean) * slope) * scale, count);
          }
      }
    });
  });
}

/// sums and dots over all windows: fixed groups of rows, a fixed tree.
template <class S, class C = Compute<S>>
void sum_windows(const Operand& g, const Operand& indices, const Operand& x, Size2 window, const ChannelTable<C>& table,
                 double* sums, double* dots) {
  const int64_t channels = x.size(1), height = g.size(2), width = g.size(3), rows = g.size(0) * height;
  const int64_t group = std::max<int64_t>(1, ceil_div(rows, 64)), groups = ceil_div(rows, group);
  const Scratch<double> partials(groups * 2 * channels);
  std::fill_n(partials.data(), groups * 2 * channels, 0.0);
  const int64_t work = group * width * window.height * window.width * channels;
  parallel_for(groups, grain_for(work), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      double* mine = partials.data() + b * 2 * channels;
      for (int64_t i = b * group; i < std::min((b + 1) * group, rows); ++i)
        sum_line<S>(Image<S>(g, i / height), Image<uint8_t>(indices, i / height), Image<S>(x, i / height), window,
                    i % height, width, channels, table, mine, mine + channels);
    }
  });
  combine_tree<OnePass<SumOp<double>>>(partials.data(), groups, 2 * channels);
  std::copy_n(partials.data(), channels, sums);
  std::copy_n(partials.data() + channels, channels, dots);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

/// y = max over each window of relu((x - mean) * rstd * weight + bias), with the batch's own statistics; NaN
/// propagates. The index is that of the first largest element.
void op::BatchNormReluMaxPool2d::cpu(const Operand& x, const Operand& weight, const Operand& bias, const Operand& y,
                                     const Operand& mean, const Operand& rstd, const Operand& indices,
                                     const Operand& var) const {
  const int64_t channels = x.size(1);
  const Size2 window = options.kernel_size;
  const BatchStatistics found(x, eps);
  const SmallOperand<double> w(weight, channels, 1), b(bias, channels, 0);
  visit_floating(x.dtype, [&]<class S>() {
    using C = Compute<S>;
    ChannelTable<C> table(channels);
    for (int64_t c = 0; c < channels; ++c) {
      const double m = found.mean.data()[c], lost = m - static_cast<double>(static_cast<C>(m));
      table.set(0, c, m), table.set(1, c, std::isfinite(lost) ? lost : 0);
      table.set(2, c, found.rstd.data()[c] * w[c]), table.set(3, c, b[c]);
    }
    for_each_row(y.shape(), 2 * window.height * window.width, [&](int64_t n, int64_t h) {
      forward_line<S>(Image<S>(x, n), window, h, y.size(3), channels, table, Image<S>(y, n),
                      Image<uint8_t>(indices, n));
    });
  });
  write_small(found.mean.data(), mean);
  write_small(found.rstd.data(), rstd);
  write_small(found.var.data(), var);
}

void op::BatchNormReluMaxPool2dBackward::cpu(const Operand& g, const Operand& indices, const Operand& x,
                                             const Operand& weight, const Operand& mean, const Operand& rstd,
                                             const Operand& dx, const Operand& dweight, const Operand& dbias) const {
  const int64_t channels = x.size(1);
  const Size2 window = options.kernel_size;
  const SmallOperand<double> means(mean, channels, 0), rstds(rstd, channels, 1), w(weight, channels, 1);
  const Scratch<double> sums(channels), dots(channels);
  visit_floating(x.dtype, [&]<class S>() {
    using C = Compute<S>;
    ChannelTable<C> table(channels);
    for (int64_t c = 0; c < channels; ++c) table.set(1, c, means[c]);
    sum_windows<S>(g, indices, x, window, table, sums.data(), dots.data());
    const double count = static_cast<double>(x.numel() / channels);
    for (int64_t c = 0; c < channels; ++c) {
      table.set(0, c, sums.data()[c] / count);
      table.set(2, c, rstds[c] * rstds[c] * dots.data()[c] / count);
      table.set(3, c, rstds[c] * w[c]);
    }
    for_each_row(g.shape(), 2 * window.height * window.width, [&](int64_t n, int64_t h) {
      backward_line<S>(Image<S>(g, n), Image<uint8_t>(indices, n), Image<S>(x, n), window, h, g.size(3), channels,
                       table, Image<S>(dx, n));
    });
  });
  write_small(sums.data(), dbias);
  for (int64_t c = 0; c < channels; ++c) dots.data()[c] *= rstds[c];
  write_small(dots.data(), dweight);
}

}  // namespace weft
