// Cases of scans, differences and integrals.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tensor/adjoints/scan.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/scan.h"
#include "tests/ops/families.h"
#include "tests/reference/rows.h"

namespace weft::testing {

namespace {

/// f of the first 1, 2, ... elements.
std::function<Row(const Row&)> so_far(double (*f)(const Row&)) {
  return [=](const Row& x) {
    Row out;
    for (size_t i = 1; i <= x.size(); ++i) out.push_back(f(Row(x.begin(), x.begin() + static_cast<int64_t>(i))));
    return out;
  };
}
/// In double, one after the other: what 1e20 and -1e20 leave behind depends on the order and on the precision.
Row running_sum(const Row& x) {
  Row out(x.size());
  std::partial_sum(x.begin(), x.end(), out.begin());
  return out;
}
/// Where the extreme so far was last.
template <bool largest> double place_of(const Row& x) {
  size_t best = 0;
  for (size_t i = 1; i < x.size(); ++i)
    if (std::isnan(x[i]) || (largest ? x[i] >= x[best] : x[i] <= x[best])) best = i;
  return static_cast<double>(best);
}
template <bool largest> double extreme_of(const Row& x) { return x[static_cast<size_t>(place_of<largest>(x))]; }
template <bool largest> Reference extremes(int64_t axis) {
  return [=](const Arrays& x) {
    return Arrays{rowwise(axis, so_far(extreme_of<largest>))(x)[0], rowwise(axis, so_far(place_of<largest>))(x)[0]};
  };
}
Outputs list(const ValuesAndIndices& found) { return Outputs{found.values, found.indices}; }

using Draws = std::function<InputSpec(const Shape&)>;
std::vector<Sample> shapes(const Draws& draw) {
  return {{draw({5})},       {draw({3, 4})},     {draw({2, 3, 4})}, {draw({3, 11})}, {draw({2, 3, 9})},
          {draw({1, 3})},    {draw({4, 1, 2})},  {draw({0, 3})},    {draw({3, 0})},  {draw({})},
          {special({7, 2})}, {special({3, 24})}, {draw({10, 3})},   {draw({2, 33})}};
}

void add_sums(Cases& cases) {
  const auto draw = [](const Shape& shape) { return normal(shape); };
  std::vector<Sample> samples = shapes(draw);
  samples.push_back({integers({2, 90}, 0, 3)});
  for (const int64_t axis : {-1, 0}) {
    const std::string suffix = axis == 0 ? " first axis" : "";
    cases.add("cumsum" + suffix, samples, CALL(cumsum(x[0], axis)), rowwise(axis, running_sum))
        .accepts(kAll)
        .gives({Result::summed})
        .loose(2);
    cases.add("cumprod" + suffix, shapes(draw), CALL(cumprod(x[0], axis)), rowwise(axis, so_far(reference::prod)))
        .accepts(kAll)
        .gives({Result::summed})
        .loose(4);
    cases
        .add("logcumsumexp" + suffix, shapes(draw), CALL(logcumsumexp(x[0], axis)),
             rowwise(axis, so_far(reference::logsumexp)))
        .loose(4);
  }
  cases
      .add("cumprod with zeros",
           {{given({6}, {2, 0, 3, -1, 0.5, 2})}, {given({2, 3}, {0, 0, 1, 2, 0, 0})}, {given({1, 4}, {0, 1, 2, 0})}},
           CALL(cumprod(x[0], -1)), rowwise(-1, so_far(reference::prod)))
      .compares(kFloating)
      .loose(4);
  cases
      .add("logcumsumexp far apart", {{given({5}, {-80, 3, 2, 90, 89})}, {given({4}, {5, -70, -60, 4})}},
           CALL(logcumsumexp(x[0], 0)), rowwise(0, so_far(reference::logsumexp)))
      .compares(DTypes{f32, f64});
  cases
      .add("linear_recurrence", {{draw({4}), draw({4})}, {draw({3, 5}), draw({3, 5})}, {draw({2, 0}), draw({2, 0})}},
           CALL(adjoint::linear_recurrence(x[0], x[1], -1)),
           [](const Arrays& in) {
             return build(in[0].shape, [&](Index at) {
               double y = 0;
               const int64_t stop = at.back();
               for (at.back() = 0; at.back() <= stop; ++at.back()) y = in[0].at(at) * y + in[1].at(at);
               return y;
             });
           })
      .loose(4);
}

void add_extremes(Cases& cases) {
  const auto draw = [](const Shape& shape) { return distinct(shape); };
  std::vector<Sample> samples = shapes(draw);
  samples.push_back({integers({3, 40}, 0, 3)});
  cases.add("cummax", samples, CALL(list(cummax(x[0], -1))), extremes<true>(-1))
      .accepts(kAll)
      .gives({Result::same, Result::i64});
  cases.add("cummax first axis", samples, CALL(list(cummax(x[0], 0))), extremes<true>(0))
      .accepts(kAll)
      .gives({Result::same, Result::i64});
  cases.add("cummin", samples, CALL(list(cummin(x[0], 0))), extremes<false>(0))
      .accepts(kAll)
      .gives({Result::same, Result::i64});
}

/// f of adjacent elements along the last axis, which gets one shorter.
Reference neighbors(double (*f)(double, double)) {
  return [=](const Arrays& in) {
    Shape shape = in[0].shape;
    int64_t& last = shape[shape.size() - 1];
    last = std::max<int64_t>(0, last - 1);
    return build(shape, [&](Index at) {
      const double before = in[0].at(at);
      ++at.back();
      return f(before, in[0].at(at));
    });
  };
}
Array integral_of(const Array& y, const Array& x) {
  Shape shape = y.shape;
  const int64_t n = shape.back();
  shape[shape.size() - 1] = std::max<int64_t>(0, n - 1);
  return build(shape, [&](Index at) {
    double out = 0;
    for (int64_t i = 0, stop = at.back(); i <= stop; ++i) {
      Index a = at, b = at;
      a.back() = i, b.back() = i + 1;
      const Index from = {i}, to = {i + 1};
      const double width = x.rank() == 1 ? x.at(to) - x.at(from) : x.at(b) - x.at(a);
      out += (y.at(a) + y.at(b)) / 2 * width;
    }
    return out;
  });
}
/// The whole integral.
Array last_of(const Array& y) {
  Shape shape = y.shape;
  const int64_t n = shape.back();
  shape.erase(shape.size() - 1);
  return build(shape, [&](Index at) {
    at.push_back(n - 1);
    return y.at(at);
  });
}

void add_differences(Cases& cases) {
  const std::vector<Sample> samples = {{normal({5})},    {normal({3, 4})},    {normal({2, 1})},
                                       {normal({2, 0})}, {normal({2, 3, 4})}, {integers({3, 4}, 0, 9)},
                                       {special({2, 9})}};
  cases.add("diff", samples, CALL(diff(x[0])), neighbors([](double a, double b) { return b - a; }))
      .compares(kAll - DTypes{boolean});
  cases
      .add("diff of bool", {{mask({3, 5})}}, CALL(diff(x[0])),
           neighbors([](double a, double b) { return a != b ? 1.0 : 0.0; }))
      .gives({Result::boolean})
      .no_gradient();
  cases
      .add("diff twice", {{normal({3, 5})}, {normal({2})}, {normal({1, 1})}}, CALL(diff(x[0], 2)),
           [](const Arrays& in) {
             const Reference once = neighbors([](double a, double b) { return b - a; });
             return once(once(in));
           })
      .compares(DTypes{f32, f64});
  cases
      .add("diff none, with a neighbor", {{normal({3, 5})}}, CALL(diff(x[0], {.n = 0, .prepend = x[0]})),
           [](const Arrays& in) { return Arrays{in[0]}; })
      .compares(kFloating);
  cases.add("diff none", {{normal({3, 5})}}, CALL(diff(x[0], 0)), [](const Arrays& in) { return Arrays{in[0]}; })
      .compares(kFloating);

  const std::vector<Sample> alone = {{normal({5})}, {normal({3, 4})}, {normal({2, 3, 2})}};
  const std::vector<Sample> placed = {
      {normal({5}), normal({5})}, {normal({3, 4}), normal({4})}, {normal({2, 3}), normal({2, 3})}};
  const auto spaced = [](const Array& y, double dx) {
    return Array{{y.shape.back()}, [&] {
                   Row out;
                   for (int64_t i = 0; i < y.shape.back(); ++i) out.push_back(dx * static_cast<double>(i));
                   return out;
                 }()};
  };
  cases
      .add("trapezoid", alone, CALL(trapezoid(x[0], 0.5)),
           [=](const Arrays& in) { return last_of(integral_of(in[0], spaced(in[0], 0.5))); })
      .compares(DTypes{f32, f64})
      .loose(2);
  cases
      .add("trapezoid at places", placed, CALL(trapezoid(x[0], x[1])),
           [](const Arrays& in) { return last_of(integral_of(in[0], in[1])); })
      .compares(DTypes{f32, f64})
      .loose(4);
  cases
      .add("cumulative_trapezoid", alone, CALL(cumulative_trapezoid(x[0], 2)),
           [=](const Arrays& in) { return integral_of(in[0], spaced(in[0], 2)); })
      .compares(DTypes{f32, f64})
      .loose(4);
  cases
      .add("cumulative_trapezoid at places", placed, CALL(cumulative_trapezoid(x[0], x[1])),
           [](const Arrays& in) { return integral_of(in[0], in[1]); })
      .compares(DTypes{f32, f64})
      .loose(4);
  cases
      .add("trapezoid of nothing", {{normal({2, 0})}, {normal({2, 1})}}, CALL(trapezoid(x[0])),
           [](const Arrays& in) {
             return Arrays{Array{{in[0].shape[0]}, Row(static_cast<size_t>(in[0].shape[0]), 0.0)}};
           })
      .compares(kFloating);
}

void add_errors(Cases& cases) {
  const Tensor x = ones({2, 3});
  const std::pair<const char*, std::function<void(int64_t)>> along[] = {
      {"cumsum", [=](int64_t axis) { cumsum(x, axis); }},
      {"cumprod", [=](int64_t axis) { cumprod(x, axis); }},
      {"logcumsumexp", [=](int64_t axis) { logcumsumexp(x, axis); }},
      {"cummax", [=](int64_t axis) { cummax(x, axis); }},
      {"cummin", [=](int64_t axis) { cummin(x, axis); }},
      {"diff", [=](int64_t axis) { diff(x, 1, axis); }},
      {"trapezoid", [=](int64_t axis) { trapezoid(x, 1.0, axis); }},
      {"cumulative_trapezoid", [=](int64_t axis) { cumulative_trapezoid(x, 1.0, axis); }}};
  for (const auto& [name, f] : along) {
    cases.error<IndexError>(
        std::string(name) + " axis", [f = f] { f(2); },
        std::string(name) + "([2, 3] f32): axis 2 is out of range for 2 axes");
    cases.error<IndexError>(
        std::string(name) + " negative axis", [f = f] { f(-3); },
        std::string(name) + "([2, 3] f32): axis -3 is out of range for 2 axes");
  }
  cases.error<DtypeError>(
      "logcumsumexp of integers", [] { logcumsumexp(ones({2}, i64), 0); },
      "logcumsumexp([2] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. x.to(f32)");
  cases.error<Error>(
      "diff n", [=] { diff(x, -1); }, "diff([2, 3] f32): n must be 0 or more, not -1");
  cases.error<ShapeError>(
      "diff of a scalar", [] { diff(ones({})); }, "diff([] f32): a tensor without axes has no neighbors");
  cases.error<ShapeError>(
      "diff after a row", [=] { diff(x, {.prepend = ones({3})}); },
      "diff([2, 3] f32): prepend and append must have the 2 axes of x, not shape [3]");
  cases.error<ShapeError>(
      "trapezoid of a scalar", [] { trapezoid(ones({})); },
      "trapezoid([] f32): a tensor without axes has no neighbors");
  cases.error<ShapeError>(
      "trapezoid places", [=] { trapezoid(x, ones({2})); },
      "trapezoid([2, 3] f32, [2] f32): x has 2 places, y 3 samples on axis 1");
  cases.error<ShapeError>(
      "cumulative_trapezoid places", [=] { cumulative_trapezoid(x, ones({4})); },
      "cumulative_trapezoid([2, 3] f32, [4] f32): x has 4 places, y 3 samples on axis 1");
  cases.error<ShapeError>(
      "linear_recurrence shapes", [=] { adjoint::linear_recurrence(x, ones({3}), 0); },
      "linear_recurrence([2, 3] f32, [3] f32): shapes differ: [2, 3] and [3]");
  cases.error<Error>(
      "cumsum undefined", [] { cumsum(Tensor(), 0); },
      "cumsum(): a tensor is undefined (default-constructed, or an absent gradient)");
}

}  // namespace

void add_scan_cases(Cases& cases) {
  add_sums(cases);
  add_extremes(cases);
  add_differences(cases);
  add_errors(cases);
}

}  // namespace weft::testing
