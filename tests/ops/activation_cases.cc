// Cases of activations.
#include <cmath>

#include "tensor/core/random.h"
#include "tensor/functions/activation.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tests/ops/families.h"
#include "tests/reference/activation.h"

namespace weft::testing {

namespace {

using Naive = double (*)(double);

/// Shapes of many kinds, away from the kinks, and the special values.
std::vector<Sample> shapes(const std::vector<double>& kinks, bool with_special = true, double scale = 1) {
  std::vector<Sample> out;
  for (const Shape& shape : std::vector<Shape>{{3, 4}, {}, {0}, {1, 0, 3}, {20}, {7, 9}, {2, 3, 2, 2}, {41}})
    out.push_back({scale == 1 ? normal(shape, kinks) : uniform(shape, -scale, scale)});
  for (const double kink : kinks) out.push_back({given({4}, {kink - 0.25, kink - 0.05, kink + 0.05, kink + 0.25})});
  if (with_special) out.push_back({special({38})});
  return out;
}

double elu_of(double x) { return x > 0 ? x : std::expm1(x); }
double limited(double x, double low, double high) { return std::isnan(x) ? x : std::min(std::max(x, low), high); }

void add_pointwise(Cases& cases) {
  auto add = [&](const char* name, const std::vector<Sample>& samples, Call call, Naive naive) -> OpCase& {
    return cases.add(name, samples, std::move(call), pointwise(naive)).widens().loose(4);
  };
  add("elu", shapes({0}), CALL(elu(x[0])), elu_of);
  add("elu 0.5", shapes({0}), CALL(elu(x[0], 0.5)), [](double a) { return a > 0 ? a : 0.5 * std::expm1(a); });
  add("selu", shapes({0}), CALL(selu(x[0])),
      [](double a) { return 1.0507009873554805 * (a > 0 ? a : 1.6732632423543772 * std::expm1(a)); });
  add("celu", shapes({0}), CALL(celu(x[0], 2)), [](double a) { return a > 0 ? a : 2 * std::expm1(a / 2); });
  add("celu below", shapes({0}, false), CALL(celu(x[0], -2)),
      [](double a) { return a > 0 ? a : -2 * std::expm1(a / -2); });
  add("mish", shapes({}, false), CALL(mish(x[0])), [](double a) { return a * std::tanh(reference::softplus(a)); });
  add("hardswish", shapes({-3, 3}, false), CALL(hardswish(x[0])),
      [](double a) { return a * limited(a + 3, 0, 6) / 6; });
  add("hardsigmoid", shapes({-3, 3}), CALL(hardsigmoid(x[0])), [](double a) { return limited(a + 3, 0, 6) / 6; });
  add("logsigmoid", shapes({}), CALL(logsigmoid(x[0])), [](double a) { return -reference::softplus(-a); });
  add("softsign", shapes({0}), CALL(softsign(x[0])), [](double a) { return a / (1 + std::abs(a)); });
  add("hardtanh", shapes({-1, 1}), CALL(hardtanh(x[0])), [](double a) { return limited(a, -1, 1); });
  add("relu6", shapes({0, 1.5}), CALL(relu6(x[0] * 4.0)), [](double a) { return limited(a * 4, 0, 6); });
  add("softshrink", shapes({-0.5, 0.5}), CALL(softshrink(x[0])), [](double a) {
    return std::isnan(a) ? a : a > 0.5 ? a - 0.5 : a < -0.5 ? a + 0.5 : 0;
  });
  add("hardshrink", shapes({-0.5, 0.5}), CALL(hardshrink(x[0])), [](double a) { return std::abs(a) <= 0.5 ? 0 : a; });
  add("tanhshrink", shapes({}), CALL(tanhshrink(x[0])), [](double a) { return a - std::tanh(a); }).large_parts();
  add("threshold", shapes({0.25}), CALL(threshold(x[0], 0.25, -7)), [](double a) { return a <= 0.25 ? -7 : a; });
  add("softplus with beta", shapes({4.0 / 3}), CALL(softplus(x[0], 3, 4)),
      [](double a) { return 3 * a > 4 ? a : reference::softplus(3 * a) / 3; });
  add("rrelu in evaluation", shapes({0}), CALL(rrelu(x[0], 0.25, 0.75)), [](double a) { return a > 0 ? a : 0.5 * a; });
}

void add_prelu(Cases& cases) {
  const auto naive = [](const Arrays& x) {
    const Array &a = x[0], &w = x[1];
    return build(a.shape, [&](const Index& i) {
      const size_t axis = a.shape.size() == 1 ? 0 : 1;
      const double slope = w.values.size() == 1 ? w.values[0] : w.at({i[axis]});
      return a.at(i) > 0 ? a.at(i) : slope * a.at(i);
    });
  };
  cases
      .add("prelu",
           {{normal({3, 4}, {0}), normal({4})},
            {normal({2, 3, 2}, {0}), normal({3})},
            {normal({5}, {0}), normal({5})},
            {normal({2, 3, 2}, {0}), normal({1})},
            {normal({}, {0}), normal({1})},
            {normal({0, 2}), normal({2})}},
           CALL(prelu(x[0], x[1])), naive)
      .compares(kFloating)
      .no_layouts();
}

void add_rows(Cases& cases) {
  cases
      .add("glu", {{normal({3, 4})}, {normal({6})}, {normal({0, 2})}, {normal({2, 3, 8})}, {normal({3, 0})}},
           CALL(glu(x[0])),
           [](const Arrays& x) {
             Shape shape = x[0].shape;
             const int64_t half = shape[shape.size() - 1] /= 2;
             return build(shape, [&](Index i) {
               const double a = x[0].at(i);
               i.back() += half;
               return a * reference::sigmoid(x[0].at(i));
             });
           })
      .compares(kFloating);
  cases
      .add("glu axis 0", {{normal({4, 3})}, {normal({2})}}, CALL(glu(x[0], 0)),
           [](const Arrays& x) {
             Shape shape = x[0].shape;
             const int64_t half = shape[0] /= 2;
             return build(shape, [&](Index i) {
               const double a = x[0].at(i);
               i[0] += half;
               return a * reference::sigmoid(x[0].at(i));
             });
           })
      .compares(kFloating);
  const auto softmin_of = rowwise(-1, [](const std::vector<double>& row) {
    double sum = 0;
    for (double a : row) sum += std::exp(-a);
    std::vector<double> out;
    for (double a : row) out.push_back(std::exp(-a) / sum);
    return out;
  });
  cases.add("softmin", {{normal({3, 4})}, {normal({5})}, {normal({0, 3})}}, CALL(softmin(x[0], -1)), softmin_of)
      .compares(kFloating)
      .loose(4);
}

void add_random(Cases& cases) {
  cases
      .add(
          "rrelu in training", {{normal({100}, {0})}, {normal({7, 5}, {0})}},
          [](const Inputs& x) {
            const Tensor slope = rrelu(x[0], 0.25, 0.5, true) / x[0];
            return where(x[0] > 0, slope == 1, logical_and(slope > 0.249, slope < 0.501));
          },
          pointwise([](double) { return 1.0; }))
      .compares(DTypes{f32, f64})
      .gives({Result::boolean})
      .no_gradient();
  cases
      .add(
          "gumbel_softmax", {{normal({3, 4})}, {normal({2, 3, 5})}, {normal({0, 2})}},
          [](const Inputs& x) {
            manual_seed(5);
            return sum(gumbel_softmax(x[0], 0.7), -1);
          },
          reduction({-1}, false, [](const std::vector<double>&) { return 1.0; }))
      .compares(kFloating);
  cases
      .add(
          "gumbel_softmax hard", {{normal({3, 4})}, {normal({2, 3, 5})}},
          [](const Inputs& x) {
            const Tensor y = gumbel_softmax(x[0], 0.7, true, 1);
            return Outputs{sum(y, 1), abs(y * (1 - y))};
          },
          [](const Arrays& x) {
            return Arrays{reduction({1}, false, [](const std::vector<double>&) { return 1.0; })(x)[0],
                          pointwise([](double) { return 0.0; })(x)[0]};
          })
      .compares(DTypes{f32, f64})
      .no_gradient()
      .loose(10);
}

void add_errors(Cases& cases) {
  cases.error<Error>(
      "celu alpha", [] { celu(ones({2}), 0); }, "celu([2] f32): alpha must not be 0");
  cases.error<Error>(
      "hardtanh bounds", [] { hardtanh(ones({2}), 2, 1); }, "hardtanh([2] f32): min 2 is above max 1");
  cases.error<ShapeError>(
      "prelu slopes",
      [] {
        prelu(ones({2, 3}), ones({2}));
      },
      "prelu([2, 3] f32, [2] f32): the weight has shape [2]; it holds 1 slope or 3 of channels");
  cases.error<ShapeError>(
      "prelu matrix",
      [] {
        prelu(ones({2, 3}), ones({3, 1}));
      },
      "prelu([2, 3] f32, [3, 1] f32): the weight has shape [3, 1]; it holds 1 slope or 3 of channels");
  cases.error<Error>(
      "softshrink width", [] { softshrink(ones({2}), -1); }, "softshrink([2] f32): width -1 must be 0 or more");
  cases.error<Error>(
      "softplus beta", [] { softplus(ones({2}), 0); }, "softplus([2] f32): beta must not be 0");
  cases.error<ShapeError>(
      "glu odd",
      [] {
        glu(ones({2, 3}));
      },
      "glu([2, 3] f32): axis -1 has size 3, which is not even");
  cases.error<IndexError>(
      "glu axis",
      [] {
        glu(ones({2, 3}), 2);
      },
      "glu([2, 3] f32): axis 2 is out of range for 2 axes");
  cases.error<IndexError>(
      "softmin axis", [] { softmin(ones({2}), 1); }, "softmin([2] f32): axis 1 is out of range for 1 axis");
  cases.error<Error>(
      "rrelu bounds", [] { rrelu(ones({2}), 1, 0.5); }, "rrelu([2] f32): lower 1 is above upper 0.5");
  cases.error<Error>(
      "gumbel_softmax tau", [] { gumbel_softmax(ones({2}), 0); }, "gumbel_softmax([2] f32): tau = 0 must be positive");
  using Function = Tensor (*)(const Tensor&);
  const std::pair<const char*, Function> functions[] = {{"mish", mish},
                                                        {"hardswish", hardswish},
                                                        {"hardsigmoid", hardsigmoid},
                                                        {"logsigmoid", logsigmoid},
                                                        {"softsign", softsign},
                                                        {"selu", selu},
                                                        {"relu6", relu6},
                                                        {"tanhshrink", tanhshrink}};
  for (const auto& [name, f] : functions)
    cases.error<Error>(
        std::string(name) + " undefined", [f = f] { f(Tensor()); },
        std::string(name) + "(): a tensor is undefined (default-constructed, or an absent gradient)");
}

}  // namespace

void add_activation_cases(Cases& cases) {
  add_pointwise(cases);
  add_prelu(cases);
  add_rows(cases);
  add_random(cases);
  add_errors(cases);
}

}  // namespace weft::testing
