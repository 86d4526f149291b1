// The rules of cat (each input gets its slice of the gradient) and of roll.
#pragma once

#include "autograd/rule.h"
#include "tensor/functions/tile.h"
#include "tensor/functions/view.h"
#include "tensor/ops/cat.h"

namespace weft::autograd {

WEFT_GRADIENT(Cat) = joint([](const op::Cat& op, Grad g, Views inputs, Needs needs) {
  std::vector<Tensor> out(inputs.size());
  int64_t at = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t size = inputs[i].dim(op.axis);
    if (needs[static_cast<int>(i)]) out[i] = slice(g, op.axis, at, at + size);
    at += size;
  }
  return out;
});

WEFT_GRADIENT(Roll) = per_input([](const op::Roll& op, Grad g) {
  IntList back, axes;
  for (const int64_t shift : op.shifts) axes.push_back(axes.rank()), back.push_back(-shift);
  return roll(g, back, axes);
});

}  // namespace weft::autograd
