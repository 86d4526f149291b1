// Group normalization of channels-last memory as it is: images of pixels, each a row of channels. Sums are taken
// channel by channel, so that which channels a thread has changes no bit of them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "tensor/core/operand.h"
#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/kernels/cpu/reduce/shifted_moments.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// Whether x (N, C, ...) is dense in memory as (N, ..., C), and not as (N, C, ...) too.
inline bool is_pixel_rows(const Operand& x) {
  if (x.rank() < 3 || x.numel() == 0 || x.size(1) == 1 || x.stride(1) != 1) return false;
  int64_t step = x.size(1);
  for (int64_t axis = x.rank() - 1; axis >= 2; step *= x.size(axis), --axis)
    if (x.size(axis) > 1 && x.stride(axis) != step) return false;
  return step > x.size(1) && (x.size(0) == 1 || x.stride(0) == step);
}

/// Images (pixels, channels), whose channels are `groups` times `per_group`.
struct GroupedPixels {
  int64_t images, pixels, groups, per_group;

  int64_t channels() const { return groups * per_group; }
  /// f(image, first group, end): all groups of an image, or few of them where there are few images.
  template <class F> void for_ranges(const F& f) const {
    const int64_t line = ceil_div(64, per_group), groups_at_once = images >= 16 ? groups : std::min(groups, line);
    const int64_t ranges = ceil_div(groups, groups_at_once), work = groups_at_once * per_group * pixels;
    parallel_for(images * ranges, std::max<int64_t>(1, 8192 / work), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % ranges * groups_at_once;
        f(i / ranges, first, std::min(groups, first + groups_at_once));
      }
    });
  }
};

namespace detail {

/// f(i, P) for P pixels from i on, four at a time: what belongs to a register of channels is read once for them.
template <class F> WEFT_SIMD void for_pixels(int64_t first, int64_t end, const F& f) {
  int64_t i = first;
  for (; i + 4 <= end; i += 4) f(i, std::integral_constant<int, 4>{});
  for (; i < end; ++i) f(i, std::integral_constant<int, 1>{});
}

/// totals (kSums, channels) = the sums over the pixels of value(pixel, c, count), kSums registers of channels from c
/// on. 64 pixels are added in C, these sums in double.
template <class C, int kSums, class F>
void channel_totals(int64_t pixels, int64_t channels, double* totals, const F& value) {
  const Scratch<C> stage(kSums * channels);
  std::fill_n(totals, kSums * channels, 0.0);
  for (int64_t first = 0; first < pixels; first += 64) {
    std::fill_n(stage.data(), kSums * channels, C(0));
    const int64_t end = std::min(pixels, first + 64);
    for_pixels(
        first, end, [&]<int P>(int64_t i, std::integral_constant<int, P>) __attribute__((always_inline)) {
          for_lanes<C>(
              channels, [&](int64_t c, auto count) __attribute__((always_inline)) {
                auto sums = value(i, c, count);
                for (int p = 1; p < P; ++p) {
                  const auto more = value(i + p, c, count);
                  for (size_t k = 0; k < kSums; ++k) sums[k] += more[k];
                }
                for (size_t k = 0; k < kSums; ++k) {
                  C* to = stage.data() + static_cast<int64_t>(k) * channels + c;
                  put_lanes(to, lanes_at(to, count) + sums[k], count);
                }
              });
        });
    for (int64_t c = 0; c < kSums * channels; ++c) totals[c] += static_cast<double>(stage.data()[c]);
  }
}

/// Four values per channel, as C: the halves of the mean (see Center), a factor and a term.
template <class C> class ChannelTable {
 public:
  explicit ChannelTable(int64_t channels) : channels_(channels), values_(4 * channels) {}
  void set_mean(int64_t c, double mean) {
    const C high = static_cast<C>(mean), low = static_cast<C>(mean - static_cast<double>(high));
    row(0)[c] = high, row(1)[c] = low == low ? low : C(0);  // an infinite mean
  }
  C* row(int64_t k) const { return values_.data() + k * channels_; }
  template <class T, class Count> WEFT_SIMD simd::Vec<C> centered(const T* x, int64_t c, Count count) const {
    return (lanes_at(x, count) - lanes_at(row(0) + c, count)) - lanes_at(row(1) + c, count);
  }

 private:
  int64_t channels_;
  Scratch<C> values_;
};

/// Mean and variance of the group that `in` begins with, value by value in double: where floats overflow.
template <class T>
void group_moments_in_double(const GroupedPixels& s, const T* in, double& group_mean, double& variance) {
  const auto mean = [&](const auto& f) {
    double sum = 0;
    for (int64_t i = 0; i < s.pixels; ++i)
      for (int64_t c = 0; c < s.per_group; ++c)
        sum += f(static_cast<double>(static_cast<Compute<T>>(in[i * s.channels() + c])));
    return sum / static_cast<double>(s.pixels * s.per_group);
  };
  group_mean = mean([](double x) { return x; });
  variance = mean([m = group_mean](double x) { return (x - m) * (x - m); });
}

/// The means and variances of `groups` groups of channels, the first of which `in` begins with. In one pass about a
/// value near each mean, or in two more where one of these was too far off. The table's means are used on the way.
template <class T, class C>
void group_moments(const GroupedPixels& s, const T* in, int64_t groups, ChannelTable<C>& table, double* mean,
                   double* variance) {
  const int64_t step = s.channels(), width = groups * s.per_group;
  const double count = static_cast<double>(s.pixels * s.per_group);
  const Scratch<double> totals(2 * width);
  const auto total = [&](int64_t g, const double* of) {
    return std::accumulate(of + g * s.per_group, of + (g + 1) * s.per_group, 0.0);
  };
  const auto set_means = [&](int64_t g, double value) {
    for (int64_t c = g * s.per_group; c < (g + 1) * s.per_group; ++c) table.set_mean(c, value);
  };
  for (int64_t g = 0; g < groups; ++g)
    set_means(g, static_cast<double>(near_mean<C>(s.pixels * s.per_group, [&](int64_t i) {
                return static_cast<C>(in[i / s.per_group * step + g * s.per_group + i % s.per_group]);
              })));
  channel_totals<C, 2>(s.pixels, width, totals.data(), [&](int64_t i, int64_t c, auto lanes) {
    simd::prefetch(in + i * step + c);
    const auto value = lanes_at(in + i * step + c, lanes) - lanes_at(table.row(0) + c, lanes);
    return std::array{value, value * value};
  });
  bool near = true;
  for (int64_t g = 0; g < groups; ++g) {
    const ShiftedSums sums{total(g, totals.data()), total(g, totals.data() + width)};
    near &= sums.is_near(count);
    mean[g] = static_cast<double>(table.row(0)[g * s.per_group]) + sums.offset(count);
    variance[g] = sums.centered(count) / count;
  }
  if (near) return;
  channel_totals<C, 1>(s.pixels, width, totals.data(), [&](int64_t i, int64_t c, auto lanes) {
    return std::array{lanes_at(in + i * step + c, lanes)};
  });
  for (int64_t g = 0; g < groups; ++g) set_means(g, mean[g] = total(g, totals.data()) / count);
  channel_totals<C, 1>(s.pixels, width, totals.data(), [&](int64_t i, int64_t c, auto lanes) {
    const auto value = table.centered(in + i * step + c, c, lanes);
    return std::array{value * value};
  });
  for (int64_t g = 0; g < groups; ++g) {
    variance[g] = total(g, totals.data()) / count;
    if (!std::isfinite(variance[g])) group_moments_in_double(s, in + g * s.per_group, mean[g], variance[g]);
  }
}

}  // namespace detail

/// x and y are the images; weight and bias have a value per channel, mean and rstd get one per image and group.
template <class T, class Values>
void normalize_pixels(const GroupedPixels& s, const T* x, const Values& weight, const Values& bias, double eps, T* y,
                      double* mean, double* rstd) {
  using C = Compute<T>;
  const int64_t step = s.channels();
  s.for_ranges([&](int64_t n, int64_t first, int64_t end) {
    const int64_t width = (end - first) * s.per_group, from = n * s.pixels * step + first * s.per_group;
    const T* in = x + from;
    detail::ChannelTable<C> table(width);
    detail::group_moments<T>(s, in, end - first, table, mean + n * s.groups + first, rstd + n * s.groups + first);
    for (int64_t g = first; g < end; ++g) {
      double& r = rstd[n * s.groups + g];
      if (std::isinf(r)) r = std::numeric_limits<double>::quiet_NaN();  // squares overflowed: 1 / inf would hide it
      r = 1.0 / std::sqrt(r + eps);
      for (int64_t c = 0; c < s.per_group; ++c) table.set_mean((g - first) * s.per_group + c, mean[n * s.groups + g]);
      for (int64_t c = g * s.per_group; c < (g + 1) * s.per_group; ++c) {
        table.row(2)[c - first * s.per_group] = static_cast<C>(r * weight[c]);
        table.row(3)[c - first * s.per_group] = static_cast<C>(bias[c]);
      }
    }
    T* out = y + from;
    detail::for_pixels(
        0, s.pixels, [&]<int P>(int64_t i, std::integral_constant<int, P>) __attribute__((always_inline)) {
          for_lanes<C>(
              width, [&](int64_t c, auto lanes) __attribute__((always_inline)) {
                const auto of_table = [&](int64_t k) { return lanes_at(table.row(k) + c, lanes); };
                const auto high = of_table(0), low = of_table(1), factor = of_table(2), term = of_table(3);
                for (int p = 0; p < P; ++p) {
                  const int64_t at = (i + p) * step + c;
                  const auto value = lanes_at(in + at, lanes);
                  put_lanes(out + at, ((value - high) - low) * factor + term, lanes);
                }
              });
        });
  });
}

/// sums and dots (images, channels): of g and of g (x - mean). dx, where it is not null, is the gradient of x.
template <class T, class Values>
void pixel_gradients(const GroupedPixels& s, const T* g, const T* x, const Values& weight, const Values& mean,
                     const Values& rstd, T* dx, double* sums, double* dots) {
  using C = Compute<T>;
  const int64_t step = s.channels();
  s.for_ranges([&](int64_t n, int64_t first, int64_t end) {
    const int64_t width = (end - first) * s.per_group, channel = first * s.per_group;
    const int64_t from = n * s.pixels * step + channel;
    const T *in = x + from, *gradient = g + from;
    const Scratch<double> totals(2 * width);
    detail::ChannelTable<C> table(width);
    for (int64_t c = 0; c < width; ++c) table.set_mean(c, mean[n * s.groups + (channel + c) / s.per_group]);
    detail::channel_totals<C, 2>(s.pixels, width, totals.data(), [&](int64_t i, int64_t c, auto lanes) {
      const auto value = lanes_at(gradient + i * step + c, lanes);
      return std::array{value, value * table.centered(in + i * step + c, c, lanes)};
    });
    std::copy_n(totals.data(), width, sums + n * step + channel);
    std::copy_n(totals.data() + width, width, dots + n * step + channel);
    if (dx == nullptr) return;
    const Scratch<C> level(width), rstds(width);
    bool fits = true;  // r^3 b in C; if not, x - mean is multiplied by r first
    for (int64_t group = first; group < end; ++group) {
      double a = 0, b = 0;  // the sums of g weight and of g weight (x - mean)
      const int64_t begin = (group - first) * s.per_group;
      for (int64_t c = begin; c < begin + s.per_group; ++c)
        a += weight[channel + c] * totals.data()[c], b += weight[channel + c] * totals.data()[width + c];
      const double r = rstd[n * s.groups + group], count = static_cast<double>(s.pixels * s.per_group);
      const double slope = r * r * r * b / count;
      fits &= slope == 0 || std::isnormal(static_cast<C>(slope));
      for (int64_t c = begin; c < begin + s.per_group; ++c) {
        level.data()[c] = static_cast<C>(r * a / count);
        table.row(2)[c] = static_cast<C>(r * weight[channel + c]);
        table.row(3)[c] = static_cast<C>(slope);
        rstds.data()[c] = static_cast<C>(r);
        totals.data()[c] = slope / r;
      }
    }
    T* out = dx + from;
    const auto write = [&](auto in_one_step) {
      for (int64_t i = 0; i < s.pixels; ++i)
        for_lanes<C>(width, [&](int64_t c, auto lanes) {
          auto deviation = table.centered(in + i * step + c, c, lanes);
          if constexpr (!in_one_step) deviation = deviation * lanes_at(rstds.data() + c, lanes);
          const auto value = lanes_at(gradient + i * step + c, lanes) * lanes_at(table.row(2) + c, lanes) -
                             lanes_at(level.data() + c, lanes) - deviation * lanes_at(table.row(3) + c, lanes);
          put_lanes(out + i * step + c, value, lanes);
        });
    };
    if (fits) return write(std::true_type{});
    for (int64_t c = 0; c < width; ++c) table.row(3)[c] = static_cast<C>(totals.data()[c]);
    write(std::false_type{});
  });
}

}  // namespace weft::kernels::cpu
