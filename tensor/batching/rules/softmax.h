// Batching of softmax.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/softmax.h"

namespace weft::batching {

WEFT_BATCHING(Softmax) = along_axis;
WEFT_BATCHING(LogSoftmax) = along_axis;
WEFT_BATCHING(SoftmaxBackward) = along_axis;
WEFT_BATCHING(LogSoftmaxBackward) = along_axis;

}  // namespace weft::batching
