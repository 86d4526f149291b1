// Helpers for the byte representation of tensors in files.
#pragma once

#include <string_view>

#include "tensor/tensor.h"

namespace weft::io::detail {

/// Reverses the byte order of `count` values of `size` bytes (1, 2, 4 or 8) in place.
void swap_bytes(void* values, int64_t count, size_t size);

/// The memory of a row-major tensor.
std::string_view row_major_bytes(const Tensor& x);

/// IoError if a bool tensor from a file contains a byte that is neither 0 nor 1.
void check_bools(const Tensor& x);

}  // namespace weft::io::detail
