#include "tensor/tensor.h"

#include <cstring>

#include "tensor/dispatch/batched.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/dispatch/view_history.h"
#include "tensor/ops/copy.h"

namespace weft {

std::string describe(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  std::string out = text(tensor.shape(), " ", tensor.dtype());
  if (!tensor.device().is_cpu()) out += " " + name_of(tensor.device());
  return out;
}

std::string ErrorFrame::opening(const ErrorFrame& frame) {
  std::string out = text(frame.name_, "(");
  auto add = [&](const Tensor& input) {
    if (!input.defined()) return;
    if (out.back() != '(') out += ", ";
    out += describe(input);
  };
  for (int i = 0; i < frame.count_; ++i) add(*frame.inputs_[i]);
  constexpr size_t kShown = 4;
  for (size_t i = 0; i < frame.list_.size() && i < kShown; ++i) add(frame.list_[i]);
  if (frame.list_.size() > kShown) out += text(", and ", frame.list_.size() - kShown, " more");
  return out + "): ";
}

void Tensor::throw_undefined() { throw Error("a tensor is undefined (default-constructed, or an absent gradient)"); }

void Tensor::follow_base() const {
  if (dispatch::is_stale(*this)) dispatch::derive_history(*this);
}

const Strides& Tensor::strides() const& {
  if (layout().has_mask()) throw ShapeError("a view with zero padding has no strides; use contiguous()");
  return layout().strides();
}

int64_t Tensor::stride(int64_t axis) const {
  ErrorFrame frame("stride", *this);
  return strides()[static_cast<size_t>(normalize_axis(axis, rank()))];
}

Tensor& Tensor::seen_elsewhere(const char* sign) {
  const Body& self = body();
  const bool alone = body_->unique() && self.storage->unique() && !self.storage->is_borrowed();
  // Samples of vmap are written through otherwise.
  if (alone && device().kind != DeviceKind::vmap) {
    ErrorFrame frame(sign, *this);
    throw Error(
        "the left side is a temporary copy, whose values nothing would see: index tensors and masks gather; write with "
        "index_put_");
  }
  return *this;
}

int64_t Tensor::size(int64_t axis) const {
  ErrorFrame frame("size", *this);
  return layout().shape()[static_cast<size_t>(normalize_axis(axis, rank()))];
}

void* Tensor::checked_data(DType wanted) const {
  ErrorFrame frame("data", *this);
  if (dtype() != wanted)
    throw DtypeError(text("the elements are ", dtype(), ", not ", wanted, "; use to(", wanted, ")"));
  if (!device().is_cpu())
    throw DeviceError(
        text("the memory is on ", name_of(device()), ", where the host cannot read it; use to(Device::cpu())"));
  if (!is_contiguous())
    throw ShapeError(text("the memory is not row-major (strides ", layout().strides(), "); use contiguous() first"));
  internal::storage(*this).hand_out();
  return internal::first_byte(*this);
}

void Tensor::copy_sizes(int64_t* out, int64_t count) const {
  ErrorFrame frame("sizes", *this);
  if (count != rank()) throw ShapeError(text(count, " sizes were asked for, there are ", rank(), " axes"));
  std::copy(shape().begin(), shape().end(), out);
}

void Tensor::copy_values(void* out, DType wanted, int64_t count) const {
  ErrorFrame frame(count >= 0 ? "item" : "to_vector", *this);
  if (count >= 0 && numel() != count) throw ShapeError(text("it has ", numel(), " elements, not one"));
  // Values that have no history to keep: straight into the caller's memory.
  Tensor here = dispatch::alias(*this);
  while (here.device().kind == DeviceKind::vmap) here = dispatch::same_in_all_samples(here);
  if (!here.device().is_cpu()) here = here.to(Device::cpu());
  const View target = View::contiguous(shape());
  const Operand to{out, &target, wanted};
  op::CopyFrom{}.cpu(to, operand(here), to);
}

void Tensor::throw_no_room() const {
  ErrorFrame frame("to_vector", *this);
  throw MemoryError(text("out of memory: a list of ", numel(), " values"));
}

Tensor internal::host_row_major(const Tensor& x) { return x.detach().to(Device::cpu()).contiguous(); }

Tensor Tensor::from_memory(const void* values, int64_t count, DType dtype, const Shape& shape) {
  ErrorFrame frame("from");
  const View view = View::contiguous(shape);
  if (view.numel() != count)
    throw ShapeError(text(count, " values do not fill shape ", shape, " of ", view.numel(), " elements"));
  const Tensor out = dispatch::allocate({view, dtype});
  if (count > 0) std::memcpy(internal::raw(out), values, static_cast<size_t>(count) * size_of(dtype));
  return out;
}

Tensor Tensor::wrap_memory(void* data, DType dtype, const Shape& shape, void (*release)(void*), void* context) {
  ErrorFrame frame("wrap");
  // The memory is released on every error, as with shared_ptr: a caller that passes a deleter has passed the memory.
  View view;
  int64_t bytes = 0;
  try {
    view = View::contiguous(shape);
    bytes = checked_multiply(view.numel(), static_cast<int64_t>(size_of(dtype)));
    if (data == nullptr && bytes > 0) throw Error(text("a null pointer cannot be wrapped as shape ", shape));
  } catch (...) {
    if (release != nullptr) release(context);
    throw;
  }
  return internal::make_tensor(Storage::wrap(data, static_cast<size_t>(bytes), release, context), view, dtype);
}

Tensor Tensor::grad() const {
  ErrorFrame frame("grad", *this);
  return body().history ? body().history->gradient(body().output_index) : Tensor();
}

void Tensor::retain_grad() const {
  ErrorFrame frame("retain_grad", *this);
  const IntrusivePtr<Provenance>& history = current().history;
  if (!history || !history->requires_grad())
    throw GradientError("the tensor does not require a gradient (see parameter())");
  history->retain_gradient(body().output_index);
}

void Tensor::set_grad(const Tensor& gradient) const {
  ErrorFrame frame("set_grad", *this);
  if (!body().history) throw GradientError("the tensor does not require a gradient (see parameter())");
  body().history->set_gradient(body().output_index, gradient);
}

void Tensor::zero_grad() const {
  ErrorFrame frame("zero_grad", *this);
  if (body().history) body().history->set_gradient(body().output_index, Tensor());
}

HookHandle Tensor::add_hook(GradientHook hook) const {
  ErrorFrame frame("register_hook", *this);
  if (!hook) throw Error("the hook is empty");
  const IntrusivePtr<Provenance>& history = current().history;
  if (!history || !history->requires_grad())
    throw GradientError("the tensor does not require a gradient (see parameter())");
  return HookHandle(history, history->add_hook(body().output_index, std::move(hook)));
}

HookHandle Tensor::register_post_accumulate_grad_hook(AccumulatedHook hook) const {
  ErrorFrame frame("register_post_accumulate_grad_hook", *this);
  if (!hook) throw Error("the hook is empty");
  const IntrusivePtr<Provenance>& history = body().history;
  if (!history) throw GradientError("the tensor does not require a gradient (see parameter())");
  return HookHandle(history, history->add_accumulated_hook(std::move(hook)));
}

Tensor& Tensor::set_name(const std::string& name) {
  ErrorFrame frame("set_name", *this);
  if (!body().history) throw GradientError("only a leaf that requires a gradient has a name (see parameter())");
  body().history->set_name(name);
  return *this;
}

std::string Tensor::name() const { return body().history ? body().history->name() : std::string(); }

}  // namespace weft
