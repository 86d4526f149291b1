// The gradients of attention, called by rules; the check of its mask.
#pragma once

#include <array>

#include "tensor/functions/attention.h"
#include "tensor/ops/attention.h"
#include "tensor/tensor.h"

namespace weft::internal {
/// The mask of `scores` (..., T, S), broadcast to them; undefined if there is none. ShapeError where it would make them
/// larger; Error beside `causal`.
Tensor attention_mask(const AttentionOptions& options, const Shape& scores);
}  // namespace weft::internal

namespace weft::adjoint {

/// The gradients of q, k and v from the rows that op::Attention returns; written to `into` where that is defined.
std::array<Tensor, 3> attention_backward(const Tensor& g, const Tensor& q, const Tensor& k, const Tensor& v,
                                         const Tensor& mask, const Tensor& largest, const Tensor& factor,
                                         const op::AttentionSetting& setting, const std::array<Tensor, 3>& into = {});

}  // namespace weft::adjoint
