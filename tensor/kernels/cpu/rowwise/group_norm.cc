// Group normalization: a row is one channel of one image, and a group is adjacent rows (channels-last memory is
// processed pixel by pixel in place: group_norm_pixels.h). Backward sums g and g (x - mean) over each row; the
// gradients of x and of the parameters are made of these.
#include "tensor/ops/group_norm.h"

#include <cmath>
#include <functional>
#include <numeric>

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/small_operand.h"
#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/kernels/cpu/reduce/row_groups.h"
#include "tensor/kernels/cpu/rowwise/group_norm_pixels.h"
#include "tensor/ops/window.h"

namespace weft::kernels::cpu {
namespace {

struct Sizes {
  Sizes(const Operand& x, int64_t group_count) : images(x.size(0)), channels(x.size(1)), groups(group_count) {}
  int64_t images, channels, groups;
  int64_t all_groups() const { return images * groups; }
  int64_t per_group() const { return channels / groups; }  // channels
  GroupedPixels pixels(const Operand& x) const {
    return {images, x.numel() / (images * channels), groups, per_group()};
  }
};

/// How rows are cut: a channel, or where that is short, all channels of a group, since each row costs some calls. (Not
/// where x has as many axes as a view may: a group's channels would be one more.)
struct RowCut {
  static constexpr int64_t kShort = 64;
  RowCut(const Operand& x, const Sizes& s)
      : pixels(std::accumulate(x.shape().begin() + 2, x.shape().end(), int64_t{1}, std::multiplies<>())),
        channels(pixels < kShort && x.rank() < int64_t{kMaxAxes} ? std::max<int64_t>(1, s.per_group()) : 1),
        per_group(s.per_group() / channels),
        per_image(s.channels / channels) {}
  int64_t pixels;                // of a channel
  int64_t channels;              // of a row
  int64_t per_group, per_image;  // rows
  int64_t length() const { return channels * pixels; }
  int64_t channel(int64_t row) const { return row % per_image * channels; }  // its first one
  RowView view(const Operand& x) const {
    if (channels == 1) return {x, 2, x.rank() - 1};
    const View cut = *x.view->unflatten(1, {per_image, channels});
    return {x.with(cut), 2, x.rank()};
  }
};

/// f(row number, row) for the rows of group number `at`.
template <class Reader, class F> void each_row(const RowView& rows, const RowCut& cut, int64_t at, const F& f) {
  const int64_t first = at * cut.per_group, end = first + cut.per_group;
  Reader reader(rows, first, end);
  for (int64_t i = first; i < end; ++i, reader.next()) f(i, reader.row());
}

/// f(channel of the row, its first value) for each channel, or many() where all are single values.
template <class F, class Many> void each_channel(const RowCut& cut, const F& f, const Many& many) {
  if (cut.pixels == 1) return many();
  for (int64_t c = 0; c < cut.channels; ++c) f(c, c * cut.pixels);
}

/// The weights (biases) of channels for each element of an image's rows, which are short: `stride` from row to row.
template <class C> class ElementValues {
 public:
  ElementValues(const RowCut& cut, const SmallOperand<double>& of_channel)
      : stride_(round_up(cut.length(), simd::kLanes<C>)), values_(cut.per_image * stride_) {
    std::fill_n(values_.data(), cut.per_image * stride_, 0.0);
    for (int64_t row = 0; row < cut.per_image; ++row)
      for (int64_t j = 0; j < cut.length(); ++j)
        values_.data()[row * stride_ + j] = of_channel[cut.channel(row) + j / cut.pixels];
  }
  /// Those of register `part` of a row, times `factor`.
  WEFT_SIMD simd::Vec<C> at(int64_t row, int part, double factor = 1) const {
    constexpr int kWidth = simd::kLanes<C>, N = kGroupRows;
    const double* from = values_.data() + row * stride_ + part * kWidth;
    const auto lanes = [&](int k) { return simd::convert_lanes<C, N>(simd::load<double>(from + k * N) * factor); };
    if constexpr (kWidth == N)
      return lanes(0);
    else
      return simd::join<C, N>(lanes(0), lanes(1));
  }

 private:
  int64_t stride_;
  Scratch<double> values_;
};

/// Whether a group is one short row.
template <class C> bool in_groups(const RowCut& cut) {
  return cut.per_group == 1 && cut.length() > 0 && cut.length() <= kGroupedRow<C>;
}

/// The numbers of a group's rows within their images.
struct RowsOfImage {
  RowsOfImage(int64_t first, int64_t per_image) : next_(first % per_image), per_image_(per_image) { advance(); }
  void advance() {
    for (int64_t& row : rows) {
      row = next_;
      if (++next_ == per_image_) next_ = 0;
    }
  }
  int64_t rows[kGroupRows];

 private:
  int64_t next_, per_image_;
};

template <class T>
[[gnu::noinline]] void forward_in_groups(const RowCut& cut, const RowView& in, const RowView& to,
                                         const SmallOperand<double>& weight, const SmallOperand<double>& bias,
                                         double eps, double* mean, double* rstd) {
  using C = Compute<T>;
  const int64_t length = cut.length();
  const ElementValues<C> weights(cut, weight), biases(cut, bias);
  const auto run = [&]<int kParts, class Reader, class Writer>(int64_t first, int64_t last) {
    Reader reader(in, first, last);
    Writer writer(to, first, last);
    RowsOfImage of_image(first, cut.per_image);
    for (int64_t i = first; i < last; i += kGroupRows, of_image.advance()) {
      const int held = static_cast<int>(std::min<int64_t>(kGroupRows, last - i));
      RowGroup<C, kParts> x;
      x.read(reader, held, length);
      const auto [means, squares] = group_moments(x, length, false);
      const RowDoubles rstds = 1.0 / vmath::square_root(squares / static_cast<double>(length) + eps);
      simd::store_part<double>(mean + i, means, held);
      simd::store_part<double>(rstd + i, rstds, held);
      const GroupCenter<C> centered(means);
      const RowValues<double> r(rstds);
      x.each([&](int k, int p) {
        const int64_t row = of_image.rows[k];
        return centered(k, x.rows[k][p]) * weights.at(row, p, r.values[k]) + biases.at(row, p);
      });
      x.write(writer, held, length);
    }
  };
  for_group_ranges<T>(in.count(), length, run, in, to);
}

template <class T>
void forward(const Operand& x, const Sizes& s, const SmallOperand<double>& weight, const SmallOperand<double>& bias,
             double eps, const Operand& y, double* mean, double* rstd) {
  using C = Compute<T>;
  const RowCut cut(x, s);
  const RowView in = cut.view(x), to = cut.view(y);
  const int64_t length = cut.length(), rows = cut.per_group;
  const auto count = static_cast<double>(std::max<int64_t>(length * rows, 1));  // no values: 0, not NaN
  if (in_groups<C>(cut)) return forward_in_groups<T>(cut, in, to, weight, bias, eps, mean, rstd);
  const auto run = [&]<class Reader, class Writer>(int64_t begin, int64_t end) {
    const RowBuffer<T> buffer(length);
    for (int64_t at = begin; at < end; ++at) {
      double sum = 0, squares = 0;
      each_row<Reader>(in, cut, at, [&](int64_t, const auto* row) { sum += row_sum(row, length); });
      const double m = mean[at] = sum / count;
      each_row<Reader>(in, cut, at, [&](int64_t, const auto* row) { squares += row_squares(row, length, m); });
      const double r = rstd[at] = 1.0 / std::sqrt(squares / count + eps);
      const Center<C> centered(m);
      Writer writer(to, at * rows, (at + 1) * rows);
      each_row<Reader>(in, cut, at, [&](int64_t i, const auto* row) {
        const double *w = weight.data() + cut.channel(i), *b = bias.data() + cut.channel(i);
        auto* to_row = writer.row();
        C* out = buffer.elements(to_row);
        const auto channel = [&](int64_t c, int64_t first) {
          const C scale = static_cast<C>(r * w[c]), shift = static_cast<C>(b[c]);
          for_lanes<C>(cut.pixels, [&](int64_t j, auto lanes) {
            put_lanes(out + first + j, centered(lanes_at(row + first + j, lanes)) * scale + shift, lanes);
          });
        };
        each_channel(cut, channel, [&] {
          for (int64_t c = 0; c < cut.channels; ++c)
            out[c] = centered.of(C(row[c])) * static_cast<C>(r * w[c]) + static_cast<C>(b[c]);
        });
        buffer.write_to(to_row);
        writer.next();
      });
    }
  };
  for_row_ranges<T, INT64_MAX>(s.all_groups(), row_grain(length * rows), run, in, to);
}

/// The sum of g (x - mean) along a row.
template <class T, class C> double centered_dot(const T* g, const T* x, int64_t n, const Center<C>& centered) {
  return sum_lanes<C>(n,
                      [&](int64_t j, auto count) { return lanes_at(g + j, count) * centered(lanes_at(x + j, count)); });
}

/// The sums of each channel of a row.
template <class C> void sum_channels(const RowCut& cut, const C* row, double* sums) {
  for (int64_t c = 0; c < cut.channels; ++c) {
    double sum = 0;
    for (int64_t j = 0; j < cut.pixels; ++j) sum += static_cast<double>(row[c * cut.pixels + j]);
    sums[c] = sum;
  }
}

/// What backward reads and writes. dx is written only with `of_x`; sums and dots (images, channels) are those of g and
/// of g (x - mean) over the pixels.
struct Backward {
  RowCut cut;
  RowView g, x, dx;
  bool of_x;
  const SmallOperand<double>&weight, &mean, &rstd;
  double *sums, *dots;
};

/// The sums of g weight and of g weight (x - mean) over a group.
struct GroupSums {
  double level = 0, slope = 0;
};

template <class T> [[gnu::noinline]] void backward_in_groups(const Backward& a) {
  using C = Compute<T>;
  const RowCut& cut = a.cut;
  const int64_t length = cut.length(), channels = cut.channels;
  const ElementValues<C> weights(cut, a.weight);
  const auto run = [&]<int kParts, class Reader, class Writer>(int64_t first, int64_t last) {
    constexpr int64_t kRowLanes = kParts * simd::kLanes<C>;
    Reader g_reader(a.g, first, last), x_reader(a.x, first, last);
    Writer writer(a.dx, first, last);
    RowsOfImage of_image(first, cut.per_image);
    for (int64_t i = first; i < last; i += kGroupRows, of_image.advance()) {
      const int held = static_cast<int>(std::min<int64_t>(kGroupRows, last - i));
      RowGroup<C, kParts> g, x;
      g.read(g_reader, held, length), x.read(x_reader, held, length);
      const GroupCenter<C> centered(simd::load_part<double>(a.mean.data() + i, held));
      const RowDoubles r = simd::load_part<double>(a.rstd.data() + i, held);
      x.each([&](int k, int p) { return centered(k, x.rows[k][p]); });
      const auto products = g.of([&](int k, int p) { return g.rows[k][p] * x.rows[k][p]; });
      double level[kGroupRows] = {}, slope[kGroupRows] = {};  // GroupSums of each
      if (channels == 1) {
        const bool together = adds_together<C>(length);
        simd::store<double>(level, group_sum(g, together));
        simd::store<double>(slope, group_sum(products, together));
        for (int k = 0; k < held; ++k) {
          a.sums[i + k] = level[k], a.dots[i + k] = slope[k];
          level[k] *= a.weight[of_image.rows[k]], slope[k] *= a.weight[of_image.rows[k]];
        }
      } else {
        C g_values[kGroupRows * kRowLanes], product_values[kGroupRows * kRowLanes];
        g.store(g_values), products.store(product_values);
        for (int k = 0; k < held; ++k) {
          double *sum = a.sums + (i + k) * channels, *dot = a.dots + (i + k) * channels;
          sum_channels(cut, g_values + k * kRowLanes, sum);
          sum_channels(cut, product_values + k * kRowLanes, dot);
          const double* w = a.weight.data() + cut.channel(of_image.rows[k]);
          for (int64_t c = 0; c < channels; ++c) level[k] += w[c] * sum[c], slope[k] += w[c] * dot[c];
        }
      }
      if (!a.of_x) continue;
      const double count = static_cast<double>(length);
      // r^2 alone may be too small for C.
      const RowValues<C> mean_part(r * simd::load<double>(level) / count),
          slope_part(r * r * simd::load<double>(slope) / count), rc(r);
      const RowValues<double> factor(r);
      g.each([&](int k, int p) {
        return g.rows[k][p] * weights.at(of_image.rows[k], p, factor.values[k]) - mean_part[k] -
               x.rows[k][p] * rc[k] * slope_part[k];
      });
      g.write(writer, held, length);
    }
  };
  for_group_ranges<T>(a.x.count(), length, run, a.g, a.x, a.dx);
}

/// Writes the sums and dots of the rows of group `at`, and returns the group's own.
template <class T, class Reader> GroupSums sum_group(const Backward& a, int64_t at) {
  using C = Compute<T>;
  const RowCut& cut = a.cut;
  const Center<C> centered(a.mean[at]);
  GroupSums group;
  Reader g_reader(a.g, at * cut.per_group, (at + 1) * cut.per_group);
  each_row<Reader>(a.x, cut, at, [&](int64_t i, const auto* row) {
    const auto* g_row = g_reader.row();
    const double* w = a.weight.data() + cut.channel(i);
    double *sum = a.sums + i * cut.channels, *dot = a.dots + i * cut.channels;
    const auto channel = [&](int64_t c, int64_t first) {
      sum[c] = row_sum(g_row + first, cut.pixels);
      dot[c] = centered_dot(g_row + first, row + first, cut.pixels, centered);
    };
    each_channel(cut, channel, [&] {
      for (int64_t c = 0; c < cut.channels; ++c)
        sum[c] = static_cast<double>(g_row[c]), dot[c] = static_cast<double>(C(g_row[c]) * centered.of(C(row[c])));
    });
    double level = group.level, slope = group.slope;  // variables, for loops that g++ vectorizes
    for (int64_t c = 0; c < cut.channels; ++c) level += w[c] * sum[c], slope += w[c] * dot[c];
    group = {level, slope};
    g_reader.next();
  });
  return group;
}

/// dx of group `at`.
template <class T, class Reader, class Writer>
void write_group(const Backward& a, int64_t at, const GroupSums& group, const RowBuffer<T>& buffer) {
  using C = Compute<T>;
  const RowCut& cut = a.cut;
  const int64_t first_row = at * cut.per_group, end_row = first_row + cut.per_group;
  const Center<C> centered(a.mean[at]);
  const double r = a.rstd[at], count = static_cast<double>(cut.length() * cut.per_group);
  // r^2 alone may be too small for C.
  const C level = static_cast<C>(r * group.level / count), slope = static_cast<C>(r * r * group.slope / count),
          rstd = static_cast<C>(r);
  Reader g_reader(a.g, first_row, end_row);
  Writer writer(a.dx, first_row, end_row);
  each_row<Reader>(a.x, cut, at, [&](int64_t i, const auto* row) {
    const double* w = a.weight.data() + cut.channel(i);
    const auto* g_row = g_reader.row();
    auto* to_row = writer.row();
    C* out = buffer.elements(to_row);
    const auto channel = [&](int64_t c, int64_t first) {
      const C scale = static_cast<C>(r * w[c]);
      for_lanes<C>(cut.pixels, [&](int64_t j, auto lanes) {
        const int64_t k = first + j;
        put_lanes(out + k,
                  lanes_at(g_row + k, lanes) * scale - level - centered(lanes_at(row + k, lanes)) * rstd * slope,
                  lanes);
      });
    };
    each_channel(cut, channel, [&] {
      for (int64_t c = 0; c < cut.channels; ++c)
        out[c] = C(g_row[c]) * static_cast<C>(r * w[c]) - level - centered.of(C(row[c])) * rstd * slope;
    });
    buffer.write_to(to_row);
    g_reader.next(), writer.next();
  });
}

template <class T> void backward(const Backward& a, int64_t groups) {
  using C = Compute<T>;
  if (in_groups<C>(a.cut)) return backward_in_groups<T>(a);
  const auto run = [&]<class Reader, class Writer>(int64_t begin, int64_t end) {
    const RowBuffer<T> buffer(a.cut.length());
    for (int64_t at = begin; at < end; ++at) {
      const GroupSums group = sum_group<T, Reader>(a, at);
      if (a.of_x) write_group<T, Reader, Writer>(a, at, group, buffer);
    }
  };
  for_row_ranges<T, INT64_MAX>(groups, row_grain(a.cut.length() * a.cut.per_group), run, a.g, a.x, a.dx);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::GroupNorm::cpu(const Operand& x, const Operand& weight, const Operand& bias, const Operand& y,
                        const Operand& mean, const Operand& rstd) const {
  const Sizes s(x, groups);
  if (s.all_groups() == 0) return;
  const SmallOperand<double> w(weight, s.channels, 1), b(bias, s.channels, 0);
  const Scratch<double> means(s.all_groups()), rstds(s.all_groups());
  visit_floating(x.dtype, [&]<class T>() {
    if (is_pixel_rows(x) && is_pixel_rows(y))
      normalize_pixels<T>(s.pixels(x), x.data<T>(), w, b, eps, y.data<T>(), means.data(), rstds.data());
    else
      forward<T>(x, s, w, b, eps, y, means.data(), rstds.data());
  });
  write_small(means.data(), mean);
  write_small(rstds.data(), rstd);
}

void op::GroupNormBackward::cpu(const Operand& g, const Operand& x, const Operand& weight, const Operand& mean,
                                const Operand& rstd, const Operand& dx, const Operand& dweight,
                                const Operand& dbias) const {
  if (is_pixel_rows(x) && !is_pixel_rows(g)) {  // in another order, or expanded as the gradient of a sum
    const View view = channels_last_view(g.shape());
    const Scratch<char> memory(checked_multiply(g.numel(), static_cast<int64_t>(size_of(g.dtype))));
    const Operand pixel_rows{memory.data(), &view, g.dtype, g.device};
    copy(g, pixel_rows);
    return cpu(pixel_rows, x, weight, mean, rstd, dx, dweight, dbias);
  }
  const Sizes s(x, groups);
  const int64_t rows = s.images * s.channels;
  const SmallOperand<double> w(weight, s.channels, 1), means(mean, s.all_groups(), 0), rstds(rstd, s.all_groups(), 0);
  const Scratch<double> sums(rows), dots(rows), totals(2 * s.channels);
  const bool of_x = wanted & 1;
  visit_floating(x.dtype, [&]<class T>() {
    if (is_pixel_rows(x) && is_pixel_rows(g) && (!of_x || is_pixel_rows(dx)))
      return pixel_gradients<T>(s.pixels(x), g.data<T>(), x.data<T>(), w, means, rstds, of_x ? dx.data<T>() : nullptr,
                                sums.data(), dots.data());
    const RowCut cut(x, s);
    const RowView to = cut.view(of_x ? dx : x);
    backward<T>({cut, cut.view(g), cut.view(x), to, of_x, w, means, rstds, sums.data(), dots.data()}, s.all_groups());
  });
  double *weights = totals.data(), *biases = weights + s.channels;
  std::fill_n(totals.data(), 2 * s.channels, 0.0);
  for (int64_t n = 0; n < s.images; ++n)
    for (int64_t group = 0, c = 0; group < s.groups; ++group)
      for (const int64_t end = c + s.per_group(); c < end; ++c) {
        const int64_t row = n * s.channels + c;
        weights[c] += dots.data()[row] * rstds[n * s.groups + group];
        biases[c] += sums.data()[row];
      }
  if (wanted & 2) write_small(weights, dweight);
  if (wanted & 4) write_small(biases, dbias);
}

}  // namespace weft
