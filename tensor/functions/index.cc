#include "tensor/functions/index.h"

#include <algorithm>
#include <limits>

#include "tensor/adjoints/index.h"
#include "tensor/dispatch/apply_into.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"
#include "tensor/ops/index.h"

namespace weft {
namespace {

Shape with_axis(const Shape& shape) { return shape.rank() == 0 ? Shape{1} : shape; }
/// `x` in `shape`, where only an axis of size 1 was added.
Tensor in_shape(const Tensor& x, const Shape& shape) { return x.shape() == shape ? x : reshape(x, shape); }

/// One more than the largest of `indices`.
int64_t classes_of(const Tensor& indices) {
  dispatch::check_shape_is_known(indices, "give the number of classes");
  if (indices.numel() == 0) throw Error("the number of classes of no indices must be given");
  const int64_t smallest = min(indices).item<int64_t>(), largest = max(indices).item<int64_t>();
  if (smallest < 0) throw IndexError(text("class ", smallest, " is negative"));
  if (largest == std::numeric_limits<int64_t>::max())
    throw IndexError(text("class ", largest, " is too large: the number of classes would not fit into 64 bits"));
  return largest + 1;
}

}  // namespace

Tensor gather(const Tensor& x, int64_t axis, const Tensor& index) {
  ErrorFrame frame("gather", x, index);
  const int64_t a = normalize_axis_or_scalar(axis, x.rank());
  return in_shape(dispatch::apply(op::Gather{a}, atleast_1d(x), atleast_1d(index)), index.shape());
}

Tensor adjoint::scatter_add(const Tensor& src, int64_t axis, const Tensor& index, const Shape& shape) {
  ErrorFrame frame("scatter_add", src, index);
  const int64_t a = normalize_axis_or_scalar(axis, shape.rank());
  return in_shape(dispatch::apply(op::ScatterAdd{a, with_axis(shape)}, atleast_1d(src), atleast_1d(index)), shape);
}

Tensor adjoint::source_of(const Tensor& src, DType dtype) {
  if (src.dtype() == dtype || !is_integer(dtype)) return cast(src, dtype);
  if (is_floating(src.dtype()))
    throw DtypeError(
        text("a floating source cannot be written to ", dtype, "; cast it first, e.g. src.to(", dtype, ")"));
  if (src.numel() > 0 && promote(src.dtype(), dtype) != dtype) {
    const Tensor every = dispatch::all_samples(src);
    check_fits(min(every).item<int64_t>(), dtype), check_fits(max(every).item<int64_t>(), dtype);
  }
  return cast(src, dtype);
}

Tensor index_select(const Tensor& x, int64_t axis, const Tensor& index) {
  ErrorFrame frame("index_select", x, index);
  const int64_t a = normalize_axis_or_scalar(axis, x.rank());
  if (x.rank() > 0) return dispatch::apply(op::IndexSelect{a}, x, atleast_1d(index));
  if (index.numel() != 1)
    throw ShapeError(
        text("a tensor without axes takes one index, not the ", index.numel(), " of shape ", index.shape()));
  return reshape(dispatch::apply(op::IndexSelect{a}, reshape(x, {1}), atleast_1d(index)), {});
}

void internal::index_select_into(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& into) {
  ErrorFrame frame("index_select", x, index);
  const internal::ModeScope unrecorded(&internal::Modes::recording, false);
  (void)dispatch::apply_into(op::IndexSelect{normalize_axis(axis, x.rank())}, into, x, atleast_1d(index));
}

Tensor adjoint::index_add(const Tensor& src, int64_t axis, const Tensor& index, const Shape& shape) {
  ErrorFrame frame("index_add", src, index);
  const int64_t a = normalize_axis_or_scalar(axis, shape.rank());
  return in_shape(dispatch::apply(op::IndexAdd{a, with_axis(shape)}, atleast_1d(src), atleast_1d(index)), shape);
}

std::vector<Tensor> unravel_index(const Tensor& index, const Shape& shape) {
  ErrorFrame frame("unravel_index", index);
  op::check_index_dtype(index.dtype());
  const int64_t count = checked_numel(shape);
  if (const Tensor every = dispatch::all_samples(index); every.numel() > 0) {
    const int64_t smallest = min(every).item<int64_t>(), largest = max(every).item<int64_t>();
    if (smallest < 0 || largest >= count)
      throw IndexError(text("index ", smallest < 0 ? smallest : largest, " is out of range for the ", count,
                            " elements of shape ", shape));
  }
  std::vector<Tensor> coordinates(shape.size());
  Tensor left = cast(index, i64);
  for (size_t i = shape.size(); i-- > 0;) {
    const int64_t size = std::max<int64_t>(shape[i], 1);  // of a shape without elements there is no index
    coordinates[i] = remainder(left, size);
    left = floor_divide(left, size);
  }
  return coordinates;
}

Tensor embedding(const Tensor& indices, const Tensor& weight, std::optional<int64_t> padding_idx) {
  ErrorFrame frame("embedding", indices, weight);
  int64_t padding = padding_idx.value_or(-1);
  if (padding_idx && padding < 0 && weight.rank() > 0 && (padding += weight.size(0)) < 0)
    throw IndexError(text("padding_idx ", *padding_idx, " is out of range for ", weight.size(0), " rows"));
  const Tensor rows = dispatch::apply(op::Embedding{padding}, indices, weight);
  // Under Autocast what is looked up has the scope's dtype; the table is not cast, and its gradient is summed in f32.
  return internal::modes().autocast != f32 && weight.dtype() == f32 ? cast(rows, internal::modes().autocast) : rows;
}

Tensor one_hot(const Tensor& indices, std::optional<int64_t> classes) {
  ErrorFrame frame("one_hot", indices);
  op::check_index_dtype(indices.dtype());
  return dispatch::apply(op::OneHot{classes ? *classes : classes_of(indices)}, indices);
}

Tensor adjoint::embedding_backward(const Tensor& g, const Tensor& indices, int64_t rows, int64_t padding_idx) {
  ErrorFrame frame("embedding_backward", g, indices);
  return dispatch::apply(op::EmbeddingBackward{rows, padding_idx}, g, indices);
}

}  // namespace weft
