#include "tensor/ops/layer_norm.h"

#include <cmath>
#include <optional>

#include "tensor/kernels/cpu/loops/small_operand.h"
#include "tensor/kernels/cpu/reduce/row_groups.h"

namespace weft::kernels::cpu {
namespace {

/// One value per row (mean, rstd) of any floating dtype; writes nothing where it is undefined.
class RowScalars {
 public:
  RowScalars(const Operand& x, int64_t first_axis) {
    if (!x.defined()) return;
    view_.emplace(x, first_axis, x.rank() - 1);
    dtype_ = x.dtype;
  }
  double get(int64_t i) const {
    double value = 0;
    visit_floating(dtype_, [&]<class T>() { value = static_cast<double>(static_cast<Compute<T>>(*at<T>(i))); });
    return value;
  }
  void set(int64_t i, double value) const {
    if (view_) visit_floating(dtype_, [&]<class T>() { *at<T>(i) = convert<T>(value); });
  }

  /// Of rows from `first` on.
  void get(int64_t first, int64_t count, double* to) const {
    visit_floating(dtype_, [&]<class T>() {
      for (int64_t k = 0; k < count; ++k) to[k] = static_cast<double>(static_cast<Compute<T>>(*at<T>(first + k)));
    });
  }
  void set(int64_t first, int64_t count, const double* from) const {
    if (!view_) return;
    visit_floating(dtype_, [&]<class T>() {
      for (int64_t k = 0; k < count; ++k) *at<T>(first + k) = convert<T>(from[k]);
    });
  }

 private:
  template <class T> T* at(int64_t i) const {
    const Nest& rows = view_->outer;
    const int64_t place = rows.rank == 0 ? 0 : rows.rank == 1 ? i * rows.inner().in : NestWalk(rows, i).in();
    return static_cast<T*>(view_->base) + view_->offset + place;
  }
  std::optional<RowView> view_;
  DType dtype_{};
};

/// forward() of short rows.
template <class T>
void forward_in_groups(const RowView& in, const RowView& to, const SmallOperand<Compute<T>>& w,
                       const SmallOperand<Compute<T>>& b, double eps, bool rms, const RowScalars& means,
                       const RowScalars& rstds) {
  using C = Compute<T>;
  const int64_t length = in.length();
  const auto run = [&]<int kParts, class Reader, class Writer>(int64_t first, int64_t last) {
    using Group = RowGroup<C, kParts>;
    Reader reader(in, first, last);
    Writer writer(to, first, last);
    simd::Vec<C> weight[kParts], bias[kParts];
    Group::load(w.data(), length, weight), Group::load(b.data(), length, bias);
    for (int64_t i = first; i < last; i += kGroupRows) {
      const int64_t held = std::min<int64_t>(kGroupRows, last - i);
      Group rows;
      rows.read(reader, held, length);
      const auto [mean, squares] = group_moments(rows, length, rms);
      const RowDoubles rstd = 1.0 / vmath::square_root(squares / static_cast<double>(length) + eps);
      means.set(i, held, reinterpret_cast<const double*>(&mean));
      rstds.set(i, held, reinterpret_cast<const double*>(&rstd));
      const RowValues<C> scale(rstd);
      if (!rms) {
        const GroupCenter<C> centered(mean);
        rows.each([&](int k, int p) { return centered(k, rows.rows[k][p]); });
      }
      rows.each([&](int k, int p) {
        const auto unit = rows.rows[k][p] * scale[k];
        return unit * weight[p] + bias[p];
      });
      rows.write(writer, held, length);
    }
  };
  for_group_ranges<T>(in.count(), length, run, in, to);
}

template <class T>
void forward(const Operand& x, int64_t axes, const Operand& weight, const Operand& bias, double eps, bool rms,
             const Operand& y, const Operand& mean, const Operand& rstd) {
  using C = Compute<T>;
  const int64_t first = x.rank() - axes;
  const RowView in(x, first, x.rank() - 1), to(y, first, x.rank() - 1);
  const int64_t length = in.length();
  const SmallOperand<C> w(weight, length, C(1)), b(bias, length, C(0));
  const RowScalars means(mean, first), rstds(rstd, first);
  if (length > 0 && length <= kGroupedRow<C>) return forward_in_groups<T>(in, to, w, b, eps, rms, means, rstds);
  const auto run = [&]<class Reader, class Writer>(int64_t begin, int64_t end) {
    Reader reader(in, begin, end);
    Writer writer(to, begin, end);
    const RowBuffer<T> buffer(length);
    for (int64_t i = begin; i < end; ++i, reader.next(), writer.next()) {
      const auto* row = reader.row();
      auto* to_row = writer.row();
      const auto out = buffer.lanes(to_row);
      const double m = rms ? 0.0 : row_sum(row, length) / static_cast<double>(length);
      const double r = 1.0 / std::sqrt(row_squares(row, length, m) / static_cast<double>(length) + eps);
      means.set(i, m);
      rstds.set(i, r);
      const Center<C> centered(m);
      const C scale = static_cast<C>(r);
      for_lanes<C>(length, [&](int64_t j, auto count) {
        const auto unit = centered(lanes_at(row + j, count)) * scale;
        put_lanes(out + j, unit * lanes_at(w.data() + j, count) + lanes_at(b.data() + j, count), count);
      });
      buffer.write_to(to_row);
    }
  };
  for_row_ranges<T>(in.count(), row_grain(length), run, in, to);
}

/// Sums of the parameters' gradients over a block of rows: 8 rows are added in C, their sums in double.
template <class C> class ParameterSums {
 public:
  /// sums[0, n) is for weight, sums[n, 2 n) for bias.
  ParameterSums(int64_t n, double* sums) : n_(n), sums_(sums), stage_(2 * n) { clear(); }
  ~ParameterSums() { flush(); }
  WEFT_SIMD void add(int64_t j, simd::Vec<C> weight, simd::Vec<C> bias, auto count) const {
    C* dw = stage_.data() + j;
    C* db = dw + n_;
    put_lanes(dw, lanes_at(dw, count) + weight, count);
    put_lanes(db, lanes_at(db, count) + bias, count);
  }
  void end_row() {
    if (++rows_ == 8) flush();
  }

 private:
  void clear() {
    std::fill_n(stage_.data(), 2 * n_, C(0));
    rows_ = 0;
  }
  void flush() {
    for (int64_t j = 0; j < 2 * n_; ++j) sums_[j] += static_cast<double>(stage_.data()[j]);
    clear();
  }
  int64_t n_;
  double* sums_;
  Scratch<C> stage_;
  int rows_ = 0;
};

/// One row: dx = rstd * (h - mean(h) - u * mean(h * u)) with h = g * weight, u = (x - mean) * rstd, and what it adds
/// to the parameters' gradients, g * u and g. Either is left out where its pointer is null. Without mean(h) with `rms`.
template <class T, class C, class Lanes>
void row_gradient(const T* g, const T* x, const C* w, int64_t n, C mean, C rstd, bool rms, const Lanes* dx,
                  ParameterSums<C>* parameters) {
  detail::WideSum<C> sum, dot;
  const auto first_pass = [&](auto with_parameters) {
    for_lanes<C>(
        n, [&](int64_t j, auto count) __attribute__((always_inline)) {
          simd::prefetch(g + n + j, 0), simd::prefetch(x + n + j, 0);  // the next row, while this one is worked on
          const auto grad = lanes_at(g + j, count), weight = lanes_at(w + j, count);
          auto scaled = grad * ((lanes_at(x + j, count) - mean) * rstd);
          if (count < simd::kLanes<C>)  // past the end mean * rstd may be infinite: 0 times that is NaN
            scaled = simd::first_lanes<C>(scaled, simd::Vec<C>{}, count);
          if constexpr (with_parameters) parameters->add(j, scaled, grad, count);
          sum.add(grad * weight);
          dot.add(scaled * weight);
        });
  };
  if (parameters != nullptr) {
    first_pass(std::true_type{});
    parameters->end_row();
  } else {
    first_pass(std::false_type{});
  }
  if (dx == nullptr) return;
  const C a = rms ? C(0) : static_cast<C>(sum.total() / static_cast<double>(n));
  const C b = static_cast<C>(dot.total() / static_cast<double>(n));
  for_lanes<C>(n, [&](int64_t j, auto count) {
    const auto h = lanes_at(g + j, count) * lanes_at(w + j, count);
    const auto u = (lanes_at(x + j, count) - mean) * rstd;
    put_lanes(*dx + j, ((h - a) - u * b) * rstd, count);
  });
}

/// Sums of the parameters' gradients over a block of short rows, as ParameterSums: 8 rows are added in C.
template <class C, int kParts> class GroupSums {
 public:
  WEFT_SIMD void add(const RowGroup<C, kParts>& weight, const RowGroup<C, kParts>& bias) {
#pragma GCC unroll 8
    for (int k = 0; k < kGroupRows; ++k)
      for (int p = 0; p < kParts; ++p) stage_[0][p] += weight.rows[k][p], stage_[1][p] += bias.rows[k][p];
    rows_ += kGroupRows;
    if (rows_ % 8 == 0) flush();
  }
  /// sums[0, n) is for weight, sums[n, 2 n) for bias.
  void put(int64_t n, double* sums) {
    flush();
    for (int64_t j = 0; j < n; ++j) sums[j] = sums_[0][j], sums[n + j] = sums_[1][j];
  }

 private:
  static constexpr int kWidth = simd::kLanes<C>;
  WEFT_SIMD void flush() {
    for (int of = 0; of < 2; ++of)
      for (int p = 0; p < kParts; ++p) {
        RowDoubles parts[kWidth / kGroupRows];
        load_registers<double>(parts, sums_[of] + p * kWidth);
        detail::accumulate<SumOp<C>>(parts, stage_[of][p]);
        store_registers<double>(sums_[of] + p * kWidth, parts);
        stage_[of][p] = simd::Vec<C>{};
      }
  }
  simd::Vec<C> stage_[2][kParts] = {};
  double sums_[2][kParts * kWidth] = {};
  int rows_ = 0;
};

/// What backward reads and writes, row by row.
template <class T> struct Backward {
  RowView g, x, dx;
  SmallOperand<Compute<T>> weight;
  RowScalars mean, rstd;
  bool rms;
  bool of_x;  // whether dx is wanted
  // Blocks of `group` rows have sums of their own for the parameters' gradients, combined in a fixed order: from
  // sums_of(block) on, of weight, then of bias. Null where neither is wanted.
  int64_t group;
  double* sums;

  int64_t rows() const { return x.count(); }
  int64_t length() const { return x.length(); }
  int64_t blocks() const { return ceil_div(rows(), group); }
  double* sums_of(int64_t block) const { return sums == nullptr ? nullptr : sums + block * 2 * length(); }
};

template <class T> void backward_of_short_rows(const Backward<T>& a) {
  using C = Compute<T>;
  const int64_t length = a.length();
  const double count = static_cast<double>(length);
  const auto run = [&]<int kParts, class Reader, class Writer>(int64_t from, int64_t until) {
    using Group = RowGroup<C, kParts>;
    Reader g_reader(a.g, from, until), x_reader(a.x, from, until);
    Writer writer(a.dx, from, until);
    simd::Vec<C> weight[kParts];
    Group::load(a.weight.data(), length, weight);
    GroupSums<C, kParts> parameters;
    for (int64_t i = from; i < until; i += kGroupRows) {
      const int64_t held = std::min<int64_t>(kGroupRows, until - i);
      double means[kGroupRows] = {}, rstds[kGroupRows] = {};
      if (!a.rms) a.mean.get(i, held, means);
      a.rstd.get(i, held, rstds);
      const RowValues<C> mean(simd::load<double>(means)), rstd(simd::load<double>(rstds));
      Group grad, unit;
      grad.read(g_reader, held, length), unit.read(x_reader, held, length);
      // Past the end mean * rstd may be infinite: 0 times that is NaN.
      unit.each([&](int k, int p) { return unit.kept((unit.rows[k][p] - mean[k]) * rstd[k], p, length); });
      const auto scaled = Group::of([&](int k, int p) { return grad.rows[k][p] * unit.rows[k][p]; });
      if (a.sums != nullptr) parameters.add(scaled, grad);
      if (!a.of_x) continue;
      const auto h = Group::of([&](int k, int p) { return grad.rows[k][p] * weight[p]; });
      const auto dots = Group::of([&](int k, int p) { return scaled.rows[k][p] * weight[p]; });
      const RowValues<C> level(a.rms ? RowDoubles{} : group_sum(h, true) / count), slope(group_sum(dots, true) / count);
      grad.each([&](int k, int p) { return ((h.rows[k][p] - level[k]) - unit.rows[k][p] * slope[k]) * rstd[k]; });
      grad.write(writer, held, length);
    }
    if (a.sums != nullptr) parameters.put(length, a.sums_of(from / a.group));
  };
  for_group_blocks<T>(a.rows(), a.group, length, run, a.g, a.x, a.dx);
}

template <class T> void backward_of_long_rows(const Backward<T>& a) {
  using C = Compute<T>;
  const auto run = [&]<class Reader, class Writer>(int64_t begin, int64_t end) {
    const RowBuffer<T> buffer(a.length());
    for (int64_t block = begin; block < end; ++block) {
      const int64_t from = block * a.group, until = std::min(from + a.group, a.rows());
      Reader g_reader(a.g, from, until), x_reader(a.x, from, until);
      Writer writer(a.dx, from, until);
      std::optional<ParameterSums<C>> parameters;
      if (a.sums != nullptr) parameters.emplace(a.length(), a.sums_of(block));
      for (int64_t i = from; i < until; ++i, g_reader.next(), x_reader.next()) {
        const auto* g_row = g_reader.row();
        const auto* x_row = x_reader.row();
        auto* dx_row = a.of_x ? writer.row() : nullptr;
        const auto lanes = buffer.lanes(dx_row);
        row_gradient(g_row, x_row, a.weight.data(), a.length(), static_cast<C>(a.mean.get(i)),
                     static_cast<C>(a.rstd.get(i)), a.rms, a.of_x ? &lanes : nullptr,
                     parameters ? &*parameters : nullptr);
        if (!a.of_x) continue;
        buffer.write_to(dx_row);
        writer.next();
      }
    }
  };
  for_row_ranges<T>(a.blocks(), std::max<int64_t>(1, row_grain(a.length()) / a.group), run, a.g, a.x, a.dx);
}

/// The gradients of x, weight and bias; of those that are defined.
template <class T>
void backward(const op::LayerNormBackward& op, const Operand& g, const Operand& x, const Operand& weight,
              const Operand& mean, const Operand& rstd, const Operand& dx, const Operand& dweight,
              const Operand& dbias) {
  using C = Compute<T>;
  const int64_t first = x.rank() - op.axes, last = x.rank() - 1;
  const RowView x_rows(x, first, last);
  const int64_t rows = x_rows.count(), length = x_rows.length(), group = std::max<int64_t>(8, ceil_div(rows, 64));
  const bool of_parameters = dweight.defined() || dbias.defined();
  const int64_t sum_count = of_parameters ? std::max<int64_t>(1, ceil_div(rows, group)) * 2 * length : 0;
  const Scratch<double> sums(sum_count);
  std::fill_n(sums.data(), sum_count, 0.0);
  const Backward<T> a{.g = RowView(g, first, last),
                      .x = x_rows,
                      .dx = RowView(dx.defined() ? dx : x, first, last),
                      .weight = SmallOperand<C>(weight, length, C(1)),
                      .mean = RowScalars(mean, first),
                      .rstd = RowScalars(rstd, first),
                      .rms = op.rms,
                      .of_x = dx.defined(),
                      .group = group,
                      .sums = of_parameters ? sums.data() : nullptr};
  if (length > 0 && length <= kGroupedRow<C>)
    backward_of_short_rows(a);
  else
    backward_of_long_rows(a);
  if (!of_parameters) return;
  combine_tree<OnePass<SumOp<double>>>(sums.data(), a.blocks(), 2 * length);
  if (dweight.defined()) write_small(sums.data(), dweight);
  if (dbias.defined()) write_small(sums.data() + length, dbias);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::LayerNorm::cpu(const Operand& x, const Operand& weight, const Operand& bias, const Operand& y,
                        const Operand& mean, const Operand& rstd) const {
  visit_floating(x.dtype, [&]<class T>() { forward<T>(x, axes, weight, bias, eps, rms, y, mean, rstd); });
}

void op::LayerNormBackward::cpu(const Operand& g, const Operand& x, const Operand& weight, const Operand& mean,
                                const Operand& rstd, const Operand& dx, const Operand& dweight,
                                const Operand& dbias) const {
  visit_floating(x.dtype, [&]<class T>() {
    const Operand none;
    backward<T>(*this, g, x, weight, mean, rstd, wanted & 1 ? dx : none, wanted & 2 ? dweight : none,
                wanted & 4 ? dbias : none);
  });
}

}  // namespace weft
