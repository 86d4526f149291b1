#include "data/dataset.h"

#include "data/sampler.h"
#include "tensor/core/error.h"

namespace weft::data::detail {

std::vector<int64_t> range(int64_t begin, int64_t end, int64_t size) {
  if (begin < 0 || end <= begin || end > size)
    throw IndexError(text("batch: examples ", begin, " to ", end, " are not a range in a dataset of ", size));
  return ordered(end - begin, begin);
}

}  // namespace weft::data::detail
