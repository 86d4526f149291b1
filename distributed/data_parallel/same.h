// Whether ranks agree.
#pragma once

#include <string>

#include "distributed/group.h"

namespace weft::distributed {

/// Nothing where all ranks give the same text (lines that end with '\n'); else a DistributedError on every rank:
/// `what`, the first rank that differs from rank 0, and the first line in which it does. All ranks call it.
void require_same(const Group& group, const std::string& lines, const char* what);

}  // namespace weft::distributed
