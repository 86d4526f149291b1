// Samplers: what they visit, how often, and what they refuse.
#include "data/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "data/loader.h"
#include "data/tensor_dataset.h"
#include "tensor/all.h"
#include "tests/error_of.h"

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

/// The example's number, and what it drew from its key.
struct Drawing : data::DatasetOf<2> {
  int64_t count = 3;
  int64_t size() const override { return count; }
  Example get(int64_t index) const override { return sample(index, {}); }
  Example sample(int64_t index, RandomKey key) const override {
    return {tensor(index), tensor(static_cast<int64_t>(random_bits(key, 0)))};
  }
  bool is_random() const override { return true; }
};

// In an epoch that has an example several times, each is augmented anew; the first as where it comes once.
TEST(Sampler, ExamplesThatAreDrawnAgainHaveKeysOfTheirOwn) {
  Drawing dataset;
  const Numbers order = {2, 0, 2, 2, 0, 1};
  const auto draws = [&](const data::LoaderOptions& options, const std::string& position = "") {
    manual_seed(4);
    data::DataLoader loader(dataset, options);
    if (!position.empty()) loader.set_position(position);
    Numbers out;
    for (const auto& [index, drawn] : loader)
      for (const int64_t value : drawn.to_vector<int64_t>()) out.push_back(value);
    return out;
  };
  const data::LoaderOptions by_sampler = {.batch_size = 4, .sampler = data::subset(order)};
  const Numbers plain = draws({}), repeated = draws(by_sampler);
  EXPECT_EQ(std::set<int64_t>(repeated.begin(), repeated.end()).size(), order.size());
  EXPECT_EQ((Numbers{repeated[1], repeated[5], repeated[0]}), plain);
  const data::BatchSampler batches(
      [](RandomKey) {
        return data::BatchSampler::Batches{{2, 0, 2}, {2}, {0, 1}};
      },
      3, false);
  EXPECT_EQ(draws({.batch_sampler = batches, .workers = 2}), repeated);

  manual_seed(4);
  data::DataLoader loader(dataset, by_sampler);
  const auto first = loader.begin();
  EXPECT_EQ(draws(by_sampler, loader.position()), Numbers(repeated.begin() + 4, repeated.end()));

  dataset.count = int64_t{1} << 60;  // of which few are visited
  EXPECT_EQ(draws(by_sampler), repeated);
}

std::vector<Numbers> batches_of(data::DataLoader<1>& loader) {
  std::vector<Numbers> out;
  for (const auto& [x] : loader) out.push_back(x.to_vector<int64_t>());
  return out;
}

TEST(Sampler, RefusesAnEmptyFunctionAndMoreExamplesThanMemoryHolds) {
  EXPECT_EQ(error_of([] { data::Sampler(std::function<Numbers(RandomKey)>(), 3); }), "Sampler: the function is empty");
  EXPECT_EQ(error_of([] { data::BatchSampler(std::function<data::BatchSampler::Batches(RandomKey)>(), 3); }),
            "BatchSampler: the function is empty");
  EXPECT_EQ(error_of([] {
              data::Sampler([](const data::OrderRequest&) { return Numbers(); }, data::Sampler::Count(), false, 1);
            }),
            "Sampler: the function is empty");
  const char* const text = "out of memory: the order of 9223372036854775807 examples";
  EXPECT_EQ(error_of<MemoryError>([] { data::shuffled(INT64_MAX).order({}, INT64_MAX); }), text);
  EXPECT_EQ(error_of<MemoryError>([] { data::distributed(0, 2).order({}, INT64_MAX); }), text);
  EXPECT_EQ(error_of<MemoryError>([] { data::weighted({1}, {.count = INT64_MAX}).order({}, 1); }), text);
}

TEST(Sampler, RefusesADatasetOfMoreExamplesThanMemoryHolds) {
  struct Endless : data::DatasetOf<1> {
    int64_t size() const override { return INT64_MAX; }
    Example get(int64_t) const override { return {ones({1})}; }
  };
  const Endless endless;
  const char* const text = "out of memory: the order of 9223372036854775807 examples";
  data::DataLoader loader(endless);
  EXPECT_EQ(error_of<MemoryError>([&] { (void)loader.begin(); }), text);
  EXPECT_EQ(error_of<MemoryError>([&] { (void)endless.batch(0, INT64_MAX); }), text);
}

TEST(BatchSampler, GivesASamplersExamplesInBatches) {
  using Batches = data::BatchSampler::Batches;
  const data::BatchSampler all(data::sequential(10), 4), whole(data::sequential(10), 4, true);
  EXPECT_EQ(all.batches({}, 10), (Batches{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}));
  EXPECT_EQ(whole.batches({}, 10), (Batches{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_FALSE(all.is_random());
  EXPECT_TRUE(data::BatchSampler(data::shuffled(10), 3).is_random());
  data::DataLoader loader(ten(), {.batch_sampler = all});
  EXPECT_EQ(loader.size(), 3);
  EXPECT_EQ(batches_of(loader), all.batches({}, 10));
}

TEST(BatchSampler, MayGiveBatchesOfUnequalSizesAndResumes) {
  const data::BatchSampler buckets(
      [](RandomKey key) {
        const Numbers order = data::shuffled_order(key, 10);
        return data::BatchSampler::Batches{
            {order[0]}, {order.begin() + 1, order.begin() + 4}, {order.begin() + 4, order.end()}};
      },
      3);
  for (const int64_t workers : {0, 2}) {
    data::DataLoader loader(ten(), {.batch_sampler = buckets, .workers = workers});
    std::vector<Numbers> seen;
    std::string position;
    for (const auto& [x] : loader) {
      seen.push_back(x.to_vector<int64_t>());
      if (seen.size() == 1) position = loader.position();
    }
    ASSERT_EQ(seen.size(), 3u);
    EXPECT_EQ(seen[0].size(), 1u);
    EXPECT_EQ(seen[2].size(), 6u);
    data::DataLoader other(ten(), {.batch_sampler = buckets});
    other.set_position(position);
    EXPECT_EQ(batches_of(other), (std::vector<Numbers>{seen[1], seen[2]}));
    data::DataLoader plain(ten());
    EXPECT_THROW(plain.set_position(position), Error);
  }
}

TEST(BatchSampler, Errors) {
  using data::BatchSampler;
  const BatchSampler good(data::sequential(10), 4);
  EXPECT_EQ(error_of([] { BatchSampler(data::sequential(10), 0); }),
            "BatchSampler: batch_size must be 1 or more, not 0");
  EXPECT_EQ(error_of([] { BatchSampler(data::Sampler(), 2); }),
            "BatchSampler: it needs a sampler, like sequential(size) or shuffled(size)");
  EXPECT_EQ(error_of([&] { data::DataLoader(ten(), {.batch_size = 2, .batch_sampler = good}); }),
            "DataLoader: batch_sampler gives the batches itself; leave batch_size, shuffle, sampler and drop_last out");
  EXPECT_EQ(error_of([] {
              data::DataLoader(ten(), {.batch_sampler = BatchSampler(data::weighted({1, 1}), 1)});
            }),
            "Sampler: it is for 2 examples, the dataset has 10");
  const auto given = [](BatchSampler::Batches batches, int64_t count) {
    return error_of([&] { (void)BatchSampler([batches](RandomKey) { return batches; }, count).batches({}, 10); });
  };
  EXPECT_EQ(given({{1}}, 2), "BatchSampler: it gave 1 batches, not 2");
  EXPECT_EQ(given({{1}, {}}, 2), "BatchSampler: it gave an empty batch");
  EXPECT_EQ(given({{1}, {10}}, 2), "BatchSampler: example 10 of a dataset of 10");
  EXPECT_EQ(given({}, -1), "BatchSampler: count must be 0 or more, not -1");
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

TEST(ClassBalanced, DrawsAllClassesEquallyOften) {
  const Tensor labels = where(arange(100) < 90, 0, where(arange(100) < 98, 5, -3));  // 90, 8 and 2
  const std::vector<int64_t> drawn = data::class_balanced(labels, {.count = 3000}).order(RandomKey{1, 0}, 100);
  std::map<int64_t, int> counts;
  for (const int64_t i : drawn) ++counts[labels[i].item<int64_t>()];
  for (const int64_t label : {0, 5, -3}) EXPECT_NEAR(counts[label], 1000, 100) << label;
  EXPECT_EQ(data::class_balanced(labels).count(), 100);
  EXPECT_EQ(error_of<ShapeError>([] {
              (void)data::class_balanced(zeros({2, 2}, i64));
            }),
            "class_balanced([2, 2] i64): labels are a list, one for each example, not [2, 2]");
}

}  // namespace
}  // namespace weft
