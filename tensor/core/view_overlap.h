// Whether two views of one memory share an element.
#pragma once

#include "tensor/core/view.h"

namespace weft {

/// False where no element of `a` is an element of `b`: both are views of the same memory. Exact for what slicing,
/// transposing and reshaping make; it may wrongly say true for padded views and where very many combinations of
/// strides would have to be tried, never wrongly false.
bool may_overlap(const View& a, const View& b);

}  // namespace weft
