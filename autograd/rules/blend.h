// Rules of weighted sums.
#pragma once

#include "autograd/rule.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/unary.h"
#include "tensor/ops/blend.h"

namespace weft::autograd {

WEFT_GRADIENT(Lerp) = per_input([](const op::Lerp& op, Grad g) { return g * (1 - op.weight); },
                                [](const op::Lerp& op, Grad g) { return g * op.weight; });
WEFT_GRADIENT(LerpBy) = per_input([](Grad g, Input<2> weight) { return g * (1 - weight); },
                                  [](Grad g, Input<2> weight) { return g * weight; },
                                  [](Grad g, Input<0> a, Input<1> b) { return g * (b - a); });
WEFT_GRADIENT(Addcmul) = in_f32(per_input(  //
    [](Grad g) { return g; },               //
    [](const op::Addcmul& op, Grad g, Input<2> b) { return g * (b * op.value); },
    [](const op::Addcmul& op, Grad g, Input<1> a) { return g * (a * op.value); }));
WEFT_GRADIENT(Addcdiv) = in_f32(
    per_input([](Grad g) { return g; }, [](const op::Addcdiv& op, Grad g, Input<2> b) { return g * op.value / b; },
              [](const op::Addcdiv& op, Grad g, Input<1> a, Input<2> b) { return g * -op.value * (a / b) / b; }));

}  // namespace weft::autograd
