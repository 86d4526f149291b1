// Batching of interpolation of images.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/grid_sample.h"
#include "tensor/ops/resample.h"

namespace weft::batching {

WEFT_BATCHING(GridSample) = folded<0b11>;
WEFT_BATCHING(GridSampleBackward) = folded<0b111>;
WEFT_BATCHING(Resample) = folded<0b1>;

}  // namespace weft::batching
