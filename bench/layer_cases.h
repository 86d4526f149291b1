// More cases of bench:families: what layers, losses, masks and optimizers are made of. peers/layer_families.py holds
// the same ones in the words of PyTorch.
#pragma once

#include "bench/family_cases.h"

namespace weft::bench {

std::vector<Case> layer_cases();

}  // namespace weft::bench
