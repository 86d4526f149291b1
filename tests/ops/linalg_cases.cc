// Cases of systems, determinants and triangular factors, and the errors of linear algebra. A factorization is put
// together again: its reference is the matrix itself.

#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/eig.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/lu.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/matrix_exp.h"
#include "tensor/functions/matrix_norm.h"
#include "tensor/functions/qr.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/svd.h"
#include "tensor/functions/triangular.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tests/ops/families.h"
#include "tests/ops/matrices.h"

namespace weft::testing {

namespace {

void add_systems(Cases& cases) {
  row(cases, "inv", kSquares, CALL(inv(shifted(x[0]))), each([](const Array& a) { return inverse_of(shifted(a)); }));
  row(cases, "inverse of a transposed matrix", kSquares, CALL(inverse(shifted(x[0]).t())),
      each([](const Array& a) { return inverse_of(transposed(shifted(a))); }));
  const Reference solved = [](const Arrays& x) { return Arrays{product(inverse_of(shifted(x[0])), x[1])}; };
  row(cases, "solve",
      {{normal({3, 3}), normal({3, 2})},
       {normal({4, 4}), normal({4, 1})},
       {normal({2, 2}), normal({2, 5})},
       {normal({1, 1}), normal({1, 0})}},
      CALL(solve(shifted(x[0]), x[1])), solved);
  row(cases, "tensorsolve", {{normal({3, 1, 3}), normal({3, 1})}},
      CALL(tensorsolve(reshape(shifted(reshape(x[0], {3, 3})), {3, 1, 3}), x[1])), [](const Arrays& x) {
        return reshaped(product(inverse_of(shifted(reshaped(x[0], {3, 3}))), reshaped(x[1], {3, 1})), {3});
      });
  row(cases, "tensorsolve with the unknown's axes in front", {{normal({4, 4}), normal({4})}},
      CALL(tensorsolve(movedim(reshape(shifted(x[0]), {4, 2, 2}), {1, 2}, {0, 1}), x[1], {0, 1})), [](const Arrays& x) {
        return reshaped(product(inverse_of(shifted(x[0])), reshaped(x[1], {4, 1})), {2, 2});
      });
  row(cases, "tensorinv", {{normal({4, 4})}}, CALL(tensorinv(reshape(shifted(x[0]), {2, 2, 4, 1}))),
      [](const Arrays& x) {
        return reshaped(inverse_of(shifted(x[0])), {4, 1, 2, 2});
      });
  row(cases, "solve for a vector", {{normal({3, 3}), normal({3})}}, CALL(solve(shifted(x[0]), x[1])),
      [](const Arrays& x) {
        return reshaped(product(inverse_of(shifted(x[0])), reshaped(x[1], {3, 1})), {3});
      });
  row(cases, "solve from the right", {{normal({3, 3}), normal({2, 3})}}, CALL(solve(shifted(x[0]), x[1], false)),
      [](const Arrays& x) { return product(x[1], inverse_of(shifted(x[0]))); });
  row(cases, "solve a batch with one matrix",
      {{normal({3, 3}), normal({2, 3, 2})},
       {normal({2, 3, 3}), normal({3, 1})},
       {normal({2, 1, 2, 2}), normal({3, 2, 1})}},
      CALL(matmul(shifted(x[0]), solve(shifted(x[0]), x[1])) - x[1]), [](const Arrays& x) {
        Shape shape = broadcast_of(Shape(x[0].shape.begin(), x[0].shape.end() - 2),
                                   Shape(x[1].shape.begin(), x[1].shape.end() - 2));
        shape.push_back(x[1].size(-2)), shape.push_back(x[1].size(-1));
        return build(shape, [](const Index&) { return 0.0; });
      });
  row(cases, "solve a vector per matrix", {{normal({2, 3, 3}), normal({2, 3})}},
      CALL(matmul(shifted(x[0]), unsqueeze(solve(shifted(x[0]), x[1]), -1))), [](const Arrays& x) {
        return reshaped(x[1], {2, 3, 1});
      });
  row(cases, "inv of larger matrices", kLarge, CALL(matmul(inv(shifted(x[0], 30)), shifted(x[0], 30))),
      [](const Arrays& x) { return identity(x[0].size(0)); })
      .no_gradient();
  row(cases, "solve larger systems", kLarge, CALL(matmul(shifted(x[0], 30), solve(shifted(x[0], 30), x[0]))), same())
      .no_gradient();
}

void add_determinants(Cases& cases) {
  row(cases, "det", kSquares, CALL(det(x[0])), each([](const Array& a) { return scalar(determinant(a)); }));
  row(cases, "det of an empty matrix", {{normal({0, 0})}, {normal({2, 0, 0})}}, CALL(det(x[0])),
      each([](const Array&) { return scalar(1); }));
  row(cases, "det of singular matrices",
      {{given({2, 2}, {1, 2, 2, 4})},
       {given({3, 3}, {1, 2, 3, 2, 4, 6, 1, 0, 1})},
       {given({1, 1}, {0})},
       {given({2, 2, 2}, {1, 2, 2, 4, 1, 0, 0, 1})}},
      CALL(det(x[0])), each([](const Array& a) { return scalar(determinant(a)); }))
      .no_layouts();
  row(cases, "slogdet", kSquares, CALL([&] {
        const auto [sign, log] = slogdet(x[0]);
        return Outputs{sign, log};
      }()),
      [](const Arrays& x) {
        Arrays out;
        for (const int which : {0, 1})
          out.push_back(each([=](const Array& a) {
            const double d = determinant(a);
            return scalar(which ? std::log(std::abs(d)) : static_cast<double>((d > 0) - (d < 0)));
          })(x)[0]);
        return out;
      })
      .no_layouts();
  row(cases, "slogdet of a singular matrix", {{given({2, 2}, {1, 2, 2, 4})}},
      CALL(Outputs{slogdet(x[0]).sign, slogdet(x[0]).logabsdet}),
      [](const Arrays&) {
        return Arrays{scalar(0), scalar(-INFINITY)};
      })
      .no_gradient()
      .no_layouts();
  row(cases, "logdet", kSquares, CALL(logdet(definite(x[0]))),
      each([](const Array& a) { return scalar(std::log(determinant(definite(a)))); }));
  row(cases, "logdet of a negative determinant", {{given({1, 1}, {-2})}}, CALL(logdet(x[0])),
      each([](const Array&) { return scalar(NAN); }))
      .no_gradient()
      .no_layouts();
}

void add_triangular(Cases& cases) {
  row(cases, "cholesky", kSquares, CALL(matmul(cholesky(definite(x[0])), cholesky(definite(x[0])).t())),
      each([](const Array& a) { return definite(a); }));
  row(cases, "cholesky upper", kSquares,
      CALL(matmul(cholesky(definite(x[0]), true).t(), cholesky(definite(x[0]), true))),
      each([](const Array& a) { return definite(a); }));
  row(cases, "cholesky factor", kSquares, CALL(cholesky(definite(x[0]))), nullptr);
  row(cases, "cholesky of known", {{given({2, 2}, {4, 2, 2, 5})}, {given({2, 2}, {4, 99, 2, 5})}}, CALL(cholesky(x[0])),
      [](const Arrays&) {
        return Array{{2, 2}, {2, 0, 1, 2}};
      })
      .no_gradient()
      .no_layouts();
  row(cases, "cholesky of larger matrices", kLarge,
      CALL(matmul(cholesky(definite(x[0])), cholesky(definite(x[0])).t())),
      each([](const Array& a) { return definite(a); }))
      .no_gradient();
  row(cases, "cholesky_solve", {{normal({3, 2}), normal({3, 3})}}, CALL(cholesky_solve(x[0], cholesky(definite(x[1])))),
      [](const Arrays& x) { return product(inverse_of(definite(x[1])), x[0]); });
  row(cases, "cholesky_solve upper", {{normal({3, 2}), normal({3, 3})}},
      CALL(cholesky_solve(x[0], cholesky(definite(x[1]), true), true)),
      [](const Arrays& x) { return product(inverse_of(definite(x[1])), x[0]); });
  row(cases, "cholesky_inverse", kSquares, CALL(cholesky_inverse(cholesky(definite(x[0])))),
      each([](const Array& a) { return inverse_of(definite(a)); }));
  for (const bool upper : {false, true})
    for (const bool unit : {false, true}) {
      const auto triangle = [=](const Array& a) {
        return build(a.shape, [&](const Index& at) {
          return at[0] == at[1] ? (unit ? 1.0 : a.at(at) + 4) : (at[1] > at[0]) == upper ? a.at(at) : 0.0;
        });
      };
      const std::string name = std::string("solve_triangular") + (upper ? " upper" : "") + (unit ? " unit" : "");
      row(cases, name, {{normal({3, 3}), normal({3, 2})}, {normal({1, 1}), normal({1, 1})}},
          CALL(solve_triangular(shifted(x[0]), x[1], {.upper = upper, .unitriangular = unit})),
          [=](const Arrays& x) { return product(inverse_of(triangle(x[0])), x[1]); });
      row(cases, name + " from the right", {{normal({3, 3}), normal({2, 3})}},
          CALL(solve_triangular(shifted(x[0]), x[1], {.upper = upper, .left = false, .unitriangular = unit})),
          [=](const Arrays& x) { return product(x[1], inverse_of(triangle(x[0]))); });
    }
}

/// A batch of three matrices, the last two of which are singular.
Tensor partly_singular() { return stack({tensor({{1.0, 0.0}, {0.0, 1.0}}), ones({2, 2}), ones({2, 2})}); }

/// What every function of square matrices refuses.
void add_square_errors(Cases& cases) {
  const Tensor m = ones({2, 3}), v = ones({3});
  const auto square = [&](const std::string& name, const std::function<void(const Tensor&)>& f) {
    cases.error<ShapeError>(
        name + " of a rectangle", [=] { f(m); },
        name + "([2, 3] f32): it takes square matrices (..., n, n), not shape [2, 3]");
    cases.error<ShapeError>(
        name + " of a vector", [=] { f(v); }, name + "([3] f32): it takes square matrices (..., n, n), not shape [3]");
    cases.error<DtypeError>(
        name + " of integers",
        [=] {
          f(ones({2, 2}, i64));
        },
        name + "([2, 2] i64): i64 is not accepted here; it takes f32 and f64; cast first, e.g. x.to(f32)");
  };
  square("inv", [](const Tensor& x) { inv(x); });
  square("det", [](const Tensor& x) { det(x); });
  square("slogdet", [](const Tensor& x) { slogdet(x); });
  square("logdet", [](const Tensor& x) { logdet(x); });
  square("cholesky", [](const Tensor& x) { cholesky(x); });
  square("eigh", [](const Tensor& x) { eigh(x); });
  square("eigvalsh", [](const Tensor& x) { eigvalsh(x); });
  square("eig", [](const Tensor& x) { eig(x); });
  square("eigvals", [](const Tensor& x) { eigvals(x); });
  square("matrix_exp", [](const Tensor& x) { matrix_exp(x); });
}

void add_system_errors(Cases& cases) {
  const Tensor m = ones({2, 3}), one = ones({2, 2}), batch = ones({2, 2, 2, 2});
  const Tensor mixed = partly_singular();
  cases.error<Error>(
      "inv singular", [=] { inv(one); }, "inv([2, 2] f32): the matrix is singular");
  cases.error<Error>(
      "inv singular of a batch", [=] { inv(mixed); }, "inv([3, 2, 2] f32): matrix 1 of the batch is singular");
  cases.error<Error>(
      "inv singular of batches", [=] { inv(batch); }, "inv([2, 2, 2, 2] f32): matrix [0, 0] of the batch is singular");
  cases.error<Error>(
      "inv undefined", [] { inv(Tensor()); },
      "inv(): a tensor is undefined (default-constructed, or an absent gradient)");
  cases.error<Error>(
      "solve singular", [=] { solve(one, m); }, "solve([2, 2] f32, [2, 3] f32): the matrix is singular");
  cases.error<ShapeError>(
      "solve rows",
      [=] {
        solve(one, ones({3, 2}));
      },
      "solve([2, 2] f32, [3, 2] f32): the right side must have 2 rows, its shape is [3, 2]");
  cases.error<ShapeError>(
      "solve elements", [=] { solve(one, ones({3})); },
      "solve([2, 2] f32, [3] f32): the right side must have 2 rows, its shape is [3]");
  cases.error<ShapeError>(
      "solve columns",
      [=] {
        solve(one, ones({2, 3}), false);
      },
      "solve([2, 2] f32, [2, 3] f32): the right side must have 2 columns, its shape is [2, 3]");
  cases.error<ShapeError>(
      "solve rectangle", [=] { solve(m, m); },
      "solve([2, 3] f32, [2, 3] f32): it takes square matrices (..., n, n), not shape [2, 3]");
  cases.error<ShapeError>(
      "solve batches",
      [=] {
        solve(mixed, ones({2, 2, 1}));
      },
      "solve([3, 2, 2] f32, [2, 2, 1] f32): shapes [3] and [2] do not broadcast: 3 and 2 on axis -1");
  cases.error<ShapeError>(
      "tensorsolve sizes",
      [] {
        tensorsolve(ones({2, 3, 2}), ones({2, 3}));
      },
      "tensorsolve([2, 3, 2] f32, [2, 3] f32): the last sizes of a, [2], must have the product of b's, 6, and so must "
      "those before them");
  cases.error<ShapeError>(
      "tensorsolve axes",
      [] {
        tensorsolve(ones({2}), ones({2, 1}));
      },
      "tensorsolve([2] f32, [2, 1] f32): a must have at least as many axes as b");
  cases.error<ShapeError>(
      "tensorinv sizes",
      [] {
        tensorinv(ones({2, 3, 5}), 1);
      },
      "tensorinv([2, 3, 5] f32): the products of [2] and [3, 5] must be equal, not 2 and 15");
  cases.error<ShapeError>(
      "tensorinv count",
      [] {
        tensorinv(ones({2, 2}), 0);
      },
      "tensorinv([2, 2] f32): count must lie between 1 and the 2 axes, not be 0");
}

void add_triangular_errors(Cases& cases) {
  const Tensor m = ones({2, 3}), one = ones({2, 2});
  const Tensor mixed = partly_singular();
  const Tensor nan = full({2, 2}, NAN);
  cases.error<Error>(
      "cholesky indefinite",
      [] {
        cholesky(tensor({{1.0, 2.0}, {2.0, 1.0}}));
      },
      "cholesky([2, 2] f32): the matrix is not positive definite");
  cases.error<Error>(
      "cholesky of NaN", [=] { cholesky(nan); }, "cholesky([2, 2] f32): the matrix is not positive definite");
  cases.error<Error>(
      "cholesky batch", [=] { cholesky(mixed); },
      "cholesky([3, 2, 2] f32): matrix 1 of the batch is not positive definite");
  cases.error<Error>(
      "solve_triangular zero",
      [] {
        solve_triangular(zeros({2, 2}), ones({2, 1}));
      },
      "solve_triangular([2, 2] f32, [2, 1] f32): the matrix is singular: there is a zero on its diagonal");
  cases.error<ShapeError>(
      "solve_triangular rows",
      [=] {
        solve_triangular(one, ones({3, 1}));
      },
      "solve_triangular([2, 2] f32, [3, 1] f32): the right side must have 2 rows, its shape is [3, 1]");
  cases.error<ShapeError>(
      "solve_triangular vector", [=] { solve_triangular(one, ones({2})); },
      "solve_triangular([2, 2] f32, [2] f32): the right side must be matrices (..., n, k), not shape [2]");
  cases.error<ShapeError>(
      "cholesky_solve rows",
      [=] {
        cholesky_solve(ones({3, 1}), one);
      },
      "cholesky_solve([3, 1] f32, [2, 2] f32): the right side must have 2 rows, its shape is [3, 1]");
  cases.error<ShapeError>(
      "cholesky_inverse rectangle", [=] { cholesky_inverse(m); },
      "cholesky_inverse([2, 3] f32): it takes square matrices (..., n, n), not shape [2, 3]");
}

void add_decomposition_errors(Cases& cases) {
  const Tensor m = ones({2, 3}), v = ones({3});
  const Tensor nan = full({2, 2}, NAN);
  cases.error<ShapeError>(
      "qr of a vector", [=] { qr(v); }, "qr([3] f32): it takes matrices (..., rows, columns), not shape [3]");
  cases.error<ShapeError>(
      "svd of a vector", [=] { svd(v); }, "svd([3] f32): it takes matrices (..., rows, columns), not shape [3]");
  cases.error<ShapeError>(
      "svdvals of a scalar", [] { svdvals(ones({})); },
      "svdvals([] f32): it takes matrices (..., rows, columns), not shape []");
  cases.error<Error>(
      "svd of NaN", [=] { svd(nan); }, "svd([2, 2] f32): the matrix has an element that is not finite");
  cases.error<Error>(
      "pinv of NaN", [=] { pinv(nan); }, "pinv([2, 2] f32): the matrix has an element that is not finite");
  cases.error<Error>(
      "eigh of NaN", [=] { eigh(nan); }, "eigh([2, 2] f32): the matrix has an element that is not finite");
  cases.error<Error>(
      "eig of NaN", [=] { eig(nan); }, "eig([2, 2] f32): the matrix has an element that is not finite");
  cases.error<Error>(
      "eig complex",
      [] {
        eig(tensor({{0.0, -1.0}, {1.0, 0.0}}));
      },
      "eig([2, 2] f32): the matrix has complex eigenvalues, for which there is no dtype");
  cases.error<DtypeError>(
      "qr of bf16",
      [] {
        qr(ones({2, 2}, bf16));
      },
      "qr([2, 2] bf16): bf16 is not accepted here; it takes f32 and f64; cast first, e.g. x.to(f32)");
  cases.error<ShapeError>(
      "pinv of a vector", [=] { pinv(v); }, "pinv([3] f32): it takes matrices (..., rows, columns), not shape [3]");
  cases.error<ShapeError>(
      "lstsq rows",
      [=] {
        lstsq(m, ones({3, 1}));
      },
      "lstsq([2, 3] f32, [3, 1] f32): it takes (..., m, n) and (..., m, k) or (..., m), not shapes [2, 3] and [3, 1]");
  cases.error<ShapeError>(
      "lstsq of a vector", [=] { lstsq(m, v); },
      "lstsq([2, 3] f32, [3] f32): it takes (..., m, n) and (..., m, k) or (..., m), not shapes [2, 3] and [3]");
}

void add_norm_errors(Cases& cases) {
  const Tensor m = ones({2, 3}), v = ones({3}), one = ones({2, 2});
  cases.error<Error>(
      "matrix_norm p", [=] { matrix_norm(m, 3); },
      "matrix_norm([2, 3] f32): p must be 1, 2 or infinity, or one of these negated, not 3");
  cases.error<IndexError>(
      "matrix_norm axes", [=] { matrix_norm(m, 1, {0}); },
      "matrix_norm([2, 3] f32): matrices lie on two axes, not on [0]");
  cases.error<IndexError>(
      "matrix_norm twice",
      [=] {
        matrix_norm(m, 1, {0, -2});
      },
      "matrix_norm([2, 3] f32): axis -2 is given twice");
  cases.error<IndexError>(
      "matrix_norm of a vector", [=] { matrix_norm(v); }, "matrix_norm([3] f32): axis -2 is out of range for 1 axis");
  cases.error<Error>(
      "cond of a singular matrix", [=] { cond(one, 1); }, "cond([2, 2] f32): the matrix is singular");
}

}  // namespace

void add_linalg_cases(Cases& cases) {
  add_systems(cases);
  add_determinants(cases);
  add_triangular(cases);
  add_square_errors(cases);
  add_system_errors(cases);
  add_triangular_errors(cases);
  add_decomposition_errors(cases);
  add_norm_errors(cases);
}

}  // namespace weft::testing
