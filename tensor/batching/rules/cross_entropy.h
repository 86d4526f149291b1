// Batching of cross entropy.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/cross_entropy.h"

namespace weft::batching {

WEFT_BATCHING(CrossEntropy) = folded<0b011>;
WEFT_BATCHING(CrossEntropyBackward) = folded<0b0111>;

}  // namespace weft::batching
