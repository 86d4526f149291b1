// The position of a DataLoader, from which an epoch is resumed.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "data/loader.h"
#include "data/transform.h"
#include "tensor/all.h"
#include "tests/data/numbers.h"

namespace weft {
namespace {

TEST(DataLoader, PositionResumesInTheMiddleOfAnEpoch) {
  const auto noise = [](const Tensor& x, RandomKey key) {
    return x + static_cast<int64_t>(random_bits(key, 0) % 1000) * 1000;
  };
  const auto dataset = data::map(Numbers(40), noise);
  for (const int64_t prefetch : {0, 3}) {
    const data::LoaderOptions options = {.batch_size = 4, .shuffle = true, .prefetch = prefetch};
    for (const size_t stop : {1, 5, 10}) {
      manual_seed(9);
      data::DataLoader straight(dataset, options);
      auto expected = epoch(straight);
      const auto next = epoch(straight);
      expected.insert(expected.end(), next.begin(), next.end());

      manual_seed(9);
      data::DataLoader first(dataset, options);
      std::vector<std::vector<int64_t>> found;
      std::string position;
      RandomState state;
      for (const auto& batch : first) {
        found.push_back(batch[0].to_vector<int64_t>());
        if (found.size() < stop) continue;
        position = first.position();
        state = random_state();
        break;
      }
      manual_seed(1234);
      set_random_state(state);
      data::DataLoader second(dataset, options);
      second.set_position(position);
      EXPECT_EQ(second.position(), position);
      for (int i = 0; i < 2; ++i) {
        const auto rest = epoch(second);
        found.insert(found.end(), rest.begin(), rest.end());
      }
      EXPECT_EQ(found, expected) << stop;
    }
  }
}

TEST(DataLoader, PositionBetweenEpochsStartsANewOne) {
  manual_seed(2);
  data::DataLoader loader(Numbers(10), {.shuffle = true});
  epoch(loader);
  const std::string position = loader.position();
  const RandomState state = random_state();
  const auto expected = epoch(loader);
  set_random_state(state);
  data::DataLoader other(Numbers(10), {.shuffle = true});
  other.set_position(position);
  EXPECT_EQ(epoch(other), expected);
}

TEST(DataLoader, AnEpochThatDidNotBeginIsResumedByTheNextTry) {
  bool fails = false;
  const data::Sampler sampler(
      [&](RandomKey key) {
        if (fails) throw Error("the ranks differ");
        return data::shuffled_order(key, 10);
      },
      10);
  data::DataLoader loader(Numbers(10), {.batch_size = 2, .sampler = sampler});
  std::vector<std::vector<int64_t>> all;
  std::string position;
  for (const auto& batch : loader) {
    all.push_back(batch[0].to_vector<int64_t>());
    if (all.size() == 3) position = loader.position();
  }
  loader.set_position(position);
  fails = true;
  EXPECT_THROW(loader.begin(), Error);
  EXPECT_EQ(loader.position(), position);
  fails = false;
  EXPECT_EQ(epoch(loader), (std::vector<std::vector<int64_t>>{all[3], all[4]}));
}

TEST(DataLoader, PositionOfAnotherLoaderIsAnErrorAndChangesNothing) {
  data::DataLoader loader(Numbers(10), {.batch_size = 2, .shuffle = true});
  const std::string before = loader.position();
  const auto position = [](int64_t size, const data::LoaderOptions& options) {
    return data::DataLoader(Numbers(size), options).position();
  };
  for (const std::string& bad :
       {position(11, {.batch_size = 2, .shuffle = true}), position(10, {.batch_size = 3, .shuffle = true}),
        position(10, {.batch_size = 2}), position(10, {.batch_size = 2, .shuffle = true, .drop_last = true}),
        std::string(), std::string("loader 1 "), std::string("loader 1 10 2 1 0 1 7 0 6"),
        std::string("loader 1 10 2 1 0 1 7 0"), std::string("loader 1 10 2 1 0 1 7 0 1 "),
        std::string("loader 1 10 2 1 0 1 7 0 -1"), std::string("loader 1 10 2 1 0 1 7 0 18446744073709551616"),
        std::string("loader 2 10 2 1 0 1 7 0 1")}) {
    EXPECT_THROW(loader.set_position(bad), Error) << bad;
    EXPECT_EQ(loader.position(), before);
  }
  // Of another sampler: of the same kind, with another number of examples or other batches.
  const auto by = [](data::Sampler sampler, int64_t batch) {
    return data::LoaderOptions{.batch_size = batch, .sampler = std::move(sampler)};
  };
  const auto in_batches = [](int64_t batch, bool drop_last = false) {
    return data::LoaderOptions{.batch_sampler = data::BatchSampler(data::sequential(10), batch, drop_last)};
  };
  data::DataLoader five(Numbers(10), by(data::subset({0, 1, 2, 3, 4}), 2)), pairs(Numbers(10), in_batches(2));
  EXPECT_THROW(five.set_position(position(10, by(data::subset({5, 4, 3, 2, 1, 0}), 2))), Error);
  EXPECT_NO_THROW(five.set_position(position(10, by(data::subset({4, 3, 2, 1, 0}), 2))));
  EXPECT_THROW(five.set_position("loader 1 10 2 2 0 1 7 0 1"), Error);
  EXPECT_THROW(pairs.set_position(position(10, in_batches(3))), Error);
  EXPECT_THROW(pairs.set_position(position(10, in_batches(2, true))), Error);
  EXPECT_NO_THROW(pairs.set_position(position(10, in_batches(2))));
  EXPECT_NO_THROW(data::DataLoader(Numbers(10), by(data::distributed(1, 2), 2))
                      .set_position(position(10, by(data::distributed(0, 4), 1))));
  EXPECT_THROW(loader.set_position("loader 1 10 2 1 0 1 7 0 5 5"), Error);
  loader.set_position("loader 1 10 2 1 0 1 7 0 5");
  EXPECT_EQ(epoch(loader).size(), 0u);
  EXPECT_EQ(epoch(loader).size(), 5u);
}

}  // namespace
}  // namespace weft
