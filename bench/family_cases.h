// The cases of bench:families. peers/families.py holds the same ones in the words of PyTorch, under the same names.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "weft.h"

namespace weft::bench {

using Tensors = std::vector<Tensor>;
enum Passes { forward, both };  // both: with gradients of the floating inputs as a case of its own

struct Case {
  std::string name;
  Passes passes;
  std::function<Tensors()> inputs;
  std::function<Tensor(const Tensors&)> call;
};

std::vector<Case> all_cases();

}  // namespace weft::bench
