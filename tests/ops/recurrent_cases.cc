// Cases of recurrent layers: every kind of cell, both directions, with and without states, biases and lengths.
#include <cmath>

#include "tensor/dispatch/apply.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/recurrent.h"
#include "tensor/ops/recurrent.h"
#include "tests/ops/families.h"
#include "tests/reference/activation.h"

namespace weft::testing {

namespace {

using reference::sigmoid;

/// One row's states, in plain loops.
struct Row {
  std::vector<double> h, c;
};

struct Naive {
  Recurrence kind;
  const Arrays& x;  // projected, weight, bias, h, c, lengths

  int64_t hidden() const { return x[1].size(1); }
  /// The states' part of a gate: W h + b.
  double part(const Row& row, int64_t gate, int64_t j) const {
    const int64_t k = gate * hidden() + j;
    double sum = x[2].absent ? 0 : x[2].at({k});
    for (int64_t i = 0; i < hidden(); ++i) sum += x[1].at({k, i}) * row.h[static_cast<size_t>(i)];
    return sum;
  }
  Row step(const Row& row, int64_t n, int64_t t) const {
    Row next = row;
    for (int64_t j = 0; j < hidden(); ++j) {
      const auto at = static_cast<size_t>(j);
      const auto input = [&](int64_t gate) { return x[0].at({n, t, gate * hidden() + j}); };
      const auto gate = [&](int64_t k) { return input(k) + part(row, k, j); };
      switch (kind) {
        case Recurrence::rnn_tanh: next.h[at] = std::tanh(gate(0)); break;
        case Recurrence::rnn_relu: next.h[at] = std::max(gate(0), 0.0); break;
        case Recurrence::lstm:
          next.c[at] = sigmoid(gate(1)) * row.c[at] + sigmoid(gate(0)) * std::tanh(gate(2));
          next.h[at] = sigmoid(gate(3)) * std::tanh(next.c[at]);
          break;
        case Recurrence::gru: {
          const double z = sigmoid(gate(1));
          next.h[at] = (1 - z) * std::tanh(input(2) + sigmoid(gate(0)) * part(row, 2, j)) + z * row.h[at];
        }
      }
    }
    return next;
  }
};

std::vector<double> first_state(const Array& given, int64_t n, int64_t hidden) {
  std::vector<double> out;
  for (int64_t j = 0; j < hidden; ++j) out.push_back(given.absent ? 0 : given.at({n, j}));
  return out;
}

Reference naive(Recurrence kind, bool reverse) {
  return [kind, reverse](const Arrays& x) {
    const Naive layer{kind, x};
    const int64_t rows = x[0].size(0), length = x[0].size(1), hidden = layer.hidden();
    Array y = build({rows, length, hidden}, [](const Index&) { return 0.0; });
    Array h{{rows, hidden}, {}}, c{{rows, hidden}, {}};
    for (int64_t n = 0; n < rows; ++n) {
      Row row{first_state(x[3], n, hidden), first_state(x[4], n, hidden)};
      const int64_t count = x[5].absent ? length : static_cast<int64_t>(x[5].at({n}));
      for (int64_t i = 0; i < count; ++i) {
        const int64_t t = reverse ? count - 1 - i : i;
        row = layer.step(row, n, t);
        std::copy(row.h.begin(), row.h.end(), y.values.begin() + (n * length + t) * hidden);
      }
      h.values.insert(h.values.end(), row.h.begin(), row.h.end());
      c.values.insert(c.values.end(), row.c.begin(), row.c.end());
    }
    return kind == Recurrence::lstm ? Arrays{y, h, c} : Arrays{y, h};
  };
}

Sample sample(Recurrence kind, int64_t n, int64_t length, int64_t hidden, bool bias, bool states,
              const InputSpec& lengths = absent()) {
  const int64_t width = gates_of(kind) * hidden;
  const bool cell = kind == Recurrence::lstm && states;
  // Whole numbers and a half as weights: sums of a relu stay away from its kink.
  return {normal({n, length, width}),
          normal({width, hidden}),
          bias ? normal({width}) : absent(),
          states ? normal({n, hidden}) : absent(),
          cell ? normal({n, hidden}) : absent(),
          lengths};
}

void add(Cases& cases, Recurrence kind, bool reverse) {
  const std::string name = "recurrent " + attribute_text(kind) + (reverse ? " reversed" : "");
  const std::vector<Sample> samples = {sample(kind, 2, 3, 2, true, true),
                                       sample(kind, 1, 1, 3, true, false),
                                       sample(kind, 3, 2, 1, false, true),
                                       sample(kind, 3, 3, 2, true, true, index({3}, {2, 0, 3})),
                                       sample(kind, 2, 2, 2, false, false, index({2}, {1, 2}, i32)),
                                       sample(kind, 2, 0, 2, true, true),
                                       sample(kind, 0, 2, 2, true, false),
                                       sample(kind, 2, 2, 0, true, true)};
  const Call call = [kind, reverse](const Inputs& x) -> Outputs {
    const RecurrentResult out =
        recurrent(kind, x[0], x[1], {.bias = x[2], .h = x[3], .c = x[4], .lengths = x[5], .reverse = reverse});
    return out.c.defined() ? Outputs{out.output, out.h, out.c} : Outputs{out.output, out.h};
  };
  // Each of up to three steps rounds the gates and the state that it keeps.
  cases.add(name, samples, call, naive(kind, reverse)).accepts(kFloating).loose(8).rounds_inside(6);
  // Larger than a tile of the product, whose last columns fill a register partly; few rows, by several panels; a step.
  cases
      .add(name + " of many",
           {sample(kind, 13, 3, 21, true, true, index({13}, 4)), sample(kind, 7, 2, 40, true, false),
            sample(kind, 1, 2, 70, true, true), sample(kind, 2, 2, 40, true, true), sample(kind, 3, 2, 40, true, true),
            sample(kind, 1, 1, 70, true, true), sample(kind, 2, 1, 130, true, true)},
           call, naive(kind, reverse))
      .compares(DTypes{f32, f64})
      .no_gradient()
      .loose(20);
  // Wide enough for products of bf16: full tiles and parts of them. Each step rounds the states that it multiplies as
  // well. Not of a relu, whose slope at a rounding's distance from 0 no bound describes.
  if (kind == Recurrence::rnn_relu) return;
  cases
      .add(name + " of many halves",
           {sample(kind, 19, 2, 40, true, true, index({19}, 3)), sample(kind, 33, 1, 65, false, true),
            sample(kind, 2, 2, 32, true, false)},
           call, naive(kind, reverse))
      .accepts(kFloating)
      .no_gradient()
      .loose(20)
      .rounds_inside(12);
}

void add_errors(Cases& cases) {
  const auto gru = [](const Shape& projected, const Shape& weight, const RecurrentOptions& options = {}) {
    return [=] { recurrent(Recurrence::gru, ones(projected), ones(weight), options); };
  };
  cases.error<ShapeError>("recurrent axes", gru({2, 6}, {6, 2}),
                          "recurrent([2, 6] f32, [6, 2] f32): the projected input must be (N, L, gates), not [2, 6]");
  cases.error<ShapeError>("recurrent gates", gru({2, 3, 7}, {6, 2}),
                          "recurrent([2, 3, 7] f32, [6, 2] f32): 7 columns do not divide into 3 gates");
  cases.error<ShapeError>("recurrent weight", gru({2, 3, 6}, {6, 3}),
                          "recurrent([2, 3, 6] f32, [6, 3] f32): the weight must be [6, 2], not [6, 3]");
  cases.error<ShapeError>("recurrent bias", gru({2, 3, 6}, {6, 2}, {.bias = ones({5})}),
                          "recurrent([2, 3, 6] f32, [6, 2] f32): the bias must be [6], not [5]");
  cases.error<ShapeError>("recurrent state", gru({2, 3, 6}, {6, 2}, {.h = ones({3, 2})}),
                          "recurrent([2, 3, 6] f32, [6, 2] f32): h must be [2, 2], not [3, 2]");
  cases.error<Error>("recurrent cell of a gru", gru({2, 3, 6}, {6, 2}, {.c = ones({2, 2})}),
                     "recurrent([2, 3, 6] f32, [6, 2] f32): only an lstm has a c, not a gru");
  cases.error<DtypeError>("recurrent lengths of floats", gru({2, 3, 6}, {6, 2}, {.lengths = ones({2})}),
                          "recurrent([2, 3, 6] f32, [6, 2] f32): the lengths are f32; they must be integers, e.g. i64");
  cases.error<ShapeError>("recurrent number of lengths", gru({2, 3, 6}, {6, 2}, {.lengths = ones({3}, i64)}),
                          "recurrent([2, 3, 6] f32, [6, 2] f32): the lengths must be [2], not [3]");
  cases.error<IndexError>("recurrent length", gru({2, 3, 6}, {6, 2}, {.lengths = tensor({1, 4})}),
                          "recurrent([2, 3, 6] f32, [6, 2] f32): length 4 is out of range for 3 steps");
  cases.error<IndexError>("recurrent negative length", gru({2, 3, 6}, {6, 2}, {.lengths = tensor({-1, 3})}),
                          "recurrent([2, 3, 6] f32, [6, 2] f32): length -1 is out of range for 3 steps");
  cases.error<DtypeError>(
      "recurrent of integers",
      [] {
        recurrent(Recurrence::lstm, ones({1, 1, 4}, i64), ones({4, 1}, i64));
      },
      "recurrent([1, 1, 4] i64, [4, 1] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. "
      "x.to(f32)");
}

}  // namespace

void add_recurrent_cases(Cases& cases) {
  for (const Recurrence kind : {Recurrence::rnn_tanh, Recurrence::rnn_relu, Recurrence::lstm, Recurrence::gru})
    for (const bool reverse : {false, true}) add(cases, kind, reverse);
  add_errors(cases);
}

}  // namespace weft::testing
