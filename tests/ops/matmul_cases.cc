// Cases of matrix products.
#include "tensor/adjoints/matmul.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/matmul.h"
#include "tensor/ops/matmul.h"
#include "tests/ops/families.h"
#include "tests/reference/matmul.h"

namespace weft::testing {

namespace {

/// A vector as a row (first operand) or a column (second).
Array as_matrix(Array a, bool column) {
  if (a.rank() == 1) a.shape.insert(column ? 1 : 0, 1);
  return a;
}

Arrays product(const Arrays& x) {
  Array out = reference::matmul(as_matrix(x[0], false), as_matrix(x[1], true));
  if (x[1].rank() == 1) out.shape.erase(out.shape.size() - 1);
  if (x[0].rank() == 1) out.shape.erase(out.shape.size() - (x[1].rank() == 1 ? 1 : 2));
  return out;
}

void add_errors(Cases& cases) {
  cases.error<ShapeError>(
      "matmul inner",
      [] {
        matmul(ones({2, 3}), ones({4, 5}));
      },
      "matmul([2, 3] f32, [4, 5] f32): inner sizes differ: 3 and 4");
  cases.error<ShapeError>(
      "matmul vector", [] { matmul(ones({3}), ones({4})); }, "matmul([3] f32, [4] f32): inner sizes differ: 3 and 4");
  cases.error<ShapeError>(
      "matmul batch",
      [] {
        matmul(ones({2, 1, 3}), ones({3, 3, 1}));
      },
      "matmul([2, 1, 3] f32, [3, 3, 1] f32): shapes [2] and [3] do not broadcast: 2 and 3 on axis -1");
  cases.error<ShapeError>(
      "matmul scalar", [] { matmul(ones({}), ones({2})); },
      "matmul([] f32, [2] f32): it takes tensors of 1 axis or more; use * for a scalar");
  cases.error<DtypeError>(
      "matmul bool",
      [] {
        matmul(ones({2, 2}, boolean), ones({2, 2}, boolean));
      },
      "matmul([2, 2] bool, [2, 2] bool): bool is not accepted here; it takes integers or floating dtypes; cast bool "
      "first");
  cases.error<Error>(
      "matmul undefined",
      [] {
        matmul(ones({2, 2}), Tensor());
      },
      "matmul([2, 2] f32): a tensor is undefined (default-constructed, or an absent gradient)");
  cases.error<ShapeError>(
      "matmul matrix and vector",
      [] {
        matmul(ones({2, 3}), ones({2}));
      },
      "matmul([2, 3] f32, [2] f32): inner sizes differ: 3 and 2");
}

/// Rounded to the dtype that the operands have already: the plain product. Of several dtypes:
/// tests/autograd/mixed_linear_test.cc.
Tensor rounded(const Inputs& x) { return dispatch::apply(op::RoundedMatmul{x[0].dtype(), x[0].dtype()}, x[0], x[1]); }

void add_rounded_errors(Cases& cases) {
  const auto rounded_error = [&]<class E>(const char* name, const Shape& a, const Shape& b, DType operands,
                                          DType result, const char* text) {
    cases.error<E>(
        name,
        [=] {
          dispatch::apply(op::RoundedMatmul{operands, result}, ones(a), ones(b));
        },
        text);
  };
  rounded_error.operator()<ShapeError>("rounded_matmul inner", {2, 3}, {4, 5}, bf16, f32,
                                       "inner sizes differ: 3 and 4");
  rounded_error.operator()<ShapeError>("rounded_matmul batch", {2, 2, 3}, {3, 5}, bf16, f32,
                                       "each operand must have 2 axes, not shape [2, 2, 3]");
  rounded_error.operator()<DtypeError>("rounded_matmul result", {2, 3}, {3, 5}, bf16, f16,
                                       "a product of bf16 gives bf16 or f32, not f16");
}

}  // namespace

void add_matmul_cases(Cases& cases) {
  std::vector<Sample> samples, whole;
  const std::pair<Shape, Shape> shapes[] = {{{3, 4}, {4, 2}},
                                            {{4}, {4}},
                                            {{4}, {4, 3}},
                                            {{3, 4}, {4}},
                                            {{2, 3, 4}, {4, 2}},
                                            {{2, 3, 4}, {2, 4, 2}},
                                            {{2, 1, 3, 2}, {3, 2, 2}},
                                            {{0, 3}, {3, 2}},
                                            {{2, 0}, {0, 3}},
                                            {{2, 3, 0}, {0, 4}},
                                            {{0, 2, 3}, {3, 2}},
                                            {{1, 1}, {1, 1}},
                                            {{17, 5}, {5, 9}},
                                            {{4}, {2, 4, 3}},
                                            {{2, 3, 4}, {4}},
                                            {{2, 2, 2, 3}, {3, 2}},
                                            {{1, 7}, {7, 1}},
                                            {{3, 1}, {1, 3}}};
  for (const auto& [a, b] : shapes) {
    samples.push_back({normal(a), normal(b)});
    whole.push_back({integers(a, -3, 3), integers(b, -3, 3)});
  }
  cases.add("matmul", samples, CALL(matmul(x[0], x[1])), product).accepts(kNumbers).loose(4);
  std::vector<Sample> matrices;
  for (const auto& [a, b] : shapes)
    if (a.size() == 2 && b.size() == 2) matrices.push_back({normal(a), normal(b)});
  cases.add("rounded_matmul", matrices, rounded, product).accepts(kFloating).loose(4);
  add_rounded_errors(cases);
  // Whole numbers: the expected error is exactly 0.
  cases.add("matmul of whole numbers", whole, CALL(matmul(x[0], x[1])), product).accepts(kNumbers).loose(0);
  cases
      .add("matmul of larger matrices",
           {{integers({70, 130}, -3, 3), integers({130, 65}, -3, 3)},
            {integers({5, 300}, -3, 3), integers({300, 33}, -3, 3)}},
           CALL(matmul(x[0], x[1])), product)
      .compares(DTypes{f32, f64, i64})
      .loose(0);
  std::vector<Sample> vectors;
  for (const int64_t n : {2, 3, 4, 5, 6, 7, 8, 9, 10})
    vectors.push_back({integers({3, n, n}, -3, 3), integers({3, n, 1}, -3, 3)});
  cases.add("matmul of small matrices and vectors", vectors, CALL(matmul(x[0], x[1])), product)
      .compares(DTypes{f32, f64})
      .loose(0);
  // Panels of rows, and their mirror images.
  cases
      .add("gram of many rows", {{integers({256, 3}, -3, 3)}, {integers({389, 3}, -3, 3)}},
           CALL(adjoint::gram(x[0], f32)),
           [](const Arrays& x) {
             return product({x[0], transposed(x[0])});
           })
      .compares(DTypes{f32, bf16})
      .gives({Result::f32})
      .no_gradient()
      .loose(0);
  cases
      .add("matmul with its transpose", {{normal({3, 3})}, {normal({2, 3, 3})}}, CALL(matmul(x[0], x[0].t())),
           [](const Arrays& x) {
             Array out{x[0].shape, {}};
             for (const Index& at : indices_of(reference::batch_of(x[0].shape))) {
               const Array one = reference::matrix_at(x[0], at), square = product(one, transposed(one));
               out.values.insert(out.values.end(), square.values.begin(), square.values.end());
             }
             return out;
           })
      .accepts(kNumbers)
      .loose(4);
  add_errors(cases);
}

}  // namespace weft::testing
