// data::distributed: who sees what, at any number of ranks. Most of it needs no rank but this one.
#include <algorithm>

#include "tests/distributed/ranks.h"

namespace weft::test {
namespace {

using Numbers = std::vector<int64_t>;

data::TensorDataset<1> counted(int64_t count) { return data::TensorDataset<1>(arange(count)); }

/// The examples of each step, of all ranks together in their order, in an epoch of loaders that all start from one
/// seed.
std::vector<Numbers> steps_of(int64_t count, int64_t ranks, int64_t batch, bool drop_last = false) {
  std::vector<Numbers> steps;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    manual_seed(9);
    data::DataLoader loader(
        counted(count),
        {.batch_size = batch, .drop_last = drop_last, .sampler = data::distributed(rank, ranks, {.shuffle = true})});
    size_t step = 0;
    for (const auto& [x] : loader) {
      if (steps.size() <= step) steps.emplace_back();
      for (const int64_t i : x.to_vector<int64_t>()) steps[step].push_back(i);
      ++step;
    }
    EXPECT_EQ(step, steps.size()) << "ranks have different numbers of batches";
  }
  return steps;
}

TEST(DistributedSampler, TheSameOrderAtAnyNumberOfRanks) {
  const auto one = steps_of(96, 1, 8);
  EXPECT_EQ(steps_of(96, 2, 4), one);
  EXPECT_EQ(steps_of(96, 4, 2), one);
}

TEST(DistributedSampler, EveryExampleOnceAndUpToRanksMinusOneAgain) {
  for (const int64_t count : {1, 7, 40, 41, 43}) {
    const auto steps = steps_of(count, 4, 3);
    Numbers all;
    for (const Numbers& step : steps) all.insert(all.end(), step.begin(), step.end());
    EXPECT_EQ(static_cast<int64_t>(all.size()), (count + 3) / 4 * 4);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    EXPECT_EQ(static_cast<int64_t>(all.size()), count);
  }
  EXPECT_EQ(steps_of(43, 4, 3, true), steps_of(43, 1, 12, true));
}

TEST(DistributedSampler, ResumesInAnEpochWithAnotherNumberOfRanks) {
  const auto whole = steps_of(96, 1, 8);
  manual_seed(9);
  data::DataLoader two(counted(96), {.batch_size = 4, .sampler = data::distributed(1, 2, {.shuffle = true})});
  auto it = two.begin();
  for (int i = 0; i < 4; ++i) ++it;  // five batches were handed out
  Numbers rest;
  for (int64_t rank = 0; rank < 4; ++rank) {
    data::DataLoader four(counted(96), {.batch_size = 2, .sampler = data::distributed(rank, 4, {.shuffle = true})});
    four.set_position(two.position());
    size_t step = 5;
    for (const auto& [x] : four) {
      const Numbers own = x.to_vector<int64_t>();
      const auto begin = whole.at(step).begin() + 2 * rank;
      EXPECT_EQ(own, Numbers(begin, begin + 2)) << step;
      ++step;
    }
    EXPECT_EQ(step, whole.size());
  }
  data::DataLoader other(counted(96), {.batch_size = 4, .sampler = data::distributed(0, 4, {.shuffle = true})});
  EXPECT_THROW(other.set_position(two.position()), Error);
}

TEST(DistributedSampler, OfTheGroup) {
  const auto& g = group();
  manual_seed(21);
  data::DataLoader loader(counted(64), {.batch_size = 4, .sampler = data::distributed(g, {.shuffle = true})});
  Tensor seen = zeros({64});
  for (const auto& [x] : loader)
    for (const int64_t i : x.to_vector<int64_t>()) seen[i] = 1.0;
  g.all_reduce(seen);
  EXPECT_TRUE(equal(seen, ones({64})));
  EXPECT_THROW(data::distributed(2, 2), IndexError);
}

}  // namespace
}  // namespace weft::test
