// Support for code that reduces gradients across processes: gradients in given memory, and a callback at the end of
// backward.
#pragma once

#include <functional>

#include "tensor/tensor.h"

namespace weft::autograd {

/// From now on, accumulates the gradient of `leaf` in the memory of `buffer` (dense, of the leaf's shape and dtype). So
/// the gradients of several parameters can be adjacent in memory. An existing gradient is copied into the buffer.
/// zero_grad() does not write to the buffer; the next gradient overwrites it, also for tensors that still refer to the
/// previous one (where one was saved for backward, that is a GradientError, also if the next gradient is that of
/// another leaf whose buffer is a part of the same memory: save a clone()). Gradients with create_graph get new memory
/// as usual. While the leaf has no gradient, a rule may write the next one directly into the buffer (placement.h), so
/// only one thread at a time may run backward to leaves whose buffers share memory. An undefined `buffer`, or a change
/// of the leaf's dtype or device, ends the use of the buffer. GradientError if `leaf` is not a leaf or `buffer` does
/// not match it.
void set_gradient_buffer(const Tensor& leaf, const Tensor& buffer);
/// Whether `leaf` has such a buffer; false if it is not a leaf.
bool has_gradient_buffer(const Tensor& leaf);

/// For use in a hook or a rule: calls `done` on this thread at the end of the outermost running backward() or grad(),
/// before it returns. An exception thrown by `done` leaves that call. If the run fails, `done` is not called.
/// GradientError if no backward() or grad() is running.
void after_backward(std::function<void()> done);

/// Whether the innermost run on this thread was started by a hook or a rule of another one, which may still add to the
/// gradients that this one completes.
bool is_nested_backward();

/// Whether the innermost run on this thread adds to the gradients of leaves: true in backward(), false in grad() and if
/// none is running.
bool collects_into_leaves();

}  // namespace weft::autograd
