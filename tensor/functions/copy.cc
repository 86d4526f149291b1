#include "tensor/functions/copy.h"

#include "tensor/dispatch/backend.h"
#include "tensor/dispatch/batched.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/dispatch/observer.h"
#include "tensor/functions/view.h"
#include "tensor/ops/copy.h"

namespace weft {
namespace {

/// Copies `bytes` between two devices, one of which may be the CPU; between two others through host memory.
void copy_bytes(Device from_device, const void* from, Device to_device, void* to, size_t bytes) {
  if (bytes == 0) return;
  if (from_device.is_cpu()) return dispatch::backend_of(to_device).copy_from_host(to_device.index, to, from, bytes);
  if (to_device.is_cpu()) return dispatch::backend_of(from_device).copy_to_host(from_device.index, to, from, bytes);
  const IntrusivePtr<Storage> host = Storage::allocate(bytes);
  dispatch::backend_of(from_device).copy_to_host(from_device.index, host->data(), from, bytes);
  dispatch::backend_of(to_device).copy_from_host(to_device.index, to, host->data(), bytes);
}

}  // namespace

Tensor clone(const Tensor& x) {
  ErrorFrame frame("clone", x);
  return dispatch::apply(op::Clone{}, x);
}

Tensor contiguous(const Tensor& x) {
  ErrorFrame frame("contiguous", x);
  return x.is_contiguous() ? x : dispatch::apply(op::Contiguous{}, x);
}

Tensor cast(const Tensor& x, DType dtype) {
  ErrorFrame frame("cast", x);
  return x.dtype() == dtype ? x : dispatch::apply(op::Cast{dtype}, x);
}

Tensor to(const Tensor& x, Device device) {
  ErrorFrame frame("to", x);
  if (x.device() == device) return x;
  if (device.kind == DeviceKind::vmap) return dispatch::lifted(x, device);
  if (!device.is_cpu()) (void)dispatch::backend_of(device);
  if (internal::modes().recording) dispatch::check_version(x);
  const Tensor dense = x.layout().is_dense() ? x : dispatch::apply(op::Clone{}, x);
  const op::ToDevice op{device, x.device()};
  Tensor out = dispatch::allocate(op.infer(operand(dense)), device);
  const Tensor* input = &dense;
  const OpCall call{op_info<op::ToDevice>, &op, {&input, 1}, {&out, 1}};
  const auto run = [&] {
    copy_bytes(op.from, internal::first_byte(dense), device, internal::first_byte(out),
               static_cast<size_t>(dense.numel()) * size_of(dense.dtype()));
  };
  if (is_observed()) {
    ObservedEvent event(dispatch::event_of(call));
    run();
    event.set_outputs(call.outputs);
  } else {
    run();
  }
  if (dispatch::has_history(dense)) dispatch::record(call);
  return out;
}

Tensor detach(const Tensor& x) {
  ErrorFrame frame("detach", x);
  if (x.device().kind == DeviceKind::vmap) return dispatch::detached_sample(x);
  return dispatch::apply(op::Detach{}, x);
}

Tensor& Tensor::fill_(const Scalar& value) {
  ErrorFrame frame("fill_", *this);
  return dispatch::apply_in_place(op::Fill{value}, "fill_", *this);
}

Tensor& Tensor::fill_(const Tensor& value) {
  ErrorFrame frame("fill_", *this, value);
  if (value.rank() != 0)
    throw ShapeError(text("the value must have no axes, not shape ", value.shape(), "; see copy_"));
  return copy_(value);
}

Tensor& Tensor::copy_(const Tensor& source) {
  ErrorFrame frame("copy_", *this, source);
  const Tensor here = dispatch::on_device_of(*this, source);
  const Tensor fitting = here.shape() == shape() ? here : weft::broadcast(here, shape());
  return dispatch::apply_in_place(op::CopyFrom{}, "copy_", *this, fitting);
}

}  // namespace weft
