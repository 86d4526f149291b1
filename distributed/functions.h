// Differentiable collectives: they return a new tensor, and gradients flow through them to every rank.
#pragma once

#include "distributed/group.h"

namespace weft::distributed {

// Every rank must call the same function, and either every rank or none must run backward through it, because the
// gradient is computed by a collective too. So x must need a gradient on every rank or on none, also where only the
// root's values matter (broadcast, scatter) or a rank has no rows. It is the gradient of the sum of all ranks' losses.
// Errors as in group.h.

/// The sum or mean of x over all ranks (floating dtypes). Its gradient is the sum (mean) of the ranks' gradients. Error
/// for max and min, which are not differentiable here.
Tensor all_reduce(const Tensor& x, const Group& group, ReduceOp op = ReduceOp::sum);
/// The root's x. The gradient on the root is the sum of the ranks' gradients; on the other ranks it is zero.
Tensor broadcast(const Tensor& x, const Group& group, int64_t root);
/// x (...) -> (size, ...): every rank's x, stacked in rank order.
Tensor all_gather(const Tensor& x, const Group& group);
/// x (size n, ...) -> (n, ...): this rank's n rows of the sum or mean of all ranks' x.
Tensor reduce_scatter(const Tensor& x, const Group& group, ReduceOp op = ReduceOp::sum);
/// x (size n, ...) -> (size n, ...): the n rows that each rank holds for this rank, in rank order.
Tensor all_to_all(const Tensor& x, const Group& group);

/// The reduction (sum or mean) of all ranks' x on the root, and zeros of this shape on the other ranks. The gradient of
/// every rank is the root's (of a mean, divided by size).
Tensor reduce(const Tensor& x, const Group& group, int64_t root, ReduceOp op = ReduceOp::sum);
/// x (...) -> (size, ...): every rank's x, stacked in rank order, on the root, and zeros of this shape on the other
/// ranks. A rank's gradient is its row of the root's.
Tensor gather(const Tensor& x, const Group& group, int64_t root);
/// x (size n, ...) -> (n, ...): this rank's n rows of the root's x. The gradient on the root is that of all ranks, one
/// after the other; on the other ranks it is zero.
Tensor scatter(const Tensor& x, const Group& group, int64_t root);
/// x (n, ...) -> (the sum of all n, ...): every rank's rows in rank order; n may differ from rank to rank. The gradient
/// is this rank's rows of the sum of the ranks' gradients.
Tensor all_gather_rows(const Tensor& x, const Group& group);

}  // namespace weft::distributed
