#include "tensor/core/view_overlap.h"

#include <algorithm>
#include <vector>

#include "tensor/core/integer_division.h"

namespace weft {
namespace {

/// stride * d with least <= d <= most: what one axis, or several of one stride, may add to the distance of two
/// elements.
struct Term {
  int64_t stride, least, most;
};

/// The distances between elements: a's axes add to them, b's take away. Strides are made positive by starting from the
/// other end, which moves `first`.
class Distances {
 public:
  void add(const View& view, int sign, int64_t& first) {
    for (int64_t i = 0; i < view.rank(); ++i) {
      const int64_t steps = view.dim(i) - 1;
      int64_t stride = view.stride(i);
      if (steps == 0 || stride == 0) continue;
      if (stride < 0) {
        first += stride * steps;
        stride = -stride;
      }
      const auto same = std::find_if(terms_.begin(), terms_.end(), [&](const Term& t) { return t.stride == stride; });
      Term& term = same != terms_.end() ? *same : terms_.emplace_back(Term{stride, 0, 0});
      (sign > 0 ? term.most : term.least) += sign * steps;
    }
  }

  /// Whether the terms can sum to `distance`; true as well when the budget runs out.
  bool reach(int64_t distance) {
    std::sort(terms_.begin(), terms_.end(), [](const Term& x, const Term& y) { return x.stride > y.stride; });
    least_.assign(terms_.size() + 1, 0);
    most_.assign(terms_.size() + 1, 0);
    for (size_t k = terms_.size(); k-- > 0;) {
      least_[k] = least_[k + 1] + terms_[k].least * terms_[k].stride;
      most_[k] = most_[k + 1] + terms_[k].most * terms_[k].stride;
    }
    return reach(0, distance);
  }

 private:
  bool reach(size_t k, int64_t distance) {
    if (k == terms_.size()) return distance == 0;
    if (--budget_ < 0) return true;
    const Term& term = terms_[k];
    // Only steps after which the finer strides can still make up the rest.
    const int64_t low = std::max(term.least, -internal::divide_down(most_[k + 1] - distance, term.stride));
    const int64_t high = std::min(term.most, internal::divide_down(distance - least_[k + 1], term.stride));
    for (int64_t d = low; d <= high; ++d)
      if (reach(k + 1, distance - d * term.stride)) return true;
    return false;
  }

  std::vector<Term> terms_;
  std::vector<int64_t> least_, most_;  // of the sum of the terms from k on
  int budget_ = 4096;
};

}  // namespace

bool may_overlap(const View& a, const View& b) {
  if (a.numel() == 0 || b.numel() == 0) return false;
  const auto [first_a, last_a] = a.extent();
  const auto [first_b, last_b] = b.extent();
  if (last_a < first_b || last_b < first_a) return false;
  constexpr int64_t kMost = INT64_MAX / 4;  // sums of the search stay within 64 bits
  if (a.has_mask() || b.has_mask() || last_a > kMost || last_b > kMost || first_a < 0 || first_b < 0) return true;
  Distances distances;
  int64_t from_a = a.offset(), from_b = b.offset();
  distances.add(a, 1, from_a);
  distances.add(b, -1, from_b);
  return distances.reach(from_b - from_a);
}

}  // namespace weft
