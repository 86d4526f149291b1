#include "tensor/functions/fill.h"

#include <cmath>

#include "tensor/dispatch/in_place.h"
#include "tensor/dispatch/observer.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/ops/fill.h"
#include "tensor/ops/infer.h"

namespace weft {
namespace {

/// Error unless `dtype` holds the first and the last of `count` values of start, start + step, ...; a double may be
/// rounded to a floating dtype.
void check_range(const Scalar& start, const Scalar& step, int64_t count, DType dtype) {
  if (!is_integer(dtype) || count == 0) return;
  check_fits(start, dtype);
  if (start.is_floating() || step.is_floating())
    check_fits(start.to_double() + static_cast<double>(count - 1) * step.to_double(), dtype);
  else
    check_fits(static_cast<int64_t>(static_cast<uint64_t>(start.to_int()) +
                                    static_cast<uint64_t>(count - 1) * static_cast<uint64_t>(step.to_int())),
               dtype);  // the sum lies before `end` and fits, but the product need not
}

/// The number of values of start, start + step, ... before `end`; 0 where the step is.
int64_t arange_count(const Scalar& start, const Scalar& end, const Scalar& step) {
  if (start.is_floating() || end.is_floating() || step.is_floating()) {
    const double span = std::ceil((end.to_double() - start.to_double()) / step.to_double());
    if (!(span < 9.0e15)) throw ShapeError(text("from ", start.to_double(), " to ", end.to_double(), " is too long"));
    return span > 0 ? static_cast<int64_t>(span) : 0;
  }
  for (const Scalar& value : {start, end, step}) check_fits(value, i64);  // an unsigned 0 - 1 is no -1
  __extension__ using Wide = __int128;
  const Wide by = step.to_int(), span = Wide{end.to_int()} - start.to_int();
  if (by == 0 || span == 0 || (span < 0) != (by < 0)) return 0;
  const Wide count = (span + by - (by > 0 ? 1 : -1)) / by;
  if (count > INT64_MAX) throw ShapeError(text("from ", start.to_int(), " to ", end.to_int(), " is too long"));
  return static_cast<int64_t>(count);
}

/// Error unless `dtype` holds the values.
void check_all_fit(const Tensor& values, DType dtype) {
  if (!is_integer(dtype) || promote(values.dtype(), dtype) == dtype) return;
  visit_dtype(values.dtype(), [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T>)
      for (const T value : std::span(values.data<T>(), static_cast<size_t>(values.numel()))) check_fits(value, dtype);
  });
}

}  // namespace

Tensor full(const Shape& shape, const Scalar& value, std::optional<DType> dtype, Device device) {
  ErrorFrame frame("full");
  const DType kind = value.is_floating() ? f32 : value.kind();
  return dispatch::apply(op::Full{View::contiguous(shape), value, dtype.value_or(kind), device});
}

Tensor zeros(const Shape& shape, DType dtype, Device device) {
  ErrorFrame frame("zeros");
  return full(shape, 0, dtype, device);
}

Tensor ones(const Shape& shape, DType dtype, Device device) {
  ErrorFrame frame("ones");
  return full(shape, 1, dtype, device);
}

Tensor empty(const Shape& shape, DType dtype, Device device) {
  ErrorFrame frame("empty");
  return dispatch::allocate(spec_of(shape, dtype), device);
}

Tensor empty_like(const Tensor& x, std::optional<DType> dtype) {
  ErrorFrame frame("empty_like", x);
  return dispatch::allocate(spec_like(operand(x), dtype.value_or(x.dtype())), x.device());
}

Tensor full_like(const Tensor& x, const Scalar& value, std::optional<DType> dtype) {
  ErrorFrame frame("full_like", x);
  return dispatch::apply(op::Full{result_view(x.shape(), {&x.layout()}), value, dtype.value_or(x.dtype()), x.device()});
}

Tensor zeros_like(const Tensor& x, std::optional<DType> dtype) {
  ErrorFrame frame("zeros_like", x);
  return full_like(x, 0, dtype);
}

Tensor ones_like(const Tensor& x, std::optional<DType> dtype) {
  ErrorFrame frame("ones_like", x);
  return full_like(x, 1, dtype);
}

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<DType> dtype, Device device) {
  ErrorFrame frame("arange");
  if (step.to_double() == 0.0) throw Error("step must not be 0");
  const bool floating = start.is_floating() || end.is_floating() || step.is_floating();
  const int64_t count = arange_count(start, end, step);
  const DType kind = dtype.value_or(floating ? f32 : i64);
  check_range(start, step, count, kind);
  return dispatch::apply(op::Arange{start, step, count, kind, device});
}

Tensor arange(const Scalar& end) { return arange(0, end); }
Tensor arange(const Scalar& start, const Scalar& end, DType dtype, Device device) {
  return arange(start, end, 1, dtype, device);
}
Tensor arange(const Scalar& end, DType dtype, Device device) { return arange(0, end, 1, dtype, device); }

Tensor linspace(const Scalar& start, const Scalar& end, int64_t count, DType dtype, Device device) {
  ErrorFrame frame("linspace");
  return dispatch::apply(op::Linspace{start.to_double(), end.to_double(), count, dtype, device});
}

Tensor logspace(const Scalar& start, const Scalar& end, int64_t count, double base, DType dtype) {
  ErrorFrame frame("logspace");
  for (const Scalar& exponent : {start, end})
    if (count > 0) check_fits(std::pow(base, exponent.to_double()), dtype);
  return cast(pow(base, linspace(start, end, count, f64)), dtype);
}

Tensor eye(int64_t rows, std::optional<int64_t> columns, DType dtype, Device device) {
  ErrorFrame frame("eye");
  return dispatch::apply(op::Eye{rows, columns.value_or(rows), dtype, device});
}

namespace detail {

int64_t BraceReader::checked_integer(const Scalar& value) { return check_fits(value, i64), value.to_int(); }

void BraceReader::read(const Scalar& value, size_t) {
  if (value.is_floating() && reals_.empty()) {
    reals_.assign(integers_.begin(), integers_.end());
    integers_.clear();
  }
  if (value.is_floating() || !reals_.empty()) return reals_.push_back(value.to_double());
  kind_ = DType::i64;
  integers_.push_back(checked_integer(value));
}

void BraceReader::level(size_t depth, int64_t size) {
  if (depth == shape_.size()) {
    shape_.push_back(size);
  } else if (shape_[depth] != size) {
    throw ShapeError(text("rows differ in length: ", shape_[depth], " and ", size));
  }
}

Tensor BraceReader::finish(std::optional<DType> dtype, std::optional<Shape> shape) const {
  const Shape filled = shape ? *shape : shape_;
  const auto numbers = [&](const auto& list, DType kind) {
    using T = typename std::remove_cvref_t<decltype(list)>::value_type;
    check_count(filled, list.size());
    return from_numbers(Tensor::wrap(const_cast<T*>(list.data()), filled), dtype.value_or(kind));
  };
  return reals_.empty() ? numbers(integers_, kind_) : numbers(reals_, f32);
}

void check_count(const Shape& shape, size_t count) {
  if (View::contiguous(shape).numel() != static_cast<int64_t>(count))
    throw ShapeError(text(count, " values do not fill shape ", shape));
}

Tensor from_numbers(const Tensor& values, DType dtype) {
  check_all_fit(values, dtype);
  const Tensor out = dispatch::allocate({values.layout(), dtype});
  // Not an op: observers do not see how the numbers are converted.
  const internal::Unobserved unobserved;
  dispatch::copy_into(values, out);
  return out;
}

}  // namespace detail

Tensor tensor(std::initializer_list<std::initializer_list<Scalar>> values, std::optional<DType> dtype) {
  return detail::from_braces(values, dtype);
}

}  // namespace weft
