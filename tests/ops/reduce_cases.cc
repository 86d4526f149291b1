// Cases of reductions: sums, products, extremes, moments, norms, logic.
#include <cmath>

#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tests/ops/families.h"
#include "tests/reference/rows.h"

namespace weft::testing {

namespace {

using Draws = std::function<InputSpec(const Shape&)>;

/// One reduction over all axes, the first, the last (kept), and two of three.
void add(Cases& cases, const std::string& name, const Draws& draw,
         const std::function<Tensor(const Tensor&, const Axes&, KeepDim)>& call,
         const std::function<double(const Row&)>& f, const std::function<void(OpCase&)>& set, bool empty = true) {
  std::vector<Sample> samples = {{draw({3, 4})},    {draw({})},           {draw({7})},
                                 {draw({2, 3, 4})}, {draw({2, 3, 2, 2})}, {draw({19})}};
  if (empty) samples.push_back({draw({0, 3})});
  set(cases.add(name, samples, CALL(call(x[0], {}, KeepDim())), reduction({}, false, f)));
  set(cases.add(name + " first", {{draw({3, 4})}, {draw({2, 5, 3})}, {draw({6})}, {draw({3, 0})}, {draw({})}},
                CALL(call(x[0], 0, KeepDim())), reduction({0}, false, f)));
  set(cases.add(name + " last kept",
                {{draw({3, 4})}, {draw({2, 3, 5})}, {draw({2, 2, 3, 3})}, {draw({0, 3})}, {draw({})}},
                CALL(call(x[0], -1, keepdim)), reduction({-1}, true, f)));
  set(cases.add(name + " two axes", {{draw({3, 2, 4})}, {draw({2, 2, 2, 3})}}, CALL(call(x[0], {2, 0}, KeepDim())),
                reduction({0, 2}, false, f)));
}

const Draws freely = [](const Shape& shape) { return normal(shape); };
const Draws apart = [](const Shape& shape) { return distinct(shape); };
const Draws nonzero = [](const Shape& shape) { return normal(shape, {0}); };
const Draws ties = [](const Shape& shape) { return integers(shape, 0, 2); };

void add_sums(Cases& cases) {
  const auto summed = [](OpCase& op) { op.accepts(kAll).gives({Result::summed}).loose(4); };
  add(
      cases, "sum", freely, [](const Tensor& x, const Axes& a, KeepDim k) { return sum(x, a, k); }, reference::sum,
      summed);
  add(
      cases, "prod", freely, [](const Tensor& x, const Axes& a, KeepDim k) { return prod(x, a, k); }, reference::prod,
      summed);
  cases
      .add("prod with zeros", {{given({2, 4}, {1, 0, 2, 3, 0, 2, 0, 4})}}, CALL(prod(x[0], 1)),
           reduction({1}, false, reference::prod))
      .compares(kFloating);
  add(
      cases, "mean", freely, [](const Tensor& x, const Axes& a, KeepDim k) { return mean(x, a, k); }, reference::mean,
      [](OpCase& op) { op.accepts(kFloating).loose(4); });
  cases
      .add("mean whose sum is more than f16 holds", {{given({2, 4}, {2e4, 3e4, 4e4, 5e4, -3e4, -4e4, -5e4, -6e4})}},
           CALL(mean(x[0], 1)), reduction({1}, false, reference::mean))
      .compares(kFloating);
  cases.add("sum with special values", {{special({19, 2})}}, CALL(sum(x[0], 1)), reduction({1}, false, reference::sum))
      .compares(kFloating);
}

void add_extremes(Cases& cases) {
  const auto all = [](OpCase& op) { op.accepts(kAll); };
  const auto maximum = [](const Tensor& x, const Axes& a, KeepDim k) { return max(x, a, k); };
  const auto minimum = [](const Tensor& x, const Axes& a, KeepDim k) { return min(x, a, k); };
  add(cases, "max", apart, maximum, reference::max, all, false);
  add(cases, "min", apart, minimum, reference::min, all, false);
  add(cases, "max with ties", ties, maximum, reference::max, all, false);
  add(cases, "min with ties", ties, minimum, reference::min, all, false);
  cases.add("max with special values", {{special({19, 2})}}, CALL(max(x[0], 1)), reduction({1}, false, reference::max))
      .compares(kFloating);
}

void add_logic(Cases& cases) {
  const auto boolean_result = [](OpCase& op) { op.accepts(kAll).gives({Result::boolean}).no_gradient(); };
  add(
      cases, "all of", ties, [](const Tensor& x, const Axes& a, KeepDim k) { return all(x, a, k); }, reference::all,
      boolean_result);
  add(
      cases, "any of", ties, [](const Tensor& x, const Axes& a, KeepDim k) { return any(x, a, k); }, reference::any,
      boolean_result);
}

void add_moments(Cases& cases) {
  const auto floating = [](OpCase& op) { op.accepts(kFloating).loose(10); };
  add(
      cases, "logsumexp", freely, [](const Tensor& x, const Axes& a, KeepDim k) { return logsumexp(x, a, k); },
      reference::logsumexp, [](OpCase& op) { op.widens().loose(10); });
  add(
      cases, "var biased", freely, [](const Tensor& x, const Axes& a, KeepDim k) { return var(x, a, 0, k); },
      [](const Row& x) { return reference::variance(x, 0); }, floating);
  add(
      cases, "norm", nonzero, [](const Tensor& x, const Axes& a, KeepDim k) { return norm(x, 2, a, k); },
      [](const Row& x) { return reference::norm(x, 2); }, floating);
  add(
      cases, "norm 1", nonzero, [](const Tensor& x, const Axes& a, KeepDim k) { return norm(x, 1, a, k); },
      [](const Row& x) { return reference::norm(x, 1); }, floating);
  add(
      cases, "norm 3", nonzero, [](const Tensor& x, const Axes& a, KeepDim k) { return norm(x, 3, a, k); },
      [](const Row& x) { return reference::norm(x, 3); }, floating);
  add(
      cases, "norm 0", nonzero, [](const Tensor& x, const Axes& a, KeepDim k) { return norm(x, 0, a, k); },
      [](const Row& x) { return reference::norm(x, 0); }, floating);
  add(
      cases, "norm inf", apart, [](const Tensor& x, const Axes& a, KeepDim k) { return norm(x, INFINITY, a, k); },
      [](const Row& x) { return reference::norm(x, INFINITY); }, floating);
  cases
      .add("var", {{normal({3, 4})}, {normal({7})}, {normal({2, 3, 4})}}, CALL(var(x[0], -1)),
           reduction({-1}, false, [](const Row& x) { return reference::variance(x, 1); }))
      .accepts(kFloating)
      .loose(10);
  cases
      .add("std", {{normal({3, 4})}, {normal({7})}, {normal({2, 3, 4})}, {given({4}, {1000, -1000, 1000, -1000})}},
           CALL(stddev(x[0], 0, 1, keepdim)),
           reduction({0}, true, [](const Row& x) { return std::sqrt(reference::variance(x, 1)); }))
      .accepts(kFloating)
      .loose(10);
  // The mean of equal values is rounded, their variance is not below 0: its root would be NaN.
  cases
      .add("std of equal values", {{given({33, 2}, Row(66, 0.1))}, {given({80, 2}, Row(160, 1234567.8))}},
           CALL(weft::sqrt(var(x[0].select(1, 0)))), constant({}, {0}))
      .compares(DTypes{f32})
      .no_gradient();
  for (const double scale : {1e20, 1e-23})
    cases
        .add(scale > 1 ? "std of large numbers" : "std of tiny numbers",
             {{given({3, 3}, {scale, 3 * scale, 2 * scale, 5 * scale, 4 * scale, -scale, 0, scale, 7 * scale})}},
             CALL(mul(stddev(x[0], 0), 1 / scale)),
             reduction({0}, false, [=](const Row& x) { return std::sqrt(reference::variance(x, 1)) / scale; }))
        .compares(DTypes{f32})
        .no_gradient();
}

void add_sum_to_size(Cases& cases) {
  const auto add = [&](const char* name, const Shape& shape, const std::vector<int64_t>& axes) {
    cases
        .add(name, {{normal({2, 3, 4})}}, CALL(sum_to_size(x[0], shape)),
             [=](const Arrays& x) { return reshaped(reduction(axes, false, reference::sum)(x)[0], shape); })
        .accepts(kAll)
        .gives({Result::summed});
  };
  add("sum_to_size", {3, 1}, {0, 2});
  add("sum_to_size with leading ones", {1, 1, 4}, {0, 1});
  add("sum_to_size of all", {}, {0, 1, 2});
  cases
      .add("sum_to_size of its own size", {{normal({2, 3})}, {normal({0, 1})}, {normal({})}},
           CALL(sum_to_size(x[0], x[0].shape())), same())
      .accepts(kAll)
      .gives({Result::same});
  cases.error<ShapeError>(
      "sum_to_size",
      [] {
        sum_to_size(ones({2, 3}), {2});
      },
      "sum_to_size([2, 3] f32): it is no sum to shape [2], which does not expand to [2, 3]");
  cases.error<ShapeError>(
      "sum_to_size of more axes",
      [] {
        sum_to_size(ones({3}), {1, 3});
      },
      "sum_to_size([3] f32): it is no sum to shape [1, 3], which has more axes");
}

void add_errors(Cases& cases) {
  using Function = std::function<Tensor(const Tensor&, const Axes&)>;
  const std::pair<const char*, Function> functions[] = {
      {"sum", [](const Tensor& x, const Axes& a) { return sum(x, a); }},
      {"prod", [](const Tensor& x, const Axes& a) { return prod(x, a); }},
      {"mean", [](const Tensor& x, const Axes& a) { return mean(x, a); }},
      {"max", [](const Tensor& x, const Axes& a) { return max(x, a); }},
      {"min", [](const Tensor& x, const Axes& a) { return min(x, a); }},
      {"all", [](const Tensor& x, const Axes& a) { return all(x, a); }},
      {"any", [](const Tensor& x, const Axes& a) { return any(x, a); }},
      {"norm", [](const Tensor& x, const Axes& a) { return norm(x, 2, a); }},
      {"var", [](const Tensor& x, const Axes& a) { return var(x, a); }},
      {"std", [](const Tensor& x, const Axes& a) { return stddev(x, a); }},
      {"logsumexp", [](const Tensor& x, const Axes& a) { return logsumexp(x, a); }}};
  for (const auto& [name, f] : functions) {
    cases.error<IndexError>(
        std::string(name) + " axis",
        [f = f] {
          f(ones({2, 3}), 2);
        },
        std::string(name) + "([2, 3] f32): axis 2 is out of range for 2 axes");
    cases.error<IndexError>(
        std::string(name) + " axis of a scalar", [f = f] { f(ones({}), -2); },
        std::string(name) + "([] f32): axis -2 is out of range for 1 axis");
    cases.error<IndexError>(
        std::string(name) + " axis twice",
        [f = f] {
          f(ones({2, 3}), {0, -2});
        },
        std::string(name) + "([2, 3] f32): axis -2 is given twice");
    cases.error<Error>(
        std::string(name) + " undefined", [f = f] { f(Tensor(), {}); },
        std::string(name) + "(): a tensor is undefined (default-constructed, or an absent gradient)");
  }
  for (const auto& [name, f] : {functions[2], functions[7], functions[8], functions[9]})
    cases.error<DtypeError>(
        std::string(name) + " of integers", [f = f] { f(ones({2}, i64), {}); },
        std::string(name) +
            "([2] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. x.to(f32)");
  for (const auto& [name, f] : {functions[3], functions[4]})
    cases.error<ShapeError>(
        std::string(name) + " of nothing",
        [f = f] {
          f(ones({2, 0}), 1);
        },
        std::string(name) + "([2, 0] f32): the extremum of nothing is undefined: a reduced axis has size 0");
}

}  // namespace

void add_reduce_cases(Cases& cases) {
  add_sums(cases);
  add_extremes(cases);
  add_logic(cases);
  add_moments(cases);
  add_sum_to_size(cases);
  add_errors(cases);
}

}  // namespace weft::testing
