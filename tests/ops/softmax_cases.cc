// Cases of softmax, log-softmax and their gradients as ops of their own.
#include <cmath>

#include "tensor/adjoints/softmax.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/softmax.h"
#include "tests/ops/families.h"
#include "tests/reference/rows.h"

namespace weft::testing {

namespace {

void add_forward(Cases& cases, int64_t axis, const std::string& suffix, const std::vector<Sample>& samples) {
  cases.add("softmax" + suffix, samples, CALL(softmax(x[0], axis)), rowwise(axis, reference::softmax))
      .accepts(kFloating)
      .large_parts();  // y (g - sum(g y)) with a rounded y
  cases.add("log softmax" + suffix, samples, CALL(log_softmax(x[0], axis)), rowwise(axis, reference::log_softmax))
      .accepts(kFloating);
}

void add_backward(Cases& cases) {
  std::vector<Sample> samples;
  for (const Shape& shape : std::vector<Shape>{{3, 4}, {5, 1}, {2, 3, 2}, {0, 3}, {2, 19}, {18, 3}, {2, 3, 17}})
    samples.push_back({normal(shape), normal(shape)});
  cases
      .add("softmax backward", samples, CALL(adjoint::softmax_backward(x[0], x[1], 1)),
           rowwise(1, reference::softmax_gradient))
      .accepts(kFloating)
      .loose(10);
  cases
      .add("log softmax backward", samples, CALL(adjoint::log_softmax_backward(x[0], x[1], 1)),
           rowwise(1, reference::log_softmax_gradient))
      .accepts(kFloating)
      .loose(10);
}

void add_errors(Cases& cases) {
  using Function = Tensor (*)(const Tensor&, int64_t);
  for (const auto& [name, f] : {std::pair<std::string, Function>{"softmax", softmax}, {"log_softmax", log_softmax}}) {
    cases.error<IndexError>(
        name + " axis", [f = f] { f(ones({2}), 1); }, name + "([2] f32): axis 1 is out of range for 1 axis");
    cases.error<IndexError>(
        name + " axis of a scalar", [f = f] { f(ones({}), 1); }, name + "([] f32): axis 1 is out of range for 1 axis");
    cases.error<DtypeError>(
        name + " of integers", [f = f] { f(ones({2}, i64), 0); },
        name + "([2] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. x.to(f32)");
    cases.error<Error>(
        name + " undefined", [f = f] { f(Tensor(), 0); },
        name + "(): a tensor is undefined (default-constructed, or an absent gradient)");
  }
  cases.error<ShapeError>(
      "softmax_backward shapes", [] { adjoint::softmax_backward(ones({2}), ones({3}), 0); },
      "softmax_backward([2] f32, [3] f32): shapes differ: [2] and [3]");
}

}  // namespace

void add_softmax_cases(Cases& cases) {
  InputSpec hard = given({5, 2}, {1e4, -1e4, 0, -110, -INFINITY, 0, 3, 3, -1e4, -1e4});
  hard.differentiable = false;
  add_forward(cases, -1, "",
              {{normal({3, 4})},
               {normal({})},
               {normal({1})},
               {normal({7})},
               {normal({0, 3})},
               {normal({3, 0})},
               {normal({2, 3, 5})},
               {normal({3, 37})},
               {normal({2, 2, 2, 3})},
               {normal({18, 3})},
               {normal({5, 19})},
               {hard}});
  add_forward(cases, 0, " first axis",
              {{normal({3, 4})},
               {normal({5})},
               {normal({4, 2, 3})},
               {normal({2, 3, 2, 2})},
               {normal({19, 2})},
               {normal({3, 33})}});
  add_forward(cases, 1, " middle axis", {{normal({3, 4, 2})}, {normal({2, 3, 2, 2})}, {normal({2, 0, 3})}});
  add_backward(cases);
  add_errors(cases);
}

}  // namespace weft::testing
