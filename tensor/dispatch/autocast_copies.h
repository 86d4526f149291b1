// The cache of 16-bit copies of parameters that Autocast scopes make. A parameter is copied once per change, however
// often it is used.
//
// A thread's outermost scope keeps the copies of the leaves that ops in it have cast, and frees them at its end. Uses
// share only the memory of the copy: each use records its own cast, or none under NoGrad. A copy is valid while the
// leaf has the memory, view and version from which it was made, so a write in place (an optimizer's step, copy_, a
// write through a view) leads to a new copy. Code that has the address of the memory (data<T>(), Tensor::wrap) can
// write without raising the version; such leaves are therefore cast at each use.
#pragma once

#include "tensor/tensor.h"

namespace weft::dispatch {

/// `x` cast to `dtype`, recorded as a cast. If `x` is a leaf and a scope is open, uses the cached copy.
Tensor autocast_copy(const Tensor& x, DType dtype);

/// The number of rows of the first input from which on an op rounds parameters inside of its kernel
/// (Policy::rounded_inside). With fewer rows, for example in generation token by token, rounding would cost more than
/// the product, so the cached copy is used.
inline constexpr int64_t kManyRows = 32;

/// Begin and end an Autocast scope of the calling thread.
void open_autocast_scope();
void close_autocast_scope();

}  // namespace weft::dispatch
