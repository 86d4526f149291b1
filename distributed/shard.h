// ZeRO-1: optimizer states are divided among the ranks (Rajbhandari et al., SC 2020).
#pragma once

#include "distributed/group.h"
#include "optim/optimizer.h"

namespace weft::distributed {

/// Divides the optimizer's work among the ranks. Afterwards each rank of `group` holds the state of about 1 / size of
/// the elements (whole parameters, the largest first, each assigned to the rank with the least so far). step() updates
/// a rank's own parameters and fetches the others from their ranks. Use it with DataParallel, so that all ranks have
/// the gradients:
///   optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
///   distributed::shard(optimizer, group);
/// Each parameter's update is bit-identical to the unsharded one. state_dict() becomes a collective call that returns
/// the whole state, which can be loaded with any number of ranks, sharded or not; save_checkpoint() of checkpoint.h
/// writes it once. Every rank must call shard() with the same optimizer. Error for LBFGS, whose state does not belong
/// to single parameters.
void shard(optim::Optimizer& optimizer, const Group& group);

}  // namespace weft::distributed
