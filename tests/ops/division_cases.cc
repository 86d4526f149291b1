// Cases of remainders and whole quotients, other functions of two tensors, bits and shifts, with numbers on either
// side.
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/special.h"
#include "tensor/functions/unary.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

using Function = Tensor (*)(const Tensor&, const Tensor&);
using Naive = double (*)(double, double);

/// Pairs drawn by a and b: of one shape, broadcast either way, empty, without axes.
std::vector<Sample> pairs(const std::function<InputSpec(const Shape&)>& a,
                          const std::function<InputSpec(const Shape&)>& b) {
  return {{a({3, 4}), b({3, 4})}, {a({}), b({})},     {a({3, 1}), b({4})}, {a({}), b({5})},
          {a({0, 3}), b({3})},    {a({37}), b({37})}, {a({2, 3}), b({})},  {a({2, 1, 2, 3}), b({2, 2, 1, 3})}};
}
std::function<InputSpec(const Shape&)> from(double low, double high) {
  return [=](const Shape& shape) { return uniform(shape, low, high); };
}
std::function<InputSpec(const Shape&)> whole(int64_t low, int64_t high) {
  return [=](const Shape& shape) { return integers(shape, low, high); };
}

double floored(double a, double b) { return a - b * std::floor(a / b); }

void add_division(Cases& cases) {
  // Quotients between 2.1 and 2.95, or -2.95 and -2.1: no step is near.
  std::vector<Sample> smooth = pairs(from(3.3, 3.5), from(1.2, 1.55));
  smooth.push_back({uniform({3, 4}, -3.5, -3.3), uniform({4}, 1.2, 1.55)});
  auto add = [&](const char* name, Function f, Naive naive) {
    cases.add(name, smooth, CALL(f(x[0], x[1])), pointwise(naive)).compares(kFloating).loose(10);
  };
  add("remainder", remainder, floored);
  add("fmod", fmod, [](double a, double b) { return std::fmod(a, b); });
  add("floor_divide", floor_divide, [](double a, double b) { return std::floor(a / b); });
  add(
      "div floor", [](const Tensor& a, const Tensor& b) { return div(a, b, "floor"); },
      [](double a, double b) { return std::floor(a / b); });
  add("trunc_divide", trunc_divide, [](double a, double b) { return std::trunc(a / b); });
  add(
      "div trunc", [](const Tensor& a, const Tensor& b) { return div(a, b, "trunc"); },
      [](double a, double b) { return std::trunc(a / b); });
  cases.error<Error>(
      "div rounding", [] { div(ones({2}), 2, "up"); },
      "div([2] f32): rounding_mode is \"floor\" or \"trunc\", not \"up\"");
  // Signs, exact multiples, and quotients of all sizes.
  const std::vector<Sample> signs = {{given({16}, {7, -7, 7, -7, 6, -6, 6, -6, 0, 0, 5, -5, 1, -1, 50, -50}),
                                      given({16}, {3, 3, -3, -3, 3, 3, -3, -3, 2, -2, 10, 10, 1, -1, 7, -7})},
                                     {given({3, 1}, {5, -5, 2}), given({4}, {1, -2, 3, -4})}};
  auto add_signs = [&](const std::string& name, Function f, Naive naive) {
    cases.add(name + " of signs", signs, CALL(f(x[0], x[1])), pointwise(naive))
        .compares(kNumbers - DTypes{u8})
        .no_gradient()
        .no_layouts();
  };
  add_signs("remainder", remainder, floored);
  add_signs("fmod", fmod, [](double a, double b) { return std::fmod(a, b); });
  add_signs("floor_divide", floor_divide, [](double a, double b) { return std::floor(a / b); });
  add_signs(
      "div trunc", [](const Tensor& a, const Tensor& b) { return div(a, b, "trunc"); },
      [](double a, double b) { return std::trunc(a / b); });
  cases
      .add("remainder of u8", {{index({4}, {200, 255, 3, 0}, u8), index({4}, {7, 255, 5, 9}, u8)}},
           CALL((x[0] % x[1]).to(i64)), pointwise(floored))
      .gives({Result::i64})
      .no_layouts();
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Sample> extremes = {{given({14}, {inf, -inf, 1, -1, 1, 0, nan, 1, 1e30, -1e30, 3, -3, 1e-30, 0}),
                                         given({14}, {2, 2, inf, inf, 0, 0, 1, nan, 3, 3, 1e-30, -1e-30, 1e30, -5})},
                                        {given({4}, {0x1p49, -0x1p24, 0x1p20 - 1, 6}), given({4}, {3, 0.375, 7, -2})}};
  cases
      .add("fmod of extremes", extremes, CALL(fmod(x[0], x[1])),
           pointwise([](double a, double b) { return std::fmod(a, b); }))
      .compares(DTypes{f32, f64})
      .no_gradient();
  cases
      .add("remainder of extremes", extremes, CALL(remainder(x[0], x[1])), pointwise([](double a, double b) {
             const double rest = std::fmod(a, b);
             return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
           }))
      .compares(DTypes{f32, f64})
      .no_gradient();
  cases
      .add("floor_divide of extremes",
           {{given({8}, {inf, -inf, 1, -1, 1, 0, nan, 1}), given({8}, {2, 2, inf, inf, 0, 0, 1, nan})}},
           CALL(floor_divide(x[0], x[1])), pointwise([](double a, double b) {
             return std::isinf(a) ? nan : std::isinf(b) ? (a < 0 ? -1.0 : 0.0) : std::floor(a / b);
           }))
      .compares(DTypes{f32, f64})
      .no_gradient();
  // Quotients that are whole or just below it, within and beyond what doubles divide exactly.
  const auto whole = [](const Arrays& x) {
    Arrays out = {x[0], x[0], x[0]};
    for (size_t i = 0; i < x[0].values.size(); ++i) {
      const auto a = static_cast<int64_t>(x[0].values[i]), b = static_cast<int64_t>(x[1].values[i]);
      const int64_t rest = a % b, less = rest != 0 && (rest < 0) != (b < 0) ? 1 : 0;
      out[0].values[i] = static_cast<double>(a / b - less);
      out[1].values[i] = static_cast<double>(rest + less * b);
      out[2].values[i] = static_cast<double>(rest);
    }
    return out;
  };
  cases
      .add("large i64 divided",
           {{index({6}, {0x1p52 - 1, 1 - 0x1p52, 0x1p52 - 1, 999, -1e15, -7}, i64),
             index({6}, {2, 3, -0x1p51, 1000, 1e5, -1}, i64)},
            {index({4}, {0x1p53 - 1, -0x1p62, 8, -8}, i64), index({4}, {0x1p53, 3, -0x1p62, 3}, i64)}},
           CALL(Outputs{floor_divide(x[0], x[1]), remainder(x[0], x[1]), fmod(x[0], x[1])}), whole)
      .gives({Result::i64})
      .no_layouts();
  // It wraps, as its negation does.
  const std::pair<DType, double> smallest[] = {{i8, -0x1p7}, {i16, -0x1p15}, {i32, -0x1p31}, {i64, -0x1p63}};
  for (const auto& [dtype, lowest] : smallest)
    cases
        .add(text("smallest integer by -1 in ", dtype), {{index({2}, {lowest, 5}, dtype), index({2}, {-1, -1}, dtype)}},
             CALL(Outputs{floor_divide(x[0], x[1]).to(i64), remainder(x[0], x[1]).to(i64), fmod(x[0], x[1]).to(i64)}),
             [lowest = lowest](const Arrays&) {
               const Array none{{2}, {0, 0}};
               return Arrays{Array{{2}, {lowest, -5}}, none, none};
             })
        .gives({Result::i64})
        .no_layouts();
  cases
      .add("remainder by a number", {{integers({3, 4}, -9, 9)}, {integers({0}, 0, 1)}, {integers({}, -9, 9)}},
           CALL(Outputs{x[0] % 4, floor_divide(x[0], 4), fmod(x[0], 4)}),
           [](const Arrays& x) {
             return Arrays{pointwise([](double a) { return floored(a, 4); })(x)[0],
                           pointwise([](double a) { return std::floor(a / 4); })(x)[0],
                           pointwise([](double a) { return std::fmod(a, 4); })(x)[0]};
           })
      .compares(kNumbers);
  cases
      .add("a number divided", {{integers({3, 4}, 1, 9)}, {integers({0}, 0, 1)}},
           CALL(Outputs{7 % x[0], floor_divide(7, x[0])}),
           [](const Arrays& x) {
             return Arrays{pointwise([](double a) { return floored(7, a); })(x)[0],
                           pointwise([](double a) { return std::floor(7 / a); })(x)[0]};
           })
      .compares(kNumbers)
      .no_layouts();
}

void add_pairs(Cases& cases) {
  const auto any = [](const Shape& shape) { return normal(shape, {0}); };
  auto with_special = [](std::vector<Sample> samples) {
    samples.push_back({special({19, 1}), special({19})});
    return samples;
  };
  auto add = [&](const char* name, const std::vector<Sample>& samples, Call call, Naive naive) -> OpCase& {
    return cases.add(name, samples, std::move(call), pointwise(naive)).widens().loose(10);
  };
  add("atan2", with_special(pairs(any, any)), CALL(atan2(x[0], x[1])),
      [](double a, double b) { return std::atan2(a, b); });
  add("hypot", with_special(pairs(any, any)), CALL(hypot(x[0], x[1])),
      [](double a, double b) { return std::hypot(a, b); });
  cases
      .add("hypot of extremes",
           {{given({6}, {3e38, 1e-44, 3e-30, 1e30, INFINITY, 0}),
             given({6}, {1e38, 1e-44, 4e-30, 1, std::nan(""), -0.0})}},
           CALL(hypot(x[0], x[1])), pointwise([](double a, double b) { return std::hypot(a, b); }))
      .compares(DTypes{f32, f64})
      .no_gradient();
  add("copysign", with_special(pairs(any, any)), CALL(copysign(x[0], x[1])),
      [](double a, double b) { return std::copysign(a, b); });
  add("logaddexp", with_special(pairs(any, any)), CALL(logaddexp(x[0], x[1])), [](double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return a + b;
    return a == b ? a + std::numbers::ln2 : std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
  });
  add("squared_difference", with_special(pairs(any, any)), CALL(squared_difference(x[0], x[1])),
      [](double a, double b) { return (a - b) * (a - b); });
  add("huber", with_special(pairs(any, any)), CALL(huber(x[0], x[1], 0.7)), [](double a, double b) {
    const double d = std::abs(a - b);
    return d <= 0.7 ? d * d / 2 : 0.7 * (d - 0.35);
  });
  add("logistic_loss", with_special(pairs(any, any)), CALL(logistic_loss(x[0], x[1])),
      [](double a, double b) { return (a > 0 ? a * (1 - b) : -a * b) + std::log1p(std::exp(-std::abs(a))); });
  add("logaddexp2", pairs(any, any), CALL(logaddexp2(x[0], x[1])),
      [](double a, double b) { return std::log2(std::exp2(a) + std::exp2(b)); });
  add("xlogy", with_special(pairs(any, from(0.5, 2))), CALL(xlogy(x[0], x[1])),
      [](double a, double b) { return a == 0 && !std::isnan(b) ? 0 : a * std::log(b); });
  cases
      .add("fmax", with_special(pairs(any, from(5, 6))), CALL(fmax(x[0], x[1])), pointwise([](double a, double b) {
             return std::isnan(a) ? b : std::isnan(b) ? a : a < b ? b : a;
           }))
      .accepts(kNumbers);
  cases
      .add("fmin", with_special(pairs(any, from(-6, -5))), CALL(fmin(x[0], x[1])), pointwise([](double a, double b) {
             return std::isnan(a) ? b : std::isnan(b) ? a : a > b ? b : a;
           }))
      .accepts(kNumbers);
  cases.add("nextafter", pairs(any, any), CALL(nextafter(x[0], x[1])), pointwise([](double a, double) { return a; }))
      .accepts(DTypes{f32, f64})
      .no_gradient();
  cases
      .add("nextafter f64",
           {{given({9}, {1, 1, 0, -1, 2, -1, 0x1.fffffffffffffp1023, -INFINITY, -0.0}),
             given({9}, {2, 0, 1, -1, 2, INFINITY, INFINITY, 0, std::nan("")})}},
           CALL(nextafter(x[0], x[1])), pointwise([](double a, double b) { return std::nextafter(a, b); }))
      .compares(DTypes{f64})
      .no_gradient();
  cases
      .add("functions of two with numbers", {{uniform({3, 4}, 0.5, 2)}, {uniform({0}, 1, 2)}, {uniform({}, 1, 2)}},
           CALL(Outputs{atan2(x[0], 2), atan2(2, x[0]), hypot(x[0], 1.5), xlogy(3, x[0]), logaddexp(x[0], 0.5),
                        copysign(x[0], -1.0)}),
           [](const Arrays& x) {
             return Arrays{pointwise([](double a) { return std::atan2(a, 2); })(x)[0],
                           pointwise([](double a) { return std::atan2(2, a); })(x)[0],
                           pointwise([](double a) { return std::hypot(a, 1.5); })(x)[0],
                           pointwise([](double a) { return 3 * std::log(a); })(x)[0],
                           pointwise([](double a) { return std::log(std::exp(a) + std::exp(0.5)); })(x)[0],
                           pointwise([](double a) { return -a; })(x)[0]};
           })
      .widens()
      .loose(10);
}

constexpr DTypes kBits = kIntegers | DTypes{boolean};
int64_t bits_of(double a) { return static_cast<int64_t>(a); }

void add_bits(Cases& cases) {
  const std::vector<Sample> samples = pairs(whole(0, 100), whole(0, 100));
  auto add = [&](const char* name, Function f, Naive naive) {
    cases.add(name, samples, CALL(f(x[0], x[1])), pointwise(naive)).accepts(kBits);
  };
  add("bitwise_and", bitwise_and, [](double a, double b) { return double(bits_of(a) & bits_of(b)); });
  add("bitwise_or", bitwise_or, [](double a, double b) { return double(bits_of(a) | bits_of(b)); });
  add("bitwise_xor", bitwise_xor, [](double a, double b) { return double(bits_of(a) ^ bits_of(b)); });
  cases
      .add("bitwise_not", {{integers({3, 4}, -9, 9)}, {integers({}, 0, 1)}, {integers({0}, 0, 1)}}, CALL(~x[0]),
           pointwise([](double a) { return -a - 1; }))
      .compares(kIntegers);
  cases.add("not of bool", {{mask({3, 4})}, {mask({})}}, CALL(~x[0]), pointwise([](double a) { return 1 - a; }))
      .gives({Result::boolean});
  cases.add("bitwise_not accepts", {{integers({5}, 0, 1)}}, CALL(bitwise_not(x[0])), nullptr)
      .accepts(kBits)
      .no_gradient();
  cases
      .add("logic of masks", {{mask({3, 4}), mask({4})}, {mask({0}), mask({})}},
           CALL(Outputs{x[0] & x[1], x[0] | x[1], x[0] ^ x[1]}),
           [](const Arrays& x) {
             return Arrays{pointwise([](double a, double b) { return a * b; })(x)[0],
                           pointwise([](double a, double b) { return std::max(a, b); })(x)[0],
                           pointwise([](double a, double b) { return double(a != b); })(x)[0]};
           })
      .gives({Result::boolean});
  const std::vector<Sample> shifts = pairs(whole(0, 5), whole(0, 3));
  cases
      .add("shifts", shifts, CALL(Outputs{x[0] << x[1], x[0] >> x[1]}),
           [](const Arrays& x) {
             return Arrays{pointwise([](double a, double b) { return a * std::exp2(b); })(x)[0],
                           pointwise([](double a, double b) { return std::floor(a / std::exp2(b)); })(x)[0]};
           })
      .accepts(kIntegers);
  cases
      .add("shifts by too much", {{given({6}, {5, -5, 5, -5, 1, -1}), given({6}, {-1, -1, 64, 64, 100, 100})}},
           CALL(Outputs{x[0] << x[1], x[0] >> x[1]}),
           [](const Arrays&) {
             return Arrays{Array{{6}, {0, 0, 0, 0, 0, 0}}, Array{{6}, {0, -1, 0, -1, 0, -1}}};
           })
      .compares(kIntegers - DTypes{u8});
  cases
      .add("bits with numbers", {{integers({3, 4}, 0, 20)}, {integers({}, 0, 20)}, {integers({0}, 0, 1)}},
           CALL(Outputs{x[0] & 6, 6 | x[0], x[0] ^ 3, x[0] << 1, x[0] >> 1}),
           [](const Arrays& x) {
             return Arrays{pointwise([](double a) { return double(bits_of(a) & 6); })(x)[0],
                           pointwise([](double a) { return double(bits_of(a) | 6); })(x)[0],
                           pointwise([](double a) { return double(bits_of(a) ^ 3); })(x)[0],
                           pointwise([](double a) { return 2 * a; })(x)[0],
                           pointwise([](double a) { return std::floor(a / 2); })(x)[0]};
           })
      .compares(kIntegers);
}

double common_divisor(double a, double b) {
  a = std::fabs(a), b = std::fabs(b);
  while (b != 0) a = std::fmod(a, b), std::swap(a, b);
  return a;
}

void add_integers(Cases& cases) {
  cases.add("gcd", pairs(whole(0, 60), whole(0, 60)), CALL(gcd(x[0], x[1])), pointwise(common_divisor))
      .accepts(kIntegers)
      .no_gradient();
  cases
      .add("lcm", pairs(whole(0, 11), whole(0, 11)), CALL(lcm(x[0], x[1])), pointwise([](double a, double b) {
             const double common = common_divisor(a, b);
             return common == 0 ? 0 : a / common * b;
           }))
      .accepts(kIntegers)
      .no_gradient();
  cases
      .add("ldexp", pairs(from(-2, 2), whole(-3, 3)), CALL(ldexp(x[0], x[1])),
           pointwise([](double a, double b) { return a * std::exp2(b); }))
      .compares(kFloating)
      .no_gradient();
  cases
      .add("ldexp by floating exponents", pairs(from(-2, 2), from(-3, 3)), CALL(ldexp(x[0], x[1])),
           pointwise([](double a, double b) { return a * std::exp2(b); }))
      .compares(kFloating)
      .loose(20);
  cases
      .add("float_power", pairs(from(0.5, 2), from(-2, 2)), CALL(float_power(x[0], x[1])),
           pointwise([](double a, double b) { return std::pow(a, b); }))
      .compares(DTypes{f32, f64})
      .gives({Result::f64})
      .loose(10);
  cases
      .add(
          "remainder_ and floor_divide_", {{integers({3, 4}, 20, 90), integers({4}, 1, 9)}},
          [](const Inputs& x) {
            return Outputs{x[0].clone().remainder_(x[1]), x[0].clone().floor_divide_(x[1])};
          },
          [](const Arrays& x) {
            return Arrays{pointwise(floored)(x)[0],
                          pointwise([](double a, double b) { return std::floor(a / b); })(x)[0]};
          })
      .compares(kIntegers)
      .in_place()
      .no_layouts();
}

void add_errors(Cases& cases) {
  const std::pair<const char*, Function> all[] = {
      {"remainder", remainder}, {"fmod", fmod},         {"floor_divide", floor_divide},
      {"atan2", atan2},         {"hypot", hypot},       {"logaddexp", logaddexp},
      {"xlogy", xlogy},         {"copysign", copysign}, {"nextafter", nextafter},
      {"fmax", fmax},           {"fmin", fmin},         {"logaddexp2", logaddexp2}};
  for (const auto& [name, f] : all)
    cases.error<ShapeError>(
        std::string(name) + " shapes",
        [f = f] {
          f(ones({2, 3}), ones({4}));
        },
        std::string(name) + "([2, 3] f32, [4] f32): shapes [2, 3] and [4] do not broadcast: 3 and 4 on axis -1");
  const std::pair<const char*, Function> bits[] = {
      {"bitwise_and", bitwise_and}, {"bitwise_or", bitwise_or}, {"bitwise_xor", bitwise_xor}};
  for (const auto& [name, f] : bits)
    cases.error<DtypeError>(
        std::string(name) + " of f32", [f = f] { f(ones({2}), ones({2})); },
        std::string(name) + "([2] f32, [2] f32): f32 is not accepted here; it takes integers or bool");
  for (DType dtype : {bf16, f16})
    cases.error<DtypeError>(
        "bitwise_left_shift by a number of " + std::string(name_of(dtype)),
        [dtype] { bitwise_left_shift(ones({2}, dtype), 2); },
        text("bitwise_left_shift([2] ", dtype, "): ", dtype, " is not accepted here; it takes integers"));
  const std::pair<const char*, Function> shifts[] = {{"bitwise_left_shift", bitwise_left_shift},
                                                     {"bitwise_right_shift", bitwise_right_shift}};
  for (const auto& [name, f] : shifts)
    cases.error<DtypeError>(
        std::string(name) + " of bool", [f = f] { f(ones({2}, boolean), ones({2}, boolean)); },
        std::string(name) + "([2] bool, [2] bool): bool is not accepted here; it takes integers");
  const std::pair<const char*, Function> divisions[] = {
      {"remainder", remainder}, {"fmod", fmod}, {"floor_divide", floor_divide}};
  for (const auto& [name, f] : divisions)
    for (DType dtype : {i64, i32, i16, i8, u8})
      cases.error<Error>(
          std::string(name) + " by zero in " + std::string(name_of(dtype)),
          [f = f, dtype] {
            f(ones({100, 3}, dtype), arange(3).to(dtype));
          },
          text(name, "([100, 3] ", dtype, ", [3] ", dtype,
               "): an integer is divided by 0; floating dtypes give inf or NaN"));
  cases.error<Error>(
      "remainder by the number 0", [] { ones({2}, i64) % 0; },
      "remainder([2] i64): an integer is divided by 0; floating dtypes give inf or NaN");
  cases.error<DtypeError>(
      "bits of a fraction", [] { ones({2}, i64) & 0.5; },
      "bitwise_and([2] i64): f32 is not accepted here; it takes integers or bool");
  cases.error<DtypeError>(
      "bitwise_not of f32", [] { ~ones({2}); },
      "bitwise_not([2] f32): f32 is not accepted here; it takes integers or bool");
}

}  // namespace

void add_division_cases(Cases& cases) {
  add_division(cases);
  add_pairs(cases);
  add_bits(cases);
  add_integers(cases);
  add_errors(cases);
}

}  // namespace weft::testing
