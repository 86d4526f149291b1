// LU factorization with row exchanges; solve, inverse and determinants by it. The last two axes are matrices, the
// others are batch axes. f32 and f64. Gradients: Giles 2008, "Collected matrix derivative results"; they reuse the
// LU factors.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// Solves a x = b for x, with a (..., n, n) and b (..., n, k) or one vector per matrix (..., n), as in PyTorch. Batch
/// axes broadcast. With left = false, solves x a = b with b (..., k, n); b cannot be a vector then. Error
/// `matrix 3 of the batch is singular`.
Tensor solve(const Tensor& a, const Tensor& b, bool left = true);
/// The inverse. Error `matrix 3 of the batch is singular`.
Tensor inv(const Tensor& a);
/// The same as inv(), PyTorch's older name.
inline Tensor inverse(const Tensor& a) { return inv(a); }

struct SolveExResult {
  Tensor result, info;
};
/// solve() without an error: `info` (..., i32), of a's batch axes, is 0, or for a singular matrix i if element (i, i),
/// counted from 1, is the first zero on the diagonal of U. The result of that matrix is NaN, and gradients through it
/// are 0. With `check_errors`, it is an error as in solve().
SolveExResult solve_ex(const Tensor& a, const Tensor& b, bool left = true, bool check_errors = false);
struct InvExResult {
  Tensor inverse, info;
};
/// inv() without an error; info, the result of a singular matrix, gradients and `check_errors` are as in solve_ex().
InvExResult inv_ex(const Tensor& a, bool check_errors = false);

struct LuResult {
  Tensor p, l, u;
};
/// a = p l u for matrices (..., m, n), k = min(m, n): p (..., m, m) is a permutation, l (..., m, k) has ones on its
/// diagonal and zeros above it, u (..., k, n) has zeros below its diagonal. A singular matrix has zeros on the diagonal
/// of u. p has no gradient. Gradients of the others exist where the first k columns of a are linearly independent;
/// otherwise backward is an Error.
LuResult lu(const Tensor& a);
struct LuFactorResult {
  Tensor lu, pivots;
};
/// The factors of lu() in the form of LAPACK's getrf: one matrix (..., m, n) with u on and above the diagonal and,
/// below it, l without its ones; and pivots (..., k), i32: row i of a was exchanged with row pivots[i] - 1, for
/// i = 0, 1, ... in this order. Gradients are as in lu(). Error `matrix 3 of the batch is singular` if there is a zero
/// on the diagonal of u.
LuFactorResult lu_factor(const Tensor& a);
struct LuFactorExResult {
  Tensor lu, pivots, info;
};
/// lu_factor() that factors singular matrices too. `info` is as in solve_ex(). With `check_errors`, they are an error.
LuFactorExResult lu_factor_ex(const Tensor& a, bool check_errors = false);
/// p, l and u from lu_factor()'s results. Without `unpack_data`, l and u are undefined; without `unpack_pivots`, p is.
/// IndexError unless pivot i (counted from 0) is a number from i + 1 to m; without `unpack_pivots` only their shape and
/// dtype are checked.
LuResult lu_unpack(const Tensor& lu, const Tensor& pivots, bool unpack_data = true, bool unpack_pivots = true);
/// Solves a x = b for the a whose factors lu_factor() gave, b (..., n, k), as torch.linalg.lu_solve; batch axes
/// broadcast. With `transposed` (PyTorch's `adjoint`), solves a^T x = b; with left = false, x a = b or x a^T = b for
/// b (..., k, n). Gradients are with respect to lu and b. Error `matrix 3 of the batch is singular`; IndexError as in
/// lu_unpack().
Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left = true, bool transposed = false);

/// Solves tensordot(a, x, x.rank()) = b for x: the product of the last sizes of a equals the product of those of b,
/// with which its shape begins. `axes` are moved to the end of a first. ShapeError unless that fits.
Tensor tensorsolve(const Tensor& a, const Tensor& b, const IntList& axes = {});
/// The inverse of x under tensordot(x, ..., count): the product of its first `count` sizes equals the product of the
/// others. Its shape is the other sizes, then the first ones. ShapeError unless that fits.
Tensor tensorinv(const Tensor& x, int64_t count = 2);

/// The determinant. It is 0 for a singular matrix and 1 for an empty one. The gradient (the cofactor matrix) is also
/// correct for singular matrices, where it is computed from the singular vectors. The second derivative of a singular
/// matrix is correct if the matrix has rank n - 1 and distinct singular values.
Tensor det(const Tensor& a);
struct SlogdetResult {
  Tensor sign;  // -1, 0 or 1; it has no gradient
  Tensor logabsdet;
};
/// The sign of the determinant and the logarithm of its absolute value. A singular matrix gives 0 and -inf; its
/// gradient is an Error.
SlogdetResult slogdet(const Tensor& a);
/// log(det(a)): NaN if the determinant is negative, -inf if it is 0.
Tensor logdet(const Tensor& a);

}  // namespace weft
