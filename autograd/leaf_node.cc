#include "autograd/leaf_node.h"

#include <utility>

#include "autograd/gradient_buffer.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/ops/infer.h"

namespace weft::autograd {

Leaf::Leaf(const Tensor& tensor) : Node(true) { replaced(tensor); }

// A gradient that ends is released without the lock: hooks in its history may end with it, and may ask for the new one.

void Leaf::replaced(const Tensor& leaf) {
  Tensor old;
  const std::lock_guard lock(adding_);
  // First, as it may run out of memory.
  if (gradient_.defined()) old = std::exchange(gradient_, cast(gradient_.to(leaf.device()), leaf.dtype()));
  meta_ = {leaf.shape(), leaf.dtype()};
  device_ = leaf.device();
  order_ = result_view(leaf.shape(), {&leaf.layout()});
  if (buffer_.defined() && (buffer_.dtype() != leaf.dtype() || buffer_.device() != leaf.device())) buffer_ = Tensor();
}

bool Leaf::fits(const Tensor& x) const {
  return x.shape() == meta_.shape && x.dtype() == meta_.dtype && x.device() == device_;
}

std::string Leaf::wanted() const {
  return text(meta_.shape, " ", meta_.dtype, device_.is_cpu() ? std::string() : " " + name_of(device_));
}

void Leaf::throw_unfit(const Tensor& gradient) const {
  throw GradientError(text("the gradient of `", name(), "` must be ", wanted(), ", not ", weft::describe(gradient)));
}

void Leaf::set_buffer(const Tensor& buffer) {
  Tensor moved = buffer, old;
  if (buffer.defined()) {
    if (!fits(buffer) || !buffer.layout().is_dense())
      throw GradientError(
          text("the gradient buffer of `", name(), "` must be dense ", wanted(), ", not ", weft::describe(buffer)));
    const std::lock_guard lock(adding_);
    if (gradient_.defined()) dispatch::copy_into(gradient_, moved);
  }
  const std::lock_guard lock(adding_);
  buffer_ = std::move(moved);
  if (gradient_.defined() && buffer_.defined()) old = std::exchange(gradient_, buffer_);
}

Tensor Leaf::free_buffer() const {
  const std::lock_guard lock(adding_);
  return gradient_.defined() ? Tensor() : buffer_;
}

void Leaf::set_gradient(int, const Tensor& gradient) {
  if (gradient.defined() && !fits(gradient)) throw_unfit(gradient);
  Tensor replacement = gradient.defined() ? owned(gradient) : Tensor();
  const std::lock_guard lock(adding_);
  std::swap(gradient_, replacement);
}

Tensor Leaf::gradient(int) const {
  const std::lock_guard lock(adding_);
  return gradient_;
}

int Leaf::add_accumulated_hook(AccumulatedHook hook) {
  return add_hook(kAccumulated, [hook = std::move(hook)](const Tensor& sum) { return hook(sum), Tensor(); });
}

Tensor Leaf::owned(Tensor gradient) const {
  if (buffer_.defined() && !internal::modes().recording) {
    const bool there = gradient.shares_storage(buffer_) && gradient.layout() == buffer_.layout();
    if (!there) {
      dispatch::copy_into(gradient, buffer_);
      dispatch::note_write(internal::body(buffer_), "backward");
    }
    return buffer_;
  }
  const bool alone = holds_alone(gradient) && (internal::modes().recording || !internal::body(gradient).history) &&
                     static_cast<int64_t>(internal::storage(gradient).bytes()) ==
                         gradient.numel() * static_cast<int64_t>(size_of(gradient.dtype()));
  if (alone && gradient.layout().is_dense() && gradient.layout().strides() == order_.strides()) return gradient;
  Tensor copy = dispatch::allocate(Spec{order_, meta_.dtype}, gradient.device());
  if (internal::modes().recording)
    copy.copy_(gradient);  // create_graph: its history is the point
  else
    dispatch::copy_into(gradient, copy);
  return copy;
}

Tensor Leaf::accumulate(Tensor gradient) {
  // Shape and dtype are checked already, but a hook or a Function may have moved it, or a hook of another leaf may have
  // cast this one. (Inside of vmap it is a sample.)
  const auto is_sample = [](Device device) { return device.kind == DeviceKind::vmap; };
  const bool elsewhere = gradient.device() != device_ && !is_sample(gradient.device()) && !is_sample(device_);
  if (elsewhere || gradient.dtype() != meta_.dtype) throw_unfit(gradient);
  Tensor old;
  const std::lock_guard lock(adding_);
  if (!gradient_.defined()) {
    gradient_ = owned(std::move(gradient));
  } else if (internal::modes().recording || internal::body(gradient_).history || !gradient_.layout().is_dense()) {
    // Not in place: that history would no longer be true.
    old = std::exchange(gradient_, gradient_ + gradient);
  } else {
    Tensor sum = gradient_;  // a handle that an observer cannot take away
    sum.add_(gradient);
  }
  return gradient_;
}

Gradients Leaf::run(Gradients gradients) {
  if (!requires_grad_ || !gradients[0].defined()) return {};
  // The hooks run without the lock: they may ask for the gradient, and run backward themselves.
  through_hooks(kAccumulated, accumulate(std::move(gradients[0])));
  return {};
}

void set_gradient_buffer(const Tensor& leaf, const Tensor& buffer) {
  Node* node = node_of(leaf);
  if (node == nullptr || !node->is_leaf())
    throw GradientError(text("set_gradient_buffer: ", weft::describe(leaf), " is not a parameter: see parameter()"));
  static_cast<Leaf*>(node)->set_buffer(buffer);
}

bool has_gradient_buffer(const Tensor& leaf) {
  const Node* node = node_of(leaf);
  return node != nullptr && node->is_leaf() && static_cast<const Leaf*>(node)->has_buffer();
}

}  // namespace weft::autograd
