#include "tensor/ops/matmul.h"

#include "tensor/kernels/cpu/gemm/matmul.h"
#include "tensor/op.h"
#include "tensor/ops/binary.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/view.h"

namespace weft {
namespace {

Shape batch_of(const Tensor& x) { return Shape(x.shape().begin(), x.shape().end() - 2); }

/// `x` with its batch axes broadcast to `batch`.
Tensor with_batch(const Tensor& x, Shape batch) {
  batch.push_back(x.size(-2));
  batch.push_back(x.size(-1));
  return x.shape() == batch ? x : broadcast(x, batch);
}

void check_inner(const Tensor& x, const Tensor& y) {
  if (x.size(-1) != y.size(-2)) throw ShapeError(text("inner sizes differ: ", x.size(-1), " and ", y.size(-2)));
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  Frame frame("matmul", a, b);
  // Two matrices of one dtype, the common case, with nothing to prepare.
  if (a.rank() == 2 && b.rank() == 2 && a.dtype() == b.dtype()) {
    check_inner(a, b);
    return apply(op::Matmul{}, a, b);
  }
  if (a.rank() == 0 || b.rank() == 0) throw ShapeError("it takes tensors of at least one axis; use * for a scalar");
  const DType dtype = promote(a.dtype(), b.dtype());
  const bool row = a.rank() == 1, column = b.rank() == 1;
  Tensor x = cast(row ? unsqueeze(a, 0) : a, dtype);
  Tensor y = cast(column ? unsqueeze(b, 1) : b, dtype);
  check_inner(x, y);
  if (x.rank() > 2 || y.rank() > 2) {
    if (x.rank() > 2 && y.rank() == 2 && x.is_contiguous()) {
      // One product instead of a batch of them: the batch axes join the rows.
      Shape shape = x.shape();
      shape[shape.size() - 1] = y.size(1);
      int64_t rows = 1;
      for (int64_t i = 0; i + 1 < x.rank(); ++i) rows *= x.size(i);
      const Tensor flat = apply(op::Matmul{}, reshape(x, {rows, x.size(-1)}), y);
      if (column) shape.erase(shape.size() - 1);
      return reshape(flat, shape);
    }
    const Shape batch = broadcast_shapes(batch_of(x), batch_of(y));
    x = with_batch(x, batch);
    y = with_batch(y, batch);
  }
  Tensor out = apply(op::Matmul{}, x, y);
  if (column) out = squeeze(out, -1);
  return row ? squeeze(out, column ? -1 : -2) : out;
}

namespace op {

Spec Matmul::infer(const Tensor& a, const Tensor& b) const {
  check_dtype(a, a.dtype() != boolean, "integers or floating dtypes; cast bool first");
  Shape shape = a.shape();
  shape[shape.size() - 1] = b.size(-1);
  return spec_of(shape, a.dtype());
}
void Matmul::run(const Tensor& a, const Tensor& b, Tensor& out) const {
  kernels::cpu::matmul(operand(a), operand(b), operand(out));
}

}  // namespace op
}  // namespace weft
