// Tensor's members that are one-line forwards to the free functions, which are the API's definition.
#include "tensor/functions_all.h"

namespace weft {

Tensor Tensor::detach() const { return weft::detach(*this); }
Tensor Tensor::view(const Shape& shape) const { return weft::view(*this, shape); }
Tensor Tensor::reshape(const Shape& shape) const { return weft::reshape(*this, shape); }
Tensor Tensor::squeeze(int64_t axis) const { return weft::squeeze(*this, axis); }
Tensor Tensor::squeeze_all() const { return weft::squeeze_all(*this); }
Tensor Tensor::unsqueeze(int64_t axis) const { return weft::unsqueeze(*this, axis); }
Tensor Tensor::transpose(int64_t axis0, int64_t axis1) const { return weft::transpose(*this, axis0, axis1); }
Tensor Tensor::permute(const IntList& axes) const { return weft::permute(*this, axes); }
Tensor Tensor::movedim(int64_t source, int64_t destination) const { return weft::movedim(*this, source, destination); }
Tensor Tensor::slice(int64_t axis, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) const {
  return weft::slice(*this, axis, start, end, step);
}
Tensor Tensor::select(int64_t axis, int64_t index) const { return weft::select(*this, axis, index); }
Tensor Tensor::shrink(const std::vector<Interval>& bounds) const { return weft::shrink(*this, bounds); }
Tensor Tensor::narrow(int64_t axis, int64_t start, int64_t length) const {
  return weft::narrow(*this, axis, start, length);
}
Tensor Tensor::unfold(int64_t axis, int64_t size, int64_t step) const { return weft::unfold(*this, axis, size, step); }
Tensor Tensor::flip(const IntList& axes) const { return weft::flip(*this, axes); }
Tensor Tensor::pad(const std::vector<Padding>& padding) const { return weft::pad(*this, padding); }
Tensor Tensor::expand(const Shape& shape) const { return weft::expand(*this, shape); }
Tensor Tensor::broadcast(const Shape& shape) const { return weft::broadcast(*this, shape); }
Tensor Tensor::broadcast_like(const Tensor& other) const { return weft::broadcast_like(*this, other); }
Tensor Tensor::broadcast_left(const Shape& batch_dims) const { return weft::broadcast_left(*this, batch_dims); }
Tensor Tensor::diagonal(int64_t offset, int64_t axis0, int64_t axis1) const {
  return weft::diagonal(*this, offset, axis0, axis1);
}
Tensor Tensor::flatten(int64_t start, int64_t end) const { return weft::flatten(*this, start, end); }
Tensor Tensor::unflatten(int64_t axis, const Shape& sizes) const { return weft::unflatten(*this, axis, sizes); }
Tensor Tensor::as_strided(const Shape& shape, const Strides& strides, int64_t offset) const {
  return weft::as_strided(*this, shape, strides, offset);
}
std::vector<Tensor> Tensor::split(int64_t size, int64_t axis) const { return weft::split(*this, size, axis); }
std::vector<Tensor> Tensor::chunk(int64_t count, int64_t axis) const { return weft::chunk(*this, count, axis); }
std::vector<Tensor> Tensor::unbind(int64_t axis) const { return weft::unbind(*this, axis); }

Tensor Tensor::index_select(int64_t axis, const Tensor& index) const { return weft::index_select(*this, axis, index); }
Tensor Tensor::take(const Tensor& index) const { return weft::take(*this, index); }
Tensor Tensor::gather(int64_t axis, const Tensor& index) const { return weft::gather(*this, axis, index); }
Tensor Tensor::scatter(int64_t axis, const Tensor& index, const Tensor& src) const {
  return weft::scatter(*this, axis, index, src);
}
Tensor Tensor::scatter(int64_t axis, const Tensor& index, const Scalar& value) const {
  return weft::scatter(*this, axis, index, value);
}
Tensor Tensor::scatter_add(int64_t axis, const Tensor& index, const Tensor& src) const {
  return weft::scatter_add(*this, axis, index, src);
}
Tensor Tensor::masked_fill(const Tensor& mask, const Scalar& value) const {
  return weft::masked_fill(*this, mask, value);
}
Tensor Tensor::masked_select(const Tensor& mask) const { return weft::masked_select(*this, mask); }
Tensor Tensor::nonzero() const { return weft::nonzero(*this); }
Tensor Tensor::tril(int64_t diagonal) const { return weft::tril(*this, diagonal); }
Tensor Tensor::triu(int64_t diagonal) const { return weft::triu(*this, diagonal); }
Tensor Tensor::roll(const IntList& shifts, const IntList& axes) const { return weft::roll(*this, shifts, axes); }
Tensor Tensor::repeat(const IntList& counts) const { return weft::repeat(*this, counts); }
Tensor Tensor::tile(const IntList& counts) const { return weft::tile(*this, counts); }
Tensor Tensor::repeat_interleave(int64_t count, std::optional<int64_t> axis) const {
  return weft::repeat_interleave(*this, count, axis);
}

Tensor Tensor::clone() const { return weft::clone(*this); }
Tensor Tensor::contiguous() const { return weft::contiguous(*this); }
Tensor Tensor::to(DType dtype) const { return weft::cast(*this, dtype); }
Tensor Tensor::to(Device device) const { return weft::to(*this, device); }

Tensor Tensor::operator-() const& { return weft::neg(*this); }
Tensor Tensor::operator-() && { return weft::neg(std::move(*this)); }
#define WEFT_MEMBER(function)                                        \
  Tensor Tensor::function() const& { return weft::function(*this); } \
  Tensor Tensor::function()&& { return weft::function(std::move(*this)); }
WEFT_MEMBERS(WEFT_MEMBER)
#undef WEFT_MEMBER
#define WEFT_COMPARISON(function)                                                             \
  Tensor Tensor::function(const Tensor& other) const { return weft::function(*this, other); } \
  Tensor Tensor::function(const Scalar& other) const { return weft::function(*this, other); }
WEFT_COMPARISONS(WEFT_COMPARISON)
#undef WEFT_COMPARISON
Tensor Tensor::clip(std::optional<Scalar> min, std::optional<Scalar> max) const { return weft::clip(*this, min, max); }
Tensor Tensor::pow(const Scalar& exponent) const { return weft::pow(*this, exponent); }
Tensor Tensor::pow(const Tensor& exponent) const { return weft::pow(*this, exponent); }
Tensor Tensor::isnan() const { return weft::isnan(*this); }
Tensor Tensor::isfinite() const { return weft::isfinite(*this); }
Tensor Tensor::logical_not() const { return weft::logical_not(*this); }
Tensor Tensor::where(const Tensor& condition, const Tensor& other) const {
  return weft::where(condition, *this, other);
}
Tensor Tensor::where(const Tensor& condition, const Scalar& other) const {
  return weft::where(condition, *this, other);
}

#define WEFT_REDUCTION(function) \
  Tensor Tensor::function(const Axes& axes, KeepDim keep) const { return weft::function(*this, axes, keep); }
WEFT_REDUCTIONS(WEFT_REDUCTION)
#undef WEFT_REDUCTION
Tensor Tensor::sum(const Axes& axes, KeepDim keep, DType dtype) const { return weft::sum(*this, axes, keep, dtype); }
Tensor Tensor::mean(const Axes& axes, KeepDim keep, DType dtype) const { return weft::mean(*this, axes, keep, dtype); }
Tensor Tensor::prod(const Axes& axes, KeepDim keep, DType dtype) const { return weft::prod(*this, axes, keep, dtype); }
ValuesAndIndices Tensor::max_with_indices(int64_t axis, KeepDim keep) const {
  return weft::max_with_indices(*this, axis, keep);
}
ValuesAndIndices Tensor::min_with_indices(int64_t axis, KeepDim keep) const {
  return weft::min_with_indices(*this, axis, keep);
}
Tensor Tensor::argmax(std::optional<int64_t> axis, KeepDim keep) const { return weft::argmax(*this, axis, keep); }
Tensor Tensor::argmin(std::optional<int64_t> axis, KeepDim keep) const { return weft::argmin(*this, axis, keep); }
Tensor Tensor::var(const Axes& axes, int64_t correction, KeepDim keep) const {
  return weft::var(*this, axes, correction, keep);
}
Tensor Tensor::std(const Axes& axes, int64_t correction, KeepDim keep) const {
  return weft::stddev(*this, axes, correction, keep);
}
Tensor Tensor::norm(double p, const Axes& axes, KeepDim keep) const { return weft::norm(*this, p, axes, keep); }
Tensor Tensor::softmax(int64_t axis) const { return weft::softmax(*this, axis); }
Tensor Tensor::log_softmax(int64_t axis) const { return weft::log_softmax(*this, axis); }
Tensor Tensor::cumsum(int64_t axis) const { return weft::cumsum(*this, axis); }
Tensor Tensor::cumprod(int64_t axis) const { return weft::cumprod(*this, axis); }
ValuesAndIndices Tensor::sort(int64_t axis, bool descending) const { return weft::sort(*this, axis, descending); }
Tensor Tensor::argsort(int64_t axis, bool descending) const { return weft::argsort(*this, axis, descending); }
ValuesAndIndices Tensor::topk(int64_t k, int64_t axis, bool largest) const {
  return weft::topk(*this, k, axis, largest);
}
Tensor Tensor::median() const { return weft::median(*this); }
ValuesAndIndices Tensor::median(int64_t axis, KeepDim keep) const { return weft::median(*this, axis, keep); }
Tensor Tensor::mm(const Tensor& other) const { return weft::mm(*this, other); }
Tensor Tensor::det() const { return weft::det(*this); }
Tensor Tensor::matmul(const Tensor& other) const { return weft::matmul(*this, other); }

}  // namespace weft
