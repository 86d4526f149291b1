// Cases of rounding, logarithms, trigonometric and hyperbolic functions.
#include <cmath>
#include <limits>
#include <numbers>

#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/special.h"
#include "tensor/functions/unary.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

using Function = Tensor (*)(const Tensor&);
using Naive = double (*)(double);
constexpr double kPi = std::numbers::pi;
constexpr double kInf = std::numeric_limits<double>::infinity();

/// Shapes of many kinds, drawn from an interval, and the special values.
std::vector<Sample> between(double low, double high) {
  std::vector<Sample> out;
  for (const Shape& shape : std::vector<Shape>{{3, 4}, {}, {0}, {1, 0, 3}, {20}, {7, 9}, {2, 3, 2, 2}, {1}, {41}})
    out.push_back({uniform(shape, low, high)});
  out.push_back({special({38})});
  return out;
}

/// The nearest integer, halves to the even one.
double nearest(double a) {
  const double down = std::floor(a), part = a - down;
  if (std::isnan(part)) return a;
  if (part != 0.5) return part < 0.5 ? down : down + 1;
  return std::fmod(down, 2) == 0 ? down : down + 1;
}

void add_rounding(Cases& cases) {
  // Far from the steps, where gradients are 0.
  const std::vector<Sample> samples = {
      {given({2, 3}, {-1.7, -0.3, 0.2, 0.7, 1.4, 2.6})}, {given({}, {-2.3})}, {given({0, 2}, {})},
      {given({5}, {0.1, -0.1, 3.9, -3.9, 100.2})},       {special({38})},     {integers({40}, -5, 5)}};
  auto add = [&](const char* name, Function f, Naive naive) {
    cases.add(name, samples, CALL(f(x[0])), pointwise(naive)).accepts(kNumbers);
  };
  add("floor", floor, [](double a) { return std::floor(a); });
  add("ceil", ceil, [](double a) { return std::ceil(a); });
  add("trunc", trunc, [](double a) { return std::trunc(a); });
  add("round", round, nearest);
  cases
      .add("round halves", {{given({8}, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 1e6 + 0.5})}}, CALL(round(x[0])),
           pointwise(nearest))
      .compares(DTypes{f32, f64})
      .no_gradient();
  cases
      .add("round to decimals", {{given({4}, {1.2345, -1.2355, 0.126, 12.3})}, {given({}, {2.71828})}},
           CALL(round(x[0], 2)), pointwise([](double a) { return nearest(a * 100) / 100; }))
      .compares(DTypes{f32, f64});
  cases
      .add("round to hundreds", {{given({4}, {1234.5, -1267, 49, 151})}}, CALL(round(x[0], -2)),
           pointwise([](double a) { return nearest(a / 100) * 100; }))
      .compares(DTypes{f32, f64});
  cases
      .add("round integers to decimals", {{integers({9}, -5, 5)}}, CALL(round(x[0], 2)),
           pointwise([](double a) { return a; }))
      .compares(kIntegers);
  cases
      .add("frac", {samples[0], samples[1], samples[2], samples[3]}, CALL(frac(x[0])),
           pointwise([](double a) { return a - std::trunc(a); }))
      .accepts(kFloating);
}

void add_transcendental(Cases& cases) {
  auto add = [&](const char* name, Function f, double low, double high, double loose, Naive naive) {
    cases.add(name, between(low, high), CALL(f(x[0])), pointwise(naive)).widens().loose(loose);
  };
  add("expm1", expm1, -2, 2, 4, [](double a) { return std::expm1(a); });
  add("exp2", exp2, -2, 2, 4, [](double a) { return std::exp2(a); });
  add("log2", log2, 0.5, 2.5, 4, [](double a) { return std::log2(a); });
  add("log10", log10, 0.5, 2.5, 4, [](double a) { return std::log10(a); });
  add("asin", asin, -0.9, 0.9, 20, [](double a) { return std::asin(a); });
  add("acos", acos, -0.9, 0.9, 20, [](double a) { return std::acos(a); });
  add("atan", atan, -3, 3, 4, [](double a) { return std::atan(a); });
  add("sinh", sinh, -2, 2, 4, [](double a) { return std::sinh(a); });
  add("cosh", cosh, -2, 2, 4, [](double a) { return std::cosh(a); });
  add("asinh", asinh, -2, 2, 4, [](double a) { return std::asinh(a); });
  add("acosh", acosh, 1.2, 3, 20, [](double a) { return std::acosh(a); });
  add("atanh", atanh, -0.9, 0.9, 20, [](double a) { return std::atanh(a); });
  add("erfc", erfc, -2, 2, 4, [](double a) { return std::erfc(a); });
  std::vector<Sample> angles = between(-1.2, 1.2);
  angles.pop_back();  // huge angles differ by rounding of the input
  angles.push_back({given({6}, {kInf, -kInf, std::nan(""), 0, 1e4, -30})});
  angles.back()[0].differentiable = false;
  cases.add("tan", angles, CALL(tan(x[0])), pointwise([](double a) { return std::tan(a); })).widens().loose(20);
  cases.add("deg2rad", between(-400, 400), CALL(deg2rad(x[0])), pointwise([](double a) { return a * kPi / 180; }))
      .widens();
  cases.add("rad2deg", between(-4, 4), CALL(rad2deg(x[0])), pointwise([](double a) { return a * 180 / kPi; })).widens();
}

void add_nan_to_num(Cases& cases) {
  cases
      .add("nan_to_num", {{normal({3, 4})}, {special({19})}, {normal({})}, {normal({0})}},
           CALL(nan_to_num(x[0], 7, 8, -9)), pointwise([](double a) {
             return std::isnan(a) ? 7 : a == kInf ? 8 : a == -kInf ? -9 : a;
           }))
      .accepts(kNumbers);
  cases
      .add("nan_to_num without bounds", {{special({19})}}, CALL(isfinite(nan_to_num(x[0]))),
           pointwise([](double) { return 1.0; }))
      .accepts(kNumbers)
      .gives({Result::boolean})
      .no_gradient();
  cases
      .add("nan_to_num of f32", {{given({3}, {kInf, -kInf, std::nan("")})}}, CALL(nan_to_num(x[0])),
           pointwise([](double a) { return std::isnan(a) ? 0 : std::copysign(3.4028234663852886e38, a); }))
      .compares(DTypes{f32})
      .no_gradient();
}

/// Written in place, of temporaries with and without history.
void add_in_place(Cases& cases) {
  auto add = [&](const char* name, Tensor& (Tensor::*f)(), double low, double high, Naive naive) {
    cases
        .add(
            name, {{uniform({3, 4}, low, high)}, {uniform({}, low, high)}, {uniform({0, 2}, low, high)}},
            [f](const Inputs& x) {
              Tensor y = x[0] * 1.0;
              return (y.*f)();
            },
            pointwise(naive))
        .compares(kFloating)
        .loose(4);
  };
  add("neg_", &Tensor::neg_, -2, 2, [](double a) { return -a; });
  add("abs_", &Tensor::abs_, 0.5, 2, [](double a) { return std::abs(a); });
  add("square_", &Tensor::square_, -2, 2, [](double a) { return a * a; });
  add("sqrt_", &Tensor::sqrt_, 0.5, 2, [](double a) { return std::sqrt(a); });
  add("rsqrt_", &Tensor::rsqrt_, 0.5, 2, [](double a) { return 1 / std::sqrt(a); });
  add("reciprocal_", &Tensor::reciprocal_, 0.5, 2, [](double a) { return 1 / a; });
  add("exp_", &Tensor::exp_, -2, 2, [](double a) { return std::exp(a); });
  add("log_", &Tensor::log_, 0.5, 2, [](double a) { return std::log(a); });
  add("tanh_", &Tensor::tanh_, -2, 2, [](double a) { return std::tanh(a); });
  add("sigmoid_", &Tensor::sigmoid_, -2, 2, [](double a) { return 1 / (1 + std::exp(-a)); });
  add("relu_", &Tensor::relu_, 0.5, 2, [](double a) { return a; });
  add("floor_", &Tensor::floor_, 1.1, 1.9, [](double a) { return std::floor(a); });
  add("ceil_", &Tensor::ceil_, 1.1, 1.9, [](double a) { return std::ceil(a); });
  add("round_", &Tensor::round_, 1.1, 1.4, [](double) { return 1.0; });
  add("trunc_", &Tensor::trunc_, 1.1, 1.9, [](double a) { return std::trunc(a); });
  cases
      .add("neg_ of integers", {{integers({9}, -3, 3)}}, CALL(x[0].clone().neg_()),
           pointwise([](double a) { return -a; }))
      .compares(kIntegers);
  cases
      .add("clamp_", {{normal({3, 4}, {0, 1})}, {normal({}, {0, 1})}}, CALL((x[0] * 1).clamp_(0, 1)),
           pointwise([](double a) { return std::clamp(a, 0.0, 1.0); }))
      .compares(kNumbers);
}

void add_errors(Cases& cases) {
  const std::pair<const char*, Function> functions[] = {
      {"floor", floor},     {"ceil", ceil},   {"round", round},     {"trunc", trunc},       {"expm1", expm1},
      {"exp2", exp2},       {"log2", log2},   {"log10", log10},     {"tan", tan},           {"asin", asin},
      {"acos", acos},       {"atan", atan},   {"sinh", sinh},       {"cosh", cosh},         {"asinh", asinh},
      {"acosh", acosh},     {"atanh", atanh}, {"erfc", erfc},       {"frac", frac},         {"deg2rad", deg2rad},
      {"rad2deg", rad2deg}, {"isinf", isinf}, {"signbit", signbit}, {"isposinf", isposinf}, {"isneginf", isneginf}};
  for (const auto& [name, f] : functions)
    cases.error<Error>(
        std::string(name) + " undefined", [f = f] { f(Tensor()); },
        std::string(name) + "(): a tensor is undefined (default-constructed, or an absent gradient)");
  for (const auto& [name, f] : {functions[0], functions[1], functions[2], functions[3]})
    cases.error<DtypeError>(
        std::string(name) + " of bool", [f = f] { f(ones({2}, boolean)); },
        std::string(name) +
            "([2] bool): bool is not accepted here; it takes integers or floating dtypes; cast bool first");
  cases.error<DtypeError>(
      "frac of integers", [] { frac(ones({2}, i32)); },
      "frac([2] i32): i32 is not accepted here; it takes floating dtypes; cast first, e.g. x.to(f32)");
  cases.error<DtypeError>(
      "round integers to tens", [] { round(ones({2}, i64), -1); },
      "round([2] i64): integers have no -1 decimals; cast first, e.g. x.to(f64)");
  cases.error<DtypeError>(
      "exp_ of integers", [] { ones({2}, i32).exp_(); },
      "exp_([2] i32): the result is f32 and cannot be written in place to i32; use the form that returns a new tensor");
  cases.error<DtypeError>(
      "clamp_ of integers", [] { ones({2}, i32).clamp_(0.5, 1); },
      "clip_([2] i32): a floating result cannot be written in place to i32; use the form that returns a new tensor");
  cases.error<Error>(
      "clamp_ bounds", [] { ones({2}).clamp_(2, 1); }, "clip_([2] f32): min 2 is above max 1");
  cases.error<Error>(
      "clip below what the dtype holds", [] { clip(ones({2}, u8), std::nullopt, -1); },
      "clip([2] u8): the value -1 does not fit into u8, which holds 0 to 255");
  cases.error<Error>(
      "clamp_ above what the dtype holds", [] { ones({2}, i8).clamp_(128); },
      "clip_([2] i8): the value 128 does not fit into i8, which holds -128 to 127");
  cases.error<GradientError>(
      "exp_ of a leaf", [] { ones({2}).requires_grad_().exp_(); },
      "exp_([2] f32): exp_ would write to a leaf that requires a gradient; do it under NoGrad");
  cases.error<Error>(
      "neg_ of an expanded view", [] { ones({1}).expand({3}).neg_(); },
      "neg_([3] f32): neg_ would write to a view that overlaps itself (strides [0]); write to a contiguous() copy");
}

}  // namespace

void add_elementwise_cases(Cases& cases) {
  add_rounding(cases);
  add_transcendental(cases);
  add_nan_to_num(cases);
  add_in_place(cases);
  add_errors(cases);
}

}  // namespace weft::testing
