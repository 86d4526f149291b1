// CPU limits of control groups, read from files as Linux has them.
#include "tensor/runtime/cpu_quota.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace weft::detail {
namespace {

/// The limit where the system's files are these.
std::optional<int> quota_of(const std::map<std::string, std::string>& files) {
  const std::filesystem::path root = std::filesystem::path(::testing::TempDir()) / "quota";
  std::filesystem::remove_all(root);
  for (const auto& [name, text] : files) {
    const std::filesystem::path path = root / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  return cpu_quota(root.string());
}

TEST(CpuQuota, IsRoundedUp) {
  const std::string groups = "proc/self/cgroup", limit = "sys/fs/cgroup/cpu.max";
  EXPECT_EQ(quota_of({{groups, "0::/\n"}, {limit, "200000 100000\n"}}), 2);
  EXPECT_EQ(quota_of({{groups, "0::/\n"}, {limit, "250000 100000\n"}}), 3);
  EXPECT_EQ(quota_of({{groups, "0::/\n"}, {limit, "1000 100000\n"}}), 1);
}

TEST(CpuQuota, TheLeastOfAllGroupsAboveCounts) {
  EXPECT_EQ(quota_of({{"proc/self/cgroup", "0::/user.slice/job\n"},
                      {"sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n"},
                      {"sys/fs/cgroup/user.slice/cpu.max", "400000 50000\n"}}),
            8);
  EXPECT_EQ(quota_of({{"proc/self/cgroup", "0::/user.slice/job\n"},
                      {"sys/fs/cgroup/user.slice/job/cpu.max", "300000 100000\n"},
                      {"sys/fs/cgroup/user.slice/cpu.max", "400000 100000\n"}}),
            3);
}

TEST(CpuQuota, ReadsBothFilesOfVersionOne) {
  const std::string groups = "9:memory:/a\n4:cpu,cpuacct:/docker/1f\n3:cpuset:/a\n";
  EXPECT_EQ(quota_of({{"proc/self/cgroup", groups},
                      {"sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_quota_us", "150000\n"},
                      {"sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_period_us", "50000\n"}}),
            3);
  // A container sees its own group at the root of the mount.
  EXPECT_EQ(quota_of({{"proc/self/cgroup", groups},
                      {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n"},
                      {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}}),
            1);
}

TEST(CpuQuota, NoLimit) {
  const std::string groups = "0::/\n1:cpu:/\n";
  EXPECT_EQ(quota_of({}), std::nullopt);
  EXPECT_EQ(quota_of({{"proc/self/cgroup", groups}}), std::nullopt);
  EXPECT_EQ(quota_of({{"proc/self/cgroup", groups}, {"sys/fs/cgroup/cpu.max", "max 100000\n"}}), std::nullopt);
  EXPECT_EQ(quota_of({{"proc/self/cgroup", groups},
                      {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
                      {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}}),
            std::nullopt);
  EXPECT_EQ(quota_of({{"proc/self/cgroup", "no line as it should be"}, {"sys/fs/cgroup/cpu.max", "?"}}), std::nullopt);
  EXPECT_EQ(quota_of({{"proc/self/cgroup", groups}, {"sys/fs/cgroup/cpu.max", "100000 0\n"}}), std::nullopt);
}

}  // namespace
}  // namespace weft::detail
