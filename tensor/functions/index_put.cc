#include "tensor/functions/index_put.h"

#include <array>
#include <limits>

#include "tensor/adjoints/index.h"
#include "tensor/adjoints/index_put.h"
#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/batched.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/functions/advanced_index.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/scatter.h"
#include "tensor/functions/view.h"
#include "tensor/ops/index_put.h"

namespace weft {
namespace {

/// `index` with what is negative counted from the end of `size`.
Tensor wrapped(const Tensor& index, int64_t size) {
  return dispatch::apply_list(op::FlatIndex{{size}}, std::vector<Tensor>{index});
}

/// What index_copy writes to `self`, in place.
void copy_slices(const char* name, const Tensor& self, int64_t axis, const Tensor& index, const Tensor& src) {
  const int64_t a = normalize_axis_or_scalar(axis, self.rank());
  Tensor to = atleast_1d(self);
  dispatch::apply_in_place(op::IndexCopy{a, 1, false}, name, to, dispatch::apart_from(to, atleast_1d(index)),
                           dispatch::apart_from(to, atleast_1d(adjoint::source_of(src, self.dtype()))));
}

void fill_slices(const char* name, const Tensor& self, int64_t axis, const Tensor& index, const Scalar& value) {
  const int64_t a = normalize_axis_or_scalar(axis, self.rank());
  Tensor to = atleast_1d(self);
  check_fits(value, self.dtype());
  const Tensor rows = wrapped(atleast_1d(index), to.size(a));
  const Shape shape = op::with_merged(to.shape(), a, 1, rows.numel());
  dispatch::apply_in_place(op::IndexCopy{a, 1, false}, name, to, rows,
                           expand(full({}, value, self.dtype(), self.device()), shape));
}

/// What index_add adds to x.
Tensor scaled_slices(const Tensor& src, const Scalar& alpha, DType dtype) {
  if (alpha.is_floating() && !is_floating(dtype))
    throw DtypeError(text("alpha is ", alpha.to_double(), "; it takes an integer beside tensors of integers"));
  const Tensor own = adjoint::source_of(src, dtype);
  return atleast_1d(alpha == Scalar(1) ? own : cast(mul(own, alpha), dtype));
}

void put_elements(const char* name, const Tensor& self, const Tensor& index, const Tensor& src, bool accumulate) {
  if (src.numel() != index.numel())
    throw ShapeError(text("the source has ", src.numel(), " elements, the index ", index.numel()));
  Tensor to = atleast_1d(self);
  const Tensor places = wrapped(reshape(index, {-1}), self.numel()),
               values = dispatch::apart_from(to, reshape(adjoint::source_of(src, self.dtype()), {-1}));
  if (accumulate)
    dispatch::apply_in_place(op::IndexAccumulate{0, to.rank()}, name, to, places, values);
  else
    dispatch::apply_in_place(op::IndexCopy{0, to.rank(), false}, name, to, places, values);
}

}  // namespace

Tensor index_copy(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src) {
  ErrorFrame frame("index_copy", x, index, src);
  const Tensor out = dispatch::copy_to_write(x, std::array{&index, &src});
  copy_slices("index_copy", out, axis, index, src);
  return out;
}

Tensor index_fill(const Tensor& x, int64_t axis, const Tensor& index, const Scalar& value) {
  ErrorFrame frame("index_fill", x, index);
  const Tensor out = dispatch::copy_to_write(x, std::array{&index});
  fill_slices("index_fill", out, axis, index, value);
  return out;
}

Tensor detail::index_add_to(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src,
                            const Scalar& alpha) {
  ErrorFrame frame("index_add", x, index, src);
  const op::IndexAccumulate op{normalize_axis_or_scalar(axis, x.rank())};
  const Tensor out = dispatch::apply(op, atleast_1d(x), atleast_1d(index), scaled_slices(src, alpha, x.dtype()));
  return x.rank() == 0 ? reshape(out, {}) : out;
}

Tensor take(const Tensor& x, const Tensor& index) {
  ErrorFrame frame("take", x, index);
  const Tensor from = atleast_1d(x), places = wrapped(index, x.numel());
  return reshape(dispatch::apply(op::IndexSelect{0, from.rank()}, from, reshape(places, {-1})), index.shape());
}

Tensor take_along_dim(const Tensor& x, const Tensor& indices, std::optional<int64_t> axis) {
  ErrorFrame frame("take_along_dim", x, indices);
  if (!axis) return take(x, reshape(indices, {-1}));
  const int64_t a = normalize_axis_or_scalar(*axis, x.rank());
  if (indices.rank() != x.rank())
    throw ShapeError(text("the indices have ", indices.rank(), " axes, the tensor ", x.rank()));
  if (x.rank() == 0) return gather(x, 0, wrapped(indices, 1));
  Shape from = x.shape(), shape = indices.shape();
  from[static_cast<size_t>(a)] = shape[static_cast<size_t>(a)] = 1;
  const Shape common = broadcast_shapes(from, shape);
  from = shape = common;
  from[static_cast<size_t>(a)] = x.size(a);
  shape[static_cast<size_t>(a)] = indices.size(a);
  return gather(expand(x, from), a, wrapped(expand(indices, shape), x.size(a)));
}

Tensor put(const Tensor& x, const Tensor& index, const Tensor& src, bool accumulate) {
  ErrorFrame frame("put", x, index, src);
  const Tensor out = dispatch::copy_to_write(x, std::array{&index, &src});
  put_elements("put", out, index, src, accumulate);
  return out;
}

Tensor& Tensor::index_copy_(int64_t axis, const Tensor& index, const Tensor& src) {
  ErrorFrame frame("index_copy_", *this, index, src);
  return copy_slices("index_copy_", *this, axis, index, src), *this;
}
Tensor& Tensor::index_fill_(int64_t axis, const Tensor& index, const Scalar& value) {
  ErrorFrame frame("index_fill_", *this, index);
  return fill_slices("index_fill_", *this, axis, index, value), *this;
}
Tensor& Tensor::index_add_(int64_t axis, const Tensor& index, const Tensor& src, const Scalar& alpha) {
  ErrorFrame frame("index_add_", *this, index, src);
  Tensor to = atleast_1d(*this);
  dispatch::apply_in_place(op::IndexAccumulate{normalize_axis_or_scalar(axis, rank())}, "index_add_", to,
                           dispatch::apart_from(to, atleast_1d(index)),
                           dispatch::apart_from(to, scaled_slices(src, alpha, dtype())));
  return *this;
}
Tensor& Tensor::put_(const Tensor& index, const Tensor& src, bool accumulate) {
  ErrorFrame frame("put_", *this, index, src);
  return put_elements("put_", *this, index, src, accumulate), *this;
}

Tensor adjoint::index_clear(const Tensor& g, int64_t axis, int64_t axes, const Tensor& index, bool unique) {
  ErrorFrame frame("index_clear", g, index);
  const Shape shape = op::with_merged(g.shape(), axis, axes, index.numel());
  const Tensor zero = expand(zeros({}, g.dtype(), g.device()), shape);
  return dispatch::apply(op::IndexCopy{axis, axes, unique}, g, index, zero);
}

namespace {
/// For each of 1-d `index` among `size` rows, whether no later one is the same.
Tensor is_last(const Tensor& index, int64_t size) {
  const DType dtype = index.numel() <= std::numeric_limits<int32_t>::max() ? i32 : i64;
  const Tensor numbers = arange(0, index.numel(), 1, dtype, index.device());
  // What no index names is never read.
  Tensor last = empty({size}, dtype, index.device());
  last = dispatch::apply_over(op::IndexCopy{0, 1, false}, 1u, last, index, numbers);
  return index_select(last, 0, index) == numbers;
}
}  // namespace

Tensor adjoint::index_written(const Tensor& g, int64_t axis, int64_t axes, const Tensor& index, bool unique) {
  ErrorFrame frame("index_written", g, index);
  const Tensor out = dispatch::apply(op::IndexSelect{axis, axes}, g, index);
  if (unique) return out;
  int64_t size = 1;
  for (int64_t i = axis; i < axis + axes; ++i) size *= g.size(i);
  const Shape column = internal::shape_along(axis, out.rank(), index.numel());
  return masked_fill(out, logical_not(reshape(is_last(index, size), column)), 0);
}

Tensor adjoint::scatter_written(const Tensor& g, int64_t axis, const Tensor& index) {
  ErrorFrame frame("scatter_written", g, index);
  const Tensor out = gather(g, axis, index);
  if (index.rank() == 0) return out;
  const Shape line = internal::shape_along(axis, index.rank(), index.size(axis));
  const Tensor numbers = expand(reshape(arange(0, index.size(axis), 1, i64, index.device()), line), index.shape());
  const Tensor last = scatter(zeros(g.shape(), i64, index.device()), axis, index, numbers);
  return masked_fill(out, gather(last, axis, index) != numbers, 0);
}

}  // namespace weft
