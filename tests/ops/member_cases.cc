// Cases of Tensor's members that forward to functions: that they call them, with the arguments where they belong. The
// functions have cases of their own; member_write_cases.cc has those of writes in place.
#include <cmath>

#include "tensor/functions_all.h"
#include "tests/ops/alike.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

Outputs elementwise(const Tensor& x, const Tensor& p) {
  const Tensor above = x > 1.0;
  return alike({{x.asinh(), asinh(x)},
                {(x.exp() + 1.0).acosh(), acosh(exp(x) + 1.0)},
                {p.atanh(), atanh(p)},
                {x.erfc(), erfc(x)},
                {p.erfinv(), erfinv(p)},
                {p.lgamma(), lgamma(p)},
                {p.digamma(), digamma(p)},
                {above.bitwise_not(), ~above},
                {x.frac(), frac(x)},
                {x.sgn(), sign(x)},
                {x.sinc(), sinc(x)},
                {x.deg2rad(), deg2rad(x)},
                {x.rad2deg(), rad2deg(x)},
                {x.round(1), round(x, 1)},
                {p.logit(), logit(p)},
                {x.nan_to_num(), x},
                {x.clamp(1), clamp_min(x, 1)},
                {x.clamp({}, 1), clamp_max(x, 1)},
                {x.clamp(p, p + 1.0), clip(x, p, p + 1.0)},
                {x.isinf(), isinf(x)},
                {x.signbit(), signbit(x)},
                {x.isclose(x), isclose(x, x)},
                {x.lerp(p, 0.25), lerp(x, p, 0.25)},
                {x.lerp(p, p), lerp(x, p, p)},
                {x.addcmul(p, p, 2), addcmul(x, p, p, 2)},
                {x.addcdiv(p, p, 2), addcdiv(x, p, p, 2)},
                {x.where(above, x * 2), where(above, x, x * 2)},
                {x.where(above, 0), where(above, x, 0)}});
}

Outputs two(const Tensor& x, const Tensor& p) {
  const Tensor above = x > 1.0;
  return alike({{x.add(p), x + p},
                {x.add(2), x + 2},
                {x.add(p, 2), x + p * 2},
                {x.sub(p), x - p},
                {x.sub(2), x - 2},
                {x.sub(p, 2), x - p * 2},
                {x.mul(p), x * p},
                {x.mul(2), x * 2},
                {x.div(p), x / p},
                {x.div(2), x / 2},
                {x.div(p, "trunc"), trunc(x / p)},
                {x.div(2, "floor"), floor_divide(x, 2)},
                {p.pow(x), pow(p, x)},
                {p.pow(2), pow(p, 2)},
                {x.remainder(p), remainder(x, p)},
                {x.remainder(2), remainder(x, 2)},
                {x.fmod(p), fmod(x, p)},
                {x.floor_divide(p), floor_divide(x, p)},
                {x.atan2(p), atan2(x, p)},
                {x.hypot(p), hypot(x, p)},
                {x.logaddexp(p), logaddexp(x, p)},
                {x.xlogy(p), xlogy(x, p)},
                {x.nextafter(p), nextafter(x, p)},
                {p.ldexp(x), ldexp(p, x)},
                {x.to(i64).gcd(p.to(i64)), gcd(x.to(i64), p.to(i64))},
                {x.to(i64).lcm(p.to(i64) + 1), lcm(x.to(i64), p.to(i64) + 1)},
                {x.to(i64).bitwise_left_shift(2), x.to(i64) << 2},
                {x.to(i64).bitwise_right_shift(1), x.to(i64) >> 1},
                {x.copysign(-1), copysign(x, -1)},
                {x.clamp_min(p), maximum(x, p)},
                {x.clamp_max(0.5), minimum(x, full_like(x, 0.5))},
                {x.maximum(p), maximum(x, p)},
                {x.minimum(p), minimum(x, p)},
                {x.heaviside(p), heaviside(x, p)},
                {x.fmax(p), fmax(x, p)},
                {x.fmin(p), fmin(x, p)},
                {above.logical_and(x > 2.0), logical_and(above, x > 2.0)},
                {above.logical_or(x > 2.0), logical_or(above, x > 2.0)},
                {above.logical_xor(x > 2.0), logical_xor(above, x > 2.0)},
                {above.bitwise_and(x > 2.0), above & (x > 2.0)},
                {above.bitwise_or(x > 2.0), above | (x > 2.0)},
                {above.bitwise_xor(x > 2.0), above ^ (x > 2.0)},
                {full({}, x.equal(x)), full({}, true)},
                {full({}, x.allclose(x + 1.0)), full({}, false)}});
}

Outputs parts(const Tensor& x, const Tensor& p) {
  const Tensor above = x > 1.0;
  const Tensor at = tensor({3, 1}).to(x.device());
  const Tensor to = argsort(x, 1);
  return alike({{x.index_put({2}, p[0]), index_put(x, {2}, p[0])},
                {x.index_put({2}, 0), index_put(x, {2}, 0)},
                {x.index_copy(0, at, p.narrow(0, 0, 2)), index_copy(x, 0, at, p.narrow(0, 0, 2))},
                {x.index_fill(0, at, 1), index_fill(x, 0, at, 1)},
                {x.index_add(0, at, p.narrow(0, 0, 2), 2), index_add(x, 0, at, p.narrow(0, 0, 2), 2)},
                {x.index_reduce(0, at, p.narrow(0, 0, 2), "amax"), index_reduce(x, 0, at, p.narrow(0, 0, 2), "amax")},
                {x.take_along_dim(to, 1), gather(x, 1, to)},
                {x.index_select(1, at), index_select(x, 1, at)},
                {x.take(to), take(x, to)},
                {x.gather(1, to), gather(x, 1, to)},
                {x.scatter(1, to, p), scatter(x, 1, to, p)},
                {x.scatter(0, to, 3), scatter(x, 0, to, 3)},
                {x.scatter_add(1, to, p), scatter_add(x, 1, to, p)},
                {x.masked_fill(above, 2), masked_fill(x, above, 2)},
                {x.nonzero(), nonzero(x)},
                {x.tril(1), tril(x, 1)},
                {x.triu(-1), triu(x, -1)},
                {x.put(at, p[0].narrow(0, 0, 2)), put(x, at, p[0].narrow(0, 0, 2))},
                {x.scatter_reduce(1, to, p, "sum"), scatter_add(x, 1, to, p)},
                {x.masked_fill(above, p[0][0]), masked_fill(x, above, p[0][0])},
                {x.masked_scatter(above, p), masked_scatter(x, above, p)},
                {x.argwhere(), argwhere(x)},
                {x.select_scatter(p[0], 0, 1), select_scatter(x, p[0], 0, 1)},
                {x.slice_scatter(p, 0), p},
                {x.diagonal_scatter(p[0]), diagonal_scatter(x, p[0])},
                {x.diag(1), diag(x, 1)},
                {x.diag_embed(), diag_embed(x)},
                {x.rot90(), rot90(x)},
                {x.fliplr(), fliplr(x)},
                {x.flipud(), flipud(x)},
                {x.tile({2, 1}), tile(x, {2, 1})},
                {x.repeat_interleave(argsort(x[0]), 0), repeat_interleave(x, argsort(x[0]), 0)},
                {x.split({1, 3}, 1)[1], split(x, {1, 3}, 1)[1]},
                {x.tensor_split(3)[0], tensor_split(x, 3)[0]},
                {x.tensor_split({1, 2})[2], tensor_split(x, {1, 2})[2]},
                {x.unsqueeze(0).unsqueeze(2).squeeze(), x},
                {x.select(0, 1).expand_as(x), x.select(0, 1).expand({4, 4})},
                {above.type_as(x), above.to(x.dtype())},
                {x.new_zeros({2, 3}), zeros({2, 3}, x.dtype(), x.device())},
                {x.new_ones({2}, i64), ones({2}, i64, x.device())},
                {x.new_full({2}, 3), full({2}, 3, x.dtype(), x.device())},
                {x.new_empty({0, 2}), empty({0, 2}, x.dtype(), x.device())}});
}

Outputs reductions(const Tensor& x, const Tensor& p) {
  const Tensor at = tensor({3, 1}).to(x.device());
  const Tensor to = argsort(x, 1);
  const Tensor hot = eye(4).to(x.device());  // no chance in it
  const Tensor edges = tensor({-1, 0, 2}).to(x.dtype()).to(x.device());
  return alike({{x.amax(1), max(x, 1)},
                {x.amin(0, keepdim), min(x, 0, keepdim)},
                {x.min_with_indices(0, keepdim).indices, min_with_indices(x, 0, keepdim).indices},
                {x.argmin(1, keepdim), argmin(x, 1, keepdim)},
                {x.log_softmax(0), log_softmax(x, 0)},
                {x.var(1, keepdim), var(x, 1, 1, keepdim)},
                {x.std(1, keepdim), stddev(x, 1, 1, keepdim)},
                {x.sum(0, {}, f64), sum(x.to(f64), 0)},
                {x.mean(0, {}, f64), mean(x.to(f64), 0)},
                {x.prod(0, {}, f64), prod(x.to(f64), 0)},
                {x.nansum(1), nansum(x, 1)},
                {x.sum_to_size({4}), sum_to_size(x, {4})},
                {x.nanmean(1), nanmean(x, 1)},
                {x.count_nonzero(), count_nonzero(x)},
                {x.cumsum(1), cumsum(x, 1)},
                {x.cumprod(0), cumprod(x, 0)},
                {x.logcumsumexp(0), logcumsumexp(x, 0)},
                {x.cummax(0).values, cummax(x, 0).values},
                {x.cummin(1).indices, cummin(x, 1).indices},
                {x.diff(), diff(x)},
                {x.sort(0, true).values, sort(x, 0, true).values},
                {x.argsort(0), argsort(x, 0)},
                {x.msort(), msort(x)},
                {x.topk(2, 0, false).indices, topk(x, 2, 0, false).indices},
                {x.median(), median(x)},
                {x.median(1).values, median(x, 1).values},
                {x.nanmedian(), nanmedian(x)},
                {x.nanmedian(0).indices, nanmedian(x, 0).indices},
                {x.kthvalue(2).values, kthvalue(x, 2).values},
                {x.mode(0).values, mode(x, 0).values},
                {x.quantile(0.3, 1, keepdim), quantile(x, 0.3, {.axis = 1, .keepdim = true})},
                {x.nanquantile(0.3, 1, keepdim), nanquantile(x, 0.3, {.axis = 1, .keepdim = true})},
                {x.aminmax(0).min, amin(x, 0)},
                {x.aminmax(1, keepdim).max, amax(x, 1, keepdim)},
                {x.unique().values, unique(x).values},
                {x.unique({.inverse = true}).inverse, unique(x, {.inverse = true}).inverse},
                {x.unique_consecutive().values, x.flatten()},
                {x.unique_consecutive({.counts = true}).counts, unique_consecutive(x, {.counts = true}).counts},
                {at.bincount({}, 5), bincount(at, {}, 5)},
                {x.histc(4), histc(x, 4)},
                {x.histogram(4).hist, histogram(x, 4).hist},
                {x.histogram(4, {.weight = p}).hist, histogram(x, 4, {.weight = p}).hist},
                {x.histogram(edges).hist, histogram(x, edges).hist},
                {x.histogram(edges, {.density = true}).hist, histogram(x, edges, {.density = true}).hist},
                {x.cov(), cov(x)},
                {x.corrcoef(), corrcoef(x)},
                {hot.bernoulli(), hot},
                {hot.multinomial(1), argmax(hot, 1, keepdim)},
                {x.dist(p), dist(x, p)}});
}

Outputs matrices(const Tensor& x, const Tensor& p) {
  const Tensor cube = x.view({2, 2, 4}).transpose(1, 2).slice(1, 0, 2);
  const Tensor round_trip = matmul(x, x.t()) + eye(4).to(x.dtype()).to(x.device());
  return alike({{x.mm(p), matmul(x, p)},
                {x.matmul(p), matmul(x, p)},
                {x.mv(p[0]), mv(x, p[0])},
                {x[0].dot(p[0]), dot(x[0], p[0])},
                {x[0].vdot(p[0]), vdot(x[0], p[0])},
                {x[0].outer(p[0]), outer(x[0], p[0])},
                {x.inner(p), inner(x, p)},
                {cube.bmm(cube), bmm(cube, cube)},
                {x.kron(p), kron(x, p)},
                {x.narrow(1, 0, 3).cross(p.narrow(1, 0, 3)), cross(x.narrow(1, 0, 3), p.narrow(1, 0, 3))},
                {x.addmm(p, x, 2, 3), addmm(x, p, x, 2, 3)},
                {x[0].addmv(p, x[1], 2, 3), addmv(x[0], p, x[1], 2, 3)},
                {cube.baddbmm(cube, cube, 2, 3), baddbmm(cube, cube, cube, 2, 3)},
                {x.renorm(1, 0, 0.5), renorm(x, 1, 0, 0.5)},
                {x.qr().r, qr(x).r},
                {x.narrow(1, 0, 2).qr(QrMode::complete).q, qr(x.narrow(1, 0, 2), QrMode::complete).q},
                {round_trip.slogdet().logabsdet, slogdet(round_trip).logabsdet},
                {x.matrix_power(2), matrix_power(x, 2)},
                {x.matrix_exp(), matrix_exp(x)},
                {x.trace(), trace(x)},
                {x.det(), det(x)},
                {round_trip.logdet(), logdet(round_trip)},
                {round_trip.inverse(), inverse(round_trip)},
                {round_trip.cholesky(), cholesky(round_trip)},
                {p.cholesky_solve(cholesky(round_trip)), cholesky_solve(p, cholesky(round_trip))}});
}

void add_member_errors(Cases& cases) {
  cases.error<DtypeError>(
      "a floating alpha beside integers", [] { ones({2}, i64).add(ones({2}, i64), 0.5); },
      "add([2] i64, [2] i64): alpha is 0.5; it takes an integer beside tensors of integers");
}

}  // namespace

void add_member_cases(Cases& cases) {
  add_pairs(cases, "members: element-wise", 28, elementwise);
  add_pairs(cases, "members: of two", 44, two);
  add_pairs(cases, "members: of parts", 42, parts);
  add_pairs(cases, "members: reductions", 49, reductions);
  add_pairs(cases, "members: matrices", 25, matrices);
  add_member_errors(cases);
}

}  // namespace weft::testing
