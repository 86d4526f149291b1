// The limit on CPU time that a container or a service gives its processes (Linux control groups). A process with 64
// cores and the time of two must not start 64 threads: all of them stop as soon as the time of a period is used up.
#pragma once

#include <optional>
#include <string>

namespace weft::detail {

/// The number of cores whose time this process may use, rounded up; nothing where there is no limit. Files are read
/// below `root`, which tests set.
std::optional<int> cpu_quota(const std::string& root = "");

}  // namespace weft::detail
