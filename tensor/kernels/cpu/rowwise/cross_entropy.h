// Cross entropy from logits and class indices, row by row.
#pragma once

#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

struct CrossEntropyRows {
  int64_t ignore_index = -100;
  double label_smoothing = 0;
};

/// logits (N, C, ...) floating, targets (N, ...) of an integer dtype, rows along axis 1; (C) and a 0-d target also work
/// with `axis` 0. With t = (1 - s) * w[y] * onehot(y) + s / C * w (s: label smoothing, w: class weights or null for 1):
/// loss = -sum(t * log_softmax(logits)), and count = w[y]: what a mean divides by the sum of. Both are 0 for ignored targets.
/// loss and count (may be null) have the targets' shape and a floating dtype.
/// Throws IndexError `class 3 is out of range for 3 classes`, naming the first bad target.
void cross_entropy(const Operand& logits, int64_t axis, const Operand& targets, const Operand* weight,
                   const CrossEntropyRows& options, const Operand& loss, const Operand* count);

/// dlogits = scale * (sum(t) * softmax(logits) - t), `scale` of the targets' shape (strides 0 where it is one value).
void cross_entropy_backward(const Operand& scale, const Operand& logits, int64_t axis, const Operand& targets,
                            const Operand* weight, const CrossEntropyRows& options, const Operand& dlogits);

}  // namespace weft::kernels::cpu
