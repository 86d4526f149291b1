// Cases of qr, svd, eigenvalues, norms and functions of matrices. Vectors are determined up to signs, so a case puts a
// factorization together again, or squares them.
#include <algorithm>
#include <cmath>

#include "autograd/autograd.h"
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

void add_qr(Cases& cases) {
  const auto again = [](const QrResult& f) { return matmul(f.q, f.r); };
  row(cases, "qr", kAny, CALL(again(qr(x[0]))), same()).no_layouts();
  row(cases, "qr of any layout", kAny, CALL(again(qr(x[0]))), same()).no_gradient();
  row(cases, "qr factors", kTall,
      CALL(Outputs{qr(shifted(matmul(x[0].t(), x[0]))).q, qr(shifted(matmul(x[0].t(), x[0]))).r}), nullptr);
  row(cases, "qr of tall", {{normal({4, 2})}, {normal({2, 4, 3})}}, CALL(Outputs{qr(x[0]).q, qr(x[0]).r}), nullptr)
      .no_layouts();
  row(cases, "qr of wide", {{normal({2, 4})}}, CALL(Outputs{qr(x[0]).q, qr(x[0]).r}), nullptr).no_layouts();
  // Signs of R do not matter here.
  row(cases, "qr without q",
      {{normal({4, 2})}, {normal({2, 3, 3})}, {normal({90, 35})}, {normal({2, 4})}, {normal({3, 0})}},
      CALL(matmul(qr(x[0], QrMode::r).r.t(), qr(x[0], QrMode::r).r)),
      each([](const Array& a) { return product(transposed(a), a); }))
      .no_gradient();
  row(cases, "qr complete", kAny, CALL(again(qr(x[0], QrMode::complete))), same()).no_gradient();
  row(cases, "qr complete orthogonal", kAny,
      CALL(matmul(qr(x[0], QrMode::complete).q.t(), qr(x[0], QrMode::complete).q)),
      each([](const Array& a) { return identity(a.size(0)); }))
      .no_gradient();
  row(cases, "qr of larger matrices", {{normal({40, 40})}, {normal({90, 35})}, {normal({130, 130})}},
      CALL(again(qr(x[0]))), same())
      .no_gradient();
  row(cases, "qr orthogonal", {{normal({40, 40})}, {normal({90, 35})}, {normal({3, 0})}},
      CALL(matmul(qr(x[0]).q.t(), qr(x[0]).q)), each([](const Array& a) { return identity(a.size(1)); }))
      .no_gradient();
  // Denormal f32 numbers: what is left of their digits makes reflections all the same.
  row(cases, "qr orthogonal of tiny numbers", {{normal({20, 20})}, {normal({40, 7})}},
      CALL(matmul(qr(x[0] * 1e-42).q.t(), qr(x[0] * 1e-42).q)),
      each([](const Array& a) { return identity(a.size(1)); }))
      .compares(DTypes{f32, f64})
      .no_gradient();
}

void add_svd(Cases& cases) {
  const auto again = [](const SvdResult& f) { return matmul(scaled(f.u, f.s), f.vh); };
  row(cases, "svd", kAny, CALL(again(svd(x[0], false))), same()).no_layouts();
  row(cases, "svd of any layout", kAny, CALL(again(svd(x[0], false))), same()).no_gradient();
  row(cases, "svd of larger matrices", {{normal({40, 40})}, {normal({90, 35})}, {normal({20, 60})}},
      CALL(again(svd(x[0], false))), same())
      .no_gradient();
  row(cases, "svd in parts", {{normal({70, 70})}, {normal({210, 210})}}, CALL(again(svd(x[0], false))), same())
      .no_gradient()
      .no_layouts();
  // Singular values of 0, whose vectors nothing but their being orthogonal determines.
  row(cases, "svd of low rank", {{normal({70, 3})}, {normal({5, 1})}}, CALL([&] {
        const SvdResult f = svd(matmul(x[0], x[0].t()), false);
        return Outputs{again(f), matmul(f.u.t(), f.u), matmul(f.vh, f.vh.t())};
      }()),
      [](const Arrays& x) {
        const Array one = identity(x[0].size(0));
        return Arrays{product(x[0], transposed(x[0])), one, one};
      })
      .no_gradient()
      .no_layouts();
  row(cases, "svd magnitudes", kAny,
      CALL(Outputs{square(svd(x[0], false).u), svd(x[0], false).s, square(svd(x[0], false).vh)}), nullptr)
      .no_layouts()
      .loose(500);
  row(cases, "svd full", {{normal({3, 3})}}, CALL(again(svd(x[0]))), same()).no_layouts();
  row(cases, "svd full orthogonal", {{normal({4, 2})}, {normal({2, 3})}, {normal({3, 0})}},
      CALL(matmul(svd(x[0]).u.t(), svd(x[0]).u)), each([](const Array& a) { return identity(a.size(0)); }))
      .no_gradient();
  row(cases, "svdvals", kAny, CALL(square(svdvals(x[0])).sum(-1)), each([](const Array& a) {
        double sum = 0;
        for (const double v : a.values) sum += v * v;
        return scalar(sum);
      }))
      .no_layouts();
  row(cases, "svdvals of known", {{given({2, 2}, {3, 0, 4, 5})}}, CALL(svdvals(x[0])), [](const Arrays&) {
    return Array{{2}, {std::sqrt(45), std::sqrt(5)}};
  }).no_layouts();
  row(cases, "pinv", {{normal({3, 3})}, {normal({4, 2})}, {normal({2, 4})}, {normal({2, 3, 2})}},
      CALL(matmul(matmul(x[0], pinv(x[0])), x[0])), same())
      .no_layouts();
  row(cases, "pinv itself", {{normal({4, 2})}, {normal({2, 4})}}, CALL(pinv(x[0])), [](const Arrays& x) {
    const Array t = transposed(x[0]);
    return x[0].size(0) > x[0].size(1) ? product(inverse_of(product(t, x[0])), t)
                                       : product(t, inverse_of(product(x[0], t)));
  }).no_layouts();
  row(cases, "pinv of low rank", {{given({2, 2}, {1, 2, 2, 4})}, {given({2, 2}, {0, 0, 0, 0})}}, CALL(pinv(x[0])),
      [](const Arrays& x) {
        return build({2, 2}, [&](const Index& at) { return x[0].at(at) / 25; });
      })
      .no_gradient()
      .no_layouts();
  row(cases, "matrix_rank",
      {{normal({3, 3})}, {given({2, 2}, {1, 2, 2, 4})}, {given({2, 3}, {0, 0, 0, 0, 0, 0})}, {normal({0, 3})}},
      CALL(matrix_rank(x[0])),
      [](const Arrays& x) {
        double largest = 0;
        for (const double v : x[0].values) largest = std::max(largest, std::abs(v));
        return scalar(x[0].size(0) == 3 ? 3 : largest == 0 ? 0 : 1);
      })
      .gives({Result::i64})
      .no_gradient()
      .no_layouts();
  row(cases, "lstsq", {{normal({4, 2}), normal({4, 3})}, {normal({3, 3}), normal({3, 1})}},
      CALL(lstsq(x[0], x[1]).solution),
      [](const Arrays& x) {
        const Array t = transposed(x[0]);
        return product(inverse_of(product(t, x[0])), product(t, x[1]));
      })
      .no_layouts()
      .loose(500);
  row(cases, "lstsq without gradient",
      {{normal({5, 2}), normal({5, 3})}, {normal({3, 3}), normal({3, 1})}, {normal({90, 4}), normal({90, 2})}},
      CALL(lstsq(x[0].detach(), x[1].detach()).solution),
      [](const Arrays& x) {
        const Array t = transposed(x[0]);
        return product(inverse_of(product(t, x[0])), product(t, x[1]));
      })
      .no_gradient()
      .loose(500);
  row(cases, "lstsq wide", {{normal({2, 4}), normal({2, 3})}}, CALL(lstsq(x[0], x[1]).solution),
      [](const Arrays& x) {
        const Array t = transposed(x[0]);
        return product(t, product(inverse_of(product(x[0], t)), x[1]));
      })
      .no_layouts()
      .loose(500);
  row(cases, "lstsq residuals", {{given({3, 1}, {1, 1, 1}), given({3, 1}, {1, 2, 6})}},
      CALL(Outputs{lstsq(x[0], x[1]).residuals, lstsq(x[0], x[1]).rank}),
      [](const Arrays&) {
        return Arrays{Array{{1}, {14}}, scalar(1)};
      })
      .gives({Result::same, Result::i64})
      .no_layouts();
  row(cases, "lstsq for a vector", {{normal({4, 2}), normal({4})}}, CALL(lstsq(x[0], x[1]).solution),
      [](const Arrays& x) {
        const Array t = transposed(x[0]);
        return reshaped(product(inverse_of(product(t, x[0])), product(t, reshaped(x[1], {4, 1}))), {2});
      })
      .no_layouts()
      .loose(500);
  row(cases, "lstsq for a vector per matrix", {{given({2, 2, 1}, {1, 1, 1, 1}), given({2, 2}, {1, 3, 6, 2})}},
      CALL(Outputs{lstsq(x[0], x[1]).solution, lstsq(x[0], x[1]).residuals}),
      [](const Arrays&) {
        return Arrays{Array{{2, 1}, {2, 4}}, Array{{2}, {2, 8}}};
      })
      .no_layouts();
  row(cases, "lstsq of low rank", {{given({2, 2}, {1, 2, 2, 4}), given({2, 1}, {5, 10})}},
      CALL(Outputs{lstsq(x[0], x[1]).solution, lstsq(x[0], x[1]).rank}),
      [](const Arrays&) {
        return Arrays{Array{{2, 1}, {1, 2}}, scalar(1)};
      })
      .gives({Result::same, Result::i64})
      .no_gradient()
      .no_layouts();
}

void add_eig(Cases& cases) {
  const auto again = [](const EighResult& f) {
    return matmul(scaled(f.eigenvectors, f.eigenvalues), f.eigenvectors.t());
  };
  row(cases, "eigh", kSquares, CALL(again(eigh(symmetric(x[0])))), each([](const Array& a) { return symmetric(a); }))
      .no_layouts();
  row(cases, "eigh of any layout", kSquares, CALL(again(eigh(x[0]))), each([](const Array& a) {
        return build(a.shape, [&](const Index& at) { return a.at({std::max(at[0], at[1]), std::min(at[0], at[1])}); });
      }))
      .no_gradient();
  row(cases, "eigh upper", kSquares, CALL(again(eigh(x[0], Triangle::upper))), each([](const Array& a) {
        return build(a.shape, [&](const Index& at) { return a.at({std::min(at[0], at[1]), std::max(at[0], at[1])}); });
      }))
      .no_gradient();
  row(cases, "eigh magnitudes", kSquares,
      CALL(Outputs{eigh(symmetric(x[0])).eigenvalues, square(eigh(symmetric(x[0])).eigenvectors)}), nullptr)
      .no_layouts()
      .loose(500);
  row(cases, "eigh of larger matrices", kLarge, CALL(again(eigh(symmetric(x[0])))),
      each([](const Array& a) { return symmetric(a); }))
      .no_gradient();
  // Panels, bands and divisions; of low rank nearly everything is deflated.
  row(cases, "eigh in parts", {{normal({70, 70})}, {normal({210, 210})}}, CALL(again(eigh(symmetric(x[0])))),
      each([](const Array& a) { return symmetric(a); }))
      .no_gradient()
      .no_layouts();
  row(cases, "eigh of low rank", {{normal({70, 3})}, {normal({40, 0})}}, CALL([&] {
        const EighResult f = eigh(matmul(x[0], x[0].t()));
        return Outputs{again(f), matmul(f.eigenvectors.t(), f.eigenvectors)};
      }()),
      [](const Arrays& x) {
        return Arrays{product(x[0], transposed(x[0])), identity(x[0].size(0))};
      })
      .no_gradient()
      .no_layouts();
  row(cases, "eigh of huge and tiny",
      {{given({2, 2}, {2e30, 1e30, 1e30, 2e30})}, {given({2, 2}, {2e-30, 0, 0, 1e-30})}}, CALL(eigh(x[0]).eigenvalues),
      [](const Arrays& x) {
        return x[0].values[0] > 1 ? Array{{2}, {1e30, 3e30}} : Array{{2}, {1e-30, 2e-30}};
      })
      .no_gradient()
      .no_layouts();
  // Numbers so small that one power of two does not bring them near 1.
  row(cases, "eigh in parts of tiny numbers", {{normal({40, 40})}},
      CALL(again(eigh(symmetric(x[0]) * 1e-300)) * 1e150 * 1e150), each([](const Array& a) { return symmetric(a); }))
      .compares(DTypes{f64})
      .no_gradient()
      .no_layouts();
  row(cases, "eigh in parts of tiny f32 numbers", {{normal({40, 40})}},
      CALL(again(eigh(symmetric(x[0]) * 1e-36)) * 1e18 * 1e18), each([](const Array& a) { return symmetric(a); }))
      .compares(DTypes{f32})
      .no_gradient()
      .no_layouts();
  // A block whose squares vanish beside the rest.
  row(cases, "eigh of a tiny block", {{given({4, 4}, {1, 0, 0, 0, 0, 1, 2, 0, 0, 2, 3, 1, 0, 0, 1, 1})}}, CALL([&] {
        Outputs out;
        for (const double tiny : {1e-155, 1e-160, 1e-310}) {
          const Tensor scale = tensor({1.0, tiny, tiny, tiny}, f64).to(x[0].device());
          const Tensor v = eigh(x[0] * scale).eigenvectors;
          out.push_back(matmul(v.t(), v));
        }
        return out;
      }()),
      [](const Arrays&) { return Arrays(3, identity(4)); })
      .compares(DTypes{f64})
      .no_gradient()
      .no_layouts();
  row(cases, "eigvalsh in parts", {{normal({70, 70})}, {normal({210, 210})}},
      CALL(square(eigvalsh(symmetric(x[0]))).sum()),
      [](const Arrays& x) {
        const Array a = symmetric(x[0]);
        double sum = 0;
        for (const double v : a.values) sum += v * v;
        return scalar(sum);
      })
      .no_gradient()
      .no_layouts();
  row(cases, "eigvalsh", {{given({2, 2}, {2, 1, 1, 2})}, {given({2, 2}, {3, 0, 0, -1})}},
      CALL(eigvalsh(symmetric(x[0]))),
      [](const Arrays& x) {
        const bool first = x[0].values[0] == 2;
        return Array{{2}, {first ? 2.0 : -2.0, 6.0}};
      })
      .no_layouts();
  row(cases, "eig", {{given({2, 2}, {1, 2, 0, 3})}, {given({3, 3}, {1, 2, 0, 0.5, 3, 1, 0, 1, 6})}}, CALL([&] {
        const auto [w, v] = eig(x[0]);
        return Outputs{matmul(scaled(v, w), inv(v)), square(v), w};
      }()),
      nullptr)
      .no_layouts()
      .loose(500);
  // Of 128 columns: the kernel sees 129.
  row(cases, "eig of larger matrices", {{normal({128, 128})}, {normal({40, 40})}}, CALL([&] {
        const auto [w, v] = eig(symmetric(x[0]));
        return Outputs{matmul(scaled(v, w), inv(v)), sum(square(eigvals(symmetric(x[0]))))};
      }()),
      [](const Arrays& x) {
        const Array a = symmetric(x[0]);
        double squares = 0;
        for (const double v : a.values) squares += v * v;
        return Arrays{a, scalar(squares)};
      })
      .no_gradient()
      .no_layouts();
  row(cases, "eigvals", {{given({2, 2}, {1, 2, 0, 3})}}, CALL(eigvals(x[0]).sum()), [](const Arrays&) {
    return scalar(4);
  }).no_layouts();
}

void add_functions(Cases& cases) {
  const auto exponential = [](const Array& a) {
    Array term = identity(a.size(0)), sum = term;
    for (int k = 1; k < 60; ++k) {
      term = product(term, a);
      for (double& v : term.values) v /= k;
      sum = plus(sum, term);
    }
    return sum;
  };
  row(cases, "matrix_exp", kSquares, CALL(matrix_exp(x[0])), each(exponential)).loose(1000);
  row(cases, "matrix_exp of a number", {{given({3, 1, 1}, {-INFINITY, 0.5, INFINITY})}}, CALL(matrix_exp(x[0])),
      constant({3, 1, 1}, {0, std::exp(0.5), INFINITY}))
      .no_gradient();
  row(cases, "matrix_exp of larger norm", {{uniform({3, 3}, 2, 4)}}, CALL(matrix_exp(-x[0])), each([=](const Array& a) {
        Array negative = a;
        for (double& v : negative.values) v = -v;
        return exponential(negative);
      }))
      .loose(5000);
  const auto frobenius = [](const Array& a) {
    double sum = 0;
    for (const double v : a.values) sum += v * v;
    return scalar(std::sqrt(sum));
  };
  row(cases, "matrix_norm", kAny, CALL(matrix_norm(x[0])), each(frobenius)).compares(kReal);
  for (const double p : {1.0, 2.0, HUGE_VAL})  // the largest of no norms
    for (const Shape& shape : {Shape{0, 3}, Shape{3, 0}})
      row(cases, text("matrix_norm ", p, " of no elements ", shape), {{normal(shape)}}, CALL(matrix_norm(x[0], p)),
          constant({}, {0}))
          .compares(kReal);
  row(cases, "matrix_norm nuclear", {{given({2, 2}, {3, 0, 4, 5})}}, CALL(matrix_norm(x[0], MatrixNorm::nuclear)),
      [](const Arrays&) { return scalar(std::sqrt(45) + std::sqrt(5)); })
      .no_layouts();
  for (const double p : {1.0, -1.0, double(INFINITY), -double(INFINITY)})
    row(cases, "matrix_norm " + std::to_string(p), {{normal({3, 3})}, {normal({4, 2})}, {normal({2, 4})}},
        CALL(matrix_norm(x[0], p)), each([=](const Array& a) {
          const Array b = std::abs(p) == 1 ? transposed(a) : a;
          std::vector<double> sums;
          for (int64_t i = 0; i < b.size(0); ++i) {
            sums.push_back(0);
            for (int64_t j = 0; j < b.size(1); ++j) sums.back() += std::abs(b.at({i, j}));
          }
          return scalar(p > 0 ? *std::max_element(sums.begin(), sums.end())
                              : *std::min_element(sums.begin(), sums.end()));
        }))
        .compares(kReal)
        .no_layouts();
  for (const double p : {2.0, -2.0})
    row(cases, "matrix_norm " + std::to_string(p), {{given({2, 2}, {3, 0, 4, 5})}},
        CALL(matrix_norm(x[0], p, {-2, -1}, keepdim)),
        [=](const Arrays&) {
          return reshaped(scalar(p > 0 ? std::sqrt(45) : std::sqrt(5)), {1, 1});
        })
        .no_layouts();
  row(cases, "cond", {{given({2, 2}, {3, 0, 4, 5})}},
      CALL(Outputs{cond(x[0]), cond(x[0], -2), cond(x[0], 1), cond(x[0], MatrixNorm::frobenius)}),
      [](const Arrays&) {
        return Arrays{scalar(3), scalar(1.0 / 3), scalar(7.0 * 9 / 15), scalar(50.0 / 15)};
      })
      .no_layouts();
  row(cases, "vector_norm", {{normal({3, 4}, {0})}, {normal({5}, {0})}},
      CALL(Outputs{vector_norm(x[0]), vector_norm(x[0], 0), vector_norm(x[0], INFINITY, -1),
                   vector_norm(x[0], -INFINITY, {0}, keepdim)}),
      [=](const Arrays& x) {
        const auto largest = [](const std::vector<double>& row) {
          double out = 0;
          for (const double v : row) out = std::max(out, std::abs(v));
          return out;
        };
        const auto smallest = [](const std::vector<double>& row) {
          double out = INFINITY;
          for (const double v : row) out = std::min(out, std::abs(v));
          return out;
        };
        return Arrays{frobenius(x[0]), scalar(static_cast<double>(x[0].values.size())),
                      reduction({-1}, false, largest)(x)[0], reduction({0}, true, smallest)(x)[0]};
      })
      .compares(kReal)
      .no_layouts();
}

void add_errors(Cases& cases) {
  cases.error<GradientError>(
      "qr complete of a tall matrix has no gradient",
      [] {
        sum(qr(parameter(ones({3, 2})), QrMode::complete).q).backward();
      },
      "backward of `qr`: QrMode::complete has no gradient where there are more rows than columns; use "
      "QrMode::reduced");
  cases.error<GradientError>(
      "svd with more columns of u has no gradient",
      [] {
        sum(svd(parameter(ones({3, 2})), true).u).backward();
      },
      "backward of `svd`: full_matrices has no gradient where it adds columns to u or rows to vh; leave them out");
}

}  // namespace

void add_decomposition_cases(Cases& cases) {
  add_qr(cases);
  add_svd(cases);
  add_eig(cases);
  add_functions(cases);
  add_errors(cases);
}

}  // namespace weft::testing
