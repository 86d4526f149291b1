#include "tensor/kernels/cpu/rowwise/channel_sums.h"

#include "tensor/kernels/cpu/reduce/row_math.h"

namespace weft::kernels::cpu {
namespace {

/// The axes of x (`in`) and g (`out`): `nest` has all but the channels.
struct Layout {
  Layout(const Operand& g, const Operand& x) {
    for (int64_t i = 0; i < x.rank(); ++i)
      if (i != 1 && x.size(i) != 1) nest.push({x.size(i), x.stride(i), g.stride(i)});
    nest.sort_and_merge();
    channels = {x.size(1), x.stride(1), g.stride(1)};
  }
  bool channels_are_rows() const {
    return channels.size > 1 && (nest.rank == 0 || std::abs(channels.in) < std::abs(nest.inner().in));
  }
  Nest nest;
  NestAxis channels;
};

template <class C, class T> [[gnu::always_inline]] inline simd::Vec<C> read(const T* p, int64_t stride, int count) {
  if (stride != 1) return simd::load_strided<C>(p, stride, count);
  return count == simd::kLanes<C> ? simd::load<C>(p) : simd::load_part<C>(p, count);
}

/// One value per channel: the mean; and scale and shift if gradients are gated, otherwise null.
template <class C> struct Coefficients { const C *mean, *scale, *shift; };

/// `grad`, or 0 if relu set the output centered * scale + shift to 0.
template <bool kGated, class C>
[[gnu::always_inline]] inline simd::Vec<C> gated(simd::Vec<C> grad, simd::Vec<C> centered, simd::Vec<C> scale,
                                                 simd::Vec<C> shift) {
  if constexpr (!kGated) return grad;
  return centered * scale + shift <= simd::Vec<C>{} ? simd::Vec<C>{} : grad;
}

/// Adds the sums of rows [first, first + rows) to sums[c] and dots[c]. Four rows are summed in C, their sums in double.
template <bool kGated, class T>
void add_rows(const T* g, const T* x, const Layout& layout, int64_t first, int64_t rows,
              const Coefficients<Compute<T>>& per_channel, double* sums, double* dots) {
  using C = Compute<T>;
  constexpr int kWidth = simd::kLanes<C>, kParts = detail::WideSum<C>::kParts;
  using Wide = simd::Vec<double>;
  const NestAxis& axis = layout.channels;
  NestWalk walk(layout.nest, first);
  for (int64_t row = 0; row < rows;) {
    const T *xs[4], *gs[4];
    const int64_t group = rows - row >= 4 ? 4 : 1;
    for (int64_t k = 0; k < group; ++k, ++row, walk.next()) {
      xs[k] = x + walk.in();
      gs[k] = g + walk.out();
    }
    for (int64_t j = 0; j < axis.size; j += kWidth) {
      const int count = static_cast<int>(std::min<int64_t>(kWidth, axis.size - j));
      // Coefficients have room for whole registers, as sums and dots have.
      const auto mean = simd::load<C>(per_channel.mean + j);
      const auto scale = kGated ? simd::load<C>(per_channel.scale + j) : mean;
      const auto shift = kGated ? simd::load<C>(per_channel.shift + j) : mean;
      simd::Vec<C> sum{}, dot{};
      for (int64_t k = 0; k < group; ++k) {
        simd::prefetch(xs[k] + j), simd::prefetch(gs[k] + j);
        const auto centered = read<C>(xs[k] + j * axis.in, axis.in, count) - mean;
        const auto grad = gated<kGated, C>(read<C>(gs[k] + j * axis.out, axis.out, count), centered, scale, shift);
        sum += grad;
        dot += grad * centered;
      }
      Wide wide_sums[kParts], wide_dots[kParts];
      load_registers<double>(wide_sums, sums + j);
      load_registers<double>(wide_dots, dots + j);
      detail::accumulate<SumOp<C>>(wide_sums, sum);
      detail::accumulate<SumOp<C>>(wide_dots, dot);
      store_registers<double>(sums + j, wide_sums);
      store_registers<double>(dots + j, wide_dots);
    }
  }
}

/// A few dense channels as one longer row of repetitions; the result is how many.
int64_t repeat_channels(Layout& layout) {
  NestAxis& channels = layout.channels;
  if (layout.nest.rank != 1 || channels.in != 1 || channels.out != 1) return 1;
  NestAxis& rows = layout.nest.axes[0];
  if (rows.in != channels.size || rows.out != channels.size) return 1;
  int64_t times = 1;
  while (times * channels.size < 128 && rows.size % (2 * times) == 0) times *= 2;
  channels.size *= times;
  rows = {rows.size / times, rows.in * times, rows.out * times};
  return times;
}

template <bool kGated, class T>
void by_rows(const T* g, const T* x, Layout layout, const double* means, const ChannelGate* gate, double* sums,
             double* dots) {
  using C = Compute<T>;
  const int64_t given = layout.channels.size, times = repeat_channels(layout);
  const int64_t rows = layout.nest.count(), channels = layout.channels.size;
  const int64_t width = round_up(channels, simd::kLanes<C>);
  const int64_t group = std::max<int64_t>(32, ceil_div(rows, 64)), blocks = ceil_div(rows, group);
  const auto repeated = [&](const double* values, C* to) {
    for (int64_t c = 0; c < width; ++c) to[c] = c < channels ? static_cast<C>(values[c % given]) : C(0);
    return to;
  };
  const Scratch<C> memory((kGated ? 3 : 1) * width);
  Coefficients<C> per_channel{repeated(means, memory.data()), nullptr, nullptr};
  if constexpr (kGated) {
    per_channel.scale = repeated(gate->scale, memory.data() + width);
    per_channel.shift = repeated(gate->shift, memory.data() + 2 * width);
  }
  const Scratch<double> partials(blocks * 2 * width);
  parallel_for(blocks, grain_for(group * channels), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      double* mine = partials.data() + b * 2 * width;
      std::fill_n(mine, 2 * width, 0.0);
      add_rows<kGated>(g, x, layout, b * group, std::min(group, rows - b * group), per_channel, mine, mine + width);
    }
  });
  combine_tree<OnePass<SumOp<double>>>(partials.data(), blocks, 2 * width);
  combine_tree<OnePass<SumOp<double>>>(partials.data(), times, given);
  combine_tree<OnePass<SumOp<double>>>(partials.data() + width, times, given);
  std::copy_n(partials.data(), given, sums);
  std::copy_n(partials.data() + width, given, dots);
}

struct SumAndDot {
  double sum = 0;
  double dot = 0;
};
struct AddBoth {
  using Partial = SumAndDot;
  static SumAndDot combine(const SumAndDot& a, const SumAndDot& b) { return {a.sum + b.sum, a.dot + b.dot}; }
};

/// One channel over the runs [first, first + runs) of the innermost axis.
template <bool kGated, class T>
SumAndDot sum_runs(const T* g, const T* x, const Nest& outer, const NestAxis& run, int64_t first, int64_t runs,
                   Compute<T> mean, Compute<T> scale, Compute<T> shift) {
  using C = Compute<T>;
  detail::WideSum<C> sum, dot;
  NestWalk walk(outer, first);
  for (int64_t i = 0; i < runs; ++i, walk.next()) {
    const T* x_run = x + walk.in();
    const T* g_run = g + walk.out();
    for_lanes<C>(run.size, [&](int64_t j, auto count) {
      const simd::Vec<C> centered = read<C>(x_run + j * run.in, run.in, count) - mean;
      const simd::Vec<C> grad = gated<kGated, C>(read<C>(g_run + j * run.out, run.out, count), centered,
                                                 simd::splat<C>(scale), simd::splat<C>(shift));
      sum.add(grad);
      dot.add(grad * centered);
    });
  }
  return {sum.total(), dot.total()};
}

template <bool kGated, class T>
void by_planes(const T* g, const T* x, const Layout& layout, const double* means, const ChannelGate* gate, double* sums,
               double* dots) {
  using C = Compute<T>;
  const NestAxis run = layout.nest.run();
  const Nest outer = layout.nest.outer();
  const int64_t runs = outer.count(), channels = layout.channels.size;
  const int64_t group = std::max<int64_t>(1, kRowBlock / run.size), blocks = ceil_div(runs, group);
  const Scratch<SumAndDot> partials(channels * blocks);
  parallel_for(channels * blocks, grain_for(group * run.size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t c = i / blocks, b = i % blocks;
      const C scale = kGated ? static_cast<C>(gate->scale[c]) : C(0),
              shift = kGated ? static_cast<C>(gate->shift[c]) : C(0);
      partials.data()[i] =
          sum_runs<kGated>(g + c * layout.channels.out, x + c * layout.channels.in, outer, run, b * group,
                           std::min(group, runs - b * group), static_cast<C>(means[c]), scale, shift);
    }
  });
  for (int64_t c = 0; c < channels; ++c) {
    SumAndDot* mine = partials.data() + c * blocks;
    combine_tree<AddBoth>(mine, blocks, 1);
    sums[c] = mine->sum;
    dots[c] = mine->dot;
  }
}

}  // namespace

void channel_sums(const Operand& g, const Operand& x, const double* means, const ChannelGate* gate, double* sums,
                  double* dots) {
  if (x.numel() == 0) {
    std::fill_n(sums, x.size(1), 0.0);
    std::fill_n(dots, x.size(1), 0.0);
    return;
  }
  const Layout layout(g, x);
  const auto run = [&]<bool kGated, class T>() {
    if (layout.channels_are_rows())
      by_rows<kGated>(g.data<T>(), x.data<T>(), layout, means, gate, sums, dots);
    else
      by_planes<kGated>(g.data<T>(), x.data<T>(), layout, means, gate, sums, dots);
  };
  visit_floating(x.dtype, [&]<class T>() {
    gate != nullptr ? run.template operator()<true, T>() : run.template operator()<false, T>();
  });
}

}  // namespace weft::kernels::cpu
