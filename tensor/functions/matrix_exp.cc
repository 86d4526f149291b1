#include "tensor/functions/matrix_exp.h"

#include "tensor/dispatch/apply.h"
#include "tensor/ops/matrix_exp.h"

namespace weft {

Tensor matrix_exp(const Tensor& a) {
  ErrorFrame frame("matrix_exp", a);
  return dispatch::apply(op::MatrixExp{}, a);
}

}  // namespace weft
