#include "tensor/ops/softmax.h"

#include <cmath>

#include "tensor/kernels/cpu/reduce/column_math.h"
#include "tensor/kernels/cpu/reduce/row_groups.h"

namespace weft::kernels::cpu {
namespace {

/// On all rows along `axis`: by_columns(columns of each input..., columns of out) where they are interleaved,
/// by_group(length, group of each input's rows...) where they are short, the result in place of the first, else
/// by_row(each input's row..., lanes of out's row, length).
template <class T, class ByColumns, class ByGroup, class ByRow, class... In>
void map_rows(int64_t axis, const Operand& out, const ByColumns& by_columns, const ByGroup& by_group,
              const ByRow& by_row, const In&... in) {
  using C = Compute<T>;
  const RowView to(out, axis, out);
  const int64_t length = to.length(), count = to.count();
  if (length == 0) return;
  [&](const auto&... views) {
    if ((true && ... && in_columns<T>(to, views)))
      return for_columns<T>(to, [&](int64_t row, auto lanes) {
        using Block = Columns<T, decltype(lanes)>;
        by_columns(Block(views, row, lanes)..., Block(to, row, lanes));
      });
    if (length <= kGroupedRow<C>) {
      const auto run = [&]<int kParts, class Reader, class Writer>(int64_t first, int64_t last) {
        Reader readers[] = {Reader(views, first, last)...};
        Writer writer(to, first, last);
        for (int64_t i = first; i < last; i += kGroupRows) {
          const int64_t held = std::min<int64_t>(kGroupRows, last - i);
          [&]<size_t... k>(std::index_sequence<k...>) __attribute__((always_inline)) {
            RowGroup<C, kParts> groups[] = {(static_cast<void>(in), RowGroup<C, kParts>{})...};
            (groups[k].read(readers[k], held, length), ...);
            by_group(length, groups[k]...);
            groups[0].write(writer, held, length);
          }
          (std::make_index_sequence<sizeof...(In)>());
        }
      };
      return for_group_ranges<T>(count, length, run, to, views...);
    }
    const auto run = [&]<class Reader, class Writer>(int64_t begin, int64_t end) {
      Reader readers[] = {Reader(views, begin, end)...};
      Writer writer(to, begin, end);
      const RowBuffer<T> buffer(length);
      for (int64_t i = begin; i < end; ++i, writer.next()) {
        auto* row = writer.row();
        [&]<size_t... k>(std::index_sequence<k...>) { by_row(readers[k].row()..., buffer.lanes(row), length); }
        (std::make_index_sequence<sizeof...(In)>());
        buffer.write_to(row);
        for (Reader& reader : readers) reader.next();
      }
    };
    for_row_ranges<T>(count, row_grain(length), run, to, views...);
  }(RowView(in, axis, out)...);
}

struct SoftmaxOfColumns {
  template <class T, class Count> void operator()(const Columns<T, Count>& x, const Columns<T, Count>& y) const {
    const auto largest = column_max(x);
    if constexpr (is_half<T>) {  // 16 bits cannot hold an exponential that is to be scaled
      const auto scale = column_exp(x, largest, [](auto...) {}).inverse();
      for (int64_t j = 0; j < y.length; ++j) y.put(j, vmath::exp_below(x.at(j) - largest) * scale);
    } else {
      const auto scale = column_exp(x, largest, [&](int64_t j, auto, auto e) { y.put(j, e); }).inverse();
      for (int64_t j = 0; j < y.length; ++j) y.put(j, y.at(j) * scale);
    }
  }
};

struct LogSoftmaxOfColumns {
  template <class T, class Count> void operator()(const Columns<T, Count>& x, const Columns<T, Count>& y) const {
    const auto largest = column_max(x);
    if constexpr (is_half<T>) {  // the difference would be rounded
      const auto log_sum = column_exp(x, largest, [](auto...) {}).log();
      for (int64_t j = 0; j < y.length; ++j) y.put(j, (x.at(j) - largest) - log_sum);
    } else {
      const auto log_sum =
          column_exp(x, largest, [&](int64_t j, auto difference, auto) { y.put(j, difference); }).log();
      for (int64_t j = 0; j < y.length; ++j) y.put(j, y.at(j) - log_sum);
    }
  }
};

struct SoftmaxBackwardOfColumns {
  template <class T, class Count>
  void operator()(const Columns<T, Count>& g, const Columns<T, Count>& y, const Columns<T, Count>& dx) const {
    ColumnSum<Compute<T>> sum;
    for (int64_t j = 0; j < g.length; ++j) sum.add(g.at(j) * y.at(j));
    const auto dot = sum.rounded();
    for (int64_t j = 0; j < g.length; ++j) dx.put(j, y.at(j) * (g.at(j) - dot));
  }
};

struct LogSoftmaxBackwardOfColumns {
  template <class T, class Count>
  void operator()(const Columns<T, Count>& g, const Columns<T, Count>& y, const Columns<T, Count>& dx) const {
    ColumnSum<Compute<T>> sum;
    for (int64_t j = 0; j < g.length; ++j) sum.add(g.at(j));
    const auto total = sum.rounded();
    for (int64_t j = 0; j < g.length; ++j) dx.put(j, g.at(j) - vmath::exp(y.at(j)) * total);
  }
};

/// x = x - max of each row; exponentials of that, 0 past the ends.
template <class C, int kParts> WEFT_SIMD RowGroup<C, kParts> group_exp(int64_t length, RowGroup<C, kParts>& x) {
  const RowValues<C> largest = group_max(x, length);
  x.each([&](int k, int p) { return x.rows[k][p] - largest[k]; });
  return x.of([&](int k, int p) { return x.kept(vmath::exp_below(x.rows[k][p]), p, length); });
}

struct SoftmaxOfGroup {
  template <class C, int kParts> WEFT_SIMD void operator()(int64_t length, RowGroup<C, kParts>& x) const {
    const auto e = group_exp(length, x);
    const RowValues<C> scale(1.0 / group_sum(e, adds_together<C>(length)));
    x.each([&](int k, int p) { return e.rows[k][p] * scale[k]; });
  }
};

struct LogSoftmaxOfGroup {
  template <class C, int kParts> WEFT_SIMD void operator()(int64_t length, RowGroup<C, kParts>& x) const {
    const auto e = group_exp(length, x);
    const RowValues<C> log_sum(group_log<C>(group_sum(e, adds_together<C>(length))));
    x.each([&](int k, int p) { return x.rows[k][p] - log_sum[k]; });
  }
};

struct SoftmaxBackwardOfGroup {
  template <class C, int kParts>
  WEFT_SIMD void operator()(int64_t length, RowGroup<C, kParts>& g, const RowGroup<C, kParts>& y) const {
    const auto products = g.of([&](int k, int p) { return g.rows[k][p] * y.rows[k][p]; });
    const RowValues<C> dot(group_sum(products, adds_together<C>(length)));
    g.each([&](int k, int p) { return y.rows[k][p] * (g.rows[k][p] - dot[k]); });
  }
};

struct LogSoftmaxBackwardOfGroup {
  template <class C, int kParts>
  WEFT_SIMD void operator()(int64_t length, RowGroup<C, kParts>& g, const RowGroup<C, kParts>& y) const {
    const RowValues<C> total(group_sum(g, adds_together<C>(length)));
    g.each([&](int k, int p) { return g.rows[k][p] - vmath::exp(y.rows[k][p]) * total[k]; });
  }
};

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

/// exp(x - max) / sum(exp(x - max)); NaN where all are -inf or one is +inf.
void op::Softmax::cpu(const Operand& x, const Operand& out) const {
  const auto by_row = []<class T>(const T* in, auto y, int64_t n) {
    using C = Compute<T>;
    const C scale = static_cast<C>(1.0 / row_exp_to(in, n, row_max(in, n), y));
    for_lanes<C>(n, [&](int64_t j, auto count) { put_lanes(y + j, lanes_at(y + j, count) * scale, count); });
  };
  visit_floating(x.dtype, [&]<class T>() { map_rows<T>(axis, out, SoftmaxOfColumns{}, SoftmaxOfGroup{}, by_row, x); });
}

/// (x - max) - log(sum(exp(x - max))): exact for far-apart logits, never above 0.
void op::LogSoftmax::cpu(const Operand& x, const Operand& out) const {
  const auto by_row = []<class T>(const T* in, auto y, int64_t n) {
    using C = Compute<T>;
    // The difference is written while the exponential is worked out, which hides the way to memory.
    const double sum = row_exp(in, n, row_max(in, n), [y](int64_t j, auto difference, auto, auto count) {
      put_lanes(y + j, difference, count);
    });
    const C log_sum = static_cast<C>(std::log(sum));
    for_lanes<C>(n, [&](int64_t j, auto count) { put_lanes(y + j, lanes_at(y + j, count) - log_sum, count); });
  };
  visit_floating(x.dtype,
                 [&]<class T>() { map_rows<T>(axis, out, LogSoftmaxOfColumns{}, LogSoftmaxOfGroup{}, by_row, x); });
}

void op::SoftmaxBackward::cpu(const Operand& g, const Operand& y, const Operand& out) const {
  const auto by_row = []<class T>(const T* grad, const T* prob, auto dx, int64_t n) {
    using C = Compute<T>;
    const C dot = static_cast<C>(row_dot(grad, prob, n));
    for_lanes<C>(n, [&](int64_t j, auto count) {
      put_lanes(dx + j, lanes_at(prob + j, count) * (lanes_at(grad + j, count) - dot), count);
    });
  };
  visit_floating(g.dtype, [&]<class T>() {
    map_rows<T>(axis, out, SoftmaxBackwardOfColumns{}, SoftmaxBackwardOfGroup{}, by_row, g, y);
  });
}

void op::LogSoftmaxBackward::cpu(const Operand& g, const Operand& y, const Operand& out) const {
  const auto by_row = []<class T>(const T* grad, const T* log_prob, auto dx, int64_t n) {
    using C = Compute<T>;
    const C total = static_cast<C>(row_sum(grad, n));
    for_lanes<C>(n, [&](int64_t j, auto count) {
      const auto p = vmath::exp(lanes_at(log_prob + j, count));
      put_lanes(dx + j, lanes_at(grad + j, count) - p * total, count);
    });
  };
  visit_floating(g.dtype, [&]<class T>() {
    map_rows<T>(axis, out, LogSoftmaxBackwardOfColumns{}, LogSoftmaxBackwardOfGroup{}, by_row, g, y);
  });
}

}  // namespace weft
