// Checkpoints of a job with several ranks, in one file.
#pragma once

#include <string>

#include "distributed/group.h"
#include "io/checkpoint.h"

namespace weft::distributed {

/// io::save_checkpoint() on rank 0. Every rank must call it: the other ranks contribute the state that only they have
/// (of a sharded optimizer) and continue without waiting for the file to be written. To load the file, every rank calls
/// io::load_checkpoint(); the number of ranks may differ.
void save_checkpoint(const Group& group, const std::string& path, const io::CheckpointParts& parts);

}  // namespace weft::distributed
