#include "tensor/functions/eig.h"

#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/ops/eig.h"

namespace weft {

EighResult eigh(const Tensor& a, Triangle triangle) {
  ErrorFrame frame("eigh", a);
  auto [values, vectors] = dispatch::apply(op::Eigh{triangle == Triangle::upper}, a);
  return {values, vectors};
}

Tensor eigvalsh(const Tensor& a, Triangle triangle) {
  ErrorFrame frame("eigvalsh", a);
  // The gradient needs the eigenvectors.
  return dispatch::apply(op::Eigh{triangle == Triangle::upper, dispatch::may_need_gradient(a)}, a)[0];
}

EigResult eig(const Tensor& a) {
  ErrorFrame frame("eig", a);
  auto [values, vectors] = dispatch::apply(op::Eig{}, a);
  return {values, vectors};
}

Tensor eigvals(const Tensor& a) {
  ErrorFrame frame("eigvals", a);
  return dispatch::apply(op::Eig{dispatch::may_need_gradient(a)}, a)[0];  // as eigvalsh()
}

}  // namespace weft
