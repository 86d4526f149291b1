// Cases of counts.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/functions/fill.h"
#include "tensor/functions/histogram.h"
#include "tests/ops/families.h"
#include "tests/reference/rows.h"

namespace weft::testing {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void add_bincount(Cases& cases) {
  const auto counts = [](const Array& x, const Array& weight, int64_t least) {
    double top = static_cast<double>(least) - 1;
    for (double v : x.values) top = std::max(top, v);
    Row out(static_cast<size_t>(top + 1), 0.0);
    for (size_t i = 0; i < x.values.size(); ++i)
      out[static_cast<size_t>(x.values[i])] += weight.values.empty() ? 1.0 : weight.values[i];
    return Array{{static_cast<int64_t>(out.size())}, out};
  };
  Row many(300);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i * i % 7);
  const InputSpec list = index({8}, {0, 3, 3, 1, 0, 5, 3, 2}), none = index({0}, std::vector<double>{});
  cases
      .add("bincount", {{list}, {index({4}, {2, 2, 0, 1}, u8)}, {index({300}, many, i32)}, {none}},
           CALL(bincount(x[0])), [=](const Arrays& x) { return Arrays{counts(x[0], {}, 0)}; })
      .gives({Result::i64})
      .no_vmap(1);
  cases
      .add("bincount least", {{list}, {none}}, CALL(bincount(x[0], {}, 9)),
           [=](const Arrays& x) { return Arrays{counts(x[0], {}, 9)}; })
      .gives({Result::i64})
      .no_vmap(1);
  cases
      .add("bincount weights", {{list, normal({8})}, {index({5}, {1, 4, 1, 0, 1}, i16), normal({5})}},
           CALL(bincount(x[0], x[1])), [=](const Arrays& x) { return Arrays{counts(x[0], x[1], 0)}; })
      .compares(kFloating)
      .no_vmap(1);
}

/// Counts of values in the bins between edges, the last closed.
Array in_bins(const Row& values, const Row& edges) {
  Row out(edges.size() - 1, 0.0);
  for (double v : values)
    for (size_t b = 0; b < out.size(); ++b)
      if (v >= edges[b] && (v < edges[b + 1] || (b + 1 == out.size() && v == edges[b + 1]))) out[b] += 1;
  return Array{{static_cast<int64_t>(out.size())}, out};
}

/// Inside of and beyond the bins, NaN.
std::vector<Sample> hist_samples() {
  return {{integers({4, 9}, -2, 9)}, {special({20})}, {given({5}, {0, 8, 4, kNan, 2})}};
}

void add_histc(Cases& cases) {
  cases
      .add("histc", hist_samples(), CALL(histc(x[0], 4, 0, 8)),
           [=](const Arrays& x) {
             return Arrays{in_bins(x[0].values, {0, 2, 4, 6, 8})};
           })
      .no_gradient();
  cases
      .add("histc whole", {{given({6}, {-2, 0, 1, 2, 2, 2})}, {given({2, 2}, {-2, 2, 0, 1})}}, CALL(histc(x[0], 4)),
           [=](const Arrays& x) {
             return Arrays{in_bins(x[0].values, {-2, -1, 0, 1, 2})};
           })
      .no_gradient();
}

void add_histogram(Cases& cases) {
  const auto all = [](const HistogramResult& r) { return Outputs{r.hist, r.edges}; };
  // Edges from 0 to 1.
  cases
      .add("histogram of nothing", {{normal({0, 3})}}, CALL(all(histogram(x[0], 2))),
           [](const Arrays&) {
             return Arrays{Array{{2}, {0, 0}}, Array{{3}, {0, 0.5, 1}}};
           })
      .no_gradient();
  cases
      .add("histogram", hist_samples(), CALL(all(histogram(x[0], 4, {.range = std::pair(0.0, 8.0)}))),
           [=](const Arrays& x) {
             return Arrays{in_bins(x[0].values, {0, 2, 4, 6, 8}), Array{{5}, {0, 2, 4, 6, 8}}};
           })
      .no_gradient();
  cases
      .add("histogram between edges", hist_samples(),
           CALL(histogram(x[0], tensor({0.0, 0.5, 4.0, 8.0}, x[0].dtype()).to(x[0].device())).hist),
           [=](const Arrays& x) {
             return Arrays{in_bins(x[0].values, {0, 0.5, 4, 8})};
           })
      .no_gradient()
      .no_layouts()
      .compares(DTypes{f32, f64});
}

void add_histogram_options(Cases& cases) {
  cases
      .add("histogram density", {{integers({4, 9}, 0, 8)}},
           CALL(histogram(x[0], 4, {.range = std::pair(0.0, 8.0), .density = true}).hist),
           [=](const Arrays& x) {
             Array out = in_bins(x[0].values, {0, 2, 4, 6, 8});
             const double total = reference::sum(out.values);
             for (double& v : out.values) v /= total * 2;
             return Arrays{out};
           })
      .compares(DTypes{f32, f64})
      .no_gradient();
  cases
      .add("histogram weights", {{given({4}, {1, 3, 1.5, 7}), normal({4})}},
           CALL(histogram(x[0].detach(), 2, {.range = std::pair(0.0, 8.0), .weight = x[1]}).hist),
           [](const Arrays& x) {
             const Row& w = x[1].values;
             return Arrays{Array{{2}, {w[0] + w[1] + w[2], w[3]}}};
           })
      .compares(DTypes{f32, f64})
      .no_layouts()
      .no_gradient();
}

/// Counts of the points x[0] in cells between 0, 2, 4 and between 0, 1, 4.
Array in_cells(const Array& x, const Row& weight) {
  const Row edges[] = {{0, 2, 4}, {0, 1, 4}};
  Array out{{2, 2}, Row(4, 0.0)};
  for (size_t point = 0; point < x.values.size() / 2; ++point) {
    const Array first = in_bins({x.values[2 * point]}, edges[0]), second = in_bins({x.values[2 * point + 1]}, edges[1]);
    for (const Index& i : indices_of(out.shape))
      out.at(i) += first.at({i[0]}) * second.at({i[1]}) * (weight.empty() ? 1 : weight[point]);
  }
  return out;
}

void add_histogramdd(Cases& cases) {
  const auto edges = [](const Tensor& like) {
    return std::vector{tensor({0.0, 2.0, 4.0}).to(like.dtype()).to(like.device()),
                       tensor({0.0, 1.0, 4.0}).to(like.dtype()).to(like.device())};
  };
  const auto all = [](const HistogramddResult& r) { return Outputs{r.hist, r.edges[0], r.edges[1]}; };
  const std::vector<Sample> samples = {{integers({20, 2}, -1, 5)},
                                       {given({4, 2}, {0, 4, kNan, 1, 4, 4, 2, 1})},
                                       {integers({2, 3, 2}, 0, 4)},
                                       {normal({0, 2})}};
  cases
      .add("histogramdd between edges", samples, CALL(histogramdd(x[0], edges(x[0])).hist),
           [](const Arrays& x) { return in_cells(x[0], {}); })
      .no_gradient();
  cases
      .add(
          "histogramdd", {{given({3, 2}, {0, 0, 1, 4, 4, 2})}, {given({1, 3, 2}, {4, 4, 0, 0, 1, 2})}},
          CALL(all(histogramdd(x[0], {2, 4}))),
          [](const Arrays& x) {
            Array out{{2, 4}, Row(8, 0.0)};
            for (size_t i = 0; i < 6; i += 2)
              out.at({x[0].values[i] < 2 ? 0 : 1, std::min<int64_t>(3, static_cast<int64_t>(x[0].values[i + 1]))}) += 1;
            return Arrays{out, Array{{3}, {0, 2, 4}}, Array{{5}, {0, 1, 2, 3, 4}}};
          })
      .no_vmap()
      .no_gradient();
  cases
      .add("histogramdd weights and density", {{integers({20, 2}, 0, 4), positive({20})}},
           CALL(histogramdd(x[0].detach(), edges(x[0]), {.weight = x[1], .density = true}).hist),
           [](const Arrays& x) {
             Array out = in_cells(x[0], x[1].values);
             const double total = reference::sum(out.values);
             for (const Index& i : indices_of(out.shape)) out.at(i) /= total * 2 * (i[1] == 0 ? 1 : 3);
             return out;
           })
      .compares(DTypes{f32, f64})
      .loose(10)
      .no_layouts()
      .no_gradient();
  cases.error<ShapeError>(
      "histogramdd bins",
      [] {
        histogramdd(ones({4, 3}), {2, 2});
      },
      "histogramdd([4, 3] f32): 2 numbers of bins for 3 coordinates");
  cases.error<ShapeError>(
      "histogramdd coordinates",
      [] {
        histogramdd(ones({4, 9}), {2});
      },
      "histogramdd([4, 9] f32): the points have 9 coordinates, not 1 to 8");
  cases.error<ShapeError>(
      "histogramdd weight",
      [] {
        histogramdd(ones({4, 2}), {2}, {.weight = ones({4, 2})});
      },
      "histogramdd([4, 2] f32): the weight must have shape [4], not [4, 2]");
  cases.error<ShapeError>(
      "histogramdd ranges",
      [] {
        histogramdd(ones({4, 2}), {2}, {.ranges = {{0, 1}}});
      },
      "histogramdd([4, 2] f32): 1 ranges for 2 coordinates");
}

void add_errors(Cases& cases) {
  const Tensor x = ones({2, 3});
  cases.error<DtypeError>(
      "bincount dtype", [] { bincount(ones({2})); },
      "bincount([2] f32): the indices are f32; they must be integers, e.g. x.to(i64)");
  cases.error<ShapeError>(
      "bincount axes",
      [] {
        bincount(ones({2, 2}, i64));
      },
      "bincount([2, 2] i64): the values must have one axis, not shape [2, 2]");
  cases.error<IndexError>(
      "bincount negative",
      [] {
        bincount(tensor({1, -2}));
      },
      "bincount([2] i64): the value -2 is negative");
  cases.error<ShapeError>(
      "bincount weights",
      [] {
        bincount(tensor({1, 2}), ones({3}));
      },
      "bincount([2] i64): the weights must have shape [2], not [3]");
  cases.error<Error>(
      "bincount minlength",
      [] {
        bincount(tensor({1, 2}), {}, -1);
      },
      "bincount([2] i64): minlength must be 0 or more, not -1");
  cases.error<Error>(
      "histc bins", [=] { histc(x, 0); }, "histc([2, 3] f32): the number of bins must be 1 or more, not 0");
  cases.error<Error>(
      "histc range", [=] { histc(x, 2, 3, 1); }, "histc([2, 3] f32): the range 3 .. 1 must be finite and ascending");
  cases.error<Error>(
      "histogram of NaN",
      [] {
        histogram(tensor({1.0, kNan}), 2);
      },
      "histogram([2] f32): the range nan .. nan must be finite and ascending");
  cases.error<DtypeError>(
      "histc of integers", [] { histc(ones({2}, i64)); },
      "histc([2] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. x.to(f32)");
  cases.error<Error>(
      "histogram edges that descend",
      [=] {
        histogram(x, tensor({3.0, 1.0, 2.0}));
      },
      "histogram([2, 3] f32, [3] f32): the edges must ascend, without NaN");
  cases.error<Error>(
      "histogram edges with NaN",
      [=] {
        histogram(x, tensor({NAN, 1.0, 2.0}));
      },
      "histogram([2, 3] f32, [3] f32): the edges must ascend, without NaN");
  cases.error<ShapeError>(
      "histogram edges", [=] { histogram(x, ones({1})); },
      "histogram([2, 3] f32, [1] f32): the edges must have one axis and be two or more, not shape [1]");
  cases.error<ShapeError>(
      "histogram weight", [=] { histogram(x, 2, {.weight = ones({2})}); },
      "histogram([2, 3] f32): the weight must have shape [2, 3], not [2]");
}

}  // namespace

void add_histogram_cases(Cases& cases) {
  add_bincount(cases);
  add_histc(cases);
  add_histogram(cases);
  add_histogram_options(cases);
  add_histogramdd(cases);
  add_errors(cases);
}

}  // namespace weft::testing
