// Indexing with integers and the adjoints. Indices (any integer dtype) are checked before anything is written: IndexError
// `index 7 is out of range for 5 rows`; negative ones are out of range.
#pragma once

#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

/// out[.., i, ..] = x[.., index[.., i, ..], ..] along `axis`. out has index's shape, whose sizes off the axis are at most x's.
void gather(const Operand& x, const Operand& index, int64_t axis, const Operand& out);
/// into[.., index[.., i, ..], ..] += src[.., i, ..], src of index's shape: the adjoint of gather. Adds in the order of i, 16-bit
/// floats in float, whatever the number of threads.
void scatter_add(const Operand& src, const Operand& index, int64_t axis, const Operand& into);

/// Slice i of out along `axis` is slice index[i] of x; index is 1-d.
void index_select(const Operand& x, int64_t axis, const Operand& index, const Operand& out);
/// Slice index[i] of `into` += slice i of src: the adjoint of index_select. Floating slices for one place are summed in
/// double, in the order of i, and then added once.
void index_add(const Operand& src, int64_t axis, const Operand& index, const Operand& into);

/// out[.., :] = weight[indices[..], :], weight (V, D), out of indices' shape and D.
void embedding(const Operand& indices, const Operand& weight, const Operand& out);
/// grad_weight[v, :] += the sum of grad's rows whose index is v; row padding_idx gets nothing (negative: no such row).
void embedding_backward(const Operand& indices, const Operand& grad, int64_t padding_idx, const Operand& grad_weight);

/// out[.., c] = 1 where c is indices[..], else 0; out of any dtype has indices' shape and the number of classes.
/// IndexError `class 3 is out of range for 3 classes`.
void one_hot(const Operand& indices, const Operand& out);

}  // namespace weft::kernels::cpu
