// Cases of element-wise arithmetic of two tensors, and of a tensor and a number.
#include <cmath>

#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

/// Two inputs of shapes that are equal, that broadcast either way, that are empty, scalars, longer than a vector.
std::vector<Sample> pairs(InputSpec (*a)(const Shape&), InputSpec (*b)(const Shape&)) {
  return {{a({3, 4}), b({3, 4})}, {a({}), b({})},
          {a({3, 1}), b({4})},    {a({2, 3, 2}), b({3, 1})},
          {a({}), b({5})},        {a({0, 3}), b({3})},
          {a({1, 0, 3}), b({})},  {a({37}), b({37})},
          {a({2, 3}), b({})},     {a({2, 1, 2, 3}), b({2, 2, 1, 3})}};
}
InputSpec any(const Shape& shape) { return normal(shape); }
InputSpec nonzero(const Shape& shape) { return normal(shape, {0}); }
InputSpec exponent(const Shape& shape) { return uniform(shape, 0.5, 2.5); }

std::vector<Sample> with_special(std::vector<Sample> samples) {
  samples.push_back({special({19, 1}), special({19})});
  return samples;
}

std::vector<Sample> singles(InputSpec (*a)(const Shape&)) {
  return {{a({3, 4})}, {a({})},           {a({20})}, {a({0})},       {a({1, 0, 3})},
          {a({5, 7})}, {a({2, 3, 2, 2})}, {a({37})}, {special({19})}};
}

double larger(double a, double b) { return std::isnan(a) || std::isnan(b) ? a + b : a > b ? a : b; }
double smaller(double a, double b) { return std::isnan(a) || std::isnan(b) ? a + b : a < b ? a : b; }

void add_pair_cases(Cases& cases) {
  cases
      .add("add", with_special(pairs(any, any)), CALL(x[0] + x[1]), pointwise([](double a, double b) { return a + b; }))
      .compares(kNumbers);
  cases
      .add("add of truth values", {{mask({3, 4}), mask({4})}, {mask({37}), mask({37})}, {mask({0}), mask({})}},
           CALL(x[0] + x[1]), pointwise([](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }))
      .compares(DTypes{f32})
      .gives({Result::boolean})
      .no_gradient();
  cases
      .add("truth values with numbers", {{mask({3, 4})}, {mask({37})}, {mask({})}, {mask({0})}},
           CALL(Outputs{x[0] + true, false + x[0], x[0] * true, false * x[0]}),
           [](const reference::Arrays& in) {
             reference::Array all = in[0];
             all.values.assign(all.values.size(), 1.0);
             return reference::Arrays{all, in[0], in[0], reference::zeros(all.shape)};
           })
      .compares(DTypes{f32})
      .gives({Result::boolean, Result::boolean, Result::boolean, Result::boolean})
      .no_gradient();
  cases
      .add("sub", with_special(pairs(any, any)), CALL(x[0] - x[1]), pointwise([](double a, double b) { return a - b; }))
      .accepts(kNumbers);
  cases
      .add("mul", with_special(pairs(any, any)), CALL(x[0] * x[1]), pointwise([](double a, double b) { return a * b; }))
      .compares(kNumbers);
  cases
      .add("mul of truth values", {{mask({3, 4}), mask({4})}, {mask({37}), mask({37})}, {mask({0}), mask({})}},
           CALL(x[0] * x[1]), pointwise([](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }))
      .compares(DTypes{f32})
      .gives({Result::boolean})
      .no_gradient();
  cases
      .add("div", with_special(pairs(any, nonzero)), CALL(x[0] / x[1]),
           pointwise([](double a, double b) { return a / b; }))
      .widens()
      .loose(10)
      .large_parts();  // x / y^2 where y is small
  cases
      .add("pow", pairs(positive, any), CALL(pow(x[0], x[1])),
           pointwise([](double a, double b) { return std::pow(a, b); }))
      .compares(kFloating)
      .loose(10);
  cases
      .add("pow of integers", pairs(positive, exponent), CALL(pow(x[0], x[1])),
           pointwise([](double a, double b) { return std::pow(a, b); }))
      .accepts(kNumbers)
      .loose(10);
  cases
      .add("pow of negative bases", {{given({4}, {-2, -1, 0.5, -3}), index({4}, {2, 3, 2, 0})}}, CALL(pow(x[0], x[1])),
           pointwise([](double a, double b) { return std::pow(a, b); }))
      .compares(kFloating)
      .loose(10);
  cases
      .add("maximum", with_special(pairs(distinct, any)), CALL(maximum(x[0], x[1] * 0.3)),
           [](const Arrays& x) { return pointwise([](double a, double b) { return larger(a, 0.3 * b); })(x); })
      .compares(kFloating);
  cases
      .add("minimum", with_special(pairs(distinct, any)), CALL(minimum(x[0], x[1] * 0.3)),
           [](const Arrays& x) { return pointwise([](double a, double b) { return smaller(a, 0.3 * b); })(x); })
      .compares(kFloating);
  cases
      .add("maximum with ties", {{integers({4, 5}, -2, 2), integers({5}, -2, 2)}}, CALL(maximum(x[0], x[1])),
           pointwise(larger))
      .accepts(kAll);
  cases
      .add("minimum with ties", {{integers({4, 5}, -2, 2), integers({5}, -2, 2)}}, CALL(minimum(x[0], x[1])),
           pointwise(smaller))
      .accepts(kAll);
}

void add_alias_cases(Cases& cases) {
  cases
      .add("a tensor with itself", singles(nonzero), CALL(x[0] * x[0] + x[0] / x[0] - (x[0] - x[0])),
           pointwise([](double a) { return a * a + a / a - (a - a); }))
      .compares(kFloating)
      .loose(10);
  cases
      .add("a tensor with its transpose", {{normal({3, 3})}, {normal({5, 5})}}, CALL(x[0] * x[0].t()),
           [](const Arrays& x) {
             return build(x[0].shape, [&](const Index& i) { return x[0].at(i) * x[0].at({i[1], i[0]}); });
           })
      .compares(kNumbers);
}

void add_scalar_cases(Cases& cases) {
  cases.add("add scalar", singles(any), CALL(x[0] + 3), pointwise([](double a) { return a + 3; })).compares(kNumbers);
  cases.add("sub scalar", singles(any), CALL(x[0] - 3), pointwise([](double a) { return a - 3; })).compares(kNumbers);
  cases.add("scalar sub", singles(any), CALL(3 - x[0]), pointwise([](double a) { return 3 - a; })).compares(kNumbers);
  cases.add("mul scalar", singles(any), CALL(x[0] * -2), pointwise([](double a) { return a * -2; })).compares(kNumbers);
  cases.add("mul floating scalar", singles(any), CALL(x[0] * 1.5), pointwise([](double a) { return a * 1.5; }))
      .widens();
  cases.add("div scalar", singles(any), CALL(x[0] / 4), pointwise([](double a) { return a / 4; })).widens();
  cases.add("scalar div", singles(nonzero), CALL(2.0 / x[0]), pointwise([](double a) { return 2 / a; }))
      .widens()
      .loose(10);
  cases.add("pow scalar 3", singles(any), CALL(pow(x[0], 3)), pointwise([](double a) { return a * a * a; }))
      .compares(kNumbers)
      .loose(4);
  cases
      .add("pow scalar -0.5", {{positive({3, 4})}, {positive({})}, {positive({20})}, {positive({0})}},
           CALL(pow(x[0], -0.5)), pointwise([](double a) { return std::pow(a, -0.5); }))
      .widens()
      .loose(10);
  cases.add("pow scalar 0", singles(any), CALL(pow(x[0], 0.0)), pointwise([](double) { return 1.0; })).widens();
  cases.add("scalar pow", singles(any), CALL(pow(2.0, x[0])), pointwise([](double a) { return std::exp2(a); }))
      .widens()
      .loose(10);
}

void add_in_place_cases(Cases& cases) {
  const std::vector<Sample> same = {{normal({3, 4}), normal({3, 4})},
                                    {normal({3, 4}), normal({4})},
                                    {normal({2, 3}), normal({})},
                                    {normal({0, 2}), normal({2})},
                                    {normal({}), normal({})}};
  cases.add("add_", same, CALL(x[0].clone().add_(x[1])), pointwise([](double a, double b) { return a + b; }))
      .compares(kNumbers)
      .in_place();
  cases.add("sub_", same, CALL(x[0].clone().sub_(x[1])), pointwise([](double a, double b) { return a - b; }))
      .accepts(kNumbers)
      .in_place();
  cases.add("mul_", same, CALL(x[0].clone().mul_(x[1])), pointwise([](double a, double b) { return a * b; }))
      .compares(kNumbers)
      .in_place();
  cases
      .add("div_", {{normal({3, 4}), normal({4}, {0})}, {normal({3}), normal({3}, {0})}}, CALL(x[0].clone().div_(x[1])),
           pointwise([](double a, double b) { return a / b; }))
      .accepts(kFloating)
      .loose(10)
      .in_place();
  cases
      .add(
          "add_ of itself", singles(any),
          [](const Inputs& x) {
            Tensor y = x[0] * 1;
            return y.add_(y);
          },
          pointwise([](double a) { return a + a; }))
      .compares(kNumbers);
  cases
      .add(
          "mul_ of itself", singles(any),
          [](const Inputs& x) {
            Tensor y = x[0] * 1;
            return y.mul_(y);
          },
          pointwise([](double a) { return a * a; }))
      .compares(kNumbers);
  cases
      .add(
          "add_ of an overlapping part", {{normal({6})}, {normal({9})}},
          [](const Inputs& x) {
            Tensor y = x[0].clone();
            return y.slice(0, 1).add_(y.slice(0, 0, -1).detach());
          },
          [](const Arrays& x) {
            return build({x[0].shape[0] - 1}, [&](const Index& i) { return x[0].at({i[0] + 1}) + x[0].at(i); });
          })
      .compares(kNumbers)
      .no_gradient();
  cases
      .add("scalars in place", singles(any), CALL(x[0].clone().mul_(2).add_(3).sub_(1)),
           pointwise([](double a) { return a * 2 + 3 - 1; }))
      .accepts(kNumbers);
  cases.add("div_ scalar", singles(any), CALL(x[0].clone().div_(4)), pointwise([](double a) { return a / 4; }))
      .accepts(kFloating);
}

void add_errors(Cases& cases) {
  cases.error<ShapeError>(
      "add shapes",
      [] {
        ones({2, 3}) + ones({4});
      },
      "add([2, 3] f32, [4] f32): shapes [2, 3] and [4] do not broadcast: 3 and 4 on axis -1");
  cases.error<ShapeError>(
      "sub shapes",
      [] {
        ones({2, 3}) - ones({3, 2});
      },
      "sub([2, 3] f32, [3, 2] f32): shapes [2, 3] and [3, 2] do not broadcast: 2 and 3 on axis -2");
  cases.error<ShapeError>(
      "mul shapes", [] { ones({2}) * ones({3}); },
      "mul([2] f32, [3] f32): shapes [2] and [3] do not broadcast: 2 and 3 on axis -1");
  cases.error<ShapeError>(
      "div shapes", [] { ones({0}) / ones({2}); },
      "div([0] f32, [2] f32): shapes [0] and [2] do not broadcast: 0 and 2 on axis -1");
  cases.error<ShapeError>(
      "pow shapes",
      [] {
        pow(ones({2, 1, 3}), ones({2, 4, 2}));
      },
      "pow([2, 1, 3] f32, [2, 4, 2] f32): shapes [2, 1, 3] and [2, 4, 2] do not broadcast: 3 and 2 on axis -1");
  cases.error<ShapeError>(
      "maximum shapes", [] { maximum(ones({5}), ones({4})); },
      "maximum([5] f32, [4] f32): shapes [5] and [4] do not broadcast: 5 and 4 on axis -1");
  cases.error<ShapeError>(
      "minimum shapes",
      [] {
        minimum(ones({5, 1}), ones({4, 2}));
      },
      "minimum([5, 1] f32, [4, 2] f32): shapes [5, 1] and [4, 2] do not broadcast: 5 and 4 on axis -2");
  cases.error<DtypeError>(
      "sub bool", [] { ones({2}, boolean) - ones({2}, boolean); },
      "sub([2] bool, [2] bool): bool is not accepted here; it takes integers or floating dtypes; cast bool first");
  cases.error<DtypeError>(
      "sub bool number", [] { ones({2}, boolean) - true; },
      "sub([2] bool): bool is not accepted here; it takes integers or floating dtypes; cast bool first");
  cases.error<DtypeError>(
      "pow of an integer", [] { pow(ones({2}, i64), -1); },
      "pow([2] i64): an integer to the power -1 is not an integer; cast to a floating dtype first");
  cases.error<Error>(
      "add undefined", [] { ones({2}) + Tensor(); },
      "add([2] f32): a tensor is undefined (default-constructed, or an absent gradient)");
  cases.error<Error>(
      "undefined mul", [] { Tensor() * 2; },
      "mul(): a tensor is undefined (default-constructed, or an absent gradient)");
  cases.error<ShapeError>(
      "add_ shapes",
      [] {
        ones({3}).add_(ones({2, 3}));
      },
      "add_([3] f32, [2, 3] f32): [2, 3] does not broadcast to the fewer axes of [3]");
  cases.error<ShapeError>(
      "sub_ shapes",
      [] {
        ones({2, 3}).sub_(ones({2}));
      },
      "sub_([2, 3] f32, [2] f32): [2] does not broadcast to [2, 3]: 2 and 3 on axis 1");
  cases.error<DtypeError>(
      "add_ floating", [] { ones({2}, i64).add_(ones({2})); },
      "add_([2] i64, [2] f32): the result is f32 and cannot be written in place to i64; use the form that returns a "
      "new tensor");
  cases.error<DtypeError>(
      "mul_ floating", [] { ones({2}, i32).mul_(0.5); },
      "mul_([2] i32): a floating result cannot be written in place to i32; use the form that returns a new tensor");
  cases.error<DtypeError>(
      "div_ of integers", [] { ones({2}, i32).div_(2); },
      "div_([2] i32): a quotient is floating and cannot be written in place to i32; use a / b");
  cases.error<DtypeError>(
      "div_ of integers by a tensor", [] { ones({2}, i32).div_(ones({2}, i32)); },
      "div_([2] i32, [2] i32): a quotient is floating and cannot be written in place to i32; use a / b");
  cases.error<Error>(
      "add_ to a padded view",
      [] {
        ones({2}).pad({{1, 1}}).add_(1);
      },
      "add_([4] f32): add_ would write to a view with zero padding; write before pad(), or to its contiguous()");
  cases.error<Error>(
      "mul_ to an expanded view", [] { ones({1}).expand({3}).mul_(2); },
      "mul_([3] f32): mul_ would write to a view that overlaps itself (strides [0]); write to a contiguous() copy");
  cases.error<GradientError>(
      "add_ to a leaf", [] { ones({2}).requires_grad_().add_(1); },
      "add_([2] f32): add_ would write to a leaf that requires a gradient; do it under NoGrad");
  cases.error<GradientError>(
      "sub_ from a view of a leaf",
      [] {
        ones({2}).requires_grad_().view({2, 1}).sub_(1);
      },
      "sub_([2, 1] f32): sub_ would write to a view of a leaf that requires a gradient; do it under NoGrad");
}

}  // namespace

void add_binary_cases(Cases& cases) {
  add_pair_cases(cases);
  add_alias_cases(cases);
  add_scalar_cases(cases);
  add_in_place_cases(cases);
  add_errors(cases);
}

}  // namespace weft::testing
