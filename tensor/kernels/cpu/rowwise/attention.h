// Attention, softmax(scale q k^T + mask) v, and its gradients, without room for all probabilities.
#pragma once

#include "tensor/core/operand.h"
#include "tensor/core/random.h"

namespace weft::kernels::cpu {

struct AttentionForm {
  bool causal;  // position i sees positions 0 .. i only
  double scale;
  double dropout_p;  // of the probabilities
  RandomKey key;     // of the dropout: the columns of a row count as a multiple of 4 numbers
};

/// What attention reads: q (batch..., T, D), k (batch..., S, D), v (batch..., S, E) of one floating dtype; mask null or
/// (batch..., T, S), bool (false: not seen) or of the same dtype (added to the scores). Any strides.
struct AttentionInputs {
  Operand q, k, v;
  const Operand* mask;
};

/// What turns scores into probabilities, per row: p = exp(score - largest) * factor. (batch..., T, 1), f64 for f64 inputs,
/// else f32. A row that sees nothing has factor 0.
struct AttentionRows {
  Operand largest, factor;
};

/// out is (batch..., T, E).
void attention(const AttentionInputs& in, const AttentionForm& form, const Operand& out, const AttentionRows& rows);

struct AttentionGradients {
  Operand dq, dk, dv;
};

/// g is (batch..., T, E). The probabilities are computed once more.
void attention_backward(const Operand& g, const AttentionInputs& in, const AttentionForm& form,
                        const AttentionRows& rows, const AttentionGradients& out);

}  // namespace weft::kernels::cpu
