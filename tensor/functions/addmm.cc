#include "tensor/functions/addmm.h"

#include "tensor/dispatch/apply.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"
#include "tensor/ops/linear.h"
#include "tensor/ops/matmul.h"

namespace weft {
namespace {

/// ShapeError unless a and b have these ranks; matmul would take others.
void check_ranks(const Tensor& a, const Tensor& b, int64_t left, int64_t right) {
  if (a.rank() != left || b.rank() != right)
    throw ShapeError(text("the factors have ", a.rank(), " and ", b.rank(), " axes; it takes ", left, " and ", right));
}

/// A product, and the dtype to which it is rounded. One of factors in 16 bits is in f32 itself: alpha multiplies it and
/// x is added to it before it is rounded.
struct Product {
  Tensor value;
  DType dtype;
};

template <class Multiply> Product multiplied(const Tensor& a, const Tensor& b, Multiply&& multiply) {
  const DType dtype = promote(a.dtype(), b.dtype());
  if (is_half_precision(dtype)) return {multiply(cast(a, f32), cast(b, f32)), dtype};
  Tensor value = multiply(a, b);
  const DType own = value.dtype();  // may be another under Autocast
  return {std::move(value), own};
}
Product matrix_product(const Tensor& a, const Tensor& b) {
  const DType dtype = promote(a.dtype(), b.dtype());
  if (is_half_precision(dtype)) return {dispatch::apply(op::RoundedMatmul{dtype, f32}, a, b), dtype};
  return multiplied(a, b, matmul);
}

bool is(const Scalar& factor, double value) { return factor.to_double() == value; }

/// Whether x + a b is a linear layer with the bias x, whose kernel adds it before it rounds to 16 bits: no result in
/// f32 is written.
bool is_linear(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  const bool one_dtype = x.dtype() == a.dtype() && b.dtype() == a.dtype() && is_half_precision(a.dtype());
  const bool fits = x.rank() == 1 && x.size(0) == b.size(1) && a.size(1) == b.size(0);
  return one_dtype && fits && is(beta, 1) && is(alpha, 1);
}

Tensor combined(const Tensor& x, Product product, const Scalar& beta, const Scalar& alpha) {
  Tensor& value = product.value;
  DType dtype = promote(x.dtype(), product.dtype);
  for (const Scalar& factor : {beta, alpha})
    if (factor.is_floating() && !is(factor, 1)) dtype = promote_scalar(dtype, factor);
  // Checked whatever beta is: x must not enlarge the result.
  const Tensor own = broadcast(x, value.shape());
  if (is(alpha, 0))
    value = zeros_like(value);
  else if (!is(alpha, 1))
    value = std::move(value) * alpha;
  if (is(beta, 0)) return cast(value, dtype);
  const bool widens = value.dtype() == f32 && is_half_precision(dtype);
  const Tensor scaled = is(beta, 1) ? own : (widens ? cast(own, f32) : own) * beta;
  return cast(scaled + std::move(value), dtype);
}

}  // namespace

Tensor addmm(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  ErrorFrame frame("addmm", x, a, b);
  check_ranks(a, b, 2, 2);
  if (is_linear(x, a, b, beta, alpha)) return dispatch::apply(op::Linear{}, a, transpose(b, 0, 1), x);
  return combined(x, matrix_product(a, b), beta, alpha);
}

Tensor addmv(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  ErrorFrame frame("addmv", x, a, b);
  check_ranks(a, b, 2, 1);
  Product product = matrix_product(a, unsqueeze(b, 1));
  product.value = squeeze(product.value, 1);
  return combined(x, std::move(product), beta, alpha);
}

Tensor baddbmm(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  ErrorFrame frame("baddbmm", x, a, b);
  check_ranks(a, b, 3, 3);
  return combined(x, multiplied(a, b, matmul), beta, alpha);
}

Tensor addbmm(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  ErrorFrame frame("addbmm", x, a, b);
  check_ranks(a, b, 3, 3);
  Product products = multiplied(a, b, matmul);
  products.value = cast(sum(products.value, 0), products.value.dtype());
  return combined(x, std::move(products), beta, alpha);
}

Tensor addr(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  ErrorFrame frame("addr", x, a, b);
  check_ranks(a, b, 1, 1);
  const auto outer = [](const Tensor& left, const Tensor& right) { return unsqueeze(left, 1) * right; };
  return combined(x, multiplied(a, b, outer), beta, alpha);
}

}  // namespace weft
