// The memory of a sharded optimizer.

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

}  // namespace
}  // namespace weft::test
