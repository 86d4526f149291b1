// What code that reduces gradients across processes asks of the engine: gradients in memory of its choice, and a call
// when backward is done.
#pragma once

#include <functional>

#include "tensor/tensor.h"

namespace weft::autograd {

/// Collects the gradient of `leaf` in the memory of `buffer` from now on (dense, of the leaf's shape and dtype), so
/// that gradients of several parameters can lie side by side. A gradient that is there is copied over. zero_grad()
/// leaves the memory alone; the next gradient overwrites it, also for those who still hold the last one. Gradients with
/// create_graph have a storage of their own as usual. While no gradient is there, a rule may write the next one in
/// place (placement.h), so one thread at a time runs backward to this leaf. An undefined `buffer` ends it, and so does
/// a change of the leaf's dtype or device. GradientError where `leaf` is no leaf, or `buffer` does not fit.
void set_gradient_buffer(const Tensor& leaf, const Tensor& buffer);
/// Whether `leaf` has such a buffer; false where it is no leaf.
bool has_gradient_buffer(const Tensor& leaf);

/// Within a hook or a rule: calls `done` on this thread when the innermost backward() or grad() that runs on it has
/// come to its end, before it returns; what `done` throws comes out of it. Where that run fails, `done` is dropped.
/// GradientError where none runs.
void after_backward(std::function<void()> done);

/// Whether the innermost run on this thread adds to leaves: backward(), not grad(). False where none runs.
bool collects_into_leaves();

}  // namespace weft::autograd
