#include "data/zip.h"

#include "tensor/core/error.h"

namespace weft::data::detail {

void check_equal_sizes(std::span<const int64_t> sizes) {
  for (const int64_t size : sizes)
    if (size != sizes[0]) throw Error(text("zip: the datasets have ", sizes[0], " and ", size, " examples"));
}

}  // namespace weft::data::detail
