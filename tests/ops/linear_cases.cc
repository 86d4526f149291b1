// Cases of linear: rows times a weight plus a bias.
#include "tensor/functions/fill.h"
#include "tensor/functions/linear.h"
#include "tests/ops/families.h"
#include "tests/reference/matmul.h"

namespace weft::testing {

namespace {

/// x (..., in), weight (out, in) and, where it is given, bias (out).
Arrays rows_times_weight(const Arrays& x) {
  Array rows = x[0];
  rows.shape = {checked_numel(Shape(x[0].shape.begin(), x[0].shape.end() - 1)), x[0].size(-1)};
  Array out = product(rows, transposed(x[1]));
  const auto width = static_cast<size_t>(x[1].size(0));
  for (size_t i = 0; i < out.values.size() && x.size() > 2; ++i) out.values[i] += x[2].values[i % width];
  out.shape = x[0].shape;
  out.shape[out.shape.size() - 1] = x[1].size(0);
  return out;
}

Tensor run(const Inputs& x) { return x.size() > 2 ? linear(x[0], x[1], x[2]) : linear(x[0], x[1]); }

void add_errors(Cases& cases) {
  cases.error<ShapeError>(
      "linear features",
      [] {
        linear(ones({2, 3}), ones({5, 4}));
      },
      "linear([2, 3] f32, [5, 4] f32): x has 3 features, weight [5, 4] takes 4");
  cases.error<ShapeError>(
      "linear weight",
      [] {
        linear(ones({2, 3}), ones({3}));
      },
      "linear([2, 3] f32, [3] f32): weight must be (out, in), not [3]");
  cases.error<ShapeError>(
      "linear bias",
      [] {
        linear(ones({2, 3}), ones({5, 3}), ones({3}));
      },
      "linear([2, 3] f32, [5, 3] f32, [3] f32): bias must have shape [5], not [3]");
  cases.error<ShapeError>(
      "linear scalar",
      [] {
        linear(ones({}), ones({5, 3}));
      },
      "linear([] f32, [5, 3] f32): x must have 1 axis or more, the last of them its features");
  cases.error<DtypeError>(
      "linear bool",
      [] {
        linear(ones({2, 2}, boolean), ones({2, 2}, boolean));
      },
      "linear([2, 2] bool, [2, 2] bool): bool is not accepted here; it takes integers or floating dtypes; cast bool "
      "first");
}

}  // namespace

void add_linear_cases(Cases& cases) {
  std::vector<Sample> samples, whole;
  const std::pair<Shape, Shape> shapes[] = {{{3, 4}, {2, 4}}, {{4}, {3, 4}},      {{2, 3, 4}, {5, 4}}, {{0, 4}, {2, 4}},
                                            {{3, 0}, {2, 0}}, {{2, 2}, {0, 2}},   {{17, 5}, {9, 5}},   {{1, 1}, {1, 1}},
                                            {{1, 7}, {3, 7}}, {{2, 0, 3}, {2, 3}}};
  for (const auto& [x, w] : shapes)
    for (const bool biased : {true, false}) {
      samples.push_back({normal(x), normal(w)});
      whole.push_back({integers(x, -3, 3), integers(w, -3, 3)});
      if (!biased) continue;
      samples.back().push_back(normal({w[0]}));
      whole.back().push_back(integers({w[0]}, -3, 3));
    }
  cases.add("linear", samples, run, rows_times_weight).accepts(kNumbers).loose(4);
  // Whole numbers: the expected error is exactly 0.
  cases.add("linear of whole numbers", whole, run, rows_times_weight).accepts(kNumbers).loose(0);
  cases
      .add("linear of larger matrices",
           {{integers({70, 130}, -3, 3), integers({65, 130}, -3, 3), integers({65}, -3, 3)},
            {integers({5, 300}, -3, 3), integers({33, 300}, -3, 3), integers({33}, -3, 3)}},
           run, rows_times_weight)
      .compares(DTypes{f32, f64, i64})
      .loose(0);
  add_errors(cases);
}

}  // namespace weft::testing
