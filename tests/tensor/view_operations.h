// The operations that chains of views are made of, each with what the oracle of indices says of it.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tensor/core/view.h"
#include "tests/tensor/view_oracle.h"

namespace weft {

/// What chains are drawn from.
class ViewRandom {
 public:
  explicit ViewRandom(uint64_t seed) : engine_(seed) {}
  /// Uniform in [low, high].
  int64_t in(int64_t low, int64_t high) {
    const auto count = static_cast<uint64_t>(high - low + 1);
    return count == 0 ? low : low + static_cast<int64_t>(engine_() % count);
  }
  bool chance(int64_t percent) { return in(0, 99) < percent; }
  oracle::List shape(int64_t rank, int64_t largest) {
    oracle::List out;
    for (int64_t i = 0; i < rank; ++i) out.push_back(chance(2) ? 0 : in(1, largest));
    return out;
  }
  /// 0 .. count-1 in random order.
  oracle::List order(int64_t count) {
    oracle::List out;
    for (int64_t i = 0; i < count; ++i) out.insert(out.begin() + in(0, i), i);
    return out;
  }
  /// Random sizes with that product.
  oracle::List factors(int64_t product) {
    oracle::List out;
    while (product > 1 && out.size() < 5) {
      oracle::List divisors;
      for (int64_t d = 1; d <= product; ++d)
        if (product % d == 0) divisors.push_back(d);
      out.push_back(divisors[static_cast<size_t>(in(0, static_cast<int64_t>(divisors.size()) - 1))]);
      product /= out.back();
    }
    if (product > 1) out.push_back(product);
    if (product == 0) out.insert(out.begin() + in(0, static_cast<int64_t>(out.size())), 0);
    if (out.empty() && chance(50)) out.push_back(1);
    return out;
  }

 private:
  std::mt19937_64 engine_;
};

/// One operation applied to a view and to its cells; `call` is its text for messages.
struct ViewStep {
  std::optional<View> view;
  oracle::Cells cells;
  std::string call;
};

/// nullopt where the operation has nothing to work on (no axis to select from).
using Operation = std::optional<ViewStep> (*)(const View&, const oracle::Cells&, ViewRandom&);

struct ViewOperation {
  const char* name;
  Operation run;
  int weight;              // how often it is drawn
  int64_t ran = 0;         // gave a view
  int64_t ran_masked = 0;  // gave a view of a masked view
  int64_t ran_empty = 0;   // gave a view of a view without elements
  int64_t refused = 0;     // answered nullopt
};

/// All of them, which have not run yet.
std::vector<ViewOperation> view_operations();

}  // namespace weft
