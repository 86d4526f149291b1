// Batching of element-wise ops. (Ops whose policy broadcasts need no row.)
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/activation.h"
#include "tensor/ops/binary.h"
#include "tensor/ops/compare.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/index_put.h"
#include "tensor/ops/masked.h"
#include "tensor/ops/special.h"
#include "tensor/ops/unary.h"

namespace weft::batching {

#define WEFT_UNARY(Op, function, policy) WEFT_BATCHING(Op) = same_op;
#include "tensor/ops/activation.inc"
#include "tensor/ops/special.inc"
#include "tensor/ops/unary.inc"
#undef WEFT_UNARY

#define WEFT_WITH_SCALAR(Op, function, policy) WEFT_BATCHING(Op) = same_op;
#define WEFT_SCALAR_WITH(Op, function, policy) WEFT_BATCHING(Op) = same_op;
#include "tensor/ops/binary.inc"

#define WEFT_COMPARE(Op, ScalarOp, function) WEFT_BATCHING(ScalarOp) = same_op;
#define WEFT_PREDICATE(Op, function) WEFT_BATCHING(Op) = same_op;
#include "tensor/ops/compare.inc"

WEFT_BATCHING(LeakyRelu) = same_op;
WEFT_BATCHING(GeluOp) = same_op;
WEFT_BATCHING(GeluBackward) = same_op;
WEFT_BATCHING(ReluBackward) = same_op;
WEFT_BATCHING(SiluBackward) = same_op;
WEFT_BATCHING(Clip) = same_op;
WEFT_BATCHING(Contiguous) = same_op;
WEFT_BATCHING(Clone) = same_op;
WEFT_BATCHING(Cast) = same_op;
WEFT_BATCHING(Fill) = same_op;

WEFT_BATCHING(Elu) = same_op;
WEFT_BATCHING(Hardtanh) = same_op;
WEFT_BATCHING(Softshrink) = same_op;
WEFT_BATCHING(Hardshrink) = same_op;
WEFT_BATCHING(Threshold) = same_op;
WEFT_BATCHING(NanToNum) = same_op;
WEFT_BATCHING(Polygamma) = same_op;
WEFT_BATCHING(FlatIndex) = same_op;

// Its policy broadcasts, but the op is not element-wise.
WEFT_BATCHING(MaskedSelect) = [](const op::MaskedSelect&, const Call& call) { return one_by_one(call); };

}  // namespace weft::batching
