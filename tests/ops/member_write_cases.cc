// Cases of Tensor's members that write in place: beside the function, and with gradients.
#include <cmath>

#include "tensor/functions_all.h"
#include "tests/ops/alike.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

void add_writes(Cases& cases) {
  const auto add = [&](const char* name, const std::vector<Sample>& samples, const Call& call,
                       const Reference& reference) {
    cases.add(name, samples, call, reference).compares(kFloating).loose(10).in_place();
  };
  const InputSpec any = normal({3, 4});
  const std::vector<Sample> two = {{any, any}, {any, normal({4})}}, three = {{any, any, normal({4})}};
  add("add_ of alpha", two, CALL((x[0] * 1).add_(x[1], 2.5)),
      pointwise([](double a, double b) { return a + 2.5 * b; }));
  add("sub_ of alpha", two, CALL((x[0] * 1).sub_(x[1], 2.5)),
      pointwise([](double a, double b) { return a - 2.5 * b; }));
  add("pow_", {{positive({3, 4})}}, CALL((x[0] * 1).pow_(2.5)), pointwise([](double a) { return std::pow(a, 2.5); }));
  add("pow_ of a tensor", {{positive({3, 4}), any}}, CALL((x[0] * 1).pow_(x[1])),
      pointwise([](double a, double b) { return std::pow(a, b); }));
  add("addcmul_", three, CALL((x[0] * 1).addcmul_(x[1], x[2], 0.5)),
      pointwise([](double a, double b, double c) { return a + 0.5 * b * c; }));
  add("addcdiv_", {{any, any, positive({4})}}, CALL((x[0] * 1).addcdiv_(x[1], x[2], 0.5)),
      pointwise([](double a, double b, double c) { return a + 0.5 * b / c; }));
  add("lerp_ of a tensor", three, CALL((x[0] * 1).lerp_(x[1], x[2])),
      pointwise([](double a, double b, double c) { return a + c * (b - a); }));
  const InputSpec apart = normal({3, 4}, {0});
  const std::vector<Sample> off_zero = {{apart, positive({3, 4})}, {apart, positive({4})}};
  add("atan2_", off_zero, CALL((x[0] * 1).atan2_(x[1])),
      pointwise([](double a, double b) { return std::atan2(a, b); }));
  add("hypot_", off_zero, CALL((x[0] * 1).hypot_(x[1])),
      pointwise([](double a, double b) { return std::hypot(a, b); }));
  add("xlogy_", off_zero, CALL((x[0] * 1).xlogy_(x[1])), pointwise([](double a, double b) { return a * std::log(b); }));
  add("copysign_", {{apart, apart}}, CALL((x[0] * 1).copysign_(x[1])),
      pointwise([](double a, double b) { return std::copysign(a, b); }));
  add("fmod_", {{positive({3, 4}), given({4}, {3, 4, 5, 6})}}, CALL((x[0] * 1).fmod_(x[1])),
      pointwise([](double a, double b) { return std::fmod(a, b); }));
  add("hypot_ of a number", {{apart}}, CALL((x[0] * 1).hypot_(0.5)),
      pointwise([](double a) { return std::hypot(a, 0.5); }));
  add("sinc_", {{apart}}, CALL((x[0] * 1).sinc_()),
      pointwise([](double a) { return std::sin(3.14159265358979323846 * a) / (3.14159265358979323846 * a); }));
  add("logit_", {{uniform({3, 4}, 0.2, 0.8)}}, CALL((x[0] * 1).logit_()),
      pointwise([](double a) { return std::log(a / (1 - a)); }));
  add("fill_ of a tensor", {{any, normal({})}}, CALL((x[0] * 1).fill_(x[1])),
      pointwise([](double, double b) { return b; }));
  add("nan_to_num_", {{any}}, CALL((x[0] * 1).nan_to_num_()), pointwise([](double a) { return a; }));
}

/// Writes in place beside the function, which has a reference of its own.
Outputs writes(const Tensor& x, const Tensor& p) {
  const Tensor cube = x.view({2, 2, 4}).transpose(1, 2).slice(1, 0, 2), to = argsort(x, 1);
  Tensor diagonal = x.clone();
  diagonal.diagonal().fill_(7);
  return alike({{x.clone().tril_(1), tril(x, 1)},
                {x.clone().triu_(-1), triu(x, -1)},
                {x.clone().fill_diagonal_(7), diagonal},
                {x.clone().addmm_(p, x, 2, 3), addmm(x, p, x, 2, 3)},
                {cube.clone().baddbmm_(cube, cube, 2, 3), baddbmm(cube, cube, cube, 2, 3)},
                {x.clone().scatter_reduce_(1, to, p, "prod", false), scatter_reduce(x, 1, to, p, "prod", false)},
                {x.clone().clamp_min_(1), clamp_min(x, 1)},
                {x.clone().clamp_max_(1), clamp_max(x, 1)},
                {x.clone().clamp_(1), clamp(x, 1)},
                {x.clone().sign_(), sign(x)},
                {x.clone().exp2_(), exp2(x)},
                {x.clone().expm1_(), expm1(x)},
                {p.clone().log1p_(), log1p(p)},
                {p.clone().log2_(), log2(p)},
                {p.clone().log10_(), log10(p)},
                {x.clone().sin_(), sin(x)},
                {x.clone().cos_(), cos(x)},
                {x.clone().tan_(), tan(x)},
                {p.clone().asin_(), asin(p)},
                {p.clone().acos_(), acos(p)},
                {x.clone().atan_(), atan(x)},
                {x.clone().sinh_(), sinh(x)},
                {x.clone().cosh_(), cosh(x)},
                {x.clone().asinh_(), asinh(x)},
                {(p + 1.0).acosh_(), acosh(p + 1.0)},
                {p.clone().atanh_(), atanh(p)},
                {x.clone().erf_(), erf(x)},
                {x.clone().erfc_(), erfc(x)},
                {(x > 1.0).bitwise_not_(), x <= 1.0},
                {x.clone().sgn_(), sign(x)},
                {x.clone().frac_(), frac(x)},
                {p.clone().erfinv_(), erfinv(p)},
                {p.clone().lgamma_(), lgamma(p)},
                {p.clone().digamma_(), digamma(p)},
                {x.clone().deg2rad_(), deg2rad(x)},
                {x.clone().rad2deg_(), rad2deg(x)},
                {x.clone().cumsum_(1), cumsum(x, 1)},
                {x.clone().cumprod_(0), cumprod(x, 0)},
                {x.clone().renorm_(1, 0, 0.5), renorm(x, 1, 0, 0.5)},
                {x[0].clone().addmv_(p, x[1], 2, 3), addmv(x[0], p, x[1], 2, 3)},
                {x.clone().index_reduce_(0, to[0], p, "amax"), index_reduce(x, 0, to[0], p, "amax")}});
}

/// Of two operands.
Outputs writes_of_two(const Tensor& x, const Tensor& p) {
  const Tensor above = x > 1.0, whole = x.to(i64);
  const auto number = [&](const Tensor& condition) { return condition.to(x.dtype()); };
  return alike({{x.clone().eq_(x), number(x == x)},
                {x.clone().ne_(p), number(x != p)},
                {x.clone().lt_(p), number(x < p)},
                {x.clone().le_(0.5), number(x <= 0.5)},
                {x.clone().gt_(p), number(x > p)},
                {x.clone().ge_(0.5), number(x >= 0.5)},
                {above.clone().eq_(x > 2.0), above == (x > 2.0)},
                {x.clone().logical_not_(), number(logical_not(x))},
                {x.clone().logical_and_(above), number(logical_and(x, above))},
                {x.clone().logical_or_(above), number(logical_or(x, above))},
                {x.clone().logical_xor_(above), number(logical_xor(x, above))},
                {x.clone().heaviside_(p), heaviside(x, p)},
                {p.clone().ldexp_(x), ldexp(p, x)},
                {x.clone().nextafter_(p), nextafter(x, p)},
                {x.clone().atan2_(0.5), atan2(x, 0.5)},
                {x.clone().fmod_(0.5), fmod(x, 0.5)},
                {whole.clone().fmod_(3), fmod(whole, 3)},
                {whole.clone().gcd_(whole + 2), gcd(whole, whole + 2)},
                {whole.clone().lcm_(whole + 2), lcm(whole, whole + 2)},
                {whole.clone().bitwise_and_(6), whole & 6},
                {above.clone().bitwise_or_(x > 2.0), above | (x > 2.0)},
                {whole.clone().bitwise_xor_(whole[0]), whole ^ whole[0]},
                {whole.clone().bitwise_left_shift_(2), whole << 2},
                {whole.clone().bitwise_right_shift_(1), whole >> 1}});
}

void add_errors(Cases& cases) {
  cases.error<DtypeError>(
      "a floating power in place", [] { ones({2}, i64).pow_(0.5); },
      "pow_([2] i64): the result is f32 and cannot be written in place to i64; use the form that returns a new tensor");
  cases.error<ShapeError>(
      "a larger result in place",
      [] {
        ones({2}).addcmul_(ones({3, 2}), ones({2}));
      },
      "addcmul_([2] f32, [3, 2] f32, [2] f32): the result has shape [3, 2] but is written in place to shape [2]");
  cases.error<ShapeError>(
      "a product that is larger in place",
      [] {
        ones({3}).addmm_(ones({2, 4}), ones({4, 3}));
      },
      "addmm_([3] f32, [2, 4] f32, [4, 3] f32): the result has shape [2, 3] and cannot be written in place to [3]");
  cases.error<DtypeError>(
      "an angle in place", [] { ones({2}, i64).atan2_(2); },
      "atan2_([2] i64): the result is f32 and cannot be written in place to i64; use the form that returns a new "
      "tensor");
  cases.error<ShapeError>(
      "a comparison that is larger in place",
      [] {
        ones({2}).eq_(ones({3, 2}));
      },
      "eq_([2] f32, [3, 2] f32): the result has shape [3, 2] and cannot be written in place to [2]");
  cases.error<ShapeError>(
      "fill_ of a list", [] { ones({2}).fill_(ones({2})); },
      "fill_([2] f32, [2] f32): the value must have no axes, not shape [2]; see copy_");
  cases.error<ShapeError>(
      "fill_diagonal_ of a vector", [] { ones({2}).fill_diagonal_(1); },
      "fill_diagonal_([2] f32): it has 1 axes; it takes a matrix");
}

}  // namespace

void add_member_write_cases(Cases& cases) {
  add_pairs(cases, "members: writes", 41, writes);
  add_pairs(cases, "members: writes of two", 24, writes_of_two);
  add_writes(cases);
  add_errors(cases);
}

}  // namespace weft::testing
