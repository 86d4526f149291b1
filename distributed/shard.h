// ZeRO-1 (Rajbhandari et al., SC 2020): optimizer states are divided among the ranks.
#pragma once

#include "distributed/group.h"
#include "optim/optimizer.h"

namespace weft::distributed {

/// From now on each rank of `group` keeps the state of about 1 / size of the optimizer's elements (whole parameters,
/// the largest first to the rank that has least), and step() updates these and brings the others from their ranks. For
/// after DataParallel, whose gradients all ranks have:
///   optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
///   distributed::shard(optimizer, group);
/// Each parameter is computed as without it, to the bit. state_dict() is then a call of all ranks and gives the whole
/// state, which any number of ranks loads, sharded or not; save_checkpoint() of checkpoint.h writes it once. Every rank
/// calls it with the same optimizer. Error for LBFGS, whose state belongs to no single parameter.
void shard(optim::Optimizer& optimizer, const Group& group);

}  // namespace weft::distributed
