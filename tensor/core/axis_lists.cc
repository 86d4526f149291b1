#include "tensor/core/axis_lists.h"

#include <algorithm>

namespace weft::internal {

IntList other_axes(int64_t rank, const IntList& axes) {
  IntList out;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) out.push_back(axis);
  return out;
}

IntList inverse_permutation(const IntList& axes) {
  IntList out = IntList::filled(axes.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) out[static_cast<size_t>(axes[i])] = static_cast<int64_t>(i);
  return out;
}

IntList outermost_first(const View& x) {
  IntList axes;
  for (int64_t axis = 0; axis < x.rank(); ++axis) axes.push_back(axis);
  std::stable_sort(axes.begin(), axes.end(), [&](int64_t a, int64_t b) { return x.stride(a) > x.stride(b); });
  return axes;
}

Shape shape_along(int64_t axis, int64_t rank, int64_t size) {
  Shape out = IntList::filled(static_cast<size_t>(rank), 1);
  out[axis] = size;
  return out;
}

}  // namespace weft::internal
