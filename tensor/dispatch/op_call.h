// OpCall: one execution of an op.
#pragma once

#include <span>

#include "tensor/dispatch/op_info.h"

namespace weft {

class Tensor;
struct ObserverEvent;

/// The descriptor, its inputs (an absent optional input is undefined) and its results.
struct OpCall {
  const OpInfo& info;
  const void* op;
  std::span<const Tensor* const> inputs;
  std::span<Tensor> outputs;
};

namespace dispatch {
/// The event that begins when the op of `call` does (observer.h).
ObserverEvent event_of(const OpCall& call);
/// Notifies the observers of an op that ran no kernel (a view): of its begin and its end at once.
void observe(const OpCall& call);
}  // namespace dispatch

}  // namespace weft
