// The 16-bit copies of parameters that Autocast scopes make: one per change of a parameter, however often it is used.
//
// A thread's outermost scope keeps the copies of the leaves that ops in it have cast, and forgets them at its end. What
// is shared is memory only: each use records a cast of its own, or none under NoGrad. A copy serves while the leaf has
// the memory, the view and the version that it was made of, so a write in place (an optimizer's step, copy_, a write
// through a view) makes a new one. Code that has the address of the memory (data<T>(), Tensor::wrap) writes without a
// version: such leaves are cast at each use.
#pragma once

#include "tensor/tensor.h"

namespace weft::dispatch {

/// `x` as `dtype`, recorded as a cast; a copy that is there already where `x` is a leaf and a scope is open.
Tensor autocast_copy(const Tensor& x, DType dtype);

/// The rows of its first input from which on an op rounds parameters inside of its kernel (Policy::rounded_inside).
/// With fewer, as where a text is written one character at a time, rounding would cost more than the product, and a
/// copy that the scope keeps serves all calls.
inline constexpr int64_t kManyRows = 32;

/// The begin and the end of an Autocast scope of the calling thread.
void open_autocast_scope();
void close_autocast_scope();

/// Whether x's memory may change without a version that tells, as its address was given out or is a user's.
bool may_change_unseen(const Tensor& x);
/// From here on the memory may be written without raising a version.
void note_handed_out(const void* memory) noexcept;

}  // namespace weft::dispatch
