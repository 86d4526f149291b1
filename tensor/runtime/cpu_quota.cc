#include "tensor/runtime/cpu_quota.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <vector>

namespace weft::detail {
namespace {

constexpr double kNoLimit = 0;

/// Microseconds of CPU time per period, as cores. "max" (version 2) and -1 (version 1) are no limit.
double cores_of(const std::string& quota, double period) {
  std::istringstream text(quota);
  double time = 0;
  return text >> time && time > 0 && period > 0 ? time / period : kNoLimit;
}

/// The limit of one group: `cpu.max` of version 2, two files of version 1.
double limit_of(const std::string& folder) {
  std::string quota;
  double period = 0;
  if (std::ifstream both(folder + "/cpu.max"); both >> quota >> period) return cores_of(quota, period);
  std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
  std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  return cores_of(quota, period);
}

/// The least limit of the group at `path` and the groups above it. In a container, `path` may be the host's, of which
/// nothing but the root is there.
double least_limit(const std::string& mount, std::string path) {
  double least = kNoLimit;
  for (;;) {
    if (const double limit = limit_of(mount + path); limit > 0) least = least > 0 ? std::min(least, limit) : limit;
    if (path.empty()) return least;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

/// Where the group of a line of /proc/self/cgroup, `number:controllers:path`, may be mounted.
std::vector<std::string> mounts_of(const std::string& controllers) {
  if (controllers.empty()) return {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
  if (("," + controllers + ",").find(",cpu,") == std::string::npos) return {};
  return {"/sys/fs/cgroup/" + controllers, "/sys/fs/cgroup/cpu"};
}

}  // namespace

std::optional<int> cpu_quota(const std::string& root) {
  double least = kNoLimit;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string number, controllers, path;
       std::getline(groups, number, ':') && std::getline(groups, controllers, ':') && std::getline(groups, path);)
    for (const std::string& mount : mounts_of(controllers))
      if (const double limit = least_limit(root + mount, path == "/" ? "" : path); limit > 0)
        least = least > 0 ? std::min(least, limit) : limit;
  if (least == kNoLimit) return std::nullopt;
  return static_cast<int>(std::min(std::ceil(least), 1e6));
}

}  // namespace weft::detail
