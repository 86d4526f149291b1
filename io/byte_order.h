// What file formats share about the bytes of tensors.
#pragma once

#include <string_view>

#include "tensor/tensor.h"

namespace weft::io::detail {

/// Turns `count` values of `size` bytes (1, 2, 4 or 8) from one byte order to the other.
void swap_bytes(void* values, int64_t count, size_t size);

/// The memory of a row-major tensor.
std::string_view row_major_bytes(const Tensor& x);

/// IoError where a bool from a file is neither 0 nor 1, which no code may see.
void check_bools(const Tensor& x);

}  // namespace weft::io::detail
