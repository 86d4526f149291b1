// What weft costs a user's compiler.
#pragma once

#include <string>
#include <vector>

#include "bench/compare/systems.h"

namespace weft::bench {

/// Lines about: processor time and memory of `#include "weft.h"`, the time to compile and link the training loop of the
/// README, and the size of the example programs (as far as they are built). The fastest of three tries each.
std::vector<std::string> build_costs(const Places& places);

}  // namespace weft::bench
