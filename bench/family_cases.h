// The cases of bench:families. peers/families.py holds the same ones in the words of PyTorch, under the same names.
#pragma once

#include <functional>
#include <initializer_list>
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

/// Normal numbers.
inline Tensor f32_of(std::initializer_list<int64_t> shape) { return randn(Shape(shape)); }

/// The cases of all lists, in their order.
std::vector<Case> joined(std::initializer_list<std::vector<Case>> lists);

std::vector<Case> all_cases();

}  // namespace weft::bench
