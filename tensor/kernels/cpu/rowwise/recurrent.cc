// A recurrent layer over all its time steps. A row of the batch does not need the others: threads share the rows and
// run all steps of theirs, with the weight packed once for all (but for one step of few rows, as of a cell). A step is
// one product of the states and a pass over the gates. Backward leaves the weight's gradient to one product over all
// steps. Halves are widened a row at a time, and states stay in f32; where the CPU multiplies bf16 faster, they are
// rounded for the product alone.
//
// Known limit: a batch of few rows uses as many threads.
#include "tensor/ops/recurrent.h"

#include <optional>

#include "tensor/kernels/cpu/base/force_loops.h"
#include "tensor/kernels/cpu/gemm/few_columns.h"
#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/kernels/cpu/gemm/packed_matrix.h"
#include "tensor/kernels/cpu/index/index_list.h"
#include "tensor/kernels/cpu/rowwise/dense_operand.h"
#include "tensor/kernels/cpu/rowwise/recurrent_cells.h"

namespace weft::kernels::cpu {
namespace {

/// The sizes and the order of steps.
struct Steps {
  Recurrence kind;
  bool reverse;
  int64_t rows, length, hidden;
  const int64_t* lengths;  // null: all steps count

  int64_t width() const { return gates_of(kind) * hidden; }
  int64_t kept() const { return op::kept_gates(kind) * hidden; }
  bool has_cell() const { return kind == Recurrence::lstm; }
  int64_t at(int64_t step) const { return reverse ? length - 1 - step : step; }
  bool counts(int64_t row, int64_t t) const { return lengths == nullptr || t < lengths[row]; }
  /// Rows that a thread should at least get.
  int64_t grain() const { return std::max<int64_t>(1, 32768 / std::max<int64_t>(1, length * width())); }
};

std::optional<IndexList> checked_lengths(const Operand& lengths, int64_t steps) {
  if (!lengths.defined()) return std::nullopt;
  return std::optional<IndexList>(std::in_place, lengths, [&](const int64_t* list, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      if (list[i] < 0 || list[i] > steps)
        throw IndexError(text("length ", list[i], " is out of range for ", steps, " steps"));
  });
}

/// The first values of a state, which is computed in f32 and more whatever its dtype.
template <class T> void load_or_zero(const T* from, int64_t count, Compute<T>* to) {
  if (from == nullptr)
    std::fill_n(to, count, Compute<T>(0));
  else
    copy_run(from, to, count);
}

/// `all` from element `i` on, or null.
template <class T> T* from_element(T* all, int64_t i) { return all == nullptr ? nullptr : all + i; }

template <class T> struct ForwardArrays {
  const T* projected;
  const Compute<T>* bias;
  const T *h0, *c0;
  T *y, *h, *c, *gates, *cells;  // gates and cells are null where they are not kept
};

template <class C> void step_of(const Steps& s, const CellStep<C>& cell) {
  switch (s.kind) {
    case Recurrence::rnn_tanh: return rnn_step(cell, false);
    case Recurrence::rnn_relu: return rnn_step(cell, true);
    case Recurrence::lstm: return lstm_step(cell);
    case Recurrence::gru: return gru_step(cell);
  }
}

/// All steps of rows [begin, end).
template <class T, class Weight>
void forward_rows(const Steps& s, const ForwardArrays<T>& a, const Weight& weight, int64_t begin, int64_t end) {
  using C = Compute<T>;
  const int64_t rows = end - begin, hidden = s.hidden, width = s.width(), kept = s.kept();
  const int64_t states = rows * hidden, cells = s.has_cell() ? states : 0, part = weight.columns_written();
  const Scratch<C> states_part(weight.rows_written(rows) * part), unkept(kept), h(states), c(cells);
  const WideRow<T> inputs_part(width);
  load_or_zero(from_element(a.h0, begin * hidden), states, h.data());
  load_or_zero(from_element(a.c0, begin * hidden), cells, c.data());
  for (int64_t step = 0; step < s.length; ++step) {
    const int64_t t = s.at(step);
    weight.left_multiply(h.data(), hidden, rows, states_part.data(), part);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t place = (begin + r) * s.length + t;
      C *row = h.data() + r * hidden, *cell = s.has_cell() ? c.data() + r * hidden : nullptr;
      T *kept_row = from_element(a.gates, place * kept), *cell_row = from_element(a.cells, place * hidden);
      if (!s.counts(begin + r, t)) {
        std::fill_n(a.y + place * hidden, hidden, T{});
        if (kept_row != nullptr) std::fill_n(kept_row, kept, T{});
        if (cell_row != nullptr) std::fill_n(cell_row, hidden, T{});
        continue;
      }
      C* gates = place_for(kept_row, unkept.data());
      step_of<C>(s, {hidden, inputs_part(a.projected + place * width), states_part.data() + r * part, a.bias, gates,
                     row, cell});
      put(gates, kept, kept_row);
      put(row, hidden, a.y + place * hidden);
      put(cell, hidden, cell_row);
    }
  }
  put(h.data(), states, a.h + begin * hidden);
  if (s.has_cell()) put(c.data(), cells, a.c + begin * hidden);
}

template <class T> struct BackwardArrays {
  const T *gy, *gh, *gc, *h0, *c0, *y, *gates, *cells;
  // The states' part of a gate has the gradient of the other part, but for a GRU's new gate: (N, L, H), as h_before.
  T *dprojected, *dnew, *h_before, *dh, *dc;
  const T* zeros;  // (H)
};

template <class C> void gradient_of(const Steps& s, const CellGradient<C>& cell) {
  switch (s.kind) {
    case Recurrence::rnn_tanh: return rnn_gradient(cell, false);
    case Recurrence::rnn_relu: return rnn_gradient(cell, true);
    case Recurrence::lstm: return lstm_gradient(cell);
    case Recurrence::gru: return gru_gradient(cell);
  }
}

template <class C> void add_to(const C* from, int64_t count, C* to) {
  for (int64_t i = 0; i < count; ++i) to[i] += from[i];
}

/// All steps of rows [begin, end), from the last to the first.
template <class T, class Weight> class BackwardRows {
  using C = Compute<T>;

 public:
  BackwardRows(const Steps& steps, const BackwardArrays<T>& arrays, const Weight& weight, int64_t begin, int64_t end)
      : s_(steps),
        a_(arrays),
        weight_(weight),
        begin_(begin),
        rows_(end - begin),
        states_(rows_ * s_.hidden),
        cell_states_(s_.has_cell() ? states_ : 0),
        one_part_(arrays.dnew == nullptr),
        in_rows_(is_half<T> || !one_part_),
        through_weight_(weight.rows_written(rows_) * weight.columns_written()),
        dh_(states_),
        dcells_(cell_states_),
        dq_rows_(in_rows_ ? rows_ * s_.width() : 0),
        dp_row_(is_half<T> ? s_.width() : 0),
        gates_row_(s_.kept()),
        y_row_(s_.hidden),
        before_row_(s_.hidden),
        gy_row_(s_.hidden),
        cell_row_(s_.hidden),
        cell_before_row_(s_.hidden) {}

  void run() const {
    load_or_zero(from_element(a_.gh, begin_ * s_.hidden), states_, dh_.data());
    load_or_zero(from_element(a_.gc, begin_ * s_.hidden), cell_states_, dcells_.data());
    for (int64_t step = s_.length - 1; step >= 0; --step) {
      const int64_t t = s_.at(step);
      for (int64_t r = 0; r < rows_; ++r) s_.counts(begin_ + r, t) ? gates(r, t) : skip(r, t);
      if (step > 0 || a_.dh != nullptr) states(t);
    }
    if (a_.dh != nullptr) put(dh_.data(), states_, a_.dh + begin_ * s_.hidden);
    if (a_.dc != nullptr) put(dcells_.data(), cell_states_, a_.dc + begin_ * s_.hidden);
  }

 private:
  int64_t place(int64_t r, int64_t t) const { return (begin_ + r) * s_.length + t; }
  T* dp_of(int64_t r, int64_t t) const { return a_.dprojected + place(r, t) * s_.width(); }
  T* dnew_of(int64_t r, int64_t t) const { return one_part_ ? nullptr : a_.dnew + place(r, t) * s_.hidden; }
  T* before_of(int64_t r, int64_t t) const { return a_.h_before + place(r, t) * s_.hidden; }
  /// Where the gradients of the states' part of a row's gates are computed.
  C* dq_of(int64_t r, int64_t t) const {
    return place_for(one_part_ ? dp_of(r, t) : nullptr, dq_rows_.data() + (in_rows_ ? r * s_.width() : 0));
  }

  /// A step that the row does not have.
  void skip(int64_t r, int64_t t) const {
    std::fill_n(dq_of(r, t), s_.width(), C(0));
    std::fill_n(dp_of(r, t), s_.width(), T{});
    if (!one_part_) std::fill_n(dnew_of(r, t), s_.hidden, T{});
    std::fill_n(before_of(r, t), s_.hidden, T{});
  }

  /// The row's values of `all` before step t, or those that it starts with.
  const T* state_before(int64_t r, int64_t t, const T* all, const T* start) const {
    const int64_t before = s_.reverse ? t + 1 : t - 1;
    if (before >= 0 && before < s_.length && s_.counts(begin_ + r, before)) return all + place(r, before) * s_.hidden;
    return start == nullptr ? a_.zeros : start + (begin_ + r) * s_.hidden;
  }

  /// The gradients of a row's gates at step t.
  void gates(int64_t r, int64_t t) const {
    const int64_t hidden = s_.hidden, width = s_.width(), kept = s_.kept(), at = place(r, t);
    const bool cell = s_.has_cell();
    std::copy_n(state_before(r, t, a_.y, a_.h0), hidden, before_of(r, t));
    C* dh = dh_.data() + r * hidden;
    if (a_.gy != nullptr) add_to(gy_row_(a_.gy + at * hidden), hidden, dh);
    C* dq = dq_of(r, t);
    C* dp = one_part_ ? dq : place_for(dp_of(r, t), dp_row_.data());
    gradient_of<C>(
        s_, {hidden, gates_row_(from_element(a_.gates, at * kept)), kept == 0 ? y_row_(a_.y + at * hidden) : nullptr,
             cell ? nullptr : before_row_(before_of(r, t)), cell ? cell_row_(a_.cells + at * hidden) : nullptr,
             cell ? cell_before_row_(state_before(r, t, a_.cells, a_.c0)) : nullptr, dh,
             cell ? dcells_.data() + r * hidden : nullptr, dp, dq});
    put(dp, width, dp_of(r, t));
    if (!one_part_) put(dq + width - hidden, hidden, dnew_of(r, t));
  }

  /// What the gates of step t give the states before it.
  void states(int64_t t) const {
    const int64_t through = weight_.columns_written();
    weight_.left_multiply(dq_of(0, t), in_rows_ ? s_.width() : s_.length * s_.width(), rows_, through_weight_.data(),
                          through);
    for (int64_t r = 0; r < rows_; ++r)  // not where nothing came through: 0 times an infinite weight is NaN
      if (s_.counts(begin_ + r, t)) add_to(through_weight_.data() + r * through, s_.hidden, dh_.data() + r * s_.hidden);
  }

  const Steps& s_;
  const BackwardArrays<T>& a_;
  const Weight& weight_;
  const int64_t begin_, rows_, states_, cell_states_;
  // Whether the states' part of all gates has the gradients of the other part; and whether the former lie in dq_rows_,
  // those of all rows in one step, instead of dprojected.
  const bool one_part_, in_rows_;
  const Scratch<C> through_weight_, dh_, dcells_, dq_rows_, dp_row_;
  const WideRow<T> gates_row_, y_row_, before_row_, gy_row_, cell_row_, cell_before_row_;
};

/// The sums of the columns of x (rows, columns), rows `stride` apart: 64 rows are added in Compute<T>, their sums in
/// double.
template <class T> void column_sums(const T* x, int64_t rows, int64_t columns, int64_t stride, T* out) {
  using C = Compute<T>;
  const Scratch<double> total(columns);
  const Scratch<C> stage(columns);
  const WideRow<T> row(columns);
  std::fill_n(total.data(), columns, 0.0);
  for (int64_t from = 0; from < rows; from += 64) {
    std::fill_n(stage.data(), columns, C(0));
    for (int64_t i = from; i < std::min(from + 64, rows); ++i) add_to(row(x + i * stride), columns, stage.data());
    for (int64_t j = 0; j < columns; ++j) total.data()[j] += static_cast<double>(stage.data()[j]);
  }
  for (int64_t j = 0; j < columns; ++j) out[j] = static_cast<T>(static_cast<C>(total.data()[j]));
}

/// f of b (K, N), packed for products with many left sides: bf16 as it is where the CPU multiplies it faster than f32
/// and tiles are not mostly padding.
template <class T> void with_packed(const Matrix<const T>& b, const auto& f) {
  using C = Compute<T>;
  if constexpr (std::is_same_v<T, BFloat16>)
    if (std::min(b.rows, b.columns) >= amx::kMultiple && Bf16Products::are_fast() && !loops_forced())
      return f(PackedHalves(b));
  if constexpr (is_half<T>) {
    const Scratch<C> wide(checked_multiply(b.rows, b.columns));
    const Matrix<C> as_it_lies{wide.data(), b.rows, b.columns, b.row_stride, b.column_stride};
    copy_matrix<T, C>(b, as_it_lies);
    f(PackedMatrix<C>(as_it_lies));
  } else {
    f(PackedMatrix<C>(b));
  }
}

/// The product of a thread's states by the weight, as it was computed for all threads: in place of a PackedMatrix.
template <class T> struct OneProduct {
  const T* rows;
  int64_t columns;
  int64_t rows_written(int64_t count) const { return count; }
  int64_t columns_written() const { return columns; }
  void left_multiply(const T*, int64_t, int64_t count, T* c, int64_t) const { std::copy_n(rows, count * columns, c); }
};

/// A single step of few rows: packing the weight (G H, H) would take as long as the product of ten rows. False where it
/// is no such step: nothing was done.
template <class T> bool forward_one_step(const Steps& s, const ForwardArrays<T>& a, const Matrix<const T>& weight) {
  auto states = row_major(a.h0, s.rows, s.hidden).transposed();
  if (s.length != 1 || (s.rows > 1 && !is_few_columns<T>(weight, states))) return false;
  const Scratch<T> zeros(a.h0 == nullptr ? s.rows * s.hidden : 0);
  if (a.h0 == nullptr) {
    std::fill_n(zeros.data(), s.rows * s.hidden, T(0));
    states.data = zeros.data();
  }
  const Scratch<T> product(s.rows * s.width());
  few_columns_product<T, T>(weight, states, row_major(product.data(), s.rows, s.width()).transposed(), false);
  parallel_for(s.rows, s.grain(), [&](int64_t begin, int64_t end) {
    forward_rows<T>(s, a, OneProduct<T>{product.data() + begin * s.width(), s.width()}, begin, end);
  });
  return true;
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Recurrent::cpu(const Operand& projected, const Operand& weight, const Operand& bias, const Operand& h0,
                        const Operand& c0, const Operand& lengths, const Operand& y, const Operand& h, const Operand& c,
                        const Operand& gates, const Operand& cells) const {
  const auto counts = checked_lengths(lengths, projected.size(1));
  const Steps s{kind, reverse, h.size(0), projected.size(1), h.size(1), counts ? counts->data() : nullptr};
  if (h.numel() == 0) return;
  visit_floating(projected.dtype, [&]<class T>() {
    using C = Compute<T>;
    const DenseInput<T> p(projected), w(weight), h_first(h0), c_first(c0);
    const Whole<T> b(bias);
    const DenseOutput<T> y_out(y), h_out(h), c_out(c), gates_out(gates), cells_out(cells);
    const Scratch<C> no_bias(b.data() == nullptr ? s.width() : 0);
    if (b.data() == nullptr) std::fill_n(no_bias.data(), s.width(), C(0));
    const ForwardArrays<T> arrays{p.data(),        b.data() == nullptr ? no_bias.data() : b.data(),
                                  h_first.data(),  c_first.data(),
                                  y_out.data(),    h_out.data(),
                                  c_out.data(),    gates_out.data(),
                                  cells_out.data()};
    const Matrix<const T> rows = row_major(w.data(), s.width(), s.hidden);
    if constexpr (std::is_same_v<C, T>)
      if (forward_one_step<T>(s, arrays, rows)) return;
    with_packed(rows.transposed(), [&](const auto& packed) {
      parallel_for(s.rows, s.grain(),
                   [&](int64_t begin, int64_t end) { forward_rows<T>(s, arrays, packed, begin, end); });
    });
  });
}

void op::RecurrentBackward::cpu(const Operand& gy, const Operand& gh, const Operand& gc, const Operand& projected,
                                const Operand& weight, const Operand&, const Operand& h0, const Operand& c0,
                                const Operand& lengths, const Operand& y, const Operand& gates, const Operand& cells,
                                const Operand& dprojected, const Operand& dweight, const Operand& dbias,
                                const Operand& dh0, const Operand& dc0) const {
  const auto counts = checked_lengths(lengths, y.size(1));
  const Steps s{kind, reverse, y.size(0), y.size(1), y.size(2), counts ? counts->data() : nullptr};
  visit_floating(projected.dtype, [&]<class T>() {
    const DenseOutput<T> dp(dprojected, wanted & 1), dw(dweight, wanted & 2), db(dbias, wanted & 4),
        dh(dh0, wanted & 8), dc(dc0, wanted & 16);
    const int64_t steps = s.rows * s.length, states = s.rows * s.hidden;
    if (states > 0) {
      const DenseInput<T> gy_in(gy), gh_in(gh), gc_in(gc), w(weight), h_first(h0), c_first(c0), y_in(y),
          gates_in(gates), cells_in(cells);
      const OrScratch<T> dp_all(dp.data(), steps * s.width());
      const Scratch<T> h_before(steps * s.hidden), zeros(s.hidden);
      // Only a GRU's reset gate lies between the two parts of a gate, the new one.
      const bool gru = s.kind == Recurrence::gru;
      const Scratch<T> dnew(gru ? steps * s.hidden : 0);
      std::fill_n(zeros.data(), s.hidden, T{});
      const BackwardArrays<T> arrays{
          gy_in.data(),    gh_in.data(),    gc_in.data(),    h_first.data(), c_first.data(),
          y_in.data(),     gates_in.data(), cells_in.data(), dp_all.data(),  gru ? dnew.data() : nullptr,
          h_before.data(), dh.data(),       dc.data(),       zeros.data()};
      with_packed(Matrix<const T>(row_major(w.data(), s.width(), s.hidden)), [&](const auto& packed) {
        parallel_for(s.rows, s.grain(),
                     [&](int64_t begin, int64_t end) { BackwardRows(s, arrays, packed, begin, end).run(); });
      });
      // From the gradients of `count` columns of the states' part, rows `stride` apart.
      const auto sum_up = [&](const T* d, int64_t stride, int64_t first, int64_t count) {
        if (dw.data() != nullptr)
          gemm<T>(Matrix<const T>{d, count, steps, 1, stride}, row_major(h_before.data(), steps, s.hidden),
                  row_major(dw.data() + first * s.hidden, count, s.hidden));
        if (db.data() != nullptr) column_sums<T>(d, steps, count, stride, db.data() + first);
      };
      const int64_t shared = gru ? s.width() - s.hidden : s.width();
      sum_up(dp_all.data(), s.width(), 0, shared);
      if (gru) sum_up(dnew.data(), s.hidden, shared, s.hidden);
    } else {
      if (dw.data() != nullptr) std::fill_n(dw.data(), s.width() * s.hidden, T{});
      if (db.data() != nullptr) std::fill_n(db.data(), s.width(), T{});
    }
  });
}

}  // namespace weft
