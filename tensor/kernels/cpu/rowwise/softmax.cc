#include "tensor/ops/softmax.h"

#include <cmath>

#include "tensor/kernels/cpu/reduce/column_math.h"

namespace weft::kernels::cpu {
namespace {

/// f(x row, out row, length) on every row.
template <class T, class F> void map_rows(const Operand& x, int64_t axis, const Operand& out, const F& f) {
  const RowView in(x, axis), to(out, axis);
  const int64_t length = in.length();
  if (length == 0) return;
  parallel_for(in.count(), row_grain(length), [&](int64_t begin, int64_t end) {
    RowReader<T> reader(in, begin, end);
    RowWriter<T> writer(to, begin, end);
    for (int64_t i = begin; i < end; ++i, reader.next(), writer.next()) f(reader.row(), writer.row(), length);
  });
}

/// f(g row, y row, out row, length) on every row.
template <class T, class F>
void map_two_rows(const Operand& g, const Operand& y, int64_t axis, const Operand& out, const F& f) {
  const RowView first(g, axis), second(y, axis), to(out, axis);
  const int64_t length = first.length();
  if (length == 0) return;
  parallel_for(first.count(), row_grain(length), [&](int64_t begin, int64_t end) {
    RowReader<T> g_reader(first, begin, end), y_reader(second, begin, end);
    RowWriter<T> writer(to, begin, end);
    for (int64_t i = begin; i < end; ++i, g_reader.next(), y_reader.next(), writer.next())
      f(g_reader.row(), y_reader.row(), writer.row(), length);
  });
}

/// f(x columns, out columns) on all rows, where they lie side by side; else false.
template <class T, class F> bool map_columns(const Operand& x, int64_t axis, const Operand& out, const F& f) {
  const RowView in(x, axis), to(out, axis);
  if (!in_columns<T>(in, to)) return false;
  for_columns<T>(in, [&](int64_t row, auto count) {
    f(Columns<T, decltype(count)>(in, row, count), Columns<T, decltype(count)>(to, row, count));
  });
  return true;
}

/// f(g columns, y columns, out columns) likewise.
template <class T, class F>
bool map_two_columns(const Operand& g, const Operand& y, int64_t axis, const Operand& out, const F& f) {
  const RowView first(g, axis), second(y, axis), to(out, axis);
  if (!in_columns<T>(first, second) || !in_columns<T>(first, to)) return false;
  for_columns<T>(first, [&](int64_t row, auto count) {
    using Block = Columns<T, decltype(count)>;
    f(Block(first, row, count), Block(second, row, count), Block(to, row, count));
  });
  return true;
}

template <class T> bool softmax_of_columns(const Operand& x, int64_t axis, const Operand& out) {
  return map_columns<T>(x, axis, out, [](const auto& in, const auto& y) {
    const auto scale = column_exp(in, column_max(in), [&](int64_t j, auto, auto e) { y.put(j, e); }).inverse();
    for (int64_t j = 0; j < y.length; ++j) y.put(j, y.at(j) * scale);
  });
}

template <class T> bool log_softmax_of_columns(const Operand& x, int64_t axis, const Operand& out) {
  return map_columns<T>(x, axis, out, [](const auto& in, const auto& y) {
    const auto log_sum =
        column_exp(in, column_max(in), [&](int64_t j, auto difference, auto) { y.put(j, difference); }).log();
    for (int64_t j = 0; j < y.length; ++j) y.put(j, y.at(j) - log_sum);
  });
}

template <class T>
bool softmax_backward_of_columns(const Operand& g, const Operand& y, int64_t axis, const Operand& out) {
  return map_two_columns<T>(g, y, axis, out, [](const auto& grad, const auto& prob, const auto& dx) {
    ColumnSum<T> sum;
    for (int64_t j = 0; j < grad.length; ++j) sum.add(grad.at(j) * prob.at(j));
    const auto dot = sum.rounded();
    for (int64_t j = 0; j < grad.length; ++j) dx.put(j, prob.at(j) * (grad.at(j) - dot));
  });
}

template <class T>
bool log_softmax_backward_of_columns(const Operand& g, const Operand& y, int64_t axis, const Operand& out) {
  return map_two_columns<T>(g, y, axis, out, [](const auto& grad, const auto& log_prob, const auto& dx) {
    ColumnSum<T> sum;
    for (int64_t j = 0; j < grad.length; ++j) sum.add(grad.at(j));
    const auto total = sum.rounded();
    for (int64_t j = 0; j < grad.length; ++j) dx.put(j, grad.at(j) - vmath::exp(log_prob.at(j)) * total);
  });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

/// exp(x - max) / sum(exp(x - max)); NaN where all are -inf or one is +inf.
void op::Softmax::cpu(const Operand& x, const Operand& out) const {
  visit_floating(x.dtype, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>)
      if (softmax_of_columns<T>(x, axis, out)) return;
    using C = Compute<T>;
    map_rows<T>(x, axis, out, [](const C* in, C* y, int64_t n) {
      const C scale = static_cast<C>(1.0 / row_exp(in, n, row_max(in, n), y));
      for_lanes<C>(n, [&](int64_t j, auto count) { put_lanes(y + j, lanes_at(y + j, count) * scale, count); });
    });
  });
}

/// (x - max) - log(sum(exp(x - max))): exact for far-apart logits, never above 0.
void op::LogSoftmax::cpu(const Operand& x, const Operand& out) const {
  visit_floating(x.dtype, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>)
      if (log_softmax_of_columns<T>(x, axis, out)) return;
    using C = Compute<T>;
    map_rows<T>(x, axis, out, [](const C* in, C* y, int64_t n) {
      // The difference is written while the exponential is worked out, which hides the way to memory.
      const double sum = row_exp(in, n, row_max(in, n), [y](int64_t j, auto difference, auto, auto count) {
        put_lanes(y + j, difference, count);
      });
      const C log_sum = static_cast<C>(std::log(sum));
      for_lanes<C>(n, [&](int64_t j, auto count) { put_lanes(y + j, lanes_at(y + j, count) - log_sum, count); });
    });
  });
}

void op::SoftmaxBackward::cpu(const Operand& g, const Operand& y, const Operand& out) const {
  visit_floating(g.dtype, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>)
      if (softmax_backward_of_columns<T>(g, y, axis, out)) return;
    using C = Compute<T>;
    map_two_rows<T>(g, y, axis, out, [](const C* grad, const C* prob, C* dx, int64_t n) {
      const C dot = static_cast<C>(row_dot(grad, prob, n));
      for_lanes<C>(n, [&](int64_t j, auto count) {
        put_lanes(dx + j, lanes_at(prob + j, count) * (lanes_at(grad + j, count) - dot), count);
      });
    });
  });
}

void op::LogSoftmaxBackward::cpu(const Operand& g, const Operand& y, const Operand& out) const {
  visit_floating(g.dtype, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>)
      if (log_softmax_backward_of_columns<T>(g, y, axis, out)) return;
    using C = Compute<T>;
    map_two_rows<T>(g, y, axis, out, [](const C* grad, const C* log_prob, C* dx, int64_t n) {
      const C total = static_cast<C>(row_sum(grad, n));
      for_lanes<C>(n, [&](int64_t j, auto count) {
        const auto p = vmath::exp(lanes_at(log_prob + j, count));
        put_lanes(dx + j, lanes_at(grad + j, count) - p * total, count);
      });
    });
  });
}

}  // namespace weft
