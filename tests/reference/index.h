// Naive gathers and scatters: what an element of the smaller array stands for, and the two ways to follow that.
#pragma once

#include "tests/reference/array.h"

namespace weft::testing::reference {

/// Where in the larger array an index of the smaller one lies.
using IndexMap = std::function<Index(const Index&)>;

/// On `axis`, what `indices` holds at the same index (gather, scatter_add).
IndexMap each_named(const Array& indices, size_t axis);
/// On `axis`, what `indices` holds for the slice (index_select, index_add).
IndexMap slice_named(const Array& indices, size_t axis);
/// The row that `indices` names, at the last index (embedding).
IndexMap row_named(const Array& indices);

/// The place along an axis of `size` that `indices` holds at `index`; negative ones count from the end.
int64_t place(const Array& indices, const Index& index, int64_t size);

/// The array of `shape` of the elements of x that `map` names.
Array gathered(const Array& x, const Shape& shape, const IndexMap& map);
/// Zeros of `shape`, each element of `source` added at the index that `map` names; left out where that is empty.
Array scattered(const Array& source, const Shape& shape, const IndexMap& map);

}  // namespace weft::testing::reference
