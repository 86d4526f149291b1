// Cases of products of reflections, of symmetric matrices and of decompositions of low rank.
#include <algorithm>

#include "autograd/autograd.h"
#include "tensor/core/random.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/low_rank.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/qr.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/svd.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tests/ops/families.h"
#include "tests/ops/matrices.h"

namespace weft::testing {

namespace {

/// The product of the reflections that a (m, n) and tau (k) describe, (m, m).
Array reflections(const Array& a, const Array& tau) {
  const int64_t m = a.size(0);
  Array out = identity(m);
  for (int64_t j = 0; j < tau.size(0); ++j) {
    const auto v = [&](int64_t i) { return i < j ? 0.0 : i == j ? 1.0 : a.at({i, j}); };
    const Array one =
        build({m, m}, [&](const Index& i) { return (i[0] == i[1] ? 1.0 : 0.0) - tau.at({j}) * v(i[0]) * v(i[1]); });
    out = product(out, one);
  }
  return out;
}

const std::vector<Sample> kReflections = {{normal({4, 2}), normal({2})},          {normal({3, 3}), normal({2})},
                                          {normal({3, 2}), given({2}, {0, 0.5})}, {normal({1, 1}), normal({1})},
                                          {normal({3, 2}), normal({0})},          {normal({3, 0}), normal({0})}};

void add_reflections(Cases& cases) {
  row(cases, "householder_product", kReflections, CALL(householder_product(x[0], x[1])), [](const Arrays& x) {
    const Array q = reflections(x[0], x[1]);
    return build(x[0].shape, [&](const Index& i) { return q.at(i); });
  });
  row(cases, "householder_product of a batch", {{normal({2, 3, 2}), normal({2, 2})}},
      CALL(householder_product(x[0], x[1]) - stack({orgqr(x[0][0], x[1][0]), orgqr(x[0][1], x[1][1])})),
      constant({2, 3, 2}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  for (const bool left : {true, false})
    for (const bool transposed : {false, true}) {
      const std::string name =
          std::string("ormqr") + (left ? "" : " from the right") + (transposed ? " transposed" : "");
      row(cases, name,
          {{normal({4, 2}), normal({2}), normal({4, 4})},
           {normal({3, 3}), normal({1}), normal({3, 3})},
           {normal({2, 4}), normal({2}), normal({2, 2})}},
          CALL(ormqr(x[0], x[1], x[2], left, transposed)), [=](const Arrays& x) {
            Array q = reflections(x[0], x[1]);
            if (transposed) q = reference::transposed(q);
            return left ? product(q, x[2]) : product(x[2], q);
          });
    }
  row(cases, "ormqr broadcasts", {{normal({2, 3, 1}), normal({2, 1}), normal({3, 4})}},
      CALL(ormqr(x[0], x[1], ormqr(x[0], 2.0 / (square(narrow(x[0], -2, 1, 2)).sum(-2) + 1.0), x[2]), true, true) -
           ormqr(x[0], x[1], x[2], true, true)),
      nullptr);
  // Several blocks of reflections.
  row(cases, "householder_product in blocks", {{normal({150, 130})}, {normal({2, 70, 66})}}, CALL([&] {
        const auto [factors, tau] = geqrf(x[0]);
        const Tensor q = householder_product(factors, tau);
        return Outputs{matmul(q, triu(narrow(factors, -2, 0, tau.size(-1)))),
                       ormqr(factors, tau, x[0], true, true) - triu(factors), ormqr(factors, tau, triu(factors))};
      }()),
      [](const Arrays& x) {
        return Arrays{x[0], build(x[0].shape, [](const Index&) { return 0.0; }), x[0]};
      })
      .no_gradient();
  const std::vector<Sample> any = {{normal({3, 3})},    {normal({4, 2})},   {normal({2, 4})},
                                   {normal({2, 3, 2})}, {normal({90, 70})}, {normal({1, 3})},
                                   {normal({130, 3})},  {normal({0, 2})},   {normal({2, 3, 0})}};
  row(cases, "geqrf", any, CALL([&] {
        const auto [factors, tau] = geqrf(x[0]);
        return ormqr(factors, tau, triu(factors));
      }()),
      same())
      .no_gradient();
  row(cases, "geqrf is qr", {{normal({4, 3})}, {normal({70, 66})}, {normal({2, 3})}}, CALL([&] {
        const auto [factors, tau] = geqrf(x[0]);
        const auto [q, r] = qr(x[0]);
        const int64_t k = tau.size(-1);
        return Outputs{householder_product(narrow(factors, -1, 0, k), tau) - q, triu(narrow(factors, -2, 0, k)) - r};
      }()),
      [](const Arrays& x) {
        const int64_t k = std::min(x[0].size(0), x[0].size(1));
        const auto zero = [](const Index&) { return 0.0; };
        return Arrays{build({x[0].size(0), k}, zero), build({k, x[0].size(1)}, zero)};
      })
      .no_gradient();
}

void add_symmetric(Cases& cases) {
  const auto inverse = [](const Tensor& a) { return pinv(a, {.hermitian = true}); };
  row(cases, "pinv hermitian", kSquares, CALL(inverse(definite(x[0]))),
      each([](const Array& a) { return inverse_of(definite(a)); }))
      .loose(500);
  row(cases, "pinv hermitian of low rank", {{normal({4, 2})}, {normal({3, 1})}, {normal({30, 2})}}, CALL([&] {
        const Tensor a = matmul(x[0], x[0].t());
        return matmul(matmul(a, pinv(a, {.rtol = 1e-3, .hermitian = true})), a);
      }()),
      [](const Arrays& x) { return product(x[0], transposed(x[0])); })
      .loose(500)
      .no_layouts();
  row(cases, "pinv hermitian reads the lower triangle",
      {{given({2, 2}, {1, NAN, 2, 4})}, {given({2, 2}, {0, NAN, 0, 0})}, {given({2, 2}, {2, NAN, 0, -4})}},
      CALL(inverse(x[0])),
      [](const Arrays& x) {
        const double first = x[0].values[0];
        if (first == 1) return Array{{2, 2}, {0.04, 0.08, 0.08, 0.16}};
        return first == 0 ? Array{{2, 2}, {0, 0, 0, 0}} : Array{{2, 2}, {0.5, 0, 0, -0.25}};
      })
      .no_gradient()
      .no_layouts();
  row(cases, "matrix_rank hermitian",
      {{given({2, 2}, {1, NAN, 2, 4})}, {given({2, 2, 2}, {0, 0, 0, 0, -2, 9, 0, 1})}, {normal({2, 0, 0})}},
      CALL(matrix_rank(x[0], {.hermitian = true})),
      [](const Arrays& x) {
        if (x[0].values.empty()) return Array{{2}, {0, 0}};
        return x[0].shape.size() == 2 ? scalar(1) : Array{{2}, {0, 2}};
      })
      .gives({Result::i64})
      .no_gradient()
      .no_layouts();
}

/// u diag(s) v^T, and the products of the vectors with one another.
Outputs together(const LowRankResult& f) {
  return {matmul(scaled(f.u, f.s), f.v.t()), matmul(f.u.t(), f.u), matmul(f.v.t(), f.v)};
}

void add_low_rank(Cases& cases) {
  // Of this rank and no other, the result does not depend on what is drawn.
  row(cases, "svd_lowrank", {{normal({5, 2}), normal({2, 4})}, {normal({3, 1}), normal({1, 6})}}, CALL([&] {
        Generator generator(3);
        return together(svd_lowrank(matmul(x[0], x[1]), {.q = x[0].size(-1), .generator = &generator}));
      }()),
      [](const Arrays& x) {
        return Arrays{product(x[0], x[1]), identity(x[0].size(1)), identity(x[0].size(1))};
      })
      .loose(2000)
      .no_layouts();
  row(cases, "svd_lowrank of full rank", {{normal({2, 4, 3})}, {normal({2, 5})}}, CALL([&] {
        Generator generator(3);
        const auto [u, s, v] = svd_lowrank(x[0], {.niter = 0, .generator = &generator});
        return Outputs{matmul(scaled(u, s), v.t()), s - svdvals(x[0])};
      }()),
      [](const Arrays& x) {
        const Shape values = x[0].shape.size() == 3 ? Shape{2, 3} : Shape{2};
        return Arrays{x[0], build(values, [](const Index&) { return 0.0; })};
      })
      .loose(2000)
      .no_layouts();
  row(cases, "svd_lowrank of a difference", {{normal({4, 2}), normal({2, 3}), normal({1, 3})}}, CALL([&] {
        Generator generator(3);
        return together(svd_lowrank(matmul(x[0], x[1]) + x[2], {.q = 2, .m = x[2], .generator = &generator}))[0];
      }()),
      [](const Arrays& x) { return product(x[0], x[1]); })
      .loose(2000)
      .no_layouts();
  row(cases, "svd_lowrank of nothing", {{normal({0, 3})}, {normal({3, 0})}, {normal({0, 2, 3})}},
      CALL(together(svd_lowrank(x[0]))[0]), same());
  row(cases, "pca_lowrank", {{normal({6, 2})}, {normal({4, 2})}}, CALL([&] {
        Generator generator(3);
        const Tensor center = x[0].mean(0);
        const auto [u, s, v] = pca_lowrank(x[0], {.generator = &generator});
        const LowRankResult given = pca_lowrank(x[0] - center, {.q = 2, .center = false, .generator = &generator});
        return Outputs{matmul(scaled(u, s), v.t()) + center, square(s).sum(), given.s - narrow(s, -1, 0, 2)};
      }()),
      [](const Arrays& x) {
        double squares = 0;
        for (int64_t j = 0; j < x[0].size(1); ++j) {
          double sum = 0;
          for (int64_t i = 0; i < x[0].size(0); ++i) sum += x[0].at({i, j});
          for (int64_t i = 0; i < x[0].size(0); ++i) {
            const double d = x[0].at({i, j}) - sum / static_cast<double>(x[0].size(0));
            squares += d * d;
          }
        }
        return Arrays{x[0], scalar(squares), Array{{2}, {0, 0}}};
      })
      .loose(2000)
      .no_layouts();
}

void add_errors(Cases& cases) {
  const Tensor one = ones({2, 2}), tall = ones({3, 2}), wide = ones({2, 3}), v = ones({2});
  cases.error<ShapeError>(
      "householder_product tau", [=] { householder_product(tall, one); },
      "householder_product([3, 2] f32, [2, 2] f32): it takes (..., m, n) and tau (..., k) with k <= m and k <= n, not "
      "shapes [3, 2] and [2, 2]");
  cases.error<ShapeError>(
      "householder_product wide", [=] { householder_product(wide, v); },
      "householder_product([2, 3] f32, [2] f32): it takes at least as many rows as columns, not shape [2, 3]");
  cases.error<ShapeError>(
      "ormqr rows", [=] { ormqr(tall, v, one); },
      "ormqr([3, 2] f32, [2] f32, [2, 2] f32): c must have 3 rows as a has rows, its shape is [2, 2]");
  cases.error<GradientError>(
      "geqrf has no gradient", [=] { sum(geqrf(parameter(tall)).a).backward(); },
      "backward([] f32): no gradient reaches a parameter: `geqrf` has none and cut the path");
  cases.error<ShapeError>(
      "pinv hermitian of a rectangle", [=] { pinv(tall, {.hermitian = true}); },
      "pinv([3, 2] f32): it takes square matrices (..., n, n), not shape [3, 2]");
  cases.error<Error>(
      "pinv hermitian of NaN",
      [] {
        pinv(full({2, 2}, NAN), {.hermitian = true});
      },
      "pinv([2, 2] f32): the matrix has an element that is not finite");
  cases.error<Error>(
      "svd_lowrank q", [=] { svd_lowrank(tall, {.q = -1}); }, "svd_lowrank([3, 2] f32): q must be 0 or more, not -1");
  cases.error<Error>(
      "svd_lowrank niter", [=] { svd_lowrank(tall, {.niter = -1}); },
      "svd_lowrank([3, 2] f32): niter must be 0 or more, not -1");
  cases.error<ShapeError>(
      "svd_lowrank of a vector", [=] { svd_lowrank(v); },
      "svd_lowrank([2] f32): it takes matrices (..., rows, columns), not shape [2]");
  cases.error<Error>(
      "pca_lowrank q", [=] { pca_lowrank(tall, {.q = 3}); },
      "pca_lowrank([3, 2] f32): q must lie between 0 and min(m, n) = 2, not be 3");
}

}  // namespace

void add_reflection_cases(Cases& cases) {
  add_reflections(cases);
  add_symmetric(cases);
  add_low_rank(cases);
  add_errors(cases);
}

}  // namespace weft::testing
