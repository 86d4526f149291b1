// Cases of lerp, addcmul, addcdiv, clamp with tensors, where with numbers, isclose, and sums with products.
#include <cmath>
#include <limits>

#include "tensor/functions/addmm.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/blend.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/unary.h"
#include "tests/ops/families.h"
#include "tests/reference/matmul.h"
#include "tests/reference/rows.h"

namespace weft::testing {

namespace {

std::vector<Sample> three(const std::function<InputSpec(const Shape&)>& a,
                          const std::function<InputSpec(const Shape&)>& b,
                          const std::function<InputSpec(const Shape&)>& c) {
  return {{a({3, 4}), b({3, 4}), c({3, 4})}, {a({}), b({}), c({})},       {a({3, 1}), b({4}), c({})},
          {a({0, 3}), b({3}), c({1, 1})},    {a({37}), b({37}), c({37})}, {a({2, 1, 3}), b({2, 1}), c({3})}};
}
InputSpec any(const Shape& shape) { return normal(shape); }
InputSpec weight(const Shape& shape) { return uniform(shape, 0.6, 1.4); }
InputSpec small_weight(const Shape& shape) { return uniform(shape, -0.4, 0.4); }

void add_lerp(Cases& cases) {
  const auto naive = [](double a, double b, double w) { return a + w * (b - a); };
  cases.add("lerp", three(any, any, weight), CALL(lerp(x[0], x[1], x[2])), pointwise(naive))
      .compares(kFloating)
      .loose(10);
  cases.add("lerp near the start", three(any, any, small_weight), CALL(lerp(x[0], x[1], x[2])), pointwise(naive))
      .compares(kFloating)
      .loose(10);
  const std::vector<Sample> pairs = {{normal({3, 4}), normal({3, 4})},
                                     {normal({3, 1}), normal({4})},
                                     {normal({}), normal({})},
                                     {normal({0}), normal({0})}};
  cases
      .add("lerp by a number", pairs,
           CALL(Outputs{lerp(x[0], x[1], 0.25), lerp(x[0], x[1], 0.75), lerp(x[0], x[1], 1.0)}),
           [](const Arrays& x) {
             return Arrays{pointwise([](double a, double b) { return a + 0.25 * (b - a); })(x)[0],
                           pointwise([](double a, double b) { return a + 0.75 * (b - a); })(x)[0],
                           pointwise([](double, double b) { return b; })(x)[0]};
           })
      .compares(kFloating)
      .loose(10);
  cases
      .add("lerp_", {{normal({3, 4}), normal({3, 4})}, {normal({}), normal({})}, {normal({3, 4}), normal({4})}},
           CALL((x[0] * 1).lerp_(x[1], 0.25)), pointwise([](double a, double b) { return a + 0.25 * (b - a); }))
      .compares(kFloating)
      .loose(10)
      .in_place();
}

void add_products(Cases& cases) {
  const std::vector<Sample> pairs = {
      {any({3, 4}), any({3, 4})}, {any({3, 1}), any({4})}, {any({}), any({})}, {any({0}), any({0})}};
  cases
      .add("add and sub of a multiple", pairs, CALL(Outputs{add(x[0], x[1], 3), sub(x[0], x[1], 2)}),
           [](const Arrays& x) {
             return Arrays{pointwise([](double a, double b) { return a + 3 * b; })(x)[0],
                           pointwise([](double a, double b) { return a - 2 * b; })(x)[0]};
           })
      .compares(kNumbers)
      .loose(4);
  cases
      .add("addcmul", three(any, any, any), CALL(addcmul(x[0], x[1], x[2])),
           pointwise([](double a, double b, double c) { return a + b * c; }))
      .compares(kNumbers)
      .loose(4);
  cases
      .add("addcmul with a value", three(any, any, any), CALL(addcmul(x[0], x[1], x[2], 3)),
           pointwise([](double a, double b, double c) { return a + 3 * b * c; }))
      .compares(kNumbers)
      .loose(10);
  cases
      .add("addcdiv", three(any, any, positive), CALL(addcdiv(x[0], x[1], x[2], 0.5)),
           pointwise([](double a, double b, double c) { return a + 0.5 * b / c; }))
      .accepts(kFloating)
      .loose(10)
      .large_parts();
}

void add_clamp(Cases& cases) {
  const auto low = [](const Shape& shape) { return uniform(shape, -4.5, -4); };
  const auto high = [](const Shape& shape) { return uniform(shape, 4, 4.5); };
  const auto naive = [](double a, double b, double c) { return std::isnan(a) ? a : std::min(std::max(a, b), c); };
  cases
      .add("clamp with tensors", three(any, low, high), CALL(clamp(x[0] * 4, x[1], x[2])),
           [=](const Arrays& x) {
             Arrays scaled = x;
             for (double& v : scaled[0].values) v *= 4;
             return pointwise(naive)(scaled);
           })
      .compares(kFloating)
      .loose(4);
  cases
      .add("clamp integers with tensors", {{integers({20}, -9, 9), integers({20}, -5, 0), integers({20}, 0, 5)}},
           CALL(clamp(x[0], x[1], x[2])), pointwise(naive))
      .compares(kNumbers - DTypes{u8});
  cases
      .add("clamp_min and clamp_max", {{normal({3, 4}, {0, 1})}, {normal({}, {0, 1})}, {normal({0})}},
           CALL(Outputs{clamp_min(x[0], 0), clamp_max(x[0], 1)}),
           [](const Arrays& x) {
             return Arrays{pointwise([](double a) { return std::max(a, 0.0); })(x)[0],
                           pointwise([](double a) { return std::min(a, 1.0); })(x)[0]};
           })
      .compares(kNumbers);
  cases
      .add("clamp_min and clamp_max with tensors",
           {{normal({3, 4}), uniform({4}, -9, -8)}, {normal({0, 2}), normal({2})}},
           CALL(Outputs{clamp_min(x[0], x[1]), clamp_max(x[0], x[1])}),
           [](const Arrays& x) {
             return Arrays{pointwise([](double a, double b) { return std::max(a, b); })(x)[0],
                           pointwise([](double a, double b) { return std::min(a, b); })(x)[0]};
           })
      .compares(kFloating);
}

void add_choices(Cases& cases) {
  const std::vector<Sample> samples = {
      {mask({3, 4}), normal({3, 4})}, {mask({3, 1}), normal({4})}, {mask({}), normal({})}, {mask({0}), normal({0})}};
  cases
      .add("where with numbers", samples, CALL(Outputs{where(x[0], x[1], 2), where(x[0], 3, x[1])}),
           [](const Arrays& x) {
             return Arrays{pointwise([](double c, double a) { return c != 0 ? a : 2; })(x)[0],
                           pointwise([](double c, double a) { return c != 0 ? 3 : a; })(x)[0]};
           })
      .compares(kNumbers);
  cases
      .add("where of two numbers", {{mask({3, 4})}, {mask({})}},
           CALL(Outputs{where(x[0], 1.5, 2.5), where(x[0], 1, 2)}),
           [](const Arrays& x) {
             return Arrays{pointwise([](double c) { return c != 0 ? 1.5 : 2.5; })(x)[0],
                           pointwise([](double c) { return c != 0 ? 1.0 : 2.0; })(x)[0]};
           })
      .gives({Result::f32, Result::i64});
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  cases
      .add("isclose", {{given({7}, {1, 1, inf, inf, nan, 1, -inf}), given({7}, {1.001, 1.1, inf, 1, nan, nan, inf})}},
           CALL(Outputs{isclose(x[0], x[1], 0.01), isclose(x[0], x[1], 0.01, 0, true)}),
           [](const Arrays&) {
             return Arrays{Array{{7}, {1, 0, 1, 0, 0, 0, 0}}, Array{{7}, {1, 0, 1, 0, 1, 0, 0}}};
           })
      .compares(kFloating)
      .gives({Result::boolean})
      .no_gradient();
  cases
      .add("kinds of infinity", {{special({19})}, {normal({3})}, {normal({})}, {normal({0, 2})}},
           CALL(Outputs{isinf(x[0]), isposinf(x[0]), isneginf(x[0])}),
           [](const Arrays& x) {
             return Arrays{pointwise([](double a) { return double(std::isinf(a)); })(x)[0],
                           pointwise([](double a) { return double(std::isinf(a) && a > 0); })(x)[0],
                           pointwise([](double a) { return double(std::isinf(a) && a < 0); })(x)[0]};
           })
      .accepts(kAll)
      .gives({Result::boolean})
      .no_gradient();
  cases
      .add("signbit", {{special({19})}, {normal({3, 4})}, {normal({})}}, CALL(signbit(where(isnan(x[0]), 1, x[0]))),
           pointwise([](double a) { return std::isnan(a) ? 0 : double(std::signbit(a)); }))
      .compares(kNumbers)
      .gives({Result::boolean})
      .no_gradient();
}

/// beta x + alpha a b of matrices, for each batch or summed over it.
Reference products(double beta, double alpha, bool summed) {
  return [=](const Arrays& x) {
    const Array column = x[2].rank() == 1 ? reshaped(x[2], {x[2].size(0), 1}) : x[2];
    Array all = reference::matmul(x[1], column);
    if (x[1].rank() == 3 && summed) all = reduction({0}, false, reference::sum)(all)[0];
    if (x[2].rank() == 1) all.shape.erase(1);
    return build(all.shape, [&](const Index& i) { return beta * broadcast_at(x[0], i) + alpha * all.at(i); });
  };
}

void add_addmm(Cases& cases) {
  const std::vector<Sample> matrices = {{normal({2, 4}), normal({2, 3}), normal({3, 4})},
                                        {normal({4}), normal({2, 3}), normal({3, 4})},
                                        {normal({}), normal({2, 3}), normal({3, 4})},
                                        {normal({2, 1}), normal({2, 0}), normal({0, 4})}};
  cases.add("addmm", matrices, CALL(addmm(x[0], x[1], x[2])), products(1, 1, false)).compares(kFloating).loose(10);
  cases.add("addmm with factors", matrices, CALL(addmm(x[0], x[1], x[2], 0.5, 2)), products(0.5, 2, false))
      .compares(kFloating)
      .loose(10);
  cases  // the product leaves f16, the result does not
      .add("addmm of a large product", {{given({1, 1}, {-40000}), given({1, 1}, {300}), given({1, 1}, {250})}},
           CALL(addmm(x[0], x[1], x[2])), products(1, 1, false))
      .compares(kFloating);
  cases
      .add("addmm without its product", {{normal({4}), special({2, 3}), normal({3, 4})}},
           CALL(addmm(x[0], x[1], x[2], 2, 0)),
           [](const Arrays& x) {
             return build({2, 4}, [&](const Index& at) { return 2 * x[0].values[static_cast<size_t>(at[1])]; });
           })
      .compares(kFloating)
      .no_gradient();
  cases
      .add("addr", {{normal({3, 4}), normal({3}), normal({4})}, {normal({4}), normal({3}), normal({4})}},
           CALL(addr(x[0], x[1], x[2], 0.5, 2)),
           [](const Arrays& x) {
             return build({3, 4}, [&](const Index& at) {
               return 0.5 * broadcast_at(x[0], at) +
                      2 * x[1].values[static_cast<size_t>(at[0])] * x[2].values[static_cast<size_t>(at[1])];
             });
           })
      .compares(kFloating)
      .loose(10);
  cases
      .add("addmm without its first", {{special({4}), normal({2, 3}), normal({3, 4})}},
           CALL(addmm(x[0], x[1], x[2], 0)),
           [](const Arrays& x) {
             Arrays zero = x;
             for (double& v : zero[0].values) v = 0;
             return products(1, 1, false)(zero);
           })
      .compares(kFloating)
      .no_gradient()
      .loose(10);
  cases
      .add("addmv", {{normal({2}), normal({2, 3}), normal({3})}, {normal({}), normal({2, 3}), normal({3})}},
           CALL(addmv(x[0], x[1], x[2], 2, 0.5)), products(2, 0.5, false))
      .compares(kFloating)
      .loose(10);
  const std::vector<Sample> batches = {{normal({2, 4}), normal({3, 2, 3}), normal({3, 3, 4})},
                                       {normal({2, 1}), normal({3, 2, 3}), normal({3, 3, 4})}};
  cases.add("baddbmm", batches, CALL(baddbmm(x[0], x[1], x[2], 0.5, 2)), products(0.5, 2, false))
      .compares(kFloating)
      .loose(10);
  cases.add("addbmm", batches, CALL(addbmm(x[0], x[1], x[2], 0.5, 2)), products(0.5, 2, true))
      .compares(kFloating)
      .loose(10);
}

void add_errors(Cases& cases) {
  cases.error<ShapeError>(
      "lerp shapes", [] { lerp(ones({2}), ones({3}), 0.5); },
      "lerp([2] f32, [3] f32): shapes [2] and [3] do not broadcast: 2 and 3 on axis -1");
  cases.error<ShapeError>(
      "lerp_ shapes", [] { ones({2}).lerp_(ones({3}), 0.5); },
      "lerp_([2] f32, [3] f32): [3] does not broadcast to [2]: 3 and 2 on axis 0");
  cases.error<DtypeError>(
      "addcdiv of integers", [] { addcdiv(ones({2}, i64), ones({2}, i64), ones({2}, i64)); },
      "addcdiv([2] i64, [2] i64, [2] i64): a quotient of integers; use x + value * floor_divide(a, b), or cast first, "
      "e.g. a.to(f32)");
  cases.error<ShapeError>(
      "addcmul shapes", [] { addcmul(ones({2}), ones({3}), ones({4})); },
      "addcmul([2] f32, [3] f32, [4] f32): shapes [2] and [3] do not broadcast: 2 and 3 on axis -1");
  cases.error<ShapeError>(
      "clamp shapes", [] { clamp(ones({2}), ones({3}), ones({2})); },
      "clip([2] f32, [3] f32, [2] f32): shapes [2] and [3] do not broadcast: 2 and 3 on axis -1");
  cases.error<ShapeError>(
      "addmm ranks",
      [] {
        addmm(ones({2}), ones({2}), ones({2, 2}));
      },
      "addmm([2] f32, [2] f32, [2, 2] f32): the factors have 1 and 2 axes; it takes 2 and 2");
  cases.error<ShapeError>(
      "addmv ranks",
      [] {
        addmv(ones({2}), ones({2, 2}), ones({2, 2}));
      },
      "addmv([2] f32, [2, 2] f32, [2, 2] f32): the factors have 2 and 2 axes; it takes 2 and 1");
  cases.error<ShapeError>(
      "baddbmm ranks",
      [] {
        baddbmm(ones({2}), ones({2, 2}), ones({2, 2}));
      },
      "baddbmm([2] f32, [2, 2] f32, [2, 2] f32): the factors have 2 and 2 axes; it takes 3 and 3");
  cases.error<ShapeError>(
      "addbmm ranks",
      [] {
        addbmm(ones({2}), ones({1, 2, 2}), ones({2, 2}));
      },
      "addbmm([2] f32, [1, 2, 2] f32, [2, 2] f32): the factors have 3 and 2 axes; it takes 3 and 3");
  cases.error<ShapeError>(
      "addmm enlarges",
      [] {
        addmm(ones({3, 2, 2}), ones({2, 2}), ones({2, 2}));
      },
      "addmm([3, 2, 2] f32, [2, 2] f32, [2, 2] f32): [3, 2, 2] does not broadcast to the fewer axes of [2, 2]");
  cases.error<DtypeError>(
      "where of a number", [] { where(ones({2}), 1, 2); },
      "where([2] f32): the condition is f32; it takes bool, e.g. x != 0");
  cases.error<Error>(
      "where with too large a number", [] { where(ones({2}, boolean), ones({2}, u8), 300); },
      "where([2] bool, [2] u8): the value 300 does not fit into u8, which holds 0 to 255");
}

}  // namespace

void add_blend_cases(Cases& cases) {
  add_lerp(cases);
  add_products(cases);
  add_clamp(cases);
  add_choices(cases);
  add_addmm(cases);
  add_errors(cases);
}

}  // namespace weft::testing
