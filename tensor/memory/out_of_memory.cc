#include "tensor/memory/out_of_memory.h"

#include <unistd.h>

#include <charconv>
#include <string>

#include "tensor/core/error.h"
#include "tensor/memory/allocator.h"

namespace weft::detail {
namespace {

/// 1536 as 1.5 KB.
std::string readable_bytes(size_t bytes) {
  constexpr const char* units[] = {"bytes", "KB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit < 6; ++unit) value /= 1024;
  char out[32];
  const char* end = std::to_chars(out, out + sizeof out, value, std::chars_format::fixed, unit == 0 ? 0 : 1).ptr;
  return text(std::string_view(out, static_cast<size_t>(end - out)), " ", units[unit]);
}

}  // namespace

size_t physical_bytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void throw_no_memory(size_t bytes) {
  throw MemoryError(text("out of memory: ", readable_bytes(bytes), " asked for, ",
                         readable_bytes(static_cast<size_t>(memory_stats().live_bytes)), " are in use"));
}

}  // namespace weft::detail
