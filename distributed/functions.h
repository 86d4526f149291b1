// Differentiable collectives: they return a new tensor, and gradients flow through them to every rank.
#pragma once

#include "distributed/group.h"

namespace weft::distributed {

// Every rank must call the same function, and either every rank or none must run backward through it, because the
// gradient is computed by a collective too. It is the gradient of the sum of all ranks' losses. Errors as in group.h.

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

}  // namespace weft::distributed
