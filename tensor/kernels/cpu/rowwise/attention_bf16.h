// Attention of bf16 with products of bf16, in AMX tiles where the CPU has them; the rest as in attention.cc.
#pragma once

#include "tensor/kernels/cpu/rowwise/attention_blocks.h"

namespace weft::kernels::cpu {

void bf16_attention(const AttentionInputs& in, const op::AttentionSetting& setting, const Operand& out,
                    const AttentionRows& rows);
void bf16_attention_backward(const Operand& g, const AttentionInputs& in, const op::AttentionSetting& setting,
                             const AttentionRows& rows, const AttentionGradients& out);

}  // namespace weft::kernels::cpu
