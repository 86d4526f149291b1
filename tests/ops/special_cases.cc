// Cases of special functions.
#include <cmath>
#include <limits>
#include <numbers>

#include "tensor/adjoints/special.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/special.h"
#include "tests/ops/families.h"
#include "tests/reference/special.h"

namespace weft::testing {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kInf = std::numeric_limits<double>::infinity();

/// erf^-1 by bisection.
double naive_erfinv(double y) {
  if (!(std::abs(y) <= 1)) return std::nan("");
  if (std::abs(y) == 1) return y * kInf;
  double low = -6, high = 6;
  for (int i = 0; i < 100; ++i) (std::erf((low + high) / 2) < y ? low : high) = (low + high) / 2;
  return (low + high) / 2;
}

/// e^-|x| I_n(x) as the mean of e^(x cos t - |x|) cos(n t) over t: converges faster than any power of the number of
/// points.
double naive_scaled_bessel_i(int order, double x) {
  if (std::isinf(x)) return 0;
  double sum = 0;
  const int points = 200;
  for (int k = 0; k < points; ++k) {
    const double t = 2 * kPi * k / points;
    sum += std::exp(x * std::cos(t) - std::fabs(x)) * std::cos(order * t);
  }
  return sum / points;
}
double naive_bessel_i(int order, double x) {
  if (std::isinf(x)) return order == 1 ? x : kInf;
  return naive_scaled_bessel_i(order, x) * std::exp(std::fabs(x));
}

void add_values(Cases& cases) {
  std::vector<Sample> samples{{normal({3, 4}, {0})}, {normal({}, {0})}, {normal({0})}};
  samples.push_back({given({8}, {kInf, -kInf, std::nan(""), 0, -0.0, 29.9, -30.1, 60})});
  samples.back()[0].differentiable = false;
  cases.add("i0", samples, CALL(i0(x[0])), pointwise([](double a) { return naive_bessel_i(0, a); })).widens().loose(20);
  cases.add("i1", samples, CALL(i1(x[0])), pointwise([](double a) { return naive_bessel_i(1, a); })).widens().loose(20);
  const Sample large = {given({4}, {1e308, -1.7e308, 1e300, 800})};
  cases.add("i0 beyond the range", {large}, CALL(i0(x[0])), pointwise([](double a) { return std::fabs(a) * HUGE_VAL; }))
      .compares({f64})
      .no_gradient();
  cases.add("i1 beyond the range", {large}, CALL(i1(x[0])), pointwise([](double a) { return a * HUGE_VAL; }))
      .compares({f64})
      .no_gradient();
  cases.add("i0e", samples, CALL(i0e(x[0])), pointwise([](double a) { return naive_scaled_bessel_i(0, a); }))
      .widens()
      .loose(20);
  cases.add("i1e", samples, CALL(i1e(x[0])), pointwise([](double a) { return naive_scaled_bessel_i(1, a); }))
      .widens()
      .loose(20);
  cases
      .add("erfinv", {{uniform({3, 4}, -0.95, 0.95)}, {uniform({}, -0.9, 0.9)}, {uniform({0}, 0, 1)}, {special({19})}},
           CALL(erfinv(x[0])), pointwise(naive_erfinv))
      .widens()
      .loose(20);
  cases
      .add("lgamma", {{uniform({3, 4}, 0.3, 6)}, {uniform({}, 1, 2)}, {uniform({0}, 0, 1)}, {special({19})}},
           CALL(lgamma(x[0])), pointwise([](double a) { return std::lgamma(a); }))
      .widens()
      .loose(20);
  cases
      .add("digamma", {{uniform({3, 4}, 0.3, 6)}, {uniform({}, 1, 2)}, {given({4}, {-0.5, -1.3, -2.7, 30})}},
           CALL(digamma(x[0])), pointwise(reference::digamma))
      .widens()
      .loose(20);
  cases
      .add("digamma at poles", {{given({7}, {0, -0.0, -1, -20, kInf, std::nan(""), 1e18})}}, CALL(digamma(x[0])),
           pointwise(reference::digamma))
      .compares(DTypes{f64})
      .no_gradient();
  cases
      .add("polygamma", {{uniform({3, 4}, 0.5, 6)}, {uniform({}, 1, 2)}, {uniform({0}, 1, 2)}},
           CALL(polygamma(2, x[0])), pointwise([](double a) { return reference::polygamma(2, a); }))
      .widens()
      .loose(40);
  cases
      .add("polygamma below 0", {{given({3}, {-0.5, -1.3, -2.7})}}, CALL(polygamma(2, x[0])),
           pointwise([](double a) { return reference::polygamma(2, a); }))
      .compares(DTypes{f32, f64})
      .loose(40);
  cases
      .add("polygamma 0 and 1", {{uniform({2, 3}, 0.5, 4)}}, CALL(Outputs{polygamma(0, x[0]), polygamma(1, x[0])}),
           [](const Arrays& x) {
             return Arrays{pointwise(reference::digamma)(x)[0],
                           pointwise([](double a) { return reference::polygamma(1, a); })(x)[0]};
           })
      .compares(kFloating)
      .loose(20);
  cases
      .add("sinc",
           {{normal({3, 4}, {0})},
            {normal({}, {0})},
            {normal({0})},
            {integers({9}, -2, 2)},
            {given({8}, {1e-42, -1e-5, 1e-3, 0.05, -0.0954, 0.0956, 0.1, 0.3})}},
           CALL(sinc(x[0])), pointwise([](double a) { return a == 0 ? 1 : std::sin(kPi * a) / (kPi * a); }))
      .widens()
      .loose(20);
  std::vector<Sample> probabilities;
  for (const Shape& shape : std::vector<Shape>{{3, 4}, {}, {0}, {1, 0, 3}, {20}, {7, 9}, {2, 3, 2, 2}, {1}, {41}})
    probabilities.push_back({uniform(shape, 0.1, 0.9)});
  cases.add("logit", probabilities, CALL(logit(x[0])), pointwise([](double a) { return std::log(a) - std::log1p(-a); }))
      .widens()
      .loose(20);
  cases
      .add("logit limited", {{given({5}, {-1, 0, 0.3, 1, 2})}}, CALL(logit(x[0], 0.25)),
           pointwise([](double a) { return std::log(std::clamp(a, 0.25, 0.75) / (1 - std::clamp(a, 0.25, 0.75))); }))
      .widens()
      .loose(10);
  InputSpec off_zero = normal({3, 4}, {0});
  off_zero.differentiable = false;  // it gets no gradient
  cases
      .add("heaviside",
           {{off_zero, normal({4})}, {integers({20}, -1, 1), normal({})}, {special({19}), integers({}, -2, 2)}},
           CALL(heaviside(x[0], x[1])), pointwise([](double a, double b) {
             return std::isnan(a) ? a : a == 0 ? b : a > 0 ? 1.0 : 0.0;
           }))
      .accepts(kNumbers);
}

/// Shapes of many kinds, drawn from an interval, and special values.
std::vector<Sample> between(double low, double high) {
  return {{uniform({3, 4}, low, high)}, {uniform({}, low, high)}, {uniform({0}, low, high)}, {special({19})}};
}

void add_bessel(Cases& cases) {
  const auto add = [&](const char* name, const std::vector<Sample>& samples, Tensor (*f)(const Tensor&),
                       double (*naive)(double)) {
    cases.add(name, samples, CALL(f(x[0])), pointwise(naive)).widens().loose(20);
  };
  std::vector<Sample> both = between(-12, 12);
  add("bessel_j0", both, bessel_j0, [](double a) { return std::isinf(a) ? 0 : ::j0(a); });
  add("bessel_j1", both, bessel_j1, [](double a) { return std::isinf(a) ? 0 : ::j1(a); });
  std::vector<Sample> positive = between(0.5, 12);
  positive.push_back({given({5}, {4.9, 5.1, 30, 100, 0.25})});
  add("bessel_y0", positive, bessel_y0, [](double a) { return std::isinf(a) && a > 0 ? 0 : a < 0 ? NAN : ::y0(a); });
  add("bessel_y1", positive, bessel_y1, [](double a) { return std::isinf(a) && a > 0 ? 0 : a < 0 ? NAN : ::y1(a); });
  std::vector<Sample> small = between(0.5, 4);
  small.push_back({given({4}, {0.25, 1.9, 2.1, 7})});
  add("modified_bessel_k0", small, modified_bessel_k0, [](double a) { return reference::bessel_k(0, a); });
  add("modified_bessel_k1", small, modified_bessel_k1, [](double a) { return reference::bessel_k(1, a); });
}

double naive_ndtr(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
double naive_erfcx(double x) {
  const long double wide = x;
  return x > 100 ? 1 / (x * std::sqrt(kPi)) : static_cast<double>(std::exp(wide * wide) * std::erfc(wide));
}
/// ndtr^-1 by bisection.
double naive_ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return std::nan("");
  if (p == 0 || p == 1) return p == 0 ? -kInf : kInf;
  double low = -39, high = 9;
  for (int i = 0; i < 100; ++i) (naive_ndtr((low + high) / 2) < p ? low : high) = (low + high) / 2;
  return (low + high) / 2;
}

void add_normal(Cases& cases) {
  std::vector<Sample> samples = between(-5, 4);
  cases.add("ndtr", samples, CALL(ndtr(x[0])), pointwise(naive_ndtr)).widens().loose(20);
  samples.push_back({given({5}, {-30, -12, -6.5, 6, 9})});
  cases.add("log_ndtr", samples, CALL(log_ndtr(x[0])), pointwise(reference::log_ndtr)).widens().loose(20);
  cases.add("erfcx", between(-2, 4), CALL(erfcx(x[0])), pointwise(naive_erfcx)).widens().loose(20);
  cases.add("ndtri", between(0.05, 0.95), CALL(ndtri(x[0])), pointwise(naive_ndtri)).widens().loose(20);
  cases
      .add("ndtri of tails", {{given({6}, {1e-3, 1e-9, 1e-30, 0.999, 0.07, 0.0})}}, CALL(ndtri(x[0])),
           pointwise(naive_ndtri))
      .compares({f32, f64})
      .loose(20)
      .no_gradient();
  cases
      .add("entr", between(0.3, 3), CALL(entr(x[0])), pointwise([](double a) {
             return a == 0 ? 0 : a < 0 ? -kInf : -a * std::log(a);
           }))
      .widens()
      .loose(20);
}

InputSpec without_gradient(InputSpec spec) { return spec.differentiable = false, spec; }

void add_pairs(Cases& cases) {
  std::vector<Sample> samples;
  for (const double high : {1.1, 4.0, 30.0})  // each way of the kernel
    samples.push_back({without_gradient(uniform({5, 1}, 0.3, high)), uniform({7}, 0.3, high)});
  samples.push_back({without_gradient(given({4}, {25, 40, 21, 30})), given({4}, {26, 33, 21, 55})});
  samples.push_back({without_gradient(uniform({}, 1, 2)), uniform({}, 1, 2)});
  samples.push_back({without_gradient(uniform({0}, 1, 2)), uniform({1}, 1, 2)});
  samples.push_back({special({19, 1}), special({19})});
  cases.add("igamma", samples, CALL(igamma(x[0], x[1])), pointwise(reference::igamma)).widens().loose(20);
  cases.add("igammac", samples, CALL(igammac(x[0], x[1])), pointwise(reference::igammac)).widens().loose(20);
  cases
      .add("zeta",
           {{without_gradient(uniform({3, 1}, 1.5, 6)), uniform({4}, 0.7, 4)},
            {without_gradient(given({4}, {2, 3, 4, 5})), given({4}, {-0.5, -1.3, -2.7, -1.5})},
            {without_gradient(uniform({}, 2, 3)), uniform({}, 1, 2)},
            {without_gradient(uniform({0}, 2, 3)), uniform({1}, 1, 2)},
            {without_gradient(given({8}, {1, 0.5, 2, 2, 2.5, kInf, 2, NAN})),
             without_gradient(given({8}, {2, 2, 0, -3, -0.5, 2, kInf, 1}))}},
           CALL(zeta(x[0], x[1])),
           pointwise([](double a, double b) { return static_cast<double>(reference::zeta(a, b)); }))
      .widens()
      .loose(20);
  cases
      .add("gamma_density",
           {{uniform({3, 1}, 0.5, 4), uniform({4}, 0.5, 4)}, {given({2}, {25, 30}), given({2}, {22, 50})}},
           CALL(adjoint::gamma_density(x[0], x[1])),
           pointwise([](double a, double b) { return std::exp((a - 1) * std::log(b) - b - std::lgamma(a)); }))
      .compares(kFloating)
      .loose(40);
  cases
      .add("xlog1py",
           {{normal({3, 4}, {0}), uniform({4}, -0.5, 2)},
            {normal({}), uniform({}, 0, 2)},
            {normal({0}), uniform({1}, 0, 2)},
            {special({19, 1}), special({19})}},
           CALL(xlog1py(x[0], x[1])),
           pointwise([](double a, double b) { return a == 0 && !std::isnan(b) ? 0 : a * std::log1p(b); }))
      .widens()
      .loose(20);
  cases
      .add("mvlgamma", {{uniform({3, 4}, 1.7, 5)}, {uniform({}, 2, 3)}, {uniform({0}, 2, 3)}}, CALL(mvlgamma(x[0], 3)),
           pointwise([](double a) {
             return 1.5 * std::log(kPi) + std::lgamma(a) + std::lgamma(a - 0.5) + std::lgamma(a - 1);
           }))
      .widens()
      .loose(20);
}

void add_frexp(Cases& cases) {
  InputSpec powers = given({6}, {1, 2, 0.5, 0.75, -4, 4.5});
  powers.differentiable = false;  // a step is there
  cases
      .add("frexp", {{normal({3, 4}, {0})}, {special({40})}, {powers}, {normal({})}}, CALL(frexp(x[0]).mantissa),
           pointwise([](double a) {
             int exponent = 0;
             return std::frexp(a, &exponent);
           }))
      .accepts(kFloating);
  cases
      .add("exponent of frexp", {{normal({3, 4})}, {special({40})}, {powers}}, CALL(frexp(x[0]).exponent.to(f64)),
           pointwise([](double a) {
             int exponent = 0;
             std::frexp(a, &exponent);
             return std::isfinite(a) ? exponent : 0.0;
           }))
      .gives({Result::f64})
      .no_gradient();
  // Each power of two and the number below it.
  const auto all_exponents = [](DType dtype, int lowest, int end) {
    std::vector<double> numbers, mantissas, exponents;
    for (int e = lowest; e < end; ++e) {
      const double power = std::ldexp(1.0, e);
      const double below = dtype == f64 ? std::nextafter(power, 0) : std::nextafter(static_cast<float>(power), 0.0f);
      for (const double x : {power, below}) {
        int exponent = 0;
        numbers.push_back(x), mantissas.push_back(std::frexp(x, &exponent)), exponents.push_back(exponent);
      }
    }
    const FrexpResult got = frexp(Tensor::from(numbers).to(dtype));
    const bool is_inverse = ldexp(got.mantissa, got.exponent).to_vector<double>() == numbers;
    return full({}, got.mantissa.to_vector<double>() == mantissas && got.exponent.to_vector<double>() == exponents &&
                        is_inverse);
  };
  cases
      .add("frexp of all exponents", {{}}, CALL({all_exponents(f64, -1074, 1024), all_exponents(f32, -149, 128)}),
           [](const Arrays&) {
             return Arrays(2, Array{{}, {1}});
           })
      .gives({Result::boolean})
      .no_gradient();
}

void add_errors(Cases& cases) {
  const std::pair<const char*, Tensor (*)(const Tensor&)> functions[] = {
      {"erfinv", erfinv}, {"lgamma", lgamma}, {"digamma", digamma}, {"i0", i0},
      {"i1", i1},         {"i0e", i0e},       {"i1e", i1e},         {"sinc", sinc},
      {"ndtr", ndtr},     {"erfcx", erfcx},   {"entr", entr},       {"bessel_j0", bessel_j0}};
  for (const auto& [name, f] : functions)
    cases.error<Error>(
        std::string(name) + " undefined", [f = f] { f(Tensor()); },
        std::string(name) + "(): a tensor is undefined (default-constructed, or an absent gradient)");
  cases.error<Error>(
      "mvlgamma p", [] { mvlgamma(ones({2}), 0); }, "mvlgamma([2] f32): p = 0 must be at least 1");
  cases.error<GradientError>(
      "igamma by a", [] { igamma(ones({2}).requires_grad_(), ones({2})).sum().backward(); },
      "backward of `igamma`: igamma has no gradient by a");
  cases.error<Error>(
      "polygamma order", [] { polygamma(-1, ones({2})); }, "polygamma([2] f32): order -1 is below 0");
  cases.error<Error>(
      "polygamma of a large order", [] { polygamma(171, ones({2})); },
      "polygamma([2] f32): order 171 is above 170, the largest number whose factorial f64 holds");
  cases.error<Error>(
      "logit eps", [] { logit(ones({2}), 0.75); }, "logit([2] f32): eps = 0.75 must lie between 0 and 0.5");
  cases.error<ShapeError>(
      "heaviside shapes", [] { heaviside(ones({2}), ones({3})); },
      "heaviside([2] f32, [3] f32): shapes [2] and [3] do not broadcast: 2 and 3 on axis -1");
}

}  // namespace

void add_special_cases(Cases& cases) {
  add_values(cases);
  add_bessel(cases);
  add_normal(cases);
  add_pairs(cases);
  add_frexp(cases);
  add_errors(cases);
}

}  // namespace weft::testing
