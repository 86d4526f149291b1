// Batching of sorting and of searches in sorted rows.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/search.h"
#include "tensor/ops/sort.h"

namespace weft::batching {

WEFT_BATCHING(Sort) = along_axis;
WEFT_BATCHING(Topk) = along_axis;
WEFT_BATCHING(Kthvalue) = along_axis;
WEFT_BATCHING(Median) = along_axis;
// The op accepts any leading axes.
WEFT_BATCHING(Searchsorted) = same_op;

}  // namespace weft::batching
