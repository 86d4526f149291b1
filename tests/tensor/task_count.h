// How many threads the process has: what shows that a kernel started a team of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iterator>

namespace weft::testing {

inline int64_t task_count() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

}  // namespace weft::testing
