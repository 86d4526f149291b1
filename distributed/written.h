// What a collective wrote, told to autograd.
#pragma once

#include "tensor/tensor.h"

namespace weft::distributed {

/// Notes that `name` wrote to x: other tensors on its memory that have a history are refused from here on.
inline void was_written(const Tensor& x, const char* name) {
  internal::TensorBody& body = internal::body(x);
  body.storage->written_by(name);
  if (body.history == nullptr || body.history->is_leaf()) body.version = body.storage->version();
}

}  // namespace weft::distributed
