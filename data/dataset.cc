#include "data/dataset.h"

#include "tensor/core/error.h"

namespace weft::data::detail {

void check_range(int64_t begin, int64_t end, int64_t size) {
  if (begin < 0 || end <= begin || end > size)
    throw IndexError(text("batch: examples ", begin, " to ", end, " are no range in a dataset of ", size));
}

}  // namespace weft::data::detail
