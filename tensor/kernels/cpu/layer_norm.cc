#include "tensor/kernels/cpu/layer_norm.h"

#include <cmath>
#include <optional>

#include "tensor/kernels/cpu/row_math.h"

namespace weft::kernels::cpu {
namespace {

/// An operand of one row (weight, bias) as contiguous values of Compute<T>; `absent` everywhere where it is null.
template <class T>
class OneRow {
 public:
  using C = Compute<T>;
  OneRow(const Operand* x, int64_t length, C absent) : values_(length) {
    if (x == nullptr) {
      std::fill_n(values_.data(), length, absent);
    } else {
      visit_floating(x->dtype, [&]<class U>() {
        const RowView view(*x, 0, x->rank() - 1);
        RowReader<U> reader(view, 0);
        const Compute<U>* row = reader.row();
        for (int64_t j = 0; j < length; ++j) values_.data()[j] = static_cast<C>(row[j]);
      });
    }
  }
  const C* data() const { return values_.data(); }

 private:
  Scratch<C> values_;
};

/// One value per row (mean, rstd) of any floating dtype; writes nothing where it is null.
class RowScalars {
 public:
  RowScalars(const Operand* x, int64_t first_axis) {
    if (x == nullptr) return;
    view_.emplace(*x, first_axis, x->rank() - 1);
    dtype_ = x->dtype;
  }
  double get(int64_t i) const {
    double value = 0;
    visit_floating(dtype_, [&]<class T>() { value = static_cast<double>(static_cast<Compute<T>>(*at<T>(i))); });
    return value;
  }
  void set(int64_t i, double value) const {
    if (view_) visit_floating(dtype_, [&]<class T>() { *at<T>(i) = convert<T>(value); });
  }

 private:
  template <class T>
  T* at(int64_t i) const {
    return static_cast<T*>(view_->base) + view_->offset + NestWalk(view_->outer, i).in();
  }
  std::optional<RowView> view_;
  DType dtype_{};
};

/// x - mean without losing what float(mean) cannot hold.
template <class C>
struct Centre {
  explicit Centre(double mean) : high(static_cast<C>(mean)), low(static_cast<C>(mean - static_cast<double>(high))) {
    if (!(low == low)) low = 0;  // an infinite mean
  }
  simd::Vec<C> operator()(simd::Vec<C> x) const { return (x - high) - low; }
  C high;
  C low;
};

template <class T>
void forward(const Operand& x, int64_t axes, const Operand* weight, const Operand* bias, double eps, const Operand& y,
             const Operand* mean, const Operand* rstd) {
  using C = Compute<T>;
  const int64_t first = x.rank() - axes;
  const RowView in(x, first, x.rank() - 1), to(y, first, x.rank() - 1);
  const int64_t length = in.length();
  const OneRow<T> w(weight, length, C(1)), b(bias, length, C(0));
  const RowScalars means(mean, first), rstds(rstd, first);
  parallel_for(in.count(), row_grain(length), [&](int64_t begin, int64_t end) {
    RowReader<T> reader(in, begin);
    RowWriter<T> writer(to, begin);
    for (int64_t i = begin; i < end; ++i, reader.next(), writer.next()) {
      const C* row = reader.row();
      C* out = writer.row();
      const double m = row_sum(row, length) / static_cast<double>(length);
      const double r = 1.0 / std::sqrt(row_squares(row, length, m) / static_cast<double>(length) + eps);
      means.set(i, m);
      rstds.set(i, r);
      const Centre<C> centred(m);
      const C scale = static_cast<C>(r);
      for_lanes<C>(length, [&](int64_t j, auto count) {
        const auto unit = centred(lanes_at(row + j, count)) * scale;
        put_lanes(out + j, unit * lanes_at(w.data() + j, count) + lanes_at(b.data() + j, count), count);
      });
    }
  });
}

/// dx = rstd * (h - mean(h) - u * mean(h * u)) with h = g * weight, u = (x - mean) * rstd.
template <class C>
void input_gradient(const C* g, const C* x, const C* w, int64_t n, C mean, C rstd, C* dx) {
  detail::WideSum<C> sum, dot;
  for_lanes<C>(n, [&](int64_t j, auto count) {
    const auto h = lanes_at(g + j, count) * lanes_at(w + j, count);
    sum.add(h);
    dot.add(h * ((lanes_at(x + j, count) - mean) * rstd));
  });
  const C a = static_cast<C>(sum.total() / static_cast<double>(n));
  const C b = static_cast<C>(dot.total() / static_cast<double>(n));
  for_lanes<C>(n, [&](int64_t j, auto count) {
    const auto h = lanes_at(g + j, count) * lanes_at(w + j, count);
    const auto u = (lanes_at(x + j, count) - mean) * rstd;
    put_lanes(dx + j, ((h - a) - u * b) * rstd, count);
  });
}

/// sums[0, n) += g * (x - mean) * rstd, sums[n, 2 n) += g.
template <class C>
void add_parameter_gradients(const C* g, const C* x, int64_t n, C mean, C rstd, double* sums) {
  for (int64_t j = 0; j < n; ++j) {
    sums[j] += static_cast<double>(g[j] * ((x[j] - mean) * rstd));
    sums[n + j] += static_cast<double>(g[j]);
  }
}

void write_row(const double* values, int64_t length, const Operand* out) {
  if (out == nullptr) return;
  visit_floating(out->dtype, [&]<class T>() {
    const RowView view(*out, 0, out->rank() - 1);
    RowWriter<T> writer(view, 0);
    Compute<T>* row = writer.row();
    for (int64_t j = 0; j < length; ++j) row[j] = static_cast<Compute<T>>(values[j]);
    writer.next();
  });
}

template <class T>
void backward(const Operand& g, const Operand& x, int64_t axes, const Operand* weight, const Operand& mean,
              const Operand& rstd, const Operand* dx, const Operand* dweight, const Operand* dbias) {
  using C = Compute<T>;
  const int64_t first = x.rank() - axes, last = x.rank() - 1;
  const RowView g_rows(g, first, last), x_rows(x, first, last), to(dx != nullptr ? *dx : x, first, last);
  const int64_t rows = x_rows.count(), length = x_rows.length();
  const OneRow<T> w(weight, length, C(1));
  const RowScalars means(&mean, first), rstds(&rstd, first);
  const bool parameters = dweight != nullptr || dbias != nullptr;
  // Fixed blocks of rows, each with sums of its own, combined in a fixed order.
  const int64_t group = std::max<int64_t>(8, detail::ceil_div(rows, 64)), blocks = detail::ceil_div(rows, group);
  const int64_t width = 2 * length;
  const Scratch<double> sums(parameters ? std::max<int64_t>(blocks, 1) * width : 0);
  if (parameters) std::fill_n(sums.data(), std::max<int64_t>(blocks, 1) * width, 0.0);
  parallel_for(blocks, std::max<int64_t>(1, row_grain(length) / group), [&](int64_t begin, int64_t end) {
    const int64_t from = begin * group, until = std::min(end * group, rows);
    RowReader<T> g_reader(g_rows, from), x_reader(x_rows, from);
    RowWriter<T> writer(to, from);
    for (int64_t i = from; i < until; ++i, g_reader.next(), x_reader.next()) {
      const C* g_row = g_reader.row();
      const C* x_row = x_reader.row();
      const C m = static_cast<C>(means.get(i)), r = static_cast<C>(rstds.get(i));
      if (parameters) add_parameter_gradients(g_row, x_row, length, m, r, sums.data() + i / group * width);
      if (dx == nullptr) continue;
      input_gradient(g_row, x_row, w.data(), length, m, r, writer.row());
      writer.next();
    }
  });
  if (!parameters) return;
  detail::combine_tree<OnePass<SumOp<double>>>(sums.data(), blocks, width);
  write_row(sums.data(), length, dweight);
  write_row(sums.data() + length, length, dbias);
}

}  // namespace

void layer_norm(const Operand& x, int64_t axes, const Operand* weight, const Operand* bias, double eps, const Operand& y,
                const Operand* mean, const Operand* rstd) {
  visit_floating(x.dtype, [&]<class T>() { forward<T>(x, axes, weight, bias, eps, y, mean, rstd); });
}

void layer_norm_backward(const Operand& g, const Operand& x, int64_t axes, const Operand* weight, const Operand& mean,
                         const Operand& rstd, const Operand* dx, const Operand* dweight, const Operand* dbias) {
  visit_floating(x.dtype,
                 [&]<class T>() { backward<T>(g, x, axes, weight, mean, rstd, dx, dweight, dbias); });
}

}  // namespace weft::kernels::cpu
