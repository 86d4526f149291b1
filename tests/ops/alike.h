// Cases that compare two ways to the same result: the pairs' results are equal, bit for bit.
#pragma once

#include <utility>
#include <vector>

#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tests/ops/case.h"

namespace weft::testing {

/// Whether two ways give the same, for each pair of results.
inline Outputs alike(const std::vector<std::pair<Tensor, Tensor>>& pairs) {
  Outputs out;
  for (const auto& [a, b] : pairs) out.push_back(full({}, equal(a, b)));
  return out;
}

/// The reference of `count` pairs.
inline Reference yes(size_t count) {
  return [count](const Arrays&) { return Arrays(count, Array{{}, {1}}); };
}

}  // namespace weft::testing
