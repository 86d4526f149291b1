// OpCall: one execution of an op.
#pragma once

#include <span>

#include "tensor/dispatch/op_info.h"

namespace weft {

class Tensor;

/// The descriptor, its inputs (an absent optional input is undefined) and its results.
struct OpCall {
  const OpInfo& info;
  const void* op;
  std::span<const Tensor* const> inputs;
  std::span<Tensor> outputs;
};

}  // namespace weft
