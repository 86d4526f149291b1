#include "io/byte_order.h"

#include <algorithm>

#include "tensor/core/error.h"

namespace weft::io::detail {

void swap_bytes(void* values, int64_t count, size_t size) {
  uint8_t* bytes = static_cast<uint8_t*>(values);
  for (int64_t i = 0; i < count; ++i, bytes += size) std::reverse(bytes, bytes + size);
}

std::string_view row_major_bytes(const Tensor& x) {
  const size_t width = size_of(x.dtype());
  const char* begin = static_cast<const char*>(internal::raw(x)) + static_cast<size_t>(x.layout().offset()) * width;
  return {begin, static_cast<size_t>(x.numel()) * width};
}

void check_bools(const Tensor& x) {
  for (const char value : row_major_bytes(x))
    if (static_cast<uint8_t>(value) > 1)
      throw IoError(text("the byte ", int{static_cast<uint8_t>(value)}, " is no bool"));
}

}  // namespace weft::io::detail
