// Tensor's members that write in place what a function gives, where no kernel does.
#include "tensor/dispatch/batched.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/functions_all.h"
#include "tensor/ops/copy.h"

namespace weft {
namespace {

/// self = f(self), for functions that have no kernel in place; `others` are what else f reads. What f keeps of self for
/// backward is a copy, as the write makes self another. ShapeError where f broadcasts self, DtypeError where it leaves
/// self's category of dtypes.
template <class F, std::same_as<Tensor>... Others>
Tensor& write(const char* name, Tensor& self, const F& f, const Others&... others) {
  ErrorFrame frame(name, self, others...);
  const bool recorded =
      internal::modes().recording && (dispatch::needs_gradient(self) || ... || dispatch::needs_gradient(others));
  const Tensor value = f(recorded ? weft::clone(self) : self);
  dispatch::check_category(value.dtype(), self.dtype());
  if (value.shape() != self.shape())
    throw ShapeError(text("the result has shape ", value.shape(), " and cannot be written in place to ", self.shape()));
  return dispatch::apply_in_place(op::CopyFrom{}, name, self, dispatch::on_device_of(self, value));
}

}  // namespace

#define WEFT_PAIR_MEMBER_IN_PLACE(function)                                                      \
  Tensor& Tensor::function##_(const Tensor& other) {                                             \
    return write(                                                                                \
        #function "_", *this, [&](const Tensor& x) { return weft::function(x, other); }, other); \
  }
#define WEFT_COMPARE_MEMBER_IN_PLACE(function)                                                     \
  WEFT_PAIR_MEMBER_IN_PLACE(function)                                                              \
  Tensor& Tensor::function##_(const Scalar& other) {                                               \
    return write(#function "_", *this, [&](const Tensor& x) { return weft::function(x, other); }); \
  }
#define WEFT_PLAIN_MEMBER_IN_PLACE(function)                                               \
  Tensor& Tensor::function##_() {                                                          \
    return write(#function "_", *this, [](const Tensor& x) { return weft::function(x); }); \
  }
WEFT_COMPARE_MEMBERS_IN_PLACE(WEFT_COMPARE_MEMBER_IN_PLACE)
WEFT_PAIR_MEMBERS_IN_PLACE(WEFT_PAIR_MEMBER_IN_PLACE)
WEFT_PLAIN_MEMBERS_IN_PLACE(WEFT_PLAIN_MEMBER_IN_PLACE)
#undef WEFT_COMPARE_MEMBER_IN_PLACE
#undef WEFT_PAIR_MEMBER_IN_PLACE
#undef WEFT_PLAIN_MEMBER_IN_PLACE
Tensor& Tensor::logit_(std::optional<double> eps) {
  return write("logit_", *this, [&](const Tensor& x) { return weft::logit(x, eps); });
}
Tensor& Tensor::cumsum_(int64_t axis) {
  return write("cumsum_", *this, [&](const Tensor& x) { return weft::cumsum(x, axis); });
}
Tensor& Tensor::cumprod_(int64_t axis) {
  return write("cumprod_", *this, [&](const Tensor& x) { return weft::cumprod(x, axis); });
}
Tensor& Tensor::renorm_(double p, int64_t axis, double most) {
  return write("renorm_", *this, [&](const Tensor& x) { return weft::renorm(x, p, axis, most); });
}
Tensor& Tensor::index_reduce_(int64_t axis, const Tensor& index, const Tensor& src, std::string_view reduce,
                              bool include_self) {
  return write(
      "index_reduce_", *this,
      [&](const Tensor& x) { return weft::index_reduce(x, axis, index, src, reduce, include_self); }, index, src);
}
Tensor& Tensor::scatter_reduce_(int64_t axis, const Tensor& index, const Tensor& src, std::string_view reduce,
                                bool include_self) {
  return write(
      "scatter_reduce_", *this,
      [&](const Tensor& x) { return weft::scatter_reduce(x, axis, index, src, reduce, include_self); }, index, src);
}
Tensor& Tensor::tril_(int64_t diagonal) {
  return write("tril_", *this, [&](const Tensor& x) { return weft::tril(x, diagonal); });
}
Tensor& Tensor::triu_(int64_t diagonal) {
  return write("triu_", *this, [&](const Tensor& x) { return weft::triu(x, diagonal); });
}
Tensor& Tensor::pow_(const Scalar& exponent) {
  return write("pow_", *this, [&](const Tensor& x) { return weft::pow(x, exponent); });
}
Tensor& Tensor::pow_(const Tensor& exponent) {
  return write(
      "pow_", *this, [&](const Tensor& x) { return weft::pow(x, exponent); }, exponent);
}
Tensor& Tensor::nan_to_num_(double nan, std::optional<Scalar> posinf, std::optional<Scalar> neginf) {
  return write("nan_to_num_", *this, [&](const Tensor& x) { return weft::nan_to_num(x, nan, posinf, neginf); });
}
Tensor& Tensor::addmm_(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  return write(
      "addmm_", *this, [&](const Tensor& x) { return weft::addmm(x, a, b, beta, alpha); }, a, b);
}
Tensor& Tensor::addmv_(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  return write(
      "addmv_", *this, [&](const Tensor& x) { return weft::addmv(x, a, b, beta, alpha); }, a, b);
}
Tensor& Tensor::baddbmm_(const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  return write(
      "baddbmm_", *this, [&](const Tensor& x) { return weft::baddbmm(x, a, b, beta, alpha); }, a, b);
}
Tensor& Tensor::lerp_(const Tensor& end, const Tensor& weight) {
  return write(
      "lerp_", *this, [&](const Tensor& x) { return weft::lerp(x, end, weight); }, end, weight);
}
Tensor& Tensor::zero_() {
  ErrorFrame frame("zero_", *this);
  return fill_(0);
}

Tensor& Tensor::fill_diagonal_(const Scalar& value) {
  ErrorFrame frame("fill_diagonal_", *this);
  if (rank() != 2) throw ShapeError(text("it has ", rank(), " axes; it takes a matrix"));
  diagonal().fill_(value);
  return *this;
}

}  // namespace weft
