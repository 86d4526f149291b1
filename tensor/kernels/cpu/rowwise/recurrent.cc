// A recurrent layer over all its time steps. A row of the batch does not need the others: threads share the rows and
// run all steps of theirs, with the weight packed once for all. A step is one product of the states and a pass over the
// gates. Backward leaves the weight's gradient to one product over all steps.
//
// Known limit: a batch of few rows uses as many threads.
#include "tensor/ops/recurrent.h"

#include <optional>

#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/kernels/cpu/gemm/packed_matrix.h"
#include "tensor/kernels/cpu/index/index_list.h"
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

/// An output as contiguous values of Compute<T>, put where they belong at the end; null where it is not asked for.
template <class T> class WholeOutput {
 public:
  explicit WholeOutput(const Operand& x, bool wanted = true) {
    if (!wanted || x.numel() == 0) return;
    view_.emplace(x, 0, x.rank() - 1);
    writer_.emplace(*view_, 0, 1);
    data_ = writer_->row();
  }
  ~WholeOutput() {
    if (writer_) writer_->next();
  }
  WholeOutput(const WholeOutput&) = delete;
  WholeOutput& operator=(const WholeOutput&) = delete;
  Compute<T>* data() const { return data_; }

 private:
  std::optional<RowView> view_;
  std::optional<RowWriter<T>> writer_;
  Compute<T>* data_ = nullptr;
};

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

template <class C> void copy_or_zero(const C* from, int64_t count, C* to) {
  if (from == nullptr)
    std::fill_n(to, count, C(0));
  else
    std::copy_n(from, count, to);
}

template <class C> struct ForwardArrays {
  const C *projected, *bias, *h0, *c0;
  C *y, *h, *c, *gates, *cells;  // gates and cells are null where they are not kept
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
template <class C>
void forward_rows(const Steps& s, const ForwardArrays<C>& a, const PackedMatrix<C>& weight, int64_t begin,
                  int64_t end) {
  const int64_t rows = end - begin, hidden = s.hidden, width = s.width(), kept = s.kept();
  const Scratch<C> states_part(rows * width), unkept(a.gates == nullptr ? kept : 0);
  C* h = a.h + begin * hidden;
  C* c = s.has_cell() ? a.c + begin * hidden : nullptr;
  copy_or_zero(a.h0 == nullptr ? nullptr : a.h0 + begin * hidden, rows * hidden, h);
  if (c != nullptr) copy_or_zero(a.c0 == nullptr ? nullptr : a.c0 + begin * hidden, rows * hidden, c);
  for (int64_t step = 0; step < s.length; ++step) {
    const int64_t t = s.at(step);
    weight.left_multiply(h, hidden, rows, states_part.data(), width);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t place = (begin + r) * s.length + t;
      C* row = h + r * hidden;
      C* gates = a.gates == nullptr ? unkept.data() : a.gates + place * kept;
      if (!s.counts(begin + r, t)) {
        std::fill_n(a.y + place * hidden, hidden, C(0));
        std::fill_n(gates, kept, C(0));
        if (a.cells != nullptr) std::fill_n(a.cells + place * hidden, hidden, C(0));
        continue;
      }
      C* cell = c == nullptr ? nullptr : c + r * hidden;
      step_of<C>(s, {hidden, a.projected + place * width, states_part.data() + r * width, a.bias, gates, row, cell});
      std::copy_n(row, hidden, a.y + place * hidden);
      if (a.cells != nullptr) std::copy_n(cell, hidden, a.cells + place * hidden);
    }
  }
}

template <class C> struct BackwardArrays {
  const C *gy, *gh, *gc, *h0, *c0, *y, *gates, *cells;
  C *dprojected, *dstates, *h_before, *dh, *dc;  // dstates: of the states' part of the gates; (N, L, ...) as h_before
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
template <class C>
void backward_rows(const Steps& s, const BackwardArrays<C>& a, const PackedMatrix<C>& weight, const C* zeros,
                   int64_t begin, int64_t end) {
  const int64_t rows = end - begin, hidden = s.hidden, width = s.width(), kept = s.kept();
  const Scratch<C> through_weight(rows * hidden), dcells(s.has_cell() ? rows * hidden : 0);
  C* dh = a.dh + begin * hidden;
  copy_or_zero(a.gh == nullptr ? nullptr : a.gh + begin * hidden, rows * hidden, dh);
  if (s.has_cell()) copy_or_zero(a.gc == nullptr ? nullptr : a.gc + begin * hidden, rows * hidden, dcells.data());
  for (int64_t step = s.length - 1; step >= 0; --step) {
    const int64_t t = s.at(step), t_before = s.reverse ? t + 1 : t - 1;
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t row = begin + r, place = row * s.length + t;
      C* before = a.h_before + place * hidden;
      if (!s.counts(row, t)) {
        std::fill_n(a.dprojected + place * width, width, C(0));
        std::fill_n(a.dstates + place * width, width, C(0));
        std::fill_n(before, hidden, C(0));
        continue;
      }
      const bool first = t_before < 0 || t_before == s.length || !s.counts(row, t_before);
      const auto state = [&](const C* all, const C* start) {
        if (!first) return all + (row * s.length + t_before) * hidden;
        return start == nullptr ? zeros : start + row * hidden;
      };
      std::copy_n(state(a.y, a.h0), hidden, before);
      if (a.gy != nullptr) add_to(a.gy + place * hidden, hidden, dh + r * hidden);
      const bool cell = s.has_cell();
      gradient_of<C>(
          s, {hidden, a.gates + place * kept, a.y + place * hidden, before, cell ? a.cells + place * hidden : nullptr,
              cell ? state(a.cells, a.c0) : nullptr, dh + r * hidden, dcells.data() + (cell ? r * hidden : 0),
              a.dprojected + place * width, a.dstates + place * width});
    }
    weight.left_multiply(a.dstates + (begin * s.length + t) * width, s.length * width, rows, through_weight.data(),
                         hidden);
    for (int64_t r = 0; r < rows; ++r)  // not where nothing came through: 0 times an infinite weight is NaN
      if (s.counts(begin + r, t)) add_to(through_weight.data() + r * hidden, hidden, dh + r * hidden);
  }
  if (a.dc != nullptr) std::copy_n(dcells.data(), rows * hidden, a.dc + begin * hidden);
}

/// The sums of the columns of x (rows, columns): 64 rows are added in C, their sums in double.
template <class C> void column_sums(const C* x, int64_t rows, int64_t columns, C* out) {
  const Scratch<double> total(columns);
  const Scratch<C> stage(columns);
  std::fill_n(total.data(), columns, 0.0);
  for (int64_t from = 0; from < rows; from += 64) {
    std::fill_n(stage.data(), columns, C(0));
    for (int64_t i = from; i < std::min(from + 64, rows); ++i) add_to(x + i * columns, columns, stage.data());
    for (int64_t j = 0; j < columns; ++j) total.data()[j] += static_cast<double>(stage.data()[j]);
  }
  for (int64_t j = 0; j < columns; ++j) out[j] = static_cast<C>(total.data()[j]);
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
    const Whole<T> p(projected), w(weight), b(bias), h_first(h0), c_first(c0);
    const WholeOutput<T> y_out(y), h_out(h), c_out(c), gates_out(gates), cells_out(cells);
    const Scratch<C> no_bias(b.data() == nullptr ? s.width() : 0);
    if (b.data() == nullptr) std::fill_n(no_bias.data(), s.width(), C(0));
    const PackedMatrix<C> packed(Matrix<const C>{w.data(), s.hidden, s.width(), 1, s.hidden});
    const ForwardArrays<C> arrays{p.data(),        b.data() == nullptr ? no_bias.data() : b.data(),
                                  h_first.data(),  c_first.data(),
                                  y_out.data(),    h_out.data(),
                                  c_out.data(),    gates_out.data(),
                                  cells_out.data()};
    parallel_for(s.rows, s.grain(),
                 [&](int64_t begin, int64_t end) { forward_rows<C>(s, arrays, packed, begin, end); });
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
    using C = Compute<T>;
    const WholeOutput<T> dp(dprojected, wanted & 1), dw(dweight, wanted & 2), db(dbias, wanted & 4),
        dh(dh0, wanted & 8), dc(dc0, wanted & 16);
    const int64_t steps = s.rows * s.length, states = s.rows * s.hidden;
    if (states > 0) {
      const Whole<T> gy_in(gy), gh_in(gh), gc_in(gc), w(weight), h_first(h0), c_first(c0), y_in(y), gates_in(gates),
          cells_in(cells);
      const OrScratch<C> dp_all(dp.data(), steps * s.width()), dh_all(dh.data(), states);
      const Scratch<C> h_before(steps * s.hidden), zeros(s.hidden);
      // Only a GRU's reset gate lies between the two parts of a gate.
      const OrScratch<C> dq_all(s.kind == Recurrence::gru ? nullptr : dp_all.data(), steps * s.width());
      std::fill_n(zeros.data(), s.hidden, C(0));
      const PackedMatrix<C> packed(Matrix<const C>(row_major(w.data(), s.width(), s.hidden)));
      const BackwardArrays<C> arrays{gy_in.data(),    gh_in.data(),    gc_in.data(),    h_first.data(), c_first.data(),
                                     y_in.data(),     gates_in.data(), cells_in.data(), dp_all.data(),  dq_all.data(),
                                     h_before.data(), dh_all.data(),   dc.data()};
      parallel_for(s.rows, s.grain(),
                   [&](int64_t begin, int64_t end) { backward_rows<C>(s, arrays, packed, zeros.data(), begin, end); });
      if (dw.data() != nullptr)
        gemm<C>(Matrix<const C>(row_major(dq_all.data(), steps, s.width()).transposed()),
                row_major(h_before.data(), steps, s.hidden), row_major(dw.data(), s.width(), s.hidden));
      if (db.data() != nullptr) column_sums<C>(dq_all.data(), steps, s.width(), db.data());
    } else {
      if (dw.data() != nullptr) std::fill_n(dw.data(), s.width() * s.hidden, C(0));
      if (db.data() != nullptr) std::fill_n(db.data(), s.width(), C(0));
    }
  });
}

}  // namespace weft
