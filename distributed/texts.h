// Texts of all ranks; internal to distributed/.
#pragma once

#include <string>
#include <vector>

#include "distributed/group.h"

namespace weft::distributed {

/// Every rank's text, on every rank. Two exchanges: of the lengths and of the texts.
std::vector<std::string> gather_texts(const Group& group, const std::string& own);

}  // namespace weft::distributed
