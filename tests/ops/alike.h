// Cases that compare two ways to the same result: the pairs' results are equal, bit for bit.
#pragma once

#include <utility>
#include <vector>

#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/unary.h"
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

/// A case of ways that are alike, on x (4, 4), distinct, and p in (0, 1) made of it.
inline void add_pairs(Cases& cases, const char* name, size_t count,
                      Outputs (*pairs)(const Tensor& x, const Tensor& p)) {
  cases
      .add(
          name, {{distinct({4, 4})}}, [pairs](const Inputs& in) { return pairs(in[0], sigmoid(in[0] * 0.1)); },
          yes(count))
      .compares(DTypes{f32, f64})
      .gives({Result::boolean})
      .no_gradient()
      .no_vmap();
}

}  // namespace weft::testing
