// A test whether two views of the same memory share an element.
#pragma once

#include "tensor/core/view.h"

namespace weft {

/// Whether an element of `a` is an element of `b`, where both are views of the same memory. false is always correct.
/// true is exact for views made by slicing, transposing and reshaping; it may be wrong for padded views and for strides
/// with very many combinations.
bool may_overlap(const View& a, const View& b);

}  // namespace weft
