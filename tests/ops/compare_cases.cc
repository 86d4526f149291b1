// Cases of comparisons, logic and where.
#include <cmath>

#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

/// Pairs with many ties, broadcast, empty and scalar ones, and special values.
std::vector<Sample> ties() {
  std::vector<Sample> out;
  const std::pair<Shape, Shape> shapes[] = {{{4, 5}, {4, 5}}, {{4, 5}, {5}}, {{3, 1}, {2, 1, 4}},
                                            {{}, {6}},        {{0, 3}, {3}}, {{37}, {37}}};
  for (const auto& [a, b] : shapes) out.push_back({integers(a, -2, 2), integers(b, -2, 2)});
  return out;
}
std::vector<Sample> singles() {
  return {{integers({4, 5}, -2, 2)}, {integers({}, 0, 1)}, {integers({0, 2}, 0, 1)}, {integers({37}, -1, 1)}};
}

OpCase& add_pair(Cases& cases, const char* name, Tensor (*f)(const Tensor&, const Tensor&),
                 double (*reference)(double, double)) {
  std::vector<Sample> samples = ties();
  samples.push_back({special({19, 1}), special({19})});
  return cases.add(name, samples, CALL(f(x[0], x[1])), pointwise(reference))
      .accepts(kAll)
      .gives({Result::boolean})
      .no_gradient();
}

OpCase& add_scalar(Cases& cases, const char* name, Tensor (*f)(const Tensor&, const Scalar&),
                   double (*reference)(double)) {
  return cases.add(name, singles(), CALL(f(x[0], 1)), pointwise(reference))
      .accepts(kAll)
      .gives({Result::boolean})
      .no_gradient();
}

void add_comparisons(Cases& cases) {
  add_pair(cases, "eq", eq, [](double a, double b) { return double(a == b); });
  add_pair(cases, "ne", ne, [](double a, double b) { return double(a != b); });
  add_pair(cases, "lt", lt, [](double a, double b) { return double(a < b); });
  add_pair(cases, "le", le, [](double a, double b) { return double(a <= b); });
  add_pair(cases, "gt", gt, [](double a, double b) { return double(a > b); });
  add_pair(cases, "ge", ge, [](double a, double b) { return double(a >= b); });
  add_scalar(cases, "eq scalar", eq, [](double a) { return double(a == 1); });
  add_scalar(cases, "ne scalar", ne, [](double a) { return double(a != 1); });
  add_scalar(cases, "lt scalar", lt, [](double a) { return double(a < 1); });
  add_scalar(cases, "le scalar", le, [](double a) { return double(a <= 1); });
  add_scalar(cases, "gt scalar", gt, [](double a) { return double(a > 1); });
  add_scalar(cases, "ge scalar", ge, [](double a) { return double(a >= 1); });
  cases
      .add("scalar on the left", singles(), CALL(Outputs{0.5 < x[0], 1 >= x[0], 1 == x[0]}),
           [](const Arrays& x) {
             return Arrays{pointwise([](double a) { return double(0.5 < a); })(x)[0],
                           pointwise([](double a) { return double(1 >= a); })(x)[0],
                           pointwise([](double a) { return double(1 == a); })(x)[0]};
           })
      .accepts(kAll)
      .gives({Result::boolean})
      .no_gradient();
}

void add_logic(Cases& cases) {
  add_pair(cases, "logical and", logical_and, [](double a, double b) { return double(a != 0 && b != 0); });
  add_pair(cases, "logical or", logical_or, [](double a, double b) { return double(a != 0 || b != 0); });
  add_pair(cases, "logical xor", logical_xor, [](double a, double b) { return double((a != 0) != (b != 0)); });
  auto add = [&](const char* name, Tensor (*f)(const Tensor&), double (*reference)(double)) {
    std::vector<Sample> samples = singles();
    samples.push_back({special({38})});
    cases.add(name, samples, CALL(f(x[0])), pointwise(reference)).accepts(kAll).gives({Result::boolean}).no_gradient();
  };
  add("logical not", logical_not, [](double a) { return double(a == 0); });
  add("isnan", isnan, [](double a) { return double(std::isnan(a)); });
  add("isfinite", isfinite, [](double a) { return double(std::isfinite(a)); });
}

void add_where(Cases& cases) {
  std::vector<Sample> samples;
  for (const Shape& shape : std::vector<Shape>{{3, 4}, {}, {0, 2}, {4}, {2, 3, 4}, {2, 1, 1, 4}, {37}})
    samples.push_back({mask(shape), normal(shape), normal(shape)});
  samples.push_back({mask({3, 1}), normal({4}), normal({})});
  samples.push_back({mask({}), normal({2, 1}), normal({1, 3})});
  samples.push_back({mask({19}), special({19}), special({1})});
  cases
      .add("where", samples, CALL(where(x[0], x[1], x[2])),
           [](const Arrays& x) {
             return build(broadcast_of(x[0].shape, broadcast_of(x[1].shape, x[2].shape)), [&](const Index& i) {
               return broadcast_at(x[0], i) != 0 ? broadcast_at(x[1], i) : broadcast_at(x[2], i);
             });
           })
      .accepts(kAll);
  cases
      .add("equal and allclose",
           {{integers({3, 4}, -2, 2), integers({3, 4}, -2, 2)}, {integers({0}, 0, 1), integers({0}, 0, 1)}},
           CALL(Outputs{full({}, equal(x[0], x[0])), full({}, equal(x[0], x[1])),
                        full({}, allclose(x[0], x[1], 0, 4.5))}),
           [](const Arrays& x) {
             return Arrays{{{}, {1}}, {{}, {double(x[0].values == x[1].values)}}, {{}, {1}}};
           })
      .compares(kNumbers - DTypes{u8})
      .gives({Result::boolean})
      .no_gradient()
      .no_vmap();
}

void add_errors(Cases& cases) {
  using Function = Tensor (*)(const Tensor&, const Tensor&);
  const std::pair<const char*, Function> functions[] = {{"eq", eq},
                                                        {"ne", ne},
                                                        {"lt", lt},
                                                        {"le", le},
                                                        {"gt", gt},
                                                        {"ge", ge},
                                                        {"logical_and", logical_and},
                                                        {"logical_or", logical_or},
                                                        {"logical_xor", logical_xor}};
  for (const auto& [name, f] : functions)
    cases.error<ShapeError>(
        std::string(name) + " shapes",
        [f = f] {
          f(ones({2, 3}), ones({4}));
        },
        std::string(name) + "([2, 3] f32, [4] f32): shapes [2, 3] and [4] do not broadcast: 3 and 4 on axis -1");
  cases.error<DtypeError>(
      "where condition", [] { where(ones({2}), ones({2}), ones({2})); },
      "where([2] f32, [2] f32, [2] f32): the condition is f32; it takes bool, e.g. x != 0");
  cases.error<ShapeError>(
      "where condition shape", [] { where(ones({3}, boolean), ones({2}), ones({2})); },
      "where([3] bool, [2] f32, [2] f32): shapes [3] and [2] do not broadcast: 3 and 2 on axis -1");
  cases.error<ShapeError>(
      "where shapes", [] { where(ones({2}, boolean), ones({2}), ones({3})); },
      "where([2] bool, [2] f32, [3] f32): shapes [2] and [3] do not broadcast: 2 and 3 on axis -1");
  cases.error<Error>(
      "allclose of a negative tolerance", [] { allclose(ones({2}), ones({2}), {.atol = -1}); },
      "allclose([2] f32, [2] f32): rtol = 1e-05 and atol = -1 must be 0 or more");
  cases.error<Error>(
      "isnan undefined", [] { isnan(Tensor()); },
      "isnan(): a tensor is undefined (default-constructed, or an absent gradient)");
  cases.error<Error>(
      "logical_not undefined", [] { logical_not(Tensor()); },
      "logical_not(): a tensor is undefined (default-constructed, or an absent gradient)");
  cases.error<ShapeError>(
      "allclose shapes", [] { allclose(ones({2}), ones({3})); },
      "allclose([2] f32, [3] f32): shapes [2] and [3] do not broadcast: 2 and 3 on axis -1");
}

}  // namespace

void add_compare_cases(Cases& cases) {
  add_comparisons(cases);
  add_logic(cases);
  add_where(cases);
  add_errors(cases);
}

}  // namespace weft::testing
