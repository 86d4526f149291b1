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

using Inputs = std::function<Tensors()>;  // makes the inputs of a case

struct Case {
  std::string name;
  Passes passes;
  Inputs inputs;
  std::function<Tensor(const Tensors&)> call;
};

/// Normal numbers in these shapes.
Inputs floats(const std::vector<Shape>& shapes);
/// Then also integers in [0, `limit`).
Inputs floats_and_integers(const std::vector<Shape>& shapes, int64_t limit, const std::vector<Shape>& integers);
/// Then also a mask of fair coins.
Inputs floats_and_mask(const std::vector<Shape>& shapes, const Shape& mask);

/// The cases of all lists, in their order.
std::vector<Case> joined(std::initializer_list<std::vector<Case>> lists);

/// Every case of bench:families.
std::vector<Case> all_cases();

}  // namespace weft::bench
