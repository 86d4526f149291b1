// Cases of statistics.
#include <cmath>
#include <limits>

#include "tensor/functions/fill.h"
#include "tensor/functions/statistics.h"
#include "tests/ops/families.h"
#include "tests/reference/rows.h"

namespace weft::testing {

namespace {

using Fold = std::function<double(const Row&)>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Row numbers_of(Row x) {
  std::erase_if(x, [](double v) { return std::isnan(v); });
  return x;
}
double nansum_of(const Row& x) { return reference::sum(numbers_of(x)); }
double nanmean_of(const Row& x) { return reference::mean(numbers_of(x)); }
double var_of(const Row& x) { return reference::variance(x, 1); }

const std::vector<Sample> kSamples = {{distinct({3, 4})}, {distinct({2, 3, 2})}, {distinct({5})},
                                      {special({12, 3})}, {distinct({})},        {integers({4, 6}, -1, 1)},
                                      {distinct({1, 4})}};
/// f over all axes, and over the first and the last, kept.
template <class F> void over_axes(Cases& cases, const std::string& name, const F& f, const Fold& fold, auto finish) {
  finish(cases.add(name + " of all", kSamples, CALL(f(x[0], Axes{}, KeepDim{})), reduction({}, false, fold)));
  finish(cases.add(name + " along one", kSamples, CALL(f(x[0], Axes{-1}, keepdim)), reduction({-1}, true, fold)));
  finish(cases.add(name + " of two", {{distinct({2, 3, 4})}, {integers({3, 2, 2}, 0, 1)}},
                   CALL(f(x[0], Axes{0, 2}, KeepDim{})), reduction({0, 2}, false, fold)));
}

void add_reductions(Cases& cases) {
  const auto any_dtype = [](OpCase& c) { c.accepts(kAll); };
  const auto floating = [](OpCase& c) { c.loose(4); };
  over_axes(
      cases, "amax", [](const auto&... a) { return amax(a...); }, reference::max, any_dtype);
  over_axes(
      cases, "amin", [](const auto&... a) { return amin(a...); }, reference::min, any_dtype);
  over_axes(
      cases, "nansum", [](const auto&... a) { return nansum(a...); }, nansum_of,
      [](OpCase& c) { c.accepts(kAll).gives({Result::summed}).loose(4); });
  over_axes(
      cases, "nanmean", [](const auto&... a) { return nanmean(a...); }, nanmean_of, floating);
  over_axes(
      cases, "count_nonzero", [](const auto&... a) { return count_nonzero(a...); }, reference::count_nonzero,
      [](OpCase& c) { c.accepts(kAll).gives({Result::i64}).no_gradient(); });
  const Row some = {1, kNan, 3, 2, kNan, kNan, kNan, kNan, 7, 8, 6, 5};
  cases.add("nansum with NaN", {{given({3, 4}, some)}}, CALL(nansum(x[0], 1)), reduction({1}, false, nansum_of))
      .compares(kFloating)
      .no_gradient();
  cases.add("nanmean with NaN", {{given({3, 4}, some)}}, CALL(nanmean(x[0], 1)), reduction({1}, false, nanmean_of))
      .compares(kFloating)
      .no_gradient();
  const auto both = [](const Fold& first, const Fold& second) -> Reference {
    return [=](const Arrays& x) {
      return Arrays{reduction({-1}, false, first)(x)[0], reduction({-1}, false, second)(x)[0]};
    };
  };
  const std::vector<Sample> rows = {{distinct({3, 4})}, {distinct({2, 2, 5})}, {distinct({6})}};
  const auto extremes = [](const MinAndMax& r) { return Outputs{r.min, r.max}; };
  cases.add("aminmax", rows, CALL(extremes(aminmax(x[0], -1))), both(reference::min, reference::max)).accepts(kAll);
  const auto spread = [](const VarMean& r) { return Outputs{r.var, r.mean}; };
  cases.add("var_mean", rows, CALL(spread(var_mean(x[0], -1))), both(var_of, reference::mean)).loose(8);
  const auto deviation = [](const StdMean& r) { return Outputs{r.stddev, r.mean}; };
  cases
      .add("std_mean", rows, CALL(deviation(std_mean(x[0], -1))),
           both([](const Row& x) { return std::sqrt(var_of(x)); }, reference::mean))
      .loose(8);
}

/// The covariance of rows i and j of x.
double covariance(const Array& x, int64_t i, int64_t j, double degrees) {
  const auto row = [&](int64_t r) {
    const int64_t n = x.size(-1);
    return Row(x.values.begin() + r * n, x.values.begin() + (r + 1) * n);
  };
  const Row a = row(i), b = row(j);
  double out = 0;
  for (size_t k = 0; k < a.size(); ++k) out += (a[k] - reference::mean(a)) * (b[k] - reference::mean(b));
  return out / degrees;
}

void add_matrices(Cases& cases) {
  const std::vector<Sample> samples = {{normal({3, 5})}, {normal({2, 9})}, {integers({3, 4}, -3, 3)}};
  cases
      .add("cov", samples, CALL(cov(x[0])),
           [](const Arrays& x) {
             const int64_t v = x[0].size(0), n = x[0].size(1);
             return Arrays{build(
                 {v, v}, [&](const Index& at) { return covariance(x[0], at[0], at[1], static_cast<double>(n - 1)); })};
           })
      .compares(DTypes{f32, f64, i32})
      .gives({Result::floating})
      .loose(16);
  cases
      .add("cov of one", {{normal({6})}, {normal({2})}, {normal({1, 4})}, {normal({1, 1})}}, CALL(cov(x[0], 0)),
           [](const Arrays& x) {
             return Arrays{Array{{}, {covariance(x[0], 0, 0, static_cast<double>(x[0].size(-1)))}}};
           })
      .compares(DTypes{f32, f64})
      .loose(16);
  cases.add("corrcoef of one", {{normal({6})}, {normal({1, 4})}}, CALL(corrcoef(x[0])), constant({}, {1}))
      .compares(DTypes{f32, f64})
      .no_gradient();  // of a constant
  cases
      .add("corrcoef", {{normal({3, 5})}, {normal({2, 9})}}, CALL(corrcoef(x[0])),
           [](const Arrays& x) {
             const int64_t v = x[0].size(0);
             return Arrays{build({v, v}, [&](const Index& at) {
               return covariance(x[0], at[0], at[1], 1) /
                      std::sqrt(covariance(x[0], at[0], at[0], 1) * covariance(x[0], at[1], at[1], 1));
             })};
           })
      .compares(DTypes{f32, f64})
      .no_gradient()  // clipped at 1, where the diagonal is
      .loose(16);
  for (const double p : {1.0, 2.0, 3.0, 4.0, std::numeric_limits<double>::infinity()}) {
    const std::string name = std::isinf(p) ? " inf" : " " + std::to_string(static_cast<int>(p));
    cases
        .add("dist" + name, {{normal({3, 4}), normal({3, 4})}, {normal({2, 3}), normal({3})}},
             CALL(dist(x[0], x[1], p)),
             [=](const Arrays& x) {
               Row d;
               for (const Index& at : indices_of(x[0].shape)) d.push_back(x[0].at(at) - broadcast_at(x[1], at));
               return Arrays{Array{{}, {reference::norm(d, p)}}};
             })
        .compares(DTypes{f32, f64})
        .loose(8);
    cases
        .add("cdist" + name, {{normal({3, 4}), normal({2, 4})}, {normal({2, 3, 2}), normal({2, 5, 2})}},
             CALL(cdist(x[0], x[1], p)),
             [=](const Arrays& x) {
               Shape shape = x[0].shape;
               shape[shape.size() - 1] = x[1].size(-2);
               return Arrays{build(shape, [&](Index at) {
                 Row d;
                 Index other = at;
                 other[other.size() - 2] = at.back();
                 for (int64_t k = 0; k < x[0].size(-1); ++k) {
                   at.back() = other.back() = k;
                   d.push_back(x[0].at(at) - x[1].at(other));
                 }
                 return reference::norm(d, p);
               })};
             })
        .compares(DTypes{f32, f64})
        .loose(8);
    cases
        .add("pdist" + name, {{normal({4, 3})}, {normal({2, 2})}, {normal({1, 2})}}, CALL(pdist(x[0], p)),
             [=](const Arrays& x) {
               const int64_t n = x[0].size(0);
               Array out{{n * (n - 1) / 2}, {}};
               for (int64_t i = 0; i < n; ++i)
                 for (int64_t j = i + 1; j < n; ++j) {
                   Row d;
                   for (int64_t k = 0; k < x[0].size(1); ++k) d.push_back(x[0].at({i, k}) - x[0].at({j, k}));
                   out.values.push_back(reference::norm(d, p));
                 }
               return Arrays{out};
             })
        .compares(DTypes{f32, f64})
        .loose(8);
  }
  cases.error<ShapeError>(
      "pdist of a vector", [] { pdist(ones({3})); }, "pdist([3] f32): rows of a matrix are compared, not shape [3]");
}

/// p = 0 counts the differences that are not 0.
void add_counted_differences(Cases& cases) {
  const InputSpec a = given({2, 3}, {1, 2, 3, 1, NAN, 3}), b = given({2, 3}, {1, 5, -INFINITY, 1, 2, 3});
  cases.add("cdist 0", {{a, b}}, CALL(cdist(x[0], x[1], 0)), constant({2, 2}, {2, 0, NAN, NAN}))
      .compares(DTypes{f32, f64})
      .no_gradient();
}

/// Squares beyond the range of floats on either side, and rows that are nearer to each other than to 0.
void add_far_rows(Cases& cases) {
  InputSpec a = given({3, 2}, {1e22, -3e22, 1e-22, 3e-22, 4096, 4096.5});
  InputSpec b = given({3, 2}, {2e22, 5e22, 0, 0, 4096.25, 4096.5});
  a.differentiable = b.differentiable = false;
  cases
      .add("cdist of far rows", {{a, b}}, CALL(cdist(x[0], x[1])),
           [](const Arrays& x) {
             return Arrays{build({3, 3}, [&](const Index& at) {
               return std::hypot(x[0].at({at[0], 0}) - x[1].at({at[1], 0}), x[0].at({at[0], 1}) - x[1].at({at[1], 1}));
             })};
           })
      .compares(DTypes{f32, f64})
      .no_gradient()
      .loose(4);
}

void add_errors(Cases& cases) {
  const Tensor x = ones({2, 3});
  const std::pair<const char*, std::function<void(const Axes&)>> along[] = {
      {"amax", [=](const Axes& axes) { amax(x, axes); }},
      {"amin", [=](const Axes& axes) { amin(x, axes); }},
      {"aminmax", [=](const Axes& axes) { aminmax(x, axes); }},
      {"nansum", [=](const Axes& axes) { nansum(x, axes); }},
      {"nanmean", [=](const Axes& axes) { nanmean(x, axes); }},
      {"var_mean", [=](const Axes& axes) { var_mean(x, axes); }},
      {"std_mean", [=](const Axes& axes) { std_mean(x, axes); }},
      {"count_nonzero", [=](const Axes& axes) { count_nonzero(x, axes); }}};
  for (const auto& [name, f] : along) {
    cases.error<IndexError>(
        std::string(name) + " axis", [f = f] { f(2); },
        std::string(name) + "([2, 3] f32): axis 2 is out of range for 2 axes");
    cases.error<IndexError>(
        std::string(name) + " axis twice",
        [f = f] {
          f({1, -1});
        },
        std::string(name) + "([2, 3] f32): axis -1 is given twice");
  }
  cases.error<ShapeError>(
      "amax of nothing", [] { amax(ones({0})); },
      "amax([0] f32): the extremum of nothing is undefined: a reduced axis has size 0");
  cases.error<DtypeError>(
      "nanmean of integers", [] { nanmean(ones({2}, i64)); },
      "nanmean([2] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. x.to(f32)");
  cases.error<ShapeError>(
      "cov axes",
      [] {
        cov(ones({2, 2, 2}));
      },
      "cov([2, 2, 2] f32): the variables are the rows of a matrix, not of shape [2, 2, 2]");
  cases.error<ShapeError>(
      "cdist axes", [] { cdist(ones({2}), ones({2})); },
      "cdist([2] f32, [2] f32): rows of matrices are compared: two axes or more");
  cases.error<ShapeError>(
      "cdist lengths",
      [=] {
        cdist(x, ones({2, 2}));
      },
      "cdist([2, 3] f32, [2, 2] f32): rows differ in length: 3 and 2");
  cases.error<Error>(
      "cdist p", [=] { cdist(x, x, -1); }, "cdist([2, 3] f32, [2, 3] f32): p must be 0 or more, not -1");
}

}  // namespace

void add_statistics_cases(Cases& cases) {
  add_reductions(cases);
  add_matrices(cases);
  add_counted_differences(cases);
  add_far_rows(cases);
  add_errors(cases);
}

}  // namespace weft::testing
