#include "tensor/functions/masked.h"

#include <algorithm>

#include "tensor/adjoints/index.h"
#include "tensor/dispatch/batched.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/dispatch/over.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"
#include "tensor/ops/masked.h"

namespace weft {
namespace {

void check_value(const Tensor& value) {
  if (value.numel() != 1 || value.rank() > 0)
    throw ShapeError(text("the value must have no axes, not shape ", value.shape()));
}

Tensor triangle(const char* name, const Tensor& x, bool lower, int64_t diagonal) {
  ErrorFrame frame(name, x);
  const int64_t most = int64_t{1} << 62;  // beyond any matrix, and far from overflow
  return dispatch::apply(op::Triangle{lower, std::clamp(diagonal, -most, most)}, x);
}

}  // namespace

Tensor masked_fill(const Tensor& x, const Tensor& mask, const Scalar& value) {
  ErrorFrame frame("masked_fill", x, mask);
  return dispatch::apply(op::MaskedFill{value}, x, mask);
}
Tensor masked_fill(Tensor&& x, const Tensor& mask, const Scalar& value) {
  ErrorFrame frame("masked_fill", x, mask);
  return dispatch::over(
      x, [&](uint32_t temporaries) { return dispatch::apply_over(op::MaskedFill{value}, temporaries, x, mask); });
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value) {
  ErrorFrame frame("masked_fill", x, mask, value);
  check_value(value);
  return where(mask, adjoint::source_of(value, x.dtype()), x);
}

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  ErrorFrame frame("masked_select", x, mask);
  if (mask.dtype() != boolean) throw DtypeError(text("the mask is ", mask.dtype(), "; it must be bool, e.g. x > 0"));
  dispatch::check_shape_is_known(mask, "where() keeps the shape");
  const Tensor whole = broadcast(mask, broadcast_shapes(x.shape(), mask.shape()));
  return dispatch::apply(op::MaskedSelect{sum(whole).item<int64_t>()}, x, whole);
}

Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& src) {
  ErrorFrame frame("masked_scatter", x, mask, src);
  return dispatch::apply(op::MaskedScatter{}, x, broadcast(mask, x.shape()),
                         reshape(adjoint::source_of(src, x.dtype()), {-1}));
}

Tensor tril(const Tensor& x, int64_t diagonal) { return triangle("tril", x, true, diagonal); }
Tensor triu(const Tensor& x, int64_t diagonal) { return triangle("triu", x, false, diagonal); }

Tensor& Tensor::masked_fill_(const Tensor& mask, const Scalar& value) {
  ErrorFrame frame("masked_fill_", *this, mask);
  return dispatch::apply_in_place(op::MaskedFill{value}, "masked_fill_", *this, weft::broadcast(mask, shape()));
}
Tensor& Tensor::masked_fill_(const Tensor& mask, const Tensor& value) {
  ErrorFrame frame("masked_fill_", *this, mask, value);
  check_value(value);
  return copy_(weft::where(weft::broadcast(mask, shape()), adjoint::source_of(value, dtype()), *this));
}
Tensor& Tensor::masked_scatter_(const Tensor& mask, const Tensor& src) {
  ErrorFrame frame("masked_scatter_", *this, mask, src);
  return dispatch::apply_in_place(op::MaskedScatter{}, "masked_scatter_", *this, weft::broadcast(mask, shape()),
                                  dispatch::apart_from(*this, weft::reshape(adjoint::source_of(src, dtype()), {-1})));
}

}  // namespace weft
