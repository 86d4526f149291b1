// Samplers: what they visit, how often, and what they refuse.
#include "data/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "data/loader.h"
#include "data/tensor_dataset.h"
#include "tensor/all.h"

namespace weft {
namespace {

using Numbers = std::vector<int64_t>;

/// The examples of an epoch, which are their own numbers.
Numbers visited(data::DataLoader<1>& loader) {
  Numbers out;
  for (const auto& [x] : loader)
    for (const int64_t value : x.to_vector<int64_t>()) out.push_back(value);
  return out;
}
data::TensorDataset<1> ten() { return data::TensorDataset(arange(10)); }

TEST(Sampler, SequentialAndShuffled) {
  EXPECT_EQ(data::sequential(4).order({}, 10), (Numbers{0, 1, 2, 3}));
  EXPECT_FALSE(data::sequential(4).is_random());
  const data::Sampler shuffled = data::shuffled(10);
  Numbers order = shuffled.order({1, 0}, 10);
  EXPECT_NE(order, shuffled.order({2, 0}, 10));
  EXPECT_EQ(order, shuffled.order({1, 0}, 10));
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, data::sequential(10).order({}, 10));
}

TEST(Sampler, SubsetInOrderOrShuffled) {
  data::DataLoader loader(ten(), {.batch_size = 2, .sampler = data::subset({7, 2, 2})});
  EXPECT_EQ(loader.size(), 2);
  EXPECT_EQ(visited(loader), (Numbers{7, 2, 2}));
  data::DataLoader mixed(ten(), {.sampler = data::subset({7, 2, 5, 1, 8, 9}, {.shuffle = true})});
  manual_seed(1);
  Numbers first = visited(mixed), second = visited(mixed);
  EXPECT_NE(first, second);
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, (Numbers{1, 2, 5, 7, 8, 9}));
}

TEST(Sampler, WeightedDrawsInProportion) {
  const data::Sampler sampler = data::weighted({1, 0, 3, 4}, {.count = 8000});
  int counts[4] = {};
  for (const int64_t i : sampler.order({3, 0}, 4)) ++counts[i];
  EXPECT_NEAR(counts[0], 1000, 150);
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(counts[2], 3000, 220);
  EXPECT_NEAR(counts[3], 4000, 220);
}

TEST(Sampler, WeightedWithoutReplacement) {
  int first[3] = {};
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const Numbers order = data::weighted({1, 0, 3, 2, 1e-9}, {.count = 3, .replacement = false}).order({seed, 0}, 5);
    EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()), (std::set<int64_t>{0, 2, 3}));
    ++first[order[0] == 0 ? 0 : order[0] - 1];
  }
  EXPECT_NEAR(first[0], 333, 100);  // in proportion to 1, 3, 2
  EXPECT_NEAR(first[1], 1000, 130);
  EXPECT_NEAR(first[2], 667, 120);
}

TEST(Sampler, AnyFunction) {
  const auto last_two = [](RandomKey) { return Numbers{9, 8}; };
  data::DataLoader loader(ten(), {.sampler = data::Sampler(last_two, 2, false)});
  manual_seed(1);
  EXPECT_EQ(visited(loader), (Numbers{9, 8}));
  EXPECT_EQ(random_state(), (RandomState{1, 0}));
}

TEST(Sampler, GoesOnInTheMiddleOfAnEpoch) {
  manual_seed(4);
  const auto sampler = [] { return data::weighted(std::vector<double>(10, 1.0), {.count = 20}); };
  data::DataLoader loader(ten(), {.batch_size = 4, .sampler = sampler()});
  Numbers seen, rest;
  std::string position;
  for (const auto& [x] : loader) {
    auto& list = position.empty() ? seen : rest;
    for (const int64_t value : x.to_vector<int64_t>()) list.push_back(value);
    if (position.empty() && seen.size() == 8) position = loader.position();
  }
  data::DataLoader other(ten(), {.batch_size = 4, .sampler = sampler()});
  other.set_position(position);
  EXPECT_EQ(visited(other), rest);
  data::DataLoader shuffled(ten(), {.batch_size = 4, .shuffle = true});
  EXPECT_THROW(shuffled.set_position(position), Error);
}

TEST(Sampler, Errors) {
  EXPECT_THROW(data::weighted({1, -1}), Error);
  EXPECT_THROW(data::weighted({1, NAN}), Error);
  EXPECT_THROW(data::weighted({0, 0}), Error);
  EXPECT_THROW(data::weighted({}, {.count = 1}), Error);
  EXPECT_THROW(data::weighted({1, 0}, {.count = 2, .replacement = false}), Error);
  EXPECT_THROW(data::weighted({1, 1}, {.count = -2}), Error);
  EXPECT_THROW(data::DataLoader(ten(), {.sampler = data::weighted({1, 1})}), Error);
  EXPECT_THROW(data::DataLoader(ten(), {.shuffle = true, .sampler = data::sequential(10)}), Error);
  data::DataLoader outside(ten(), {.sampler = data::subset({3, 10})});
  EXPECT_THROW(visited(outside), IndexError);
  data::DataLoader wrong(ten(), {.sampler = data::Sampler([](RandomKey) { return Numbers{1}; }, 2)});
  EXPECT_THROW(visited(wrong), Error);
  EXPECT_EQ(data::weighted({}).order({}, 0), Numbers{});
}

}  // namespace
}  // namespace weft
