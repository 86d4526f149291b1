#include "tensor/ops/copy.h"

#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/kernels/cpu/pointwise/fill.h"
#include "tensor/op.h"
#include "tensor/ops/view.h"

namespace weft {
namespace cpu = kernels::cpu;

Tensor clone(const Tensor& x) {
  Frame frame("clone", x);
  return apply(op::Clone{}, x);
}

Tensor contiguous(const Tensor& x) {
  Frame frame("contiguous", x);
  return x.is_contiguous() ? x : apply(op::Contiguous{}, x);
}

Tensor cast(const Tensor& x, DType dtype) {
  Frame frame("cast", x);
  return x.dtype() == dtype ? x : apply(op::Cast{dtype}, x);
}

Tensor detach(const Tensor& x) {
  Frame frame("detach", x);
  return apply(op::Detach{}, x);
}

Tensor& Tensor::fill_(const Scalar& value) {
  Frame frame("fill_", *this);
  return apply_in_place(op::Fill{value}, "fill_", *this);
}

Tensor& Tensor::copy_(const Tensor& source) {
  Frame frame("copy_", *this, source);
  const Tensor fitting = source.shape() == shape() ? source : weft::broadcast(source, shape());
  return apply_in_place(op::CopyFrom{}, "copy_", *this, fitting);
}

namespace op {

Spec Contiguous::infer(const Tensor& x) const { return spec_of(x.shape(), x.dtype()); }
void Contiguous::run(const Tensor& x, Tensor& out) const { cpu::copy(operand(x), operand(out)); }

Spec Clone::infer(const Tensor& x) const { return spec_like(x); }
void Clone::run(const Tensor& x, Tensor& out) const { cpu::copy(operand(x), operand(out)); }

Spec Cast::infer(const Tensor& x) const { return spec_like(x, dtype); }
void Cast::run(const Tensor& x, Tensor& out) const { cpu::copy(operand(x), operand(out)); }

Spec Fill::infer(const Tensor& x) const { return spec_like(x); }
void Fill::run(const Tensor&, Tensor& out) const { cpu::fill(operand(out), value); }

Spec CopyFrom::infer(const Tensor& x, const Tensor& source) const {
  check_same_shape(x, source);
  return spec_like(x);
}
void CopyFrom::run(const Tensor&, const Tensor& source, Tensor& out) const { cpu::copy(operand(source), operand(out)); }

Spec ViewAdjoint::infer(const Tensor& g) const { return spec_of(shape, g.dtype()); }
void ViewAdjoint::run(const Tensor& g, Tensor& out) const {
  cpu::fill(operand(out), 0);
  const std::optional<View> part = of.view(out.layout());
  if (!part) throw Error(text("the adjoint of ", of.name(), " needs a view that strides cannot express"));
  if (part->shape() != g.shape())
    throw ShapeError(
        text("the adjoint of ", of.name(), " takes a gradient of shape ", part->shape(), ", not ", g.shape()));
  if (part->has_mask()) {
    // What lies in the padding came from nowhere: only the gradient inside of the mask has a place.
    const View inside = part->shrink(*part->mask()), from = g.layout().shrink(*part->mask());
    cpu::add_into({g.raw(), &from, g.dtype()}, {out.raw(), &inside, out.dtype()});
    return;
  }
  cpu::add_into(operand(g), {out.raw(), &*part, out.dtype()});
}

}  // namespace op
}  // namespace weft
