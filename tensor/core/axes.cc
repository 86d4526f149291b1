#include "tensor/core/axes.h"

#include "tensor/core/error.h"

namespace weft {

IntList Axes::normalized(int64_t rank) const {
  IntList out;
  bool seen[kMaxAxes] = {};
  for (int64_t axis : list_) {
    const int64_t a = normalize_axis_or_scalar(axis, rank);
    if (seen[a]) throw IndexError(text("axis ", axis, " is given twice"));
    seen[a] = true;
  }
  for (int64_t a = 0; a < rank; ++a)
    if (list_.empty() || seen[a]) out.push_back(a);
  return out;
}

}  // namespace weft
