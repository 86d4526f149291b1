// Checkpoints of several ranks: one file.
#pragma once

#include <string>

#include "distributed/group.h"
#include "io/checkpoint.h"

namespace weft::distributed {

/// io::save_checkpoint() on rank 0. Every rank calls it: the others give what they alone have (a sharded optimizer's
/// state), and go on without waiting for the file. io::load_checkpoint(), which every rank calls by itself, reads the
/// file at any number of ranks.
void save_checkpoint(const Group& group, const std::string& path, const io::CheckpointParts& parts);

}  // namespace weft::distributed
