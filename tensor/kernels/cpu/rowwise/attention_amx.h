// Attention of bf16 with its products in AMX tiles; the rest as in attention.cc. Only where amx::available().
#pragma once

#include "tensor/kernels/cpu/rowwise/attention_blocks.h"

namespace weft::kernels::cpu {

void amx_attention(const AttentionInputs& in, const op::AttentionSetting& setting, const Operand& out,
                   const AttentionRows& rows);
void amx_attention_backward(const Operand& g, const AttentionInputs& in, const op::AttentionSetting& setting,
                            const AttentionRows& rows, const AttentionGradients& out);

}  // namespace weft::kernels::cpu
