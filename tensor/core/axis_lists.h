// Lists of axes, and shapes made from them: what functions, dispatch and gradient rules have in common.
#pragma once

#include "tensor/core/view.h"

namespace weft::internal {

/// The axes in [0, rank) that are not in `axes`, which are in that range, in ascending order.
IntList other_axes(int64_t rank, const IntList& axes);
/// The permutation that undoes permute(axes).
IntList inverse_permutation(const IntList& axes);
/// The axes of `x` by falling stride; those of equal strides in ascending order.
IntList outermost_first(const View& x);
/// The shape of `rank` axes with `size` on `axis` and 1 on all others, in which a 1-d tensor broadcasts along `axis`.
Shape shape_along(int64_t axis, int64_t rank, int64_t size);

}  // namespace weft::internal
