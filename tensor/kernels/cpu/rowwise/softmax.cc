#include "tensor/ops/softmax.h"

#include <cmath>

#include "tensor/kernels/cpu/reduce/column_math.h"

namespace weft::kernels::cpu {
namespace {

/// Fewer rows than this are not worth a transposition.
constexpr int64_t kFewestNarrow = 4;

/// On all rows along `axis`: by_columns(columns of each input..., columns of out) where they are interleaved or are
/// narrow, else by_row(each input's row..., lanes of out's row, length).
template <class T, class ByColumns, class ByRow, class... In>
void map_rows(int64_t axis, const Operand& out, const ByColumns& by_columns, const ByRow& by_row, const In&... in) {
  const RowView to(out, axis, out);
  const int64_t length = to.length(), count = to.count();
  if (length == 0) return;
  [&](const auto&... views) {
    if ((true && ... && in_columns<T>(to, views)))
      return for_columns<T>(to, [&](int64_t row, auto lanes) {
        using Block = Columns<T, decltype(lanes)>;
        by_columns(Block(views, row, lanes)..., Block(to, row, lanes));
      });
    if (length <= kNarrowRow<Compute<T>> && count >= kFewestNarrow) return for_narrow_rows<T>(to, by_columns, views...);
    const auto run = [&]<class Reader, class Writer>(int64_t begin, int64_t end) {
      Reader readers[] = {Reader(views, begin, end)...};
      Writer writer(to, begin, end);
      const RowRoom<T> room(length);
      for (int64_t i = begin; i < end; ++i, writer.next()) {
        auto* row = writer.row();
        [&]<size_t... k>(std::index_sequence<k...>) { by_row(readers[k].row()..., room.lanes(row), length); }
        (std::make_index_sequence<sizeof...(In)>());
        room.write_to(row);
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
  visit_floating(x.dtype, [&]<class T>() { map_rows<T>(axis, out, SoftmaxOfColumns{}, by_row, x); });
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
  visit_floating(x.dtype, [&]<class T>() { map_rows<T>(axis, out, LogSoftmaxOfColumns{}, by_row, x); });
}

void op::SoftmaxBackward::cpu(const Operand& g, const Operand& y, const Operand& out) const {
  const auto by_row = []<class T>(const T* grad, const T* prob, auto dx, int64_t n) {
    using C = Compute<T>;
    const C dot = static_cast<C>(row_dot(grad, prob, n));
    for_lanes<C>(n, [&](int64_t j, auto count) {
      put_lanes(dx + j, lanes_at(prob + j, count) * (lanes_at(grad + j, count) - dot), count);
    });
  };
  visit_floating(g.dtype, [&]<class T>() { map_rows<T>(axis, out, SoftmaxBackwardOfColumns{}, by_row, g, y); });
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
  visit_floating(g.dtype, [&]<class T>() { map_rows<T>(axis, out, LogSoftmaxBackwardOfColumns{}, by_row, g, y); });
}

}  // namespace weft
