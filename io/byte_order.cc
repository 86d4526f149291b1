#include "io/byte_order.h"

#include <algorithm>

#include "tensor/core/error.h"

namespace weft::io::detail {

void swap_bytes(void* values, int64_t count, size_t size) {
  uint8_t* bytes = static_cast<uint8_t*>(values);
  for (int64_t i = 0; i < count; ++i, bytes += size) std::reverse(bytes, bytes + size);
}

std::string_view row_major_bytes(const Tensor& x) { return {internal::first_byte(x), static_cast<size_t>(x.nbytes())}; }

void check_bools(const Tensor& x) {
  for (const char value : row_major_bytes(x))
    if (static_cast<uint8_t>(value) > 1)
      throw IoError(text("the byte ", int{static_cast<uint8_t>(value)}, " is not a bool"));
}

}  // namespace weft::io::detail
