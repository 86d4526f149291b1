// Cases of element-wise functions of one tensor.
#include <cmath>

#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/unary.h"
#include "tests/ops/families.h"
#include "tests/reference/activation.h"

namespace weft::testing {

namespace {

/// Nine shapes, and the special values where the reference holds for them.
std::vector<Sample> shapes(const std::function<InputSpec(const Shape&)>& draw, bool with_special = true) {
  std::vector<Sample> out;
  for (const Shape& shape : std::vector<Shape>{{3, 4}, {}, {0}, {1, 0, 3}, {20}, {7, 9}, {2, 3, 2, 2}, {1}, {41}})
    out.push_back({draw(shape)});
  if (with_special) out.push_back({special({38})});
  return out;
}
std::function<InputSpec(const Shape&)> far_from(const std::vector<double>& kinks) {
  return [kinks](const Shape& shape) { return normal(shape, kinks); };
}

double sign_of(double x) { return std::isnan(x) ? x : x > 0 ? 1 : x < 0 ? -1 : 0; }

void add_keeping_cases(Cases& cases) {
  const auto any = far_from({}), off_zero = far_from({0});
  cases.add("neg", shapes(any), CALL(-x[0]), pointwise([](double a) { return -a; })).accepts(kNumbers);
  cases.add("abs", shapes(off_zero), CALL(abs(x[0])), pointwise([](double a) { return std::abs(a); }))
      .accepts(kNumbers);
  cases.add("sign", shapes(off_zero), CALL(sign(x[0])), pointwise(sign_of)).accepts(kNumbers);
  cases.add("square", shapes(any), CALL(square(x[0])), pointwise([](double a) { return a * a; })).accepts(kNumbers);
  cases.add("relu", shapes(off_zero), CALL(relu(x[0])), pointwise(reference::relu)).accepts(kNumbers);
  cases.add("relu of integers", {{integers({40}, -3, 3)}}, CALL(relu(x[0])), pointwise(reference::relu))
      .accepts(kNumbers);
}

void add_root_cases(Cases& cases) {
  const auto above = [](const Shape& shape) { return positive(shape); };
  const auto off_zero = far_from({0});
  cases.add("sqrt", shapes(above), CALL(sqrt(x[0])), pointwise([](double a) { return std::sqrt(a); })).widens();
  cases.add("rsqrt", shapes(above, false), CALL(rsqrt(x[0])), pointwise([](double a) { return 1 / std::sqrt(a); }))
      .widens()
      .loose(4);
  cases.add("reciprocal", shapes(off_zero, false), CALL(reciprocal(x[0])), pointwise([](double a) { return 1 / a; }))
      .widens()
      .loose(10);
}

void add_transcendental_cases(Cases& cases) {
  const auto any = far_from({});
  const auto above = [](const Shape& shape) { return positive(shape); };
  cases.add("exp", shapes(any, false), CALL(exp(x[0])), pointwise([](double a) { return std::exp(a); }))
      .widens()
      .loose(4);
  cases.add("log", shapes(above), CALL(log(x[0])), pointwise([](double a) { return std::log(a); })).widens().loose(4);
  cases.add("log1p", shapes(above), CALL(log1p(x[0])), pointwise([](double a) { return std::log1p(a); }))
      .widens()
      .loose(4);
  cases.add("sin", shapes(any, false), CALL(sin(x[0])), pointwise([](double a) { return std::sin(a); })).widens();
  cases.add("cos", shapes(any, false), CALL(cos(x[0])), pointwise([](double a) { return std::cos(a); })).widens();
  cases.add("tanh", shapes(any), CALL(tanh(x[0])), pointwise([](double a) { return std::tanh(a); })).widens();
  cases.add("erf", shapes(any), CALL(erf(x[0])), pointwise([](double a) { return std::erf(a); })).widens();
}

void add_sigmoid_cases(Cases& cases) {
  const auto any = far_from({}), off_zero = far_from({0});
  cases.add("sigmoid", shapes(any), CALL(sigmoid(x[0])), pointwise(reference::sigmoid)).widens();
  cases.add("softplus", shapes(any), CALL(softplus(x[0])), pointwise(reference::softplus)).widens();
  cases.add("silu", shapes(any, false), CALL(silu(x[0])), pointwise(reference::silu)).widens();
  cases
      .add("leaky relu", shapes(off_zero), CALL(leaky_relu(x[0], 0.25)),
           pointwise([](double a) { return a < 0 ? 0.25 * a : a; }))
      .widens();
  cases.add("gelu", shapes(any, false), CALL(gelu(x[0])), pointwise(reference::gelu)).widens();
  cases.add("gelu tanh", shapes(any, false), CALL(gelu(x[0], Gelu::tanh)), pointwise(reference::gelu_tanh)).widens();
}

double clipped(double x, double low, double high) { return std::isnan(x) ? x : std::min(std::max(x, low), high); }

void add_clip_cases(Cases& cases) {
  cases
      .add("clip", shapes(far_from({-0.5, 1})), CALL(clip(x[0], -0.5, 1.0)),
           pointwise([](double a) { return clipped(a, -0.5, 1); }))
      .widens();
  cases
      .add("clip below", shapes(far_from({0})), CALL(clip(x[0], 0, std::nullopt)),
           pointwise([](double a) { return clipped(a, 0, INFINITY); }))
      .compares(kNumbers);
  cases
      .add("clip above", shapes(far_from({1})), CALL(clip(x[0], std::nullopt, 1)),
           pointwise([](double a) { return clipped(a, -INFINITY, 1); }))
      .compares(kNumbers);
  cases
      .add("clip at NaN", {{special({19})}, {integers({3}, -1, 1)}},
           CALL(Outputs{clip(x[0], NAN, std::nullopt), clip(x[0], -1.0, NAN)}),
           [](const Arrays& x) {
             const Array nothing = build(x[0].shape, [](const Index&) { return NAN; });
             return Arrays{nothing, nothing};
           })
      .widens()
      .no_gradient();
  cases
      .add("clip integers", {{integers({40}, -5, 5)}}, CALL(clip(x[0], 1, 3)),
           pointwise([](double a) { return clipped(a, 1, 3); }))
      .compares(kNumbers);
}

/// Every function of one tensor refuses an absent one, and says which function it was.
void add_undefined_errors(Cases& cases) {
  using Function = Tensor (*)(const Tensor&);
  const std::pair<const char*, Function> functions[] = {
      {"neg", neg},   {"abs", abs},          {"sign", sign}, {"square", square},
      {"sqrt", sqrt}, {"rsqrt", rsqrt},      {"exp", exp},   {"log", log},
      {"sin", sin},   {"cos", cos},          {"tanh", tanh}, {"reciprocal", reciprocal},
      {"relu", relu}, {"log1p", log1p},      {"silu", silu}, {"sigmoid", sigmoid},
      {"erf", erf},   {"softplus", softplus}};
  for (const auto& [name, function] : functions)
    cases.error<Error>(
        std::string(name) + " undefined", [function = function] { function(Tensor()); },
        std::string(name) + "(): a tensor is undefined (default-constructed, or an absent gradient)");
  for (const auto& [name, function] : {functions[0], functions[1], functions[2], functions[3], functions[12]})
    cases.error<DtypeError>(
        std::string(name) + " of bool", [function = function] { function(ones({2}, boolean)); },
        std::string(name) +
            "([2] bool): bool is not accepted here; it takes integers or floating "
            "dtypes; cast bool first");
}

void add_errors(Cases& cases) {
  add_undefined_errors(cases);
  cases.error<Error>(
      "clip bounds", [] { clip(ones({2}), 2, 1); }, "clip([2] f32): min 2 is above max 1");
  cases.error<Error>(
      "clip floating bounds", [] { clip(ones({2}, i64), 0.5, -0.5); }, "clip([2] i64): min 0.5 is above max -0.5");
  cases.error<DtypeError>(
      "clip of bool", [] { clip(ones({2}, boolean), std::nullopt, std::nullopt); },
      "clip([2] bool): bool is not accepted here; it takes integers or floating dtypes; cast bool first");
}

}  // namespace

void add_unary_cases(Cases& cases) {
  add_keeping_cases(cases);
  add_root_cases(cases);
  add_transcendental_cases(cases);
  add_sigmoid_cases(cases);
  add_clip_cases(cases);
  add_errors(cases);
}

}  // namespace weft::testing
