// Group normalisation: a row is one channel of one image, and a group is neighbouring rows (channels-last memory is
// gone through pixel by pixel in place: group_norm_pixels.h). Backward sums g and g (x - mean) over each row; the
// gradients of x and of the parameters are made of these.
#include "tensor/ops/group_norm.h"

#include <cmath>

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/small_operand.h"
#include "tensor/kernels/cpu/reduce/row_math.h"
#include "tensor/kernels/cpu/rowwise/group_norm_pixels.h"

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

/// f(row number, row) for the rows of group number `at`.
template <class T, class F> void each_row(const RowView& rows, const Sizes& s, int64_t at, const F& f) {
  const int64_t first = at * s.per_group(), end = first + s.per_group();
  RowReader<T> reader(rows, first, end);
  for (int64_t i = first; i < end; ++i, reader.next()) f(i, reader.row());
}

template <class T>
void forward(const Operand& x, const Sizes& s, const SmallOperand<double>& weight, const SmallOperand<double>& bias,
             double eps, const Operand& y, double* mean, double* rstd) {
  using C = Compute<T>;
  const RowView in(x, 2, x.rank() - 1), to(y, 2, x.rank() - 1);
  const int64_t length = in.length();
  const auto count = static_cast<double>(std::max<int64_t>(length * s.per_group(), 1));  // no values: 0, not NaN
  parallel_for(s.all_groups(), row_grain(length * s.per_group()), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      double sum = 0, squares = 0;
      each_row<T>(in, s, at, [&](int64_t, const C* row) { sum += row_sum(row, length); });
      const double m = mean[at] = sum / count;
      each_row<T>(in, s, at, [&](int64_t, const C* row) { squares += row_squares(row, length, m); });
      const double r = rstd[at] = 1.0 / std::sqrt(squares / count + eps);
      const Centre<C> centred(m);
      RowWriter<T> writer(to, at * s.per_group(), (at + 1) * s.per_group());
      each_row<T>(in, s, at, [&](int64_t i, const C* row) {
        const C scale = static_cast<C>(r * weight[i % s.channels]), shift = static_cast<C>(bias[i % s.channels]);
        C* out = writer.row();
        for_lanes<C>(length, [&](int64_t j, auto lanes) {
          put_lanes(out + j, centred(lanes_at(row + j, lanes)) * scale + shift, lanes);
        });
        writer.next();
      });
    }
  });
}

/// The sum of g (x - mean) along a row.
template <class C> double centred_dot(const C* g, const C* x, int64_t n, const Centre<C>& centred) {
  return sum_lanes<C>(n,
                      [&](int64_t j, auto count) { return lanes_at(g + j, count) * centred(lanes_at(x + j, count)); });
}

template <class T>
void backward(const Operand& g, const Operand& x, const Sizes& s, const SmallOperand<double>& weight,
              const SmallOperand<double>& mean, const SmallOperand<double>& rstd, const Operand& dx, double* sums,
              double* dots) {
  using C = Compute<T>;
  const int64_t last = x.rank() - 1;
  const RowView g_rows(g, 2, last), x_rows(x, 2, last), to(dx.defined() ? dx : x, 2, last);
  const int64_t length = x_rows.length(), rows = s.per_group();
  parallel_for(s.all_groups(), row_grain(length * rows), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const Centre<C> centred(mean[at]);
      double level = 0, slope = 0;  // the sums of g weight and of g weight (x - mean)
      RowReader<T> g_reader(g_rows, at * rows, (at + 1) * rows);
      each_row<T>(x_rows, s, at, [&](int64_t i, const C* row) {
        const double w = weight[i % s.channels];
        sums[i] = row_sum(g_reader.row(), length), dots[i] = centred_dot(g_reader.row(), row, length, centred);
        level += w * sums[i], slope += w * dots[i];
        g_reader.next();
      });
      if (!dx.defined()) continue;
      const double r = rstd[at], count = static_cast<double>(length * rows);
      const C a = static_cast<C>(r * level / count), b = static_cast<C>(r * r * r * slope / count);
      RowReader<T> again(g_rows, at * rows, (at + 1) * rows);
      RowWriter<T> writer(to, at * rows, (at + 1) * rows);
      each_row<T>(x_rows, s, at, [&](int64_t i, const C* row) {
        const C scale = static_cast<C>(r * weight[i % s.channels]);
        const C* g_row = again.row();
        C* out = writer.row();
        for_lanes<C>(length, [&](int64_t j, auto lanes) {
          put_lanes(out + j, lanes_at(g_row + j, lanes) * scale - a - centred(lanes_at(row + j, lanes)) * b, lanes);
        });
        again.next(), writer.next();
      });
    }
  });
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
      normalise_pixels<T>(s.pixels(x), x.data<T>(), w, b, eps, y.data<T>(), means.data(), rstds.data());
    else
      forward<T>(x, s, w, b, eps, y, means.data(), rstds.data());
  });
  write_small(means.data(), mean);
  write_small(rstds.data(), rstd);
}

void op::GroupNormBackward::cpu(const Operand& g, const Operand& x, const Operand& weight, const Operand& mean,
                                const Operand& rstd, const Operand& dx, const Operand& dweight,
                                const Operand& dbias) const {
  const Sizes s(x, groups);
  const int64_t rows = s.images * s.channels;
  const SmallOperand<double> w(weight, s.channels, 1), means(mean, s.all_groups(), 0), rstds(rstd, s.all_groups(), 0);
  const Scratch<double> sums(rows), dots(rows), totals(2 * s.channels);
  const bool of_x = wanted & 1;
  visit_floating(x.dtype, [&]<class T>() {
    if (is_pixel_rows(x) && is_pixel_rows(g) && (!of_x || is_pixel_rows(dx)))
      pixel_gradients<T>(s.pixels(x), g.data<T>(), x.data<T>(), w, means, rstds, of_x ? dx.data<T>() : nullptr,
                         sums.data(), dots.data());
    else
      backward<T>(g, x, s, w, means, rstds, of_x ? dx : Operand(), sums.data(), dots.data());
  });
  double *weights = totals.data(), *biases = weights + s.channels;
  std::fill_n(totals.data(), 2 * s.channels, 0.0);
  for (int64_t i = 0; i < rows; ++i) {
    weights[i % s.channels] += dots.data()[i] * rstds[i / s.per_group()];
    biases[i % s.channels] += sums.data()[i];
  }
  if (wanted & 2) write_small(weights, dweight);
  if (wanted & 4) write_small(biases, dbias);
}

}  // namespace weft
