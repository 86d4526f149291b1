// What a request that cannot be served says.
#pragma once

#include <cstddef>

namespace weft::detail {

/// The memory of the machine.
size_t physical_bytes();
/// MemoryError for a request of `bytes`, with the bytes in use.
[[noreturn]] void throw_no_memory(size_t bytes);

}  // namespace weft::detail
