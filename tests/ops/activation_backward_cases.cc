// Cases of the gradients of activations in one pass.
#include <cmath>
#include <numbers>

#include "tensor/adjoints/activation_backward.h"
#include "tensor/functions/fill.h"
#include "tests/ops/families.h"
#include "tests/reference/activation.h"

namespace weft::testing {
namespace {

using Adjoint = Tensor (*)(Tensor g, const Tensor& x);
using Derivative = double (*)(double x);

/// g slope(x)
Reference times_slope(Derivative slope) {
  return [slope](const Arrays& x) {
    return build(x[0].shape, [&](const Index& i) { return x[0].at(i) * slope(x[1].at(i)); });
  };
}

/// A gradient and what it meets, which stays away from the kinks but for values on both sides of each.
std::vector<Sample> pairs(const std::vector<double>& kinks = {}) {
  std::vector<Sample> out;
  for (const Shape& shape : std::vector<Shape>{{3, 4}, {}, {0, 2}, {20}, {41}, {2, 3, 2}})
    out.push_back({normal(shape), normal(shape, kinks)});
  for (const double kink : kinks)
    out.push_back({normal({4}), given({4}, {kink - 2, kink - 0.1, kink + 0.1, kink + 2})});
  return out;
}

double tanh_gelu_slope(double x) {
  const double c = std::sqrt(2 / std::numbers::pi), t = std::tanh(c * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x);
}
double mish_slope(double x) {
  const double t = std::tanh(reference::softplus(x));
  return t + x * (1 - t * t) * reference::sigmoid(x);
}
double silu_slope(double x) {
  const double s = reference::sigmoid(x);
  return s + x * s * (1 - s);
}

void add_rows(Cases& cases) {
  auto add = [&](const char* name, const std::vector<double>& kinks, Adjoint adjoint, Derivative slope) {
    cases.add(name, pairs(kinks), CALL(adjoint(x[0], x[1])), times_slope(slope)).loose(4);
  };
  add("relu backward", {0}, adjoint::relu_backward, [](double y) -> double { return y > 0; });
  add("sigmoid backward", {}, adjoint::sigmoid_backward, [](double y) { return y * (1 - y); });
  add("tanh backward", {}, adjoint::tanh_backward, [](double y) { return 1 - y * y; });
  add("silu backward", {}, adjoint::silu_backward, silu_slope);
  add("softplus backward", {}, adjoint::softplus_backward, reference::sigmoid);
  add("logsigmoid backward", {}, adjoint::logsigmoid_backward, [](double x) { return reference::sigmoid(-x); });
  add("hardswish backward", {-3, 3}, adjoint::hardswish_backward, [](double x) {
    return x <= -3 ? 0 : x >= 3 ? 1 : x / 3 + 0.5;
  });
  add("mish backward", {}, adjoint::mish_backward, mish_slope);
}

void add_with_attributes(Cases& cases) {
  auto add = [&](const char* name, const std::vector<double>& kinks, Call call, Derivative slope) {
    cases.add(name, pairs(kinks), std::move(call), times_slope(slope)).loose(4);
  };
  add("gelu backward", {}, CALL(adjoint::gelu_backward(x[0], x[1], Gelu::exact)),
      [](double x) { return reference::normal_cdf(x) + x * reference::normal_density(x); });
  add("gelu tanh backward", {}, CALL(adjoint::gelu_backward(x[0], x[1], Gelu::tanh)), tanh_gelu_slope);
  add("elu backward", {0}, CALL(adjoint::elu_backward(x[0], x[1], 2, 1.5, 0.5)),
      [](double x) { return x > 0 ? 1.5 : 1.5 * std::exp(x / 2); });
  add("piecewise backward", {-1, 0.5}, CALL(adjoint::piecewise_backward(x[0], x[1], {.low = -1, .high = 0.5})),
      [](double x) -> double { return x >= -1 && x <= 0.5; });
  add("piecewise backward with slopes", {0},
      CALL(adjoint::piecewise_backward(x[0], x[1], {.low = 0, .open = true, .inside = 0.5, .outside = -0.25})),
      [](double x) { return x > 0 ? 0.5 : -0.25; });
}

/// At the bounds, at NaN and the infinities; a factor of 0 gives 0 for an infinite gradient too.
void add_bounds(Cases& cases) {
  const Sample sample = {given({8}, {1, 1, 1, 1, 1, 1, INFINITY, NAN}),
                         given({8}, {-1, 2, NAN, INFINITY, -INFINITY, 0, 9, 9})};
  auto add = [&](const char* name, const op::Slopes& slopes, std::vector<double> expected) {
    cases
        .add(name, {sample}, CALL(adjoint::piecewise_backward(x[0], x[1], slopes)),
             [=](const Arrays&) {
               return Arrays{{{8}, expected}};
             })
        .no_gradient();
  };
  add("piecewise backward at closed bounds", {.low = -1, .high = 2}, {1, 1, 0, 0, 0, 1, 0, 0});
  add("piecewise backward at open bounds", {.low = -1, .high = 2, .open = true}, {0, 0, 0, 0, 0, 1, 0, 0});
  add("piecewise backward without an upper bound", {.low = -1, .open = true, .outside = 3},
      {3, 1, 3, 1, 3, 1, INFINITY, NAN});
}

void add_errors(Cases& cases) {
  cases.error<ShapeError>(
      "relu_backward shapes", [] { adjoint::relu_backward(ones({2}), ones({3})); },
      "relu_backward([2] f32, [3] f32): shapes differ: [2] and [3]");
  cases.error<DtypeError>(
      "relu_backward of integers", [] { adjoint::relu_backward(ones({2}, i32), ones({2}, i32)); },
      "relu_backward([2] i32, [2] i32): i32 is not accepted here; it takes floating dtypes; cast first, e.g. "
      "x.to(f32)");
  cases.error<ShapeError>(
      "gelu_backward shapes",
      [] {
        adjoint::gelu_backward(ones({2, 1}), ones({2}), Gelu::exact);
      },
      "gelu_backward([2, 1] f32, [2] f32): shapes differ: [2, 1] and [2]");
}

}  // namespace

void add_activation_backward_cases(Cases& cases) {
  add_rows(cases);
  add_with_attributes(cases);
  add_bounds(cases);
  add_errors(cases);
}

}  // namespace weft::testing
