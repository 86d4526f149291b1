// Reductions over any axes. `out` has x's rank with size 1 at every reduced axis; with no axes a reduction copies.
//
// Floating inputs are folded in registers over groups of at most 8 and from there on in double, in fixed blocks and a fixed
// tree: the same bits for any number of threads. bf16 and f16 are read as float.
#pragma once

#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

/// x floating: out of any floating dtype. Integers and bool: sums modulo 2^64, out i64. Of nothing: 0.
void sum(const Operand& x, const IntList& axes, const Operand& out);
/// As sum; of nothing: 1.
void prod(const Operand& x, const IntList& axes, const Operand& out);
/// The sum of x^2, x floating. Taken in double.
void sum_squares(const Operand& x, const IntList& axes, const Operand& out);
/// (sum |x|^p)^(1/p), x floating; p = 0 counts what is not zero, p = inf and -inf give the extremes of |x|.
/// Does not overflow where the result does not.
void norm(const Operand& x, const IntList& axes, double p, const Operand& out);

/// The extreme value, out of x's dtype. A NaN wins. Of nothing: the other end of the dtype's range (ops refuse that).
void max(const Operand& x, const IntList& axes, const Operand& out);
void min(const Operand& x, const IntList& axes, const Operand& out);
/// Whether any (all) elements differ from zero, out bool; NaN differs. Of nothing: false (true).
void any(const Operand& x, const IntList& axes, const Operand& out);
void all(const Operand& x, const IntList& axes, const Operand& out);

/// log(sum(exp(x))), x floating, without overflow; -inf where all are -inf or nothing is.
void logsumexp(const Operand& x, const IntList& axes, const Operand& out);
/// sum((x - mean)^2) / (n - correction), x floating; NaN where n = 0 and for n = correction (0 / 0). Two passes over blocks
/// that stay in the cache, merged by Chan's formula.
void variance(const Operand& x, const IntList& axes, double correction, const Operand& out);
/// Both at once.
void mean_variance(const Operand& x, const IntList& axes, double correction, const Operand& mean,
                   const Operand& variance);

}  // namespace weft::kernels::cpu
