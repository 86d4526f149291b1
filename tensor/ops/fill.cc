#include "tensor/ops/fill.h"

#include <cmath>

#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/kernels/cpu/pointwise/fill.h"
#include "tensor/op.h"

namespace weft {
namespace cpu = kernels::cpu;

Tensor full(const Shape& shape, const Scalar& value, DType dtype) {
  Frame frame("full");
  return apply(op::Full{shape, value, dtype});
}

Tensor full(const Shape& shape, const Scalar& value) {
  return full(shape, value, value.is_floating() ? f32 : value.kind());
}

Tensor zeros(const Shape& shape, DType dtype) {
  Frame frame("zeros");
  return full(shape, 0, dtype);
}

Tensor ones(const Shape& shape, DType dtype) {
  Frame frame("ones");
  return full(shape, 1, dtype);
}

Tensor empty(const Shape& shape, DType dtype) {
  Frame frame("empty");
  return detail::allocate(spec_of(shape, dtype));
}

Tensor empty_like(const Tensor& x, std::optional<DType> dtype) {
  Frame frame("empty_like", x);
  return detail::allocate(spec_like(x, dtype.value_or(x.dtype())));
}

Tensor full_like(const Tensor& x, const Scalar& value, std::optional<DType> dtype) {
  Frame frame("full_like", x);
  const Tensor out = empty_like(x, dtype);
  cpu::fill(operand(out), value);
  return out;
}

Tensor zeros_like(const Tensor& x, std::optional<DType> dtype) {
  Frame frame("zeros_like", x);
  return full_like(x, 0, dtype);
}

Tensor ones_like(const Tensor& x, std::optional<DType> dtype) {
  Frame frame("ones_like", x);
  return full_like(x, 1, dtype);
}

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<DType> dtype) {
  Frame frame("arange");
  const bool floating = start.is_floating() || end.is_floating() || step.is_floating();
  if (step.to_double() == 0.0) throw Error("step 0: it must move");
  const double span = std::ceil((end.to_double() - start.to_double()) / step.to_double());
  if (!(span < 9.0e15)) throw ShapeError(text("from ", start.to_double(), " to ", end.to_double(), " is too long"));
  const int64_t count = span > 0 ? static_cast<int64_t>(span) : 0;
  const Tensor out = detail::allocate(spec_of({count}, dtype.value_or(floating ? f32 : i64)));
  cpu::arange(operand(out), start, step);
  return out;
}

Tensor arange(const Scalar& end) { return arange(0, end); }

Tensor linspace(const Scalar& start, const Scalar& end, int64_t count, DType dtype) {
  Frame frame("linspace");
  const Tensor out = detail::allocate(spec_of({count}, dtype));
  cpu::linspace(operand(out), start.to_double(), end.to_double());
  return out;
}

Tensor eye(int64_t rows, std::optional<int64_t> columns, DType dtype) {
  Frame frame("eye");
  const Tensor out = detail::allocate(spec_of({rows, columns.value_or(rows)}, dtype));
  cpu::eye(operand(out));
  return out;
}

namespace detail {

void BraceReader::level(size_t depth, int64_t size) {
  if (depth == shape_.size()) {
    shape_.push_back(size);
  } else if (shape_[depth] != size) {
    throw ShapeError(text("rows differ in length: ", shape_[depth], " and ", size));
  }
}

Tensor BraceReader::finish(std::optional<DType> dtype, std::optional<Shape> shape) const {
  const DType kind = reals_.empty() ? kind_ : DType::f64;
  const View view = View::contiguous(shape.value_or(shape_));
  const int64_t count = static_cast<int64_t>(reals_.size() + integers_.size());
  if (view.numel() != count) throw ShapeError(text(count, " values do not fill shape ", view.shape()));
  const Tensor out = allocate({view, dtype.value_or(kind == DType::f64 ? f32 : kind)});
  const void* values = reals_.empty() ? static_cast<const void*>(integers_.data()) : reals_.data();
  cpu::copy({const_cast<void*>(values), &view, reals_.empty() ? i64 : f64}, operand(out));
  return out;
}

}  // namespace detail

namespace op {
Spec Full::infer() const { return spec_of(shape, dtype); }
void Full::run(Tensor& out) const { cpu::fill(operand(out), value); }
}  // namespace op

}  // namespace weft
