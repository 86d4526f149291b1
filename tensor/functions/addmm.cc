#include "tensor/functions/addmm.h"

#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"

namespace weft {
namespace {

/// ShapeError unless a and b have these ranks; matmul would take others.
void check_ranks(const Tensor& a, const Tensor& b, int64_t left, int64_t right) {
  if (a.rank() != left || b.rank() != right)
    throw ShapeError(text("the factors have ", a.rank(), " and ", b.rank(), " axes; it takes ", left, " and ", right));
}

bool is(const Scalar& factor, double value) { return factor.to_double() == value; }

Tensor combined(const Tensor& x, Tensor product, const Scalar& beta, const Scalar& alpha) {
  // Checked whatever beta is: x must not enlarge the result.
  const Tensor own = broadcast(x, product.shape());
  if (!is(alpha, 1)) product = std::move(product) * alpha;
  if (is(beta, 0)) return cast(product, promote(x.dtype(), product.dtype()));
  return is(beta, 1) ? own + std::move(product) : own * beta + std::move(product);
}

}  // namespace

Tensor addmm(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  ErrorFrame frame("addmm", x, a, b);
  check_ranks(a, b, 2, 2);
  return combined(x, matmul(a, b), beta, alpha);
}

Tensor addmv(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  ErrorFrame frame("addmv", x, a, b);
  check_ranks(a, b, 2, 1);
  return combined(x, matmul(a, b), beta, alpha);
}

Tensor baddbmm(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  ErrorFrame frame("baddbmm", x, a, b);
  check_ranks(a, b, 3, 3);
  return combined(x, matmul(a, b), beta, alpha);
}

Tensor addbmm(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  ErrorFrame frame("addbmm", x, a, b);
  check_ranks(a, b, 3, 3);
  const Tensor products = matmul(a, b);
  return combined(x, cast(sum(products, 0), products.dtype()), beta, alpha);
}

Tensor addr(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  ErrorFrame frame("addr", x, a, b);
  check_ranks(a, b, 1, 1);
  return combined(x, unsqueeze(a, 1) * b, beta, alpha);
}

}  // namespace weft
