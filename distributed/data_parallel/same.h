// Checks that ranks agree.
#pragma once

#include <string>

#include "distributed/group.h"

namespace weft::distributed {

/// Checks that all ranks pass the same text (lines ending with '\n'). Otherwise DistributedError on every rank, with
/// `what`, the first rank that differs from rank 0, and the first line that differs. All ranks must call it.
void require_same(const Group& group, const std::string& lines, const char* what);

}  // namespace weft::distributed
