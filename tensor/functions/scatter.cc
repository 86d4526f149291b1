#include "tensor/functions/scatter.h"

#include <limits>

#include "tensor/adjoints/index.h"
#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/index_put.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"
#include "tensor/ops/scatter.h"

namespace weft {
namespace {

/// The leading part of `src` that has the shape of the index.
Tensor fitted(const Tensor& src, const Tensor& index) {
  if (src.shape() == index.shape()) return src;
  if (src.rank() != index.rank())
    throw ShapeError(text("the source has ", src.rank(), " axes, the index ", index.rank()));
  std::vector<Interval> bounds;
  for (int64_t i = 0; i < index.rank(); ++i) {
    if (index.size(i) > src.size(i))
      throw ShapeError(text("the index of shape ", index.shape(), " is larger than the source of shape ", src.shape()));
    bounds.push_back({0, index.size(i)});
  }
  return shrink(src, bounds);
}

/// The leading part of `src` that has the shape of the index, in the dtype of x.
Tensor source(const Tensor& src, const Tensor& x, const Tensor& index) {
  return adjoint::source_of(fitted(src, index), x.dtype());
}

/// op(self, index, src) in place; `self` may have no axes.
template <class Op>
void write(const char* name, const Op& op, const Tensor& self, const Tensor& index, const Tensor& src) {
  Tensor to = self;
  dispatch::apply_in_place(op, name, to, dispatch::apart_from(self, index),
                           dispatch::apart_from(self, source(src, self, index)));
}

Tensor spread(const Scalar& value, const Tensor& self, const Tensor& index) {
  check_fits(value, self.dtype());
  return expand(full({}, value, self.dtype(), self.device()), index.shape());
}

/// The neutral element of a reduction.
Scalar neutral(std::string_view reduce, DType dtype) {
  if (reduce == "sum" || reduce == "mean") return 0;
  if (reduce == "prod") return 1;
  const bool largest = reduce == "amax";
  if (is_floating(dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return largest ? -infinity : infinity;
  }
  return visit_dtype(dtype, [&]<class T>() -> Scalar {
    if constexpr (std::is_integral_v<T>)
      return largest ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    else
      return 0;
  });
}

/// An index that was expanded along axes of x, with size 1 along these axes again: it has the same values all along
/// them. `shape` is x's shape, with size 1 along the same axes.
struct Unexpanded {
  Unexpanded(const Tensor& expanded, int64_t axis, const Tensor& x) : index(expanded), shape(x.shape()) {
    if (expanded.layout().has_mask() || expanded.rank() != x.rank()) return;  // ranks are checked by the op
    for (int64_t i = 0; i < x.rank(); ++i) {
      const int64_t size = expanded.size(i);
      if (i == axis || size == 1 || size != x.size(i) || expanded.layout().strides()[static_cast<size_t>(i)] != 0)
        continue;
      index = slice(index, i, 0, 1);
      shape[static_cast<size_t>(i)] = 1;
    }
  }
  Tensor index;
  Shape shape;
};

/// `first` plus the number of times that `index` names each element of a tensor of this shape; in the dtype of the
/// sums: if that is f64, there may be more than f32 can count.
Tensor counts_of(const Tensor& index, int64_t axis, const Shape& shape, int64_t first, DType dtype) {
  const Tensor start = full(shape, first, dtype, index.device());
  return dispatch::apply(op::ScatterSum{axis}, start, index, spread(1, start, index));
}

/// x, with the neutral element at the positions that the index names.
Tensor neutral_start(const Tensor& x, int64_t axis, const Tensor& index, std::string_view reduce,
                     const Unexpanded& listed) {
  const Scalar value = neutral(reduce, x.dtype());
  if (listed.shape == x.shape()) return dispatch::apply(op::Scatter{axis}, x, index, spread(value, x, index));
  const Tensor none = zeros(listed.shape, boolean, x.device());
  return masked_fill(x, dispatch::apply(op::Scatter{axis}, none, listed.index, spread(true, none, listed.index)),
                     value);
}

Tensor reduced(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src, std::string_view reduce,
               bool include_self) {
  const bool is_mean = reduce == "mean";
  if (!is_mean && reduce != "sum" && reduce != "prod" && reduce != "amax" && reduce != "amin")
    throw Error(text("`", reduce, "` is none of sum, prod, mean, amax and amin"));
  if (is_mean && !is_floating(x.dtype()))
    throw DtypeError(text("a mean of ", x.dtype(), " is floating; cast first, e.g. x.to(f32)"));
  const int64_t a = normalize_axis_or_scalar(axis, x.rank());
  const Tensor values = source(src, x, index);
  const Unexpanded listed(index, a, x);
  const Tensor start = include_self ? x : neutral_start(x, a, index, reduce, listed);
  if (reduce == "prod" || reduce == "amax" || reduce == "amin") {
    const op::ScatterReduction reduction = reduce == "prod"   ? op::ScatterReduction::product
                                           : reduce == "amax" ? op::ScatterReduction::largest
                                                              : op::ScatterReduction::smallest;
    return dispatch::apply(op::ScatterReduce{a, reduction, !include_self}, start, index, values);
  }
  // In 16 bits, the sum and the count of a mean may overflow.
  if (is_mean && is_half_precision(x.dtype()))
    return cast(reduced(cast(x, f32), axis, index, cast(src, f32), reduce, include_self), x.dtype());
  const Tensor sums = dispatch::apply(op::ScatterSum{a}, start, index, values);
  if (!is_mean) return sums;
  const Tensor counts = counts_of(listed.index, a, listed.shape, include_self ? 1 : 0, x.dtype());
  return div(sums, maximum(counts, ones({}, x.dtype(), x.device())));
}

}  // namespace

Tensor scatter(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src) {
  ErrorFrame frame("scatter", x, index, src);
  const int64_t a = normalize_axis_or_scalar(axis, x.rank());
  return dispatch::apply(op::Scatter{a}, x, index, source(src, x, index));
}

Tensor scatter(const Tensor& x, int64_t axis, const Tensor& index, const Scalar& value) {
  ErrorFrame frame("scatter", x, index);
  const int64_t a = normalize_axis_or_scalar(axis, x.rank());
  return dispatch::apply(op::Scatter{a}, x, index, spread(value, x, index));
}

Tensor detail::scatter_add_to(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src) {
  ErrorFrame frame("scatter_add", x, index, src);
  op::ScatterSum op;
  op.axis = normalize_axis_or_scalar(axis, x.rank());
  return dispatch::apply(op, x, index, source(src, x, index));
}

Tensor scatter_reduce(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src, std::string_view reduce,
                      bool include_self) {
  ErrorFrame frame("scatter_reduce", x, index, src);
  return reduced(x, axis, index, src, reduce, include_self);
}

Tensor index_reduce(const Tensor& x, int64_t axis, const Tensor& index, const Tensor& src, std::string_view reduce,
                    bool include_self) {
  ErrorFrame frame("index_reduce", x, index, src);
  const int64_t a = normalize_axis_or_scalar(axis, x.rank());
  if (x.rank() == 0) {
    if (index.numel() != 1 || src.numel() != 1)
      throw ShapeError(text("a tensor without axes takes one index and one value, not shapes ", index.shape(), " and ",
                            src.shape()));
    return reshape(index_reduce(reshape(x, {1}), 0, reshape(index, {1}), reshape(src, {1}), reduce, include_self), {});
  }
  op::check_slices(x.shape(), a, required_operand(index));
  const Shape expected = op::with_merged(x.shape(), a, 1, index.numel());
  if (src.shape() != expected) throw ShapeError(text("the slices must have shape ", expected, ", not ", src.shape()));
  const Tensor line = reshape(index, internal::shape_along(a, x.rank(), index.numel()));
  return reduced(x, a, expand(line, expected), src, reduce, include_self);
}

Tensor& Tensor::scatter_(int64_t axis, const Tensor& index, const Tensor& src) {
  ErrorFrame frame("scatter_", *this, index, src);
  write("scatter_", op::Scatter{normalize_axis_or_scalar(axis, rank())}, *this, index, src);
  return *this;
}
Tensor& Tensor::scatter_(int64_t axis, const Tensor& index, const Scalar& value) {
  ErrorFrame frame("scatter_", *this, index);
  write("scatter_", op::Scatter{normalize_axis_or_scalar(axis, rank())}, *this, index, spread(value, *this, index));
  return *this;
}
Tensor& Tensor::scatter_add_(int64_t axis, const Tensor& index, const Tensor& src) {
  ErrorFrame frame("scatter_add_", *this, index, src);
  op::ScatterSum op;
  op.axis = normalize_axis_or_scalar(axis, rank());
  write("scatter_add_", op, *this, index, src);
  return *this;
}

}  // namespace weft
