#include "tensor/functions/strided_scatter.h"

#include <array>

#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/view.h"
#include "tensor/ops/strided_scatter.h"

namespace weft {

Tensor as_strided_scatter(const Tensor& x, const Tensor& src, const Shape& shape, const Strides& strides,
                          int64_t offset) {
  ErrorFrame frame("as_strided_scatter", x, src);
  return dispatch::apply(op::AsStridedScatter{shape, strides, offset}, x, cast(src, x.dtype()));
}

Tensor select_scatter(const Tensor& x, const Tensor& src, int64_t axis, int64_t index) {
  ErrorFrame frame("select_scatter", x, src);
  const Tensor out = dispatch::copy_to_write(x, std::array{&src});
  select(out, axis, index).copy_(src);
  return out;
}

Tensor slice_scatter(const Tensor& x, const Tensor& src, int64_t axis, std::optional<int64_t> start,
                     std::optional<int64_t> end, int64_t step) {
  ErrorFrame frame("slice_scatter", x, src);
  const Tensor out = dispatch::copy_to_write(x, std::array{&src});
  slice(out, axis, start, end, step).copy_(src);
  return out;
}

Tensor diagonal_scatter(const Tensor& x, const Tensor& src, int64_t offset, int64_t axis0, int64_t axis1) {
  ErrorFrame frame("diagonal_scatter", x, src);
  const Tensor out = dispatch::copy_to_write(x, std::array{&src});
  diagonal(out, offset, axis0, axis1).copy_(src);
  return out;
}

}  // namespace weft
