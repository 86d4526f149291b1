#include "tensor/functions/qr.h"

#include "tensor/adjoints/matmul.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/view.h"
#include "tensor/ops/qr.h"

namespace weft {

QrResult qr(const Tensor& a, QrMode mode) {
  ErrorFrame frame("qr", a);
  const bool wide = a.rank() >= 2 && a.size(-2) < a.size(-1);
  const int64_t m = wide ? a.size(-2) : 0;
  const op::Qr op{.complete = mode == QrMode::complete && !wide, .vectors = mode != QrMode::r || wide};
  auto [q, r] = dispatch::apply(op, wide ? narrow(a, -1, 0, m) : a);
  // What is right of the square that was factorized follows from it.
  if (wide) r = cat({r, adjoint::exact_matmul(transpose(q, -2, -1), narrow(a, -1, m, a.size(-1) - m))}, -1);
  return {mode == QrMode::r ? Tensor() : q, r};
}

}  // namespace weft
