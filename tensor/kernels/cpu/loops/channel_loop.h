// Element-wise work with a few coefficients per channel (axis 1), in whatever order memory has: whole rows of channels
// in channels-last, whole planes in NCHW.
#pragma once

#include <array>

#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// Operands of a channel loop: the inputs, then the output.
inline constexpr int kMaxChannelOperands = 3;
inline constexpr int kChannelCoefficients = 5;

/// coefficients[k][c], k < kChannelCoefficients.
template <class C> using ChannelCoefficients = std::array<const C*, kChannelCoefficients>;

struct ChannelAxis {
  int64_t size = 1;
  std::array<int64_t, kMaxChannelOperands> strides{};
  int64_t channel = 0;  // channels per step
};

/// The axes of operands of one shape, ordered by the first one's strides and merged; at least two, the last of them is
/// the innermost.
struct ChannelNest {
  ChannelNest(const Operand* operands, int count);
  /// A few dense channels (under any number of rows) become one longer row of `times` repetitions, for full registers.
  /// The result is `times`; 1 where that does not apply.
  int64_t repeat_channels(int count);

  ChannelAxis axes[kMaxAxes + 2];
  int rank = 0;
};

namespace detail {

/// One row of `axis.size` elements; pointers[k] is operand k's first element, the last the output's.
template <class F, int kInputs, bool kDense, class T>
void channel_row(const std::array<T*, kInputs + 1>& pointers, const ChannelAxis& axis,
                 const ChannelCoefficients<Compute<T>>& coefficients, int64_t channel) {
  using C = Compute<T>;
  using V = simd::Vec<C>;
  std::array<V, kChannelCoefficients> fixed;
  for (int k = 0; k < kChannelCoefficients; ++k) fixed[k] = simd::splat<C>(coefficients[k][channel]);
  const bool moves = axis.channel != 0;
  for_lanes<C>(axis.size, [&](int64_t j, auto count) {
    std::array<V, kInputs> x;
    for (int k = 0; k < kInputs; ++k) {
      if constexpr (kDense) simd::prefetch(pointers[k] + j);
      x[k] = kDense ? lanes_at(pointers[k] + j, count)
                    : simd::load_strided<C>(pointers[k] + j * axis.strides[k], axis.strides[k], count);
    }
    V y;
    if (moves) {
      std::array<V, kChannelCoefficients> own;
      for (int k = 0; k < kChannelCoefficients; ++k) own[k] = lanes_at(coefficients[k] + channel + j, count);
      y = F::apply(x, own);
    } else {
      y = F::apply(x, fixed);
    }
    T* const to = pointers[kInputs];
    const int64_t step = axis.strides[kInputs];
    if constexpr (kDense)
      put_lanes(to + j, y, count);
    else
      for (int i = 0; i < count; ++i) to[(j + i) * step] = static_cast<T>(y[i]);
  });
}

}  // namespace detail

/// out = F::apply({inputs...}, {coefficients of the channel...}) element by element; operands are the inputs, then out.
template <class F, int kInputs, class T>
void channel_loop(const std::array<Operand, kInputs + 1>& operands, const ChannelCoefficients<Compute<T>>& given) {
  if (operands[0].numel() == 0) return;
  using C = Compute<T>;
  ChannelNest nest(operands.data(), kInputs + 1);
  const int64_t times = nest.repeat_channels(kInputs + 1), channels = operands[0].size(1);
  const Scratch<C> repeated(times > 1 ? times * channels * kChannelCoefficients : 0);
  ChannelCoefficients<C> coefficients = given;
  if (times > 1) {
    for (size_t k = 0; k < kChannelCoefficients; ++k) {
      C* copy = repeated.data() + static_cast<int64_t>(k) * times * channels;
      for (int64_t i = 0; i < times; ++i) std::copy_n(given[k], channels, copy + i * channels);
      coefficients[k] = copy;
    }
  }
  const ChannelAxis &inner = nest.axes[nest.rank - 1], &rows = nest.axes[nest.rank - 2];
  bool dense = inner.channel <= 1;
  for (int k = 0; k <= kInputs; ++k) dense &= inner.strides[k] == 1;
  std::array<T*, kInputs + 1> first;
  for (int k = 0; k <= kInputs; ++k) first[k] = operands[k].template data<T>();
  const int64_t count = operands[0].numel() / inner.size;
  parallel_for(count, row_grain(inner.size) * 2, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end;) {
      // Where row i lies, then the rows that follow it along the next axis.
      std::array<T*, kInputs + 1> p = first;
      int64_t channel = 0, linear = i;
      for (int a = nest.rank - 2; a >= 0; --a) {
        const ChannelAxis& axis = nest.axes[a];
        const int64_t at = linear % axis.size;
        linear /= axis.size;
        channel += at * axis.channel;
        for (int k = 0; k <= kInputs; ++k) p[k] += at * axis.strides[k];
      }
      const int64_t stop = std::min(end, i + rows.size - i % rows.size);
      for (; i < stop; ++i) {
        if (dense)
          detail::channel_row<F, kInputs, true>(p, inner, coefficients, channel);
        else
          detail::channel_row<F, kInputs, false>(p, inner, coefficients, channel);
        channel += rows.channel;
        for (int k = 0; k <= kInputs; ++k) p[k] += rows.strides[k];
      }
    }
  });
}

}  // namespace weft::kernels::cpu
