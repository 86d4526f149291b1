// Collectives as functions: they return a new tensor, and gradients flow through them to every rank.
#pragma once

#include "distributed/group.h"

namespace weft::distributed {

// Every rank calls the same function, and every rank or none runs backward through it: the gradient is a collective
// too, of the sum of all ranks' losses. Errors as in group.h.

/// The sum or mean (floating dtypes) over all ranks. Its gradient is the sum (mean) of the ranks' gradients. Error for
/// max and min, which have no gradient here.
Tensor all_reduce(const Tensor& x, const Group& group, ReduceOp op = ReduceOp::sum);
/// The root's x. Its gradient is the sum of the ranks' gradients, on the root; the others' x gets zeros.
Tensor broadcast(const Tensor& x, const Group& group, int64_t root);
/// (size, ...): every rank's x.
Tensor all_gather(const Tensor& x, const Group& group);
/// x is (size n, ...); this rank's n rows of the sum or mean of all ranks' x.
Tensor reduce_scatter(const Tensor& x, const Group& group, ReduceOp op = ReduceOp::sum);
/// x is (size n, ...); the rows that each rank has for this one.
Tensor all_to_all(const Tensor& x, const Group& group);

}  // namespace weft::distributed
