#include "tensor/functions/matmul.h"

#include "tensor/adjoints/linalg.h"
#include "tensor/adjoints/matmul.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"
#include "tensor/ops/matmul.h"

namespace weft {
namespace {

/// The product of tensors of two axes or more.
Tensor batched(const Tensor& x, const Tensor& y) {
  if (x.rank() == 2 && y.rank() == 2) return dispatch::apply(op::Matmul{}, x, y);
  if (x.rank() > 2 && y.rank() == 2 && x.is_contiguous())
    return adjoint::with_joined_rows(x, [&](const Tensor& rows) { return dispatch::apply(op::Matmul{}, rows, y); });
  const Shape batch = adjoint::common_batch(x, y);
  const DType dtype = promote(x.dtype(), y.dtype());
  // Cast before: a cast of the broadcast would store its repetitions.
  return dispatch::apply(op::Matmul{}, adjoint::with_batch(cast(x, dtype), batch),
                         adjoint::with_batch(cast(y, dtype), batch));
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  ErrorFrame frame("matmul", a, b);
  // Two matrices, the common case, with nothing to prepare.
  if (a.rank() == 2 && b.rank() == 2) return dispatch::apply(op::Matmul{}, a, b);
  if (a.rank() == 0 || b.rank() == 0) throw ShapeError("it takes tensors of 1 axis or more; use * for a scalar");
  const bool row = a.rank() == 1, column = b.rank() == 1;
  Tensor out = batched(row ? unsqueeze(a, 0) : a, column ? unsqueeze(b, 1) : b);
  if (column) out = squeeze(out, -1);
  return row ? squeeze(out, column ? -1 : -2) : out;
}

namespace adjoint {

/// Of each panel of rows, only the columns up to its end are computed; the rest is a mirror image.
Tensor gram(const Tensor& x, DType result) {
  constexpr int64_t kPanel = 128;
  const auto product = [&](const Tensor& a, const Tensor& b) {
    return dispatch::apply(op::RoundedMatmul{x.dtype(), result}, a, b.t());
  };
  const int64_t rows = x.size(0), panels = rows / kPanel;
  if (panels < 2) return product(x, x);
  const Tensor out = empty({rows, rows}, result, x.device());
  for (int64_t p = 0; p < panels; ++p) {
    const int64_t begin = rows * p / panels, end = rows * (p + 1) / panels;
    const Tensor part = product(x.slice(0, begin, end), x.slice(0, 0, end));
    out.slice(0, begin, end).slice(1, 0, end).copy_(part);
    out.slice(0, 0, begin).slice(1, begin, end).copy_(part.slice(1, 0, begin).t());
  }
  return out;
}

Tensor exact_matmul(const Tensor& a, const Tensor& b) {
  if (internal::modes().autocast == f32) return matmul(a, b);
  const internal::ModeScope exact(&internal::Modes::autocast, f32);
  const auto widened = [](const Tensor& x) { return is_half_precision(x.dtype()) ? cast(x, f32) : x; };
  return matmul(widened(a), widened(b));
}

}  // namespace adjoint
}  // namespace weft
