// The index of gather and scatter: one position along an axis for each element, or for each slice behind it.
#pragma once

#include <vector>

#include "tensor/core/operand.h"
#include "tensor/kernels/cpu/index/index_list.h"
#include "tensor/kernels/cpu/index/slices.h"

namespace weft::kernels::cpu {

inline constexpr int64_t kIndexGrain = 16384;

/// A scalar as a tensor of one axis.
struct AtLeastOneAxis {
  explicit AtLeastOneAxis(const Operand& x)
      : view(x.rank() == 0 ? View::create({1}, {1}, x.view->offset()) : View()),
        operand(x.rank() == 0 ? x.with(view) : x) {}
  AtLeastOneAxis(const AtLeastOneAxis&) = delete;
  View view;
  Operand operand;
};

/// An index that was expanded behind its axis, from (n, 1) to (n, width) for one, names slices: it is listed without
/// the axes from `first` on. (Of other indices `first` is the rank.)
struct SliceIndex {
  SliceIndex(const Operand& index, int64_t axis) : first(first_of(index, axis)), list(list_of(index, first)) {}
  bool names_slices(const Operand& index) const { return first < index.rank(); }

  static int64_t first_of(const Operand& index, int64_t axis) {
    constexpr int64_t kLeast = 4;  // elements of a slice
    int64_t first = index.rank(), size = 1;
    for (; first > axis + 1 && (index.stride(first - 1) == 0 || index.size(first - 1) == 1); --first)
      size *= index.size(first - 1);
    return size < kLeast ? index.rank() : first;
  }
  static IndexList list_of(const Operand& index, int64_t first) {
    if (first == index.rank()) return IndexList(index);
    std::vector<Interval> bounds;
    for (int64_t i = 0; i < index.rank(); ++i) bounds.push_back({0, i < first ? index.size(i) : 1});
    return IndexList(index.with(index.view->shrink(bounds)));
  }
  int64_t first;
  IndexList list;
};

/// The slices that such an index names in `table`, and those of `list`, which has the index's shape.
inline SliceLayout slice_layout(const Operand& index, int64_t axis, int64_t first, const Operand& table,
                                const Operand& list) {
  SliceLayout layout{Nest{}, table.stride(axis), table.size(axis), Nest{}};
  for (int64_t i = 0; i < index.rank(); ++i) {
    Nest& nest = i < first ? layout.list : layout.slice;
    nest.push({index.size(i), i == axis ? 0 : table.stride(i), list.stride(i)});
  }
  layout.slice.sort_and_merge();
  layout.list.merge();
  return layout;
}

}  // namespace weft::kernels::cpu
