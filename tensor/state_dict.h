// StateDict: tensors by name. What modules and optimizers give and take, and what files hold.
#pragma once

#include <map>
#include <string>

#include "tensor/tensor.h"

namespace weft {

/// `first.conv.weight` and so on, in the order of the names.
using StateDict = std::map<std::string, Tensor>;

}  // namespace weft
