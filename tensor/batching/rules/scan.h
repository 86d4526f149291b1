// Batching of cumulative ops.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/scan.h"

namespace weft::batching {

WEFT_BATCHING(Cumsum) = along_axis;
WEFT_BATCHING(Cumprod) = along_axis;
WEFT_BATCHING(Logcumsumexp) = along_axis;
WEFT_BATCHING(CumulativeExtremum) = along_axis;
WEFT_BATCHING(LinearRecurrence) = along_axis;

}  // namespace weft::batching
