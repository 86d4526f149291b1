// A recurrent layer over all its time steps. A row of the batch does not need the others: threads share the rows and
// run all steps of theirs, with the weight packed once for all. A step is one product of the states and a pass over the
// gates. Backward leaves the weight's gradient to one product over all steps. Halves are widened a row at a time, and
// states stay in f32; where the CPU multiplies bf16 faster, they are rounded for the product alone.
//
// Known limit: a batch of few rows uses as many threads.
#include "tensor/ops/recurrent.h"

#include <optional>

#include "tensor/kernels/cpu/base/force_loops.h"
#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/kernels/cpu/gemm/packed_matrix.h"
#include "tensor/kernels/cpu/index/index_list.h"
#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/kernels/cpu/rowwise/recurrent_cells.h"

namespace weft::kernels::cpu {
namespace {

/// An input as contiguous values of Compute<T>; null where it is undefined.
template <class T> class Whole {
 public:
  explicit Whole(const Operand& x) {
    if (!x.defined() || x.numel() == 0) return;
    view_.emplace(x, 0, x.rank() - 1);
    reader_.emplace(*view_, 0, 1);
    data_ = reader_->row();
  }
  const Compute<T>* data() const { return data_; }

 private:
  std::optional<RowView> view_;
  std::optional<RowReader<T>> reader_;
  const Compute<T>* data_ = nullptr;
};

/// An operand as contiguous values of its dtype, copied if it is not contiguous; null where it is undefined or empty.
template <class T> class Dense {
 public:
  explicit Dense(const Operand& x, bool wanted = true) : x_(x) {
    if (!wanted || !x.defined() || x.numel() == 0) return;
    if (x.view->is_contiguous()) {
      data_ = x.data<T>();
    } else {
      copy_.emplace(x.numel());
      view_ = View::contiguous(x.shape());
      data_ = copy_->data();
    }
  }
  T* data() const { return data_; }

 protected:
  bool is_copy() const { return copy_.has_value(); }
  Operand copied() const { return {data_, &view_, x_.dtype, x_.device}; }
  const Operand x_;

 private:
  std::optional<Scratch<T>> copy_;
  View view_;
  T* data_ = nullptr;
};

template <class T> class DenseInput : Dense<T> {
 public:
  explicit DenseInput(const Operand& x) : Dense<T>(x) {
    if (this->is_copy()) copy(this->x_, this->copied());
  }
  const T* data() const { return Dense<T>::data(); }
};

/// The same for an output, copied to its memory at the end; null as well where the output is not needed.
template <class T> class DenseOutput : Dense<T> {
 public:
  explicit DenseOutput(const Operand& x, bool wanted = true) : Dense<T>(x, wanted) {}
  ~DenseOutput() {
    if (this->is_copy()) copy(this->copied(), this->x_);
  }
  DenseOutput(const DenseOutput&) = delete;
  DenseOutput& operator=(const DenseOutput&) = delete;
  using Dense<T>::data;
};

/// Rows of T as what is computed in: as they lie, or widened into a buffer.
template <class T> class WideRow {
 public:
  /// (At least one element: clang's analyzer takes memory for none.)
  explicit WideRow(int64_t count) : count_(count), buffer_(is_half<T> ? std::max<int64_t>(count, 1) : 0) {}
  const Compute<T>* operator()(const T* row) const {
    if constexpr (is_half<T>)
      return widen(row, buffer_.data(), count_), buffer_.data();
    else
      return row;
  }

 private:
  int64_t count_;
  Scratch<Compute<T>> buffer_;
};

/// Where to compute a row of T: where it lies, or `buffer`. put() brings it there.
template <class T> Compute<T>* place_for(T* row, Compute<T>* buffer) {
  if constexpr (is_half<T>)
    return buffer;
  else
    return row == nullptr ? buffer : row;
}
template <class T> void put(const Compute<T>* values, int64_t count, T* row) {
  if (row != nullptr && static_cast<const void*>(values) != row) copy_run(values, row, count);
}

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
template <class T, class Weight>
void backward_rows(const Steps& s, const BackwardArrays<T>& a, const Weight& weight, const T* zeros, int64_t begin,
                   int64_t end) {
  using C = Compute<T>;
  const int64_t rows = end - begin, hidden = s.hidden, width = s.width(), kept = s.kept();
  const int64_t states = rows * hidden, cell_states = s.has_cell() ? states : 0, through = weight.columns_written();
  const bool cell = s.has_cell(), one_part = a.dnew == nullptr, in_rows = is_half<T> || !one_part;
  const Scratch<C> through_weight(weight.rows_written(rows) * through), dh(states), dcells(cell_states);
  // The gradients of the states' part of the gates of all rows in one step, unless they lie in dprojected.
  const Scratch<C> dq_rows(in_rows ? rows * width : 0), dp_row(is_half<T> ? width : 0);
  const WideRow<T> gates_of_step(kept), y_row(hidden), before_row(hidden), gy_row(hidden), cell_row(hidden),
      cell_before_row(hidden);
  load_or_zero(from_element(a.gh, begin * hidden), states, dh.data());
  load_or_zero(from_element(a.gc, begin * hidden), cell_states, dcells.data());
  for (int64_t step = s.length - 1; step >= 0; --step) {
    const int64_t t = s.at(step), t_before = s.reverse ? t + 1 : t - 1;
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t row = begin + r, place = row * s.length + t;
      T *before = a.h_before + place * hidden, *dp_to = a.dprojected + place * width,
        *dnew = one_part ? nullptr : a.dnew + place * hidden;
      C* dq = place_for(one_part ? dp_to : nullptr, dq_rows.data() + (in_rows ? r * width : 0));
      if (!s.counts(row, t)) {
        std::fill_n(dq, width, C(0));
        std::fill_n(dp_to, width, T{});
        if (!one_part) std::fill_n(dnew, hidden, T{});
        std::fill_n(before, hidden, T{});
        continue;
      }
      const bool first = t_before < 0 || t_before == s.length || !s.counts(row, t_before);
      const auto state = [&](const T* all, const T* start) {
        if (!first) return all + (row * s.length + t_before) * hidden;
        return start == nullptr ? zeros : start + row * hidden;
      };
      std::copy_n(state(a.y, a.h0), hidden, before);
      C* dh_row = dh.data() + r * hidden;
      if (a.gy != nullptr) add_to(gy_row(a.gy + place * hidden), hidden, dh_row);
      C* dp = one_part ? dq : place_for(dp_to, dp_row.data());
      gradient_of<C>(s, {hidden, gates_of_step(from_element(a.gates, place * kept)),
                         kept == 0 ? y_row(a.y + place * hidden) : nullptr, cell ? nullptr : before_row(before),
                         cell ? cell_row(a.cells + place * hidden) : nullptr,
                         cell ? cell_before_row(state(a.cells, a.c0)) : nullptr, dh_row,
                         cell ? dcells.data() + r * hidden : nullptr, dp, dq});
      put(dp, width, dp_to);
      if (!one_part) put(dq + width - hidden, hidden, dnew);
    }
    const C* dq = place_for(a.dprojected + (begin * s.length + t) * width, dq_rows.data());
    if (in_rows) dq = dq_rows.data();
    weight.left_multiply(dq, in_rows ? width : s.length * width, rows, through_weight.data(), through);
    for (int64_t r = 0; r < rows; ++r)  // not where nothing came through: 0 times an infinite weight is NaN
      if (s.counts(begin + r, t)) add_to(through_weight.data() + r * through, hidden, dh.data() + r * hidden);
  }
  if (a.dh != nullptr) put(dh.data(), states, a.dh + begin * hidden);
  if (a.dc != nullptr) put(dcells.data(), cell_states, a.dc + begin * hidden);
}

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

/// `given`, or memory of its own where that is null.
template <class C> class OrScratch {
 public:
  OrScratch(C* given, int64_t count)
      : own_(given == nullptr ? count : 0), data_(given == nullptr ? own_.data() : given) {}
  C* data() const { return data_; }

 private:
  Scratch<C> own_;
  C* data_;
};

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
    with_packed(Matrix<const T>{w.data(), s.hidden, s.width(), 1, s.hidden}, [&](const auto& packed) {
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
          h_before.data(), dh.data(),       dc.data()};
      with_packed(Matrix<const T>(row_major(w.data(), s.width(), s.hidden)), [&](const auto& packed) {
        parallel_for(s.rows, s.grain(), [&](int64_t begin, int64_t end) {
          backward_rows<T>(s, arrays, packed, zeros.data(), begin, end);
        });
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
