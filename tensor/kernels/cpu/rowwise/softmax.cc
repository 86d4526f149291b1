#include "tensor/ops/softmax.h"

#include <cmath>

#include "tensor/kernels/cpu/reduce/row_math.h"

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

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

/// exp(x - max) / sum(exp(x - max)); NaN where all are -inf or one is +inf.
void op::Softmax::cpu(const Operand& x, const Operand& out) const {
  visit_floating(x.dtype, [&]<class T>() {
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
