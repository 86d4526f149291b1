#include "tensor/ops/search.h"

namespace weft::op {

Spec Searchsorted::infer(const Operand& sorted, const Operand& values) const {
  const int64_t rank = values.rank();
  bool fits = rank > 0 && sorted.rank() == rank;
  for (int64_t i = 0; fits && i + 1 < rank; ++i) fits = sorted.size(i) == values.size(i);
  if (!fits)
    throw ShapeError(text("the sorted sequence must have one axis, or the values' axes but the last: ", sorted.shape(),
                          " and ", values.shape()));
  return spec_of(values.shape(), i64);
}

}  // namespace weft::op
