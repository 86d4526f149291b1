// Tensor's members that forward to the free functions, which are the API's definition.
#include "tensor/functions_all.h"

namespace weft {

Tensor Tensor::detach() const { return weft::detach(*this); }
Tensor Tensor::view(const Shape& shape) const { return weft::view(*this, shape); }
Tensor Tensor::reshape(const Shape& shape) const { return weft::reshape(*this, shape); }
Tensor Tensor::squeeze(int64_t axis) const { return weft::squeeze(*this, axis); }
Tensor Tensor::squeeze(const IntList& axes) const { return weft::squeeze(*this, axes); }
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
Tensor Tensor::movedim(const IntList& sources, const IntList& destinations) const {
  return weft::movedim(*this, sources, destinations);
}
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
std::vector<Tensor> Tensor::split(const IntList& sizes, int64_t axis) const { return weft::split(*this, sizes, axis); }
std::vector<Tensor> Tensor::tensor_split(int64_t sections, int64_t axis) const {
  return weft::tensor_split(*this, sections, axis);
}
std::vector<Tensor> Tensor::tensor_split(const IntList& positions, int64_t axis) const {
  return weft::tensor_split(*this, positions, axis);
}
std::vector<Tensor> Tensor::chunk(int64_t count, int64_t axis) const { return weft::chunk(*this, count, axis); }
std::vector<Tensor> Tensor::unbind(int64_t axis) const { return weft::unbind(*this, axis); }

Tensor Tensor::index_put(const std::vector<TensorIndex>& indices, const Tensor& value, bool accumulate) const {
  return weft::index_put(*this, indices, value, accumulate);
}
Tensor Tensor::index_put(const std::vector<TensorIndex>& indices, const Scalar& value, bool accumulate) const {
  return weft::index_put(*this, indices, value, accumulate);
}
Tensor Tensor::index_copy(int64_t axis, const Tensor& index, const Tensor& src) const {
  return weft::index_copy(*this, axis, index, src);
}
Tensor Tensor::index_fill(int64_t axis, const Tensor& index, const Scalar& value) const {
  return weft::index_fill(*this, axis, index, value);
}
Tensor Tensor::index_add(int64_t axis, const Tensor& index, const Tensor& src, const Scalar& alpha) const {
  return weft::index_add(*this, axis, index, src, alpha);
}
Tensor Tensor::index_reduce(int64_t axis, const Tensor& index, const Tensor& src, std::string_view reduce,
                            bool include_self) const {
  return weft::index_reduce(*this, axis, index, src, reduce, include_self);
}
Tensor Tensor::index_select(int64_t axis, const Tensor& index) const { return weft::index_select(*this, axis, index); }
Tensor Tensor::take(const Tensor& index) const { return weft::take(*this, index); }
Tensor Tensor::take_along_dim(const Tensor& indices, std::optional<int64_t> axis) const {
  return weft::take_along_dim(*this, indices, axis);
}
Tensor Tensor::put(const Tensor& index, const Tensor& src, bool accumulate) const {
  return weft::put(*this, index, src, accumulate);
}
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
Tensor Tensor::scatter_reduce(int64_t axis, const Tensor& index, const Tensor& src, std::string_view reduce,
                              bool include_self) const {
  return weft::scatter_reduce(*this, axis, index, src, reduce, include_self);
}
Tensor Tensor::masked_fill(const Tensor& mask, const Scalar& value) const {
  return weft::masked_fill(*this, mask, value);
}
Tensor Tensor::masked_fill(const Tensor& mask, const Tensor& value) const {
  return weft::masked_fill(*this, mask, value);
}
Tensor Tensor::masked_select(const Tensor& mask) const { return weft::masked_select(*this, mask); }
Tensor Tensor::masked_scatter(const Tensor& mask, const Tensor& src) const {
  return weft::masked_scatter(*this, mask, src);
}
Tensor Tensor::nonzero() const { return weft::nonzero(*this); }
Tensor Tensor::argwhere() const { return weft::argwhere(*this); }
Tensor Tensor::select_scatter(const Tensor& src, int64_t axis, int64_t index) const {
  return weft::select_scatter(*this, src, axis, index);
}
Tensor Tensor::slice_scatter(const Tensor& src, int64_t axis, std::optional<int64_t> start, std::optional<int64_t> end,
                             int64_t step) const {
  return weft::slice_scatter(*this, src, axis, start, end, step);
}
Tensor Tensor::diagonal_scatter(const Tensor& src, int64_t offset, int64_t axis0, int64_t axis1) const {
  return weft::diagonal_scatter(*this, src, offset, axis0, axis1);
}
Tensor Tensor::diag(int64_t offset) const { return weft::diag(*this, offset); }
Tensor Tensor::diagflat(int64_t offset) const { return weft::diagflat(*this, offset); }
Tensor Tensor::diag_embed(int64_t offset, int64_t axis0, int64_t axis1) const {
  return weft::diag_embed(*this, offset, axis0, axis1);
}
Tensor Tensor::tril(int64_t diagonal) const { return weft::tril(*this, diagonal); }
Tensor Tensor::triu(int64_t diagonal) const { return weft::triu(*this, diagonal); }
Tensor Tensor::roll(const IntList& shifts, const IntList& axes) const { return weft::roll(*this, shifts, axes); }
Tensor Tensor::rot90(int64_t turns, int64_t axis0, int64_t axis1) const {
  return weft::rot90(*this, turns, axis0, axis1);
}
Tensor Tensor::fliplr() const { return weft::fliplr(*this); }
Tensor Tensor::flipud() const { return weft::flipud(*this); }
Tensor Tensor::repeat(const IntList& counts) const { return weft::repeat(*this, counts); }
Tensor Tensor::tile(const IntList& counts) const { return weft::tile(*this, counts); }
Tensor Tensor::repeat_interleave(int64_t count, std::optional<int64_t> axis) const {
  return weft::repeat_interleave(*this, count, axis);
}
Tensor Tensor::repeat_interleave(const Tensor& counts, std::optional<int64_t> axis) const {
  return weft::repeat_interleave(*this, counts, axis);
}

Tensor Tensor::new_full(const Shape& shape, const Scalar& value, std::optional<DType> dtype) const {
  return weft::full(shape, value, dtype.value_or(this->dtype()), device());
}
Tensor Tensor::new_empty(const Shape& shape, std::optional<DType> dtype) const {
  return weft::empty(shape, dtype.value_or(this->dtype()), device());
}
Tensor Tensor::clone() const { return weft::clone(*this); }
Tensor Tensor::contiguous() const { return weft::contiguous(*this); }
Tensor Tensor::to(DType dtype) const { return weft::cast(*this, dtype); }
Tensor Tensor::to(Device device) const { return weft::to(*this, device); }
Tensor Tensor::type_as(const Tensor& other) const {
  const Tensor out = to(other.dtype());
  const Device here = device(), there = other.device();
  // A sample cannot leave its vmap, and ops take it together with tensors from outside.
  if (here.kind == DeviceKind::vmap && (there.kind != DeviceKind::vmap || there.index < here.index)) return out;
  return out.to(there);
}

Tensor Tensor::operator-() const& { return weft::neg(*this); }
Tensor Tensor::operator-() && { return weft::neg(std::move(*this)); }
#define WEFT_MEMBER(function)                                        \
  Tensor Tensor::function() const& { return weft::function(*this); } \
  Tensor Tensor::function()&& { return weft::function(std::move(*this)); }
WEFT_MEMBERS(WEFT_MEMBER)
#undef WEFT_MEMBER
#define WEFT_BINARY_MEMBER(function)                                                          \
  Tensor Tensor::function(const Tensor& other) const { return weft::function(*this, other); } \
  Tensor Tensor::function(const Scalar& other) const { return weft::function(*this, other); }
WEFT_BINARY_MEMBERS(WEFT_BINARY_MEMBER)
#undef WEFT_BINARY_MEMBER
#define WEFT_PAIR_MEMBER(function) \
  Tensor Tensor::function(const Tensor& other) const { return weft::function(*this, other); }
WEFT_PAIR_MEMBERS(WEFT_PAIR_MEMBER)
#undef WEFT_PAIR_MEMBER
#define WEFT_PLAIN_MEMBER(function) \
  Tensor Tensor::function() const { return weft::function(*this); }
WEFT_PLAIN_MEMBERS(WEFT_PLAIN_MEMBER)
#undef WEFT_PLAIN_MEMBER
Tensor Tensor::div(const Tensor& other, std::string_view rounding_mode) const {
  return weft::div(*this, other, rounding_mode);
}
Tensor Tensor::div(const Scalar& other, std::string_view rounding_mode) const {
  return weft::div(*this, other, rounding_mode);
}
Tensor Tensor::add(const Tensor& other, const Scalar& alpha) const { return weft::add(*this, other, alpha); }
Tensor Tensor::sub(const Tensor& other, const Scalar& alpha) const { return weft::sub(*this, other, alpha); }
Tensor Tensor::round(int64_t decimals) const { return weft::round(*this, decimals); }
Tensor Tensor::nan_to_num(double nan, std::optional<Scalar> posinf, std::optional<Scalar> neginf) const {
  return weft::nan_to_num(*this, nan, posinf, neginf);
}
Tensor Tensor::logit(std::optional<double> eps) const { return weft::logit(*this, eps); }
Tensor Tensor::clip(std::optional<Scalar> min, std::optional<Scalar> max) const { return weft::clip(*this, min, max); }
Tensor Tensor::clip(const Tensor& min, const Tensor& max) const { return weft::clip(*this, min, max); }
bool Tensor::equal(const Tensor& other) const { return weft::equal(*this, other); }
Tensor Tensor::isclose(const Tensor& other, const CloseOptions& options) const {
  return weft::isclose(*this, other, options);
}
bool Tensor::allclose(const Tensor& other, const CloseOptions& options) const {
  return weft::allclose(*this, other, options);
}
Tensor Tensor::lerp(const Tensor& end, double weight) const { return weft::lerp(*this, end, weight); }
Tensor Tensor::lerp(const Tensor& end, const Tensor& weight) const { return weft::lerp(*this, end, weight); }
Tensor Tensor::addcmul(const Tensor& a, const Tensor& b, const Scalar& value) const {
  return weft::addcmul(*this, a, b, value);
}
Tensor Tensor::addcdiv(const Tensor& a, const Tensor& b, const Scalar& value) const {
  return weft::addcdiv(*this, a, b, value);
}
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
Tensor Tensor::sum_to_size(const Shape& shape) const { return weft::sum_to_size(*this, shape); }
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
Tensor Tensor::softmax(int64_t axis, DType dtype) const { return weft::softmax(*this, axis, dtype); }
Tensor Tensor::log_softmax(int64_t axis, DType dtype) const { return weft::log_softmax(*this, axis, dtype); }
Tensor Tensor::cumsum(int64_t axis, DType dtype) const { return weft::cumsum(*this, axis, dtype); }
Tensor Tensor::cumprod(int64_t axis, DType dtype) const { return weft::cumprod(*this, axis, dtype); }
Tensor Tensor::cumsum(int64_t axis) const { return weft::cumsum(*this, axis); }
Tensor Tensor::cumprod(int64_t axis) const { return weft::cumprod(*this, axis); }
Tensor Tensor::logcumsumexp(int64_t axis) const { return weft::logcumsumexp(*this, axis); }
ValuesAndIndices Tensor::cummax(int64_t axis) const { return weft::cummax(*this, axis); }
ValuesAndIndices Tensor::cummin(int64_t axis) const { return weft::cummin(*this, axis); }
Tensor Tensor::diff(int64_t n, int64_t axis) const { return weft::diff(*this, n, axis); }
ValuesAndIndices Tensor::sort(int64_t axis, bool descending) const { return weft::sort(*this, axis, descending); }
Tensor Tensor::argsort(int64_t axis, bool descending) const { return weft::argsort(*this, axis, descending); }
ValuesAndIndices Tensor::topk(int64_t k, int64_t axis, bool largest) const {
  return weft::topk(*this, k, axis, largest);
}
Tensor Tensor::median() const { return weft::median(*this); }
ValuesAndIndices Tensor::median(int64_t axis, KeepDim keep) const { return weft::median(*this, axis, keep); }
Tensor Tensor::nanmedian() const { return weft::nanmedian(*this); }
ValuesAndIndices Tensor::nanmedian(int64_t axis, KeepDim keep) const { return weft::nanmedian(*this, axis, keep); }
ValuesAndIndices Tensor::kthvalue(int64_t k, int64_t axis, KeepDim keep) const {
  return weft::kthvalue(*this, k, axis, keep);
}
ValuesAndIndices Tensor::mode(int64_t axis, KeepDim keep) const { return weft::mode(*this, axis, keep); }
Tensor Tensor::quantile(double q, std::optional<int64_t> axis, KeepDim keep) const {
  return weft::quantile(*this, q, {.axis = axis, .keepdim = keep.value});
}
Tensor Tensor::nanquantile(double q, std::optional<int64_t> axis, KeepDim keep) const {
  return weft::nanquantile(*this, q, {.axis = axis, .keepdim = keep.value});
}
MinAndMax Tensor::aminmax(const Axes& axes, KeepDim keep) const { return weft::aminmax(*this, axes, keep); }
UniqueResult Tensor::unique() const { return weft::unique(*this); }
UniqueResult Tensor::unique(const UniqueOptions& options) const { return weft::unique(*this, options); }
UniqueResult Tensor::unique_consecutive() const { return weft::unique_consecutive(*this); }
UniqueResult Tensor::unique_consecutive(const UniqueOptions& options) const {
  return weft::unique_consecutive(*this, options);
}
Tensor Tensor::bincount(const Tensor& weights, int64_t minlength) const {
  return weft::bincount(*this, weights, minlength);
}
Tensor Tensor::histc(int64_t bins, double min, double max) const { return weft::histc(*this, bins, min, max); }
HistogramResult Tensor::histogram(int64_t bins) const { return weft::histogram(*this, bins); }
HistogramResult Tensor::histogram(int64_t bins, const HistogramOptions& options) const {
  return weft::histogram(*this, bins, options);
}
HistogramResult Tensor::histogram(const Tensor& edges) const { return weft::histogram(*this, edges); }
HistogramResult Tensor::histogram(const Tensor& edges, const HistogramOptions& options) const {
  return weft::histogram(*this, edges, options);
}
Tensor Tensor::cov(int64_t correction) const { return weft::cov(*this, correction); }
Tensor Tensor::dist(const Tensor& other, double p) const { return weft::dist(*this, other, p); }
Tensor Tensor::bernoulli() const { return weft::bernoulli(*this); }
Tensor Tensor::multinomial(int64_t count, bool replacement) const {
  return weft::multinomial(*this, count, replacement);
}
Tensor Tensor::cross(const Tensor& other, int64_t axis) const { return weft::cross(*this, other, axis); }
Tensor Tensor::addmm(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) const {
  return weft::addmm(*this, a, b, beta, alpha);
}
Tensor Tensor::addmv(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) const {
  return weft::addmv(*this, a, b, beta, alpha);
}
Tensor Tensor::baddbmm(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) const {
  return weft::baddbmm(*this, a, b, beta, alpha);
}
Tensor Tensor::renorm(double p, int64_t axis, double most) const { return weft::renorm(*this, p, axis, most); }
SlogdetResult Tensor::slogdet() const { return weft::slogdet(*this); }
QrResult Tensor::qr(QrMode mode) const { return weft::qr(*this, mode); }
Tensor Tensor::matrix_power(int64_t n) const { return weft::matrix_power(*this, n); }
Tensor Tensor::cholesky_solve(const Tensor& l, bool upper) const { return weft::cholesky_solve(*this, l, upper); }
Tensor Tensor::cholesky(bool upper) const { return weft::cholesky(*this, upper); }

}  // namespace weft
