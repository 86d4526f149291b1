#include "distributed/checkpoint.h"

namespace weft::distributed {

void save_checkpoint(const Group& group, const std::string& path, const io::CheckpointParts& parts) {
  if (group.rank() == 0)
    io::save_checkpoint(path, parts);
  else if (parts.optimizer != nullptr)
    (void)parts.optimizer->state_dict();  // rank 0 asks for it as well, and a sharded one is gathered
}

}  // namespace weft::distributed
