// Means of windows along the rows of an image, and their gradient: neighbors in a register are neighbors in a row.
// For images whose channels leave most of a register empty.
#pragma once

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/window/pool_loops.h"

namespace weft::kernels::cpu {

/// How a row is summed: element w of the result is the sum of line[w * stride + first + t * step] over t < taps. The
/// line is the row read with zeros around and between its elements: element i lies at `at` + i * apart, `copies` times.
struct RowSums {
  int64_t elements, width, length;  // of the row, of the result, of the line
  int64_t stride, first, step, taps;
  int64_t at, apart, copies;

  static RowSums of_windows(const AxisWindows& o, int64_t inputs, int64_t outputs) {
    const int64_t length = (outputs - 1) * o.stride + (o.kernel - 1) * o.dilation + 1;
    return {inputs, outputs, length, o.stride, 0, o.dilation, o.kernel, o.padding, 1, 1};
  }
  /// The sums of windows that hold a pixel, as a sum over taps, too, goes from the last of these windows to the first.
  static RowSums of_pixels(const AxisWindows& o, int64_t inputs, int64_t outputs) {
    if (o.dilation == 1 && o.kernel <= o.stride)  // one window at most: it is written where its pixels are
      return {outputs, inputs, inputs, 1, 0, 0, 1, -o.padding, o.stride, o.kernel};
    const int64_t reach = (o.kernel - 1) * o.dilation;
    return {outputs, inputs, inputs + reach, 1, reach, -o.dilation, o.kernel, reach - o.padding, o.stride, 1};
  }
};

/// Sums of rows, one after the other, in memory of their own.
template <class S> class RowSummer {
  using C = Compute<S>;
  static constexpr int N = simd::kLanes<C>;

 public:
  explicit RowSummer(const RowSums& o) : o_(o), values_(o.elements + N), line_(o.length + 4 * N), sums_(o.width + N) {
    std::fill_n(line_.data(), o.length + 4 * N, C{});  // rows are written to the same places, with the same gaps
  }

  void begin() {
    for (int64_t w = 0; w < o_.width; w += N) simd::store<C, N>(sums_.data() + w, simd::Vec<C, N>{});
  }
  /// Adds the sums of a row, elements `step` apart.
  void add(const S* row, int64_t step) {
    if (row != last_row_) read(row, step);
    last_row_ = row;
    if (o_.stride == 1) return add_line<1>();
    o_.stride == 2 ? add_line<2>() : add_line<0>();
  }
  /// Writes the sums, divided.
  void write(C divisor, S* to, int64_t step) const {
    const auto by = simd::splat<C, N>(divisor);
    for_each_vector<N>(o_.width, step == 1, [&]<bool kFull>(int64_t w, int count) {
      store_channels<kFull, C, N>(to + w * step, step, simd::load<C, N>(sums_.data() + w) / by, count);
    });
  }

 private:
  void read(const S* row, int64_t step) const {
    const bool direct = o_.apart == 1 && o_.copies == 1;
    C* const to = direct ? line_.data() + o_.at : values_.data();
    // Windows that end before the row does leave some of it out.
    const int64_t count = direct ? std::clamp<int64_t>(o_.length - o_.at, 0, o_.elements) : o_.elements;
    for_each_vector<N>(count, step == 1, [=]<bool kFull>(int64_t i, int lanes) {
      simd::store<C, N>(to + i, load_channels<kFull, C, N>(row + i * step, step, lanes));  // zeros beyond the last
    });
    for (int64_t k = 0; !direct && k < o_.copies; ++k) spread(o_.at + k);
  }
  /// Writes the row into the line from `at` on.
  void spread(int64_t at) const {
    const int64_t apart = o_.apart, begin = std::max<int64_t>(0, ceil_div(-at, apart)),
                  end = std::min(o_.elements, ceil_div(o_.length - at, apart));
    const C* const from = values_.data();
    C* const to = line_.data() + at;
    for (int64_t i = begin; i < end; ++i) to[i * apart] = from[i];
  }
  template <int kStride> void add_line() const {
    const RowSums o = o_;
    C* const sums = sums_.data();
    const C* line = line_.data() + o.first;
    for (int64_t w = 0; w < o.width; w += N, line += N * o.stride) {
      const int count = static_cast<int>(std::min<int64_t>(N, o.width - w));
      simd::Vec<C, N> sum{};  // row by row, so that a large window loses no more than a sum over its rows
      for (int64_t t = 0; t < o.taps; ++t) sum += load_apart<kStride, C, N>(line + t * o.step, o.stride, count);
      simd::store<C, N>(sums + w, simd::load<C, N>(sums + w) + sum);
    }
  }

  RowSums o_;
  Scratch<C> values_, line_, sums_;
  const S* last_row_ = nullptr;  // which the line holds
};

}  // namespace weft::kernels::cpu
