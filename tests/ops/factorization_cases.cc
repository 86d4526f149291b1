// Cases of LU factors that users keep, and of results with an `info` in place of an error.
#include <cmath>
#include <utility>

#include "autograd/autograd.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/lu.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/triangular.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tests/ops/families.h"
#include "tests/ops/matrices.h"

namespace weft::testing {

namespace {

const std::vector<Sample> kAnyOrNone = {{normal({3, 3})},    {normal({4, 2})},    {normal({2, 4})},
                                        {normal({2, 3, 2})}, {normal({2, 2, 3})}, {normal({1, 3})},
                                        {normal({0, 2})},    {normal({2, 3, 0})}, {normal({0, 2, 2})}};

/// The factors of a in one matrix, and the order of its rows, by elimination.
std::pair<Array, std::vector<int64_t>> factors_of(Array a) {
  const int64_t m = a.size(0), n = a.size(1);
  const auto at = [&](int64_t i, int64_t j) -> double& { return a.values[static_cast<size_t>(i * n + j)]; };
  std::vector<int64_t> order;
  for (int64_t i = 0; i < m; ++i) order.push_back(i);
  for (int64_t j = 0; j < std::min(m, n); ++j) {
    int64_t best = j;
    for (int64_t i = j + 1; i < m; ++i)
      if (std::abs(at(i, j)) > std::abs(at(best, j))) best = i;
    std::swap(order[static_cast<size_t>(j)], order[static_cast<size_t>(best)]);
    for (int64_t k = 0; k < n; ++k) std::swap(at(j, k), at(best, k));
    for (int64_t i = j + 1; i < m; ++i) {
      at(i, j) /= at(j, j);
      for (int64_t k = j + 1; k < n; ++k) at(i, k) -= at(i, j) * at(j, k);
    }
  }
  return {a, order};
}
Array lower_of(const Array& a) {
  return build({a.size(0), std::min(a.size(0), a.size(1))}, [&](const Index& i) {
    return i[0] == i[1] ? 1.0 : i[0] > i[1] ? a.at(i) : 0.0;
  });
}
Array upper_of(const Array& a) {
  return build({std::min(a.size(0), a.size(1)), a.size(1)},
               [&](const Index& i) { return i[0] <= i[1] ? a.at(i) : 0.0; });
}

void add_lu(Cases& cases) {
  row(cases, "lu", kAnyOrNone, CALL([&] {
        const auto [p, l, u] = lu(x[0]);
        return matmul(p, matmul(l, u));
      }()),
      same())
      .no_layouts();
  row(cases, "lu of any layout", kAnyOrNone, CALL([&] {
        const auto [p, l, u] = lu(x[0]);
        return matmul(p, matmul(l, u));
      }()),
      same())
      .no_gradient();
  row(cases, "lu factors", kAnyOrNone, CALL([&] {
        const auto [p, l, u] = lu(x[0]);
        return Outputs{p, l, u};
      }()),
      [](const Arrays& x) {
        const auto part = [&](const auto& f) {
          return each([&](const Array& a) {
            const auto found = factors_of(a);
            return f(found.first, found.second);
          })(x)[0];
        };
        return Arrays{part([](const Array& a, const std::vector<int64_t>& order) {
                        return build({a.size(0), a.size(0)}, [&](const Index& i) {
                          return order[static_cast<size_t>(i[1])] == i[0] ? 1.0 : 0.0;
                        });
                      }),
                      part([](const Array& a, const auto&) { return lower_of(a); }),
                      part([](const Array& a, const auto&) { return upper_of(a); })};
      })
      .loose(500)
      .no_layouts();
  row(cases, "lu of larger matrices", kLarge, CALL([&] {
        const auto [p, l, u] = lu(x[0]);
        return Outputs{matmul(p, matmul(l, u)), matmul(p, p.t())};
      }()),
      [](const Arrays& x) {
        return Arrays{x[0], identity(x[0].size(0))};
      })
      .no_gradient();
  row(cases, "lu of a singular matrix", {{given({2, 2}, {1, 2, 2, 4})}}, CALL([&] {
        const auto [p, l, u] = lu(x[0]);
        return Outputs{p, l, u};
      }()),
      [](const Arrays&) {
        return Arrays{Array{{2, 2}, {0, 1, 1, 0}}, Array{{2, 2}, {1, 0, 0.5, 1}}, Array{{2, 2}, {2, 4, 0, 0}}};
      })
      .no_gradient();
}

void add_lu_factor(Cases& cases) {
  row(cases, "lu_factor", {{given({3, 2}, {1, 2, 3, 4, 5, 6})}}, CALL([&] {
        const auto [factors, pivots] = lu_factor(x[0]);
        return Outputs{factors, cast(pivots, i64)};
      }()),
      [](const Arrays&) {
        return Arrays{Array{{3, 2}, {5, 6, 0.2, 0.8, 0.6, 0.5}}, Array{{2}, {3, 3}}};
      })
      .gives({Result::same, Result::i64})
      .no_layouts();
  row(cases, "lu_unpack of a part", {{normal({3, 2})}}, CALL([&] {
        const Tensor pivots = tensor({2, 3}, i32).to(x[0].device());
        const auto [none, l, u] = lu_unpack(x[0], pivots, true, false);
        const LuResult permutation = lu_unpack(x[0], pivots, false);
        return Outputs{matmul(l, u), permutation.p};
      }()),
      [](const Arrays& x) {
        return Arrays{product(lower_of(x[0]), upper_of(x[0])), Array{{3, 3}, {0, 0, 1, 1, 0, 0, 0, 1, 0}}};
      });
  row(cases, "lu_factor_ex", {{given({3, 2, 2}, {1, 2, 2, 4, 0, 3, 0, 5, 1, 0, 0, 1})}}, CALL([&] {
        const auto [factors, pivots, info] = lu_factor_ex(x[0]);
        return Outputs{factors, cast(info, i64)};
      }()),
      [](const Arrays&) {
        return Arrays{Array{{3, 2, 2}, {2, 4, 0.5, 0, 0, 3, 0, 5, 1, 0, 0, 1}}, Array{{3}, {2, 1, 0}}};
      })
      .gives({Result::same, Result::i64})
      .no_gradient();
}

void add_lu_solve(Cases& cases) {
  for (const bool left : {true, false})
    for (const bool transposed : {false, true}) {
      const std::string suffix = std::string(left ? "" : " from the right") + (transposed ? " transposed" : "");
      const auto solution = [=](const Array& a, const Array& b) {
        const Array inverse = inverse_of(transposed ? reference::transposed(a) : a);
        return left ? product(inverse, b) : product(b, inverse);
      };
      row(cases, "lu_solve" + suffix, {{normal({3, 3}), normal({3, 3})}, {normal({1, 1}), normal({1, 1})}}, CALL([&] {
            const auto [factors, pivots] = lu_factor(shifted(x[0]));
            return lu_solve(factors, pivots, x[1], left, transposed);
          }()),
          [=](const Arrays& x) { return solution(shifted(x[0]), x[1]); });
      // Of factors that are given: rows 0 and 1, then 1 and 2 change places.
      row(cases, "lu_solve of given factors" + suffix, {{normal({3, 3}), normal({3, 3})}},
          CALL(lu_solve(shifted(x[0]), tensor({2, 3, 3}, i32).to(x[0].device()), x[1], left, transposed)),
          [=](const Arrays& x) {
            const Array factors = shifted(x[0]), p{{3, 3}, {0, 0, 1, 1, 0, 0, 0, 1, 0}};
            return solution(product(p, product(lower_of(factors), upper_of(factors))), x[1]);
          });
    }
  row(cases, "lu_solve broadcasts", {{normal({2, 1, 2, 2}), normal({3, 2, 2})}, {normal({0, 0}), normal({2, 0, 3})}},
      CALL([&] {
        const auto [factors, pivots] = lu_factor(shifted(x[0]));
        return matmul(shifted(x[0]), lu_solve(factors, pivots, x[1])) - x[1];
      }()),
      [](const Arrays& x) {
        const bool batch = x[0].shape.size() == 4;
        return build(batch ? Shape{2, 3, 2, 2} : Shape{2, 0, 3}, [](const Index&) { return 0.0; });
      });
}

/// What stands where a matrix has no solution is left out.
Tensor known(const Tensor& result, const Tensor& info) {
  return where(unsqueeze(unsqueeze(info == 0, -1), -1), result, zeros({}, result.dtype(), result.device()));
}

void add_cholesky_with_info(Cases& cases) {
  row(cases, "cholesky_ex", kSquares, CALL([&] {
        const auto [l, info] = cholesky_ex(definite(x[0]));
        return Outputs{matmul(l, l.t()), cast(info, i64)};
      }()),
      [](const Arrays& x) {
        return Arrays{each(static_cast<Array (*)(const Array&)>(definite))(x)[0],
                      build(Shape(x[0].shape.begin(), x[0].shape.end() - 2), [](const Index&) { return 0.0; })};
      })
      .gives({Result::same, Result::i64});
  // Two of four are negative definite, and stay so where gradients are checked.
  for (const bool upper : {false, true})
    row(cases, upper ? "cholesky_ex upper of some" : "cholesky_ex of some", {{normal({4, 2, 2})}, {normal({3, 2})}},
        CALL([&] {
          const bool batch = x[0].rank() == 3;
          const Tensor signs = batch ? tensor({1.0, -1.0, -1.0, 1.0}, x[0].dtype()) : tensor(-1.0, x[0].dtype());
          const auto [factor, info] =
              cholesky_ex(definite(x[0]) * unsqueeze(unsqueeze(signs.to(x[0].device()), -1), -1), upper);
          const Tensor l = known(upper ? factor.t() : factor, info);
          return Outputs{matmul(l, l.t()), cast(info, i64), cast(all(all(isnan(factor), -1), -1), i64)};
        }()),
        [](const Arrays& x) {
          const Array a = each(static_cast<Array (*)(const Array&)>(definite))(x)[0];
          if (a.shape.size() == 2) return Arrays{Array{{3, 3}, std::vector<double>(9)}, scalar(1), scalar(1)};
          const Array kept = build(a.shape, [&](const Index& i) { return i[0] % 3 == 0 ? a.at(i) : 0.0; });
          return Arrays{kept, Array{{4}, {0, 1, 1, 0}}, Array{{4}, {0, 1, 1, 0}}};
        })
        .compares(kReal)
        .gives({Result::same, Result::i64, Result::i64});
  // The block in which the kernel fails, and the place in it.
  row(cases, "cholesky_ex of larger matrices", {{normal({70, 70})}}, CALL([&] {
        Outputs out;
        for (const int64_t at : {0, 20, 40, 69}) {
          const Tensor one = identity_like(x[0], 70), here = one[at];
          out.push_back(cast(cholesky_ex(definite(x[0]) - unsqueeze(here, -1) * here * 1e4).info, i64));
        }
        return out;
      }()),
      [](const Arrays&) {
        return Arrays{scalar(1), scalar(21), scalar(41), scalar(70)};
      })
      .compares(kReal)
      .gives({Result::i64})
      .no_gradient();
}

void add_inverses_with_info(Cases& cases) {
  const auto none = [](const Arrays& x) {
    return build(Shape(x[0].shape.begin(), x[0].shape.end() - 2), [](const Index&) { return 0.0; });
  };
  row(cases, "inv_ex", kSquares, CALL([&] {
        const auto [inverse, info] = inv_ex(shifted(x[0]));
        return Outputs{inverse, cast(info, i64)};
      }()),
      [=](const Arrays& x) {
        return Arrays{each([](const Array& a) { return inverse_of(shifted(a)); })(x)[0], none(x)};
      })
      .gives({Result::same, Result::i64});
  row(cases, "solve_ex", {{normal({3, 3}), normal({3, 3})}, {normal({0, 0}), normal({0, 0})}}, CALL([&] {
        const auto [result, info] = solve_ex(shifted(x[0]), x[1]);
        return Outputs{result, solve_ex(shifted(x[0]), x[1], false).result, cast(info, i64)};
      }()),
      [=](const Arrays& x) {
        const Array inverse = inverse_of(shifted(x[0]));
        return Arrays{product(inverse, x[1]), product(x[1], inverse), none(x)};
      })
      .gives({Result::same, Result::same, Result::i64});
  // The second one has a row of zeros, also where gradients are checked.
  row(cases, "inv_ex and solve_ex of some", {{normal({3, 2, 2}), normal({2, 2})}}, CALL([&] {
        const Tensor kept = tensor({1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1}, x[0].dtype()).view({3, 2, 2});
        const Tensor a = shifted(x[0]) * kept.to(x[0].device());
        const auto [inverse, info] = inv_ex(a);
        const auto [result, same] = solve_ex(a, x[1]);
        const SolveExResult right = solve_ex(a, x[1], false);
        return Outputs{known(inverse, info), known(result, same), known(right.result, same), cast(info, i64)};
      }()),
      [](const Arrays& x) {
        const Array inverses = each([](const Array& a) { return inverse_of(shifted(a)); })(x)[0];
        const Array kept = build(inverses.shape, [&](const Index& i) { return i[0] == 1 ? 0.0 : inverses.at(i); });
        const auto of_each = [&](const auto& f) { return each(f)({kept})[0]; };
        return Arrays{kept, of_each([&](const Array& a) { return product(a, x[1]); }),
                      of_each([&](const Array& a) { return product(x[1], a); }), Array{{3}, {0, 2, 0}}};
      })
      .gives({Result::same, Result::same, Result::same, Result::i64});
  row(cases, "solve_ex of a singular matrix", {{given({2, 2}, {1, 2, 2, 4}), normal({3, 2, 1})}}, CALL([&] {
        const auto [result, info] = solve_ex(x[0], x[1]);
        return Outputs{isnan(result).to(i64), cast(info, i64)};
      }()),
      [](const Arrays&) {
        return Arrays{build({3, 2, 1}, [](const Index&) { return 1.0; }), scalar(2)};
      })
      .gives({Result::i64})
      .no_gradient();
  row(cases, "solve_ex for a vector", {{normal({3, 3}), normal({3})}}, CALL(solve_ex(shifted(x[0]), x[1]).result),
      [](const Arrays& x) {
        return reshaped(product(inverse_of(shifted(x[0])), reshaped(x[1], {3, 1})), {3});
      });
}

void add_errors(Cases& cases) {
  const Tensor one = ones({2, 2}), pivots = tensor({1, 2}, i32), some = stack({eye(2), one});
  cases.error<Error>(
      "lu_factor singular", [=] { lu_factor(some); },
      "lu_factor([2, 2, 2] f32): matrix 1 of the batch is singular; lu_factor_ex() and lu() factor such ones too");
  cases.error<Error>(
      "lu_factor_ex checked", [=] { lu_factor_ex(one, true); },
      "lu_factor_ex([2, 2] f32): the matrix is singular; lu_factor_ex() and lu() factor such ones too");
  cases.error<Error>(
      "lu backward of a singular matrix",
      [] {
        sum(lu(parameter(ones({2, 2}))).u).backward();
      },
      "backward of `lu_factor`: the matrix is singular: there is a zero on its diagonal");
  cases.error<ShapeError>(
      "lu of a vector", [] { lu(ones({3})); }, "lu([3] f32): it takes matrices (..., rows, columns), not shape [3]");
  cases.error<DtypeError>(
      "lu of integers",
      [] {
        lu(ones({2, 2}, i64));
      },
      "lu([2, 2] i64): i64 is not accepted here; it takes f32 and f64; cast first, e.g. x.to(f32)");
  cases.error<ShapeError>(
      "lu_unpack pivots", [=] { lu_unpack(some, pivots); },
      "lu_unpack([2, 2, 2] f32, [2] i32): pivots must have shape [2, 2], not [2]");
  cases.error<IndexError>(
      "lu_unpack range",
      [=] {
        lu_unpack(one, tensor({3, 2}, i32));
      },
      "lu_unpack([2, 2] f32, [2] i32): pivot 0 must be a number from 1 to 2, not 3");
  cases.error<DtypeError>(
      "lu_unpack dtype",
      [=] {
        lu_unpack(one, tensor({1, 2}, i64));
      },
      "lu_unpack([2, 2] f32, [2] i64): pivots must be i32, not i64");
  cases.error<IndexError>(
      "lu_solve range",
      [=] {
        lu_solve(eye(2), tensor({2, 1}, i32), one);
      },
      "lu_solve([2, 2] f32, [2] i32, [2, 2] f32): pivot 1 must be a number from 2 to 2, not 1");
  cases.error<Error>(
      "lu_solve singular",
      [=] {
        lu_solve(zeros({2, 2}), pivots, one);
      },
      "lu_solve([2, 2] f32, [2] i32, [2, 2] f32): the matrix is singular");
  cases.error<ShapeError>(
      "lu_solve rows",
      [=] {
        lu_solve(one, pivots, ones({3, 1}));
      },
      "lu_solve([2, 2] f32, [2] i32, [3, 1] f32): the right side must have 2 rows, its shape is [3, 1]");
  cases.error<ShapeError>(
      "lu_solve rectangle",
      [=] {
        lu_solve(ones({3, 2}), pivots, one);
      },
      "lu_solve([3, 2] f32, [2] i32, [2, 2] f32): it takes square matrices (..., n, n), not shape [3, 2]");
  cases.error<Error>(
      "inv_ex checked", [=] { inv_ex(some, true); }, "inv_ex([2, 2, 2] f32): matrix 1 of the batch is singular");
  cases.error<Error>(
      "solve_ex checked", [=] { solve_ex(one, one, true, true); },
      "solve_ex([2, 2] f32, [2, 2] f32): the matrix is singular");
  cases.error<Error>(
      "cholesky_ex checked", [=] { cholesky_ex(one, false, true); },
      "cholesky_ex([2, 2] f32): the matrix is not positive definite");
}

}  // namespace

void add_factorization_cases(Cases& cases) {
  add_lu(cases);
  add_lu_factor(cases);
  add_lu_solve(cases);
  add_cholesky_with_info(cases);
  add_inverses_with_info(cases);
  add_errors(cases);
}

}  // namespace weft::testing
