// The cases of bench:families for products and linear algebra.
#pragma once

#include "bench/family_cases.h"

namespace weft::bench {

std::vector<Case> linalg_cases();

}  // namespace weft::bench
