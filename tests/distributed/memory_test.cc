// The memory that a rank adds, and that of a sharded optimizer.
#include <fstream>

#include "tests/distributed/ranks.h"

namespace weft::test {
namespace {

nn::Sequential four_layers() {
  return nn::Sequential(nn::Linear(1024, 1024), nn::Linear(1024, 1024), nn::Linear(1024, 1024), nn::Linear(1024, 1024));
}

TEST(Memory, ShardedStatesAreDivided) {
  const auto& g = group();
  const auto state_bytes = [&](bool sharded) {
    nn::Sequential model = four_layers();
    optim::Adam optimizer(model.parameters(), {.lr = 1e-3});
    if (sharded) distributed::shard(optimizer, g);
    model(ones({4, 1024})).sum().backward();
    const int64_t before = memory_stats().live_bytes;
    optimizer.step();
    return static_cast<double>(memory_stats().live_bytes - before);
  };
  const double whole = state_bytes(false), own = state_bytes(true);
  EXPECT_GT(whole, 2.0 * 4 * 4 * 1024 * 1024);
  EXPECT_LT(own, 1.01 * whole / double(g.size())) << "four layers alike are divided evenly";
  if (g.rank() == 0) std::printf("states of %.1f MB, %.1f here\n", whole / (1 << 20), own / (1 << 20));
}

/// Bytes that this process takes, where pages that several share count in parts.
double resident() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;)
    if (double kilobytes = 0; word == "Pss:" && file >> kilobytes) return kilobytes * 1024;
  return 0;
}

TEST(Memory, ARankAddsLittle) {
  const auto& g = group();
  if (g.size() == 1 || !g.is_shared()) GTEST_SKIP() << "messages have buffers of their own";
  if (resident() == 0) GTEST_SKIP() << "this kernel has no /proc/self/smaps_rollup";
  const auto taken = [&](bool parallel) {
    empty_cache();
    g.barrier();
    const double before = resident();
    g.barrier();
    nn::Sequential model = four_layers();
    std::optional<distributed::DataParallel<nn::Sequential>> wrapped;
    if (parallel) wrapped.emplace(model, g);
    for (int step = 0; step < 3; ++step) {
      model.zero_grad();
      model(ones({4, 1024})).sum().backward();
    }
    empty_cache();  // without what was needed for a moment
    g.barrier();
    const double after = resident();
    g.barrier();
    return after - before;
  };
  taken(false);  // what is allocated once
  const double plain = taken(false), parallel = taken(true);
  if (g.rank() == 0)
    std::printf("%.1f MB for parameters and gradients alone, %.1f in parallel\n", plain / (1 << 20),
                parallel / (1 << 20));
  EXPECT_GT(plain, 2.0 * 4 * 4 * 1024 * 1024 * 0.9);
  // 1 MB of administration, and a huge page more or less; a copy of the gradients would be 16.
  EXPECT_LT(parallel - plain, 3.0 * (1 << 20));
}

}  // namespace
}  // namespace weft::test
