// DataLoader: order, prefetching, errors and lifetimes.
#include "data/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "data/subset.h"
#include "data/tensor_dataset.h"
#include "data/transform.h"
#include "tensor/all.h"
#include "tests/data/numbers.h"
#include "tests/error_of.h"
#include "tests/in_child.h"
#include "tests/tensor/task_count.h"

namespace weft {
namespace {

std::vector<int64_t> flat(const std::vector<std::vector<int64_t>>& batches) {
  std::vector<int64_t> out;
  for (const auto& batch : batches) out.insert(out.end(), batch.begin(), batch.end());
  return out;
}

TEST(DataLoader, BatchesInOrder) {
  const Numbers numbers(7);
  data::DataLoader loader(numbers, {.batch_size = 3});
  EXPECT_EQ(loader.size(), 3);
  EXPECT_EQ(epoch(loader), (std::vector<std::vector<int64_t>>{{0, 1, 2}, {3, 4, 5}, {6}}));
  for (const auto& [first, second] : data::DataLoader(numbers, {.batch_size = 2})) {
    EXPECT_EQ(first.dtype(), i64);
    EXPECT_TRUE(equal(first.to(f32) * 10.0, second));
    EXPECT_EQ(first.rank(), 2);  // (batch, 1)
  }
}

TEST(DataLoader, DropLast) {
  const Numbers numbers(7);
  data::DataLoader loader(numbers, {.batch_size = 3, .drop_last = true});
  EXPECT_EQ(loader.size(), 2);
  EXPECT_EQ(epoch(loader).size(), 2u);
  data::DataLoader all(Numbers(6), {.batch_size = 3, .drop_last = true});
  EXPECT_EQ(epoch(all).size(), 2u);
  data::DataLoader none(Numbers(2), {.batch_size = 3, .drop_last = true});
  EXPECT_EQ(epoch(none).size(), 0u);
}

TEST(DataLoader, EmptyDatasetAndBadOptions) {
  for (const int64_t prefetch : {0, 2}) {
    data::DataLoader loader(Numbers(0), {.batch_size = 3, .shuffle = true, .prefetch = prefetch});
    EXPECT_EQ(epoch(loader).size(), 0u);
  }
  EXPECT_THROW(data::DataLoader(Numbers(1), {.batch_size = 0}), Error);
  EXPECT_THROW(data::DataLoader(Numbers(1), {.batch_size = -1}), Error);
  EXPECT_THROW(data::DataLoader(Numbers(1), {.prefetch = -1}), Error);
}

TEST(DataLoader, ShuffleVisitsAllOnceAndDiffersPerEpoch) {
  manual_seed(3);
  data::DataLoader loader(Numbers(100), {.batch_size = 8, .shuffle = true});
  const std::vector<int64_t> first = flat(epoch(loader)), second = flat(epoch(loader));
  EXPECT_NE(first, second);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  for (const auto& order : {first, second}) EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()).size(), 100u);
  manual_seed(3);
  EXPECT_EQ(flat(epoch(loader)), first);
}

TEST(DataLoader, DrawsFromTheGeneratorThatIsGiven) {
  Generator generator(3);
  data::DataLoader loader(Numbers(20), {.batch_size = 4, .shuffle = true, .generator = &generator});
  manual_seed(1);
  const auto first = epoch(loader);
  EXPECT_EQ(random_state(), (RandomState{1, 0}));
  EXPECT_NE(epoch(loader), first);
  generator.manual_seed(3);
  EXPECT_EQ(epoch(loader), first);
  const auto split = [&] { return data::random_split(Numbers(9), {4, 5}, {.generator = &generator})[0].indices(); };
  const auto part = split();
  EXPECT_EQ(random_state(), (RandomState{1, 0}));
  EXPECT_NE(split(), part);
}

TEST(DataLoader, ShuffleIsUniform) {
  // Every example in every place, about equally often: 5 x 5 counts around 1000, five deviations of 28.
  int count[5][5] = {};
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    const std::vector<int64_t> order = data::shuffled_order({seed, 0}, 5);
    for (size_t place = 0; place < 5; ++place) ++count[place][order[place]];
  }
  for (const auto& row : count)
    for (const int n : row) EXPECT_NEAR(n, 1000, 145);
}

TEST(DataLoader, WithoutShuffleNothingIsDrawn) {
  manual_seed(1);
  data::DataLoader loader(Numbers(5));
  epoch(loader);
  EXPECT_EQ(random_state(), (RandomState{1, 0}));
}

TEST(DataLoader, ExceptionReachesTheCallerAfterTheBatchesBeforeIt) {
  for (const int64_t prefetch : {0, 1, 3}) {
    const Numbers numbers(9, 5);
    data::DataLoader loader(numbers, {.batch_size = 2, .prefetch = prefetch});
    int batches = 0;
    try {
      for (const auto& [first, second] : loader) batches += first.numel() == second.numel();
      ADD_FAILURE();
    } catch (const IndexError& error) {
      EXPECT_STREQ(error.what(), "example 5 is bad");
    }
    EXPECT_EQ(batches, 2);
    int again = 0;
    EXPECT_THROW(for (const auto& batch : loader) again += batch[0].defined(), IndexError);
    EXPECT_EQ(again, 2);
  }
}

// Hazard: OpenMP entered from the loader's thread while the main thread trains would start a second team.
TEST(DataLoader, TheThreadBehindItRunsItsOpsSerially) {
  struct Counting : data::DatasetOf<1> {
    int64_t size() const override { return 4; }
    Example get(int64_t) const override {
      const int64_t before = testing::task_count();
      Tensor x = ones({int64_t{1} << 20}) + 1.0;
      return {tensor({testing::task_count() - before}) + 0 * x[0].to(i64)};
    }
  };
  const int before = num_threads();
  set_num_threads(2);
  (void)(ones({int64_t{1} << 20}) + 1.0);  // the main thread's team is there
  for (const auto& [more] : data::DataLoader(Counting(), {.prefetch = 1})) EXPECT_EQ(more.item<int64_t>(), 0);
  set_num_threads(before);
}

TEST(DataLoader, BreakJoinsTheThread) {
  for (int round = 0; round < 50; ++round) {
    data::DataLoader loader(Numbers(1000), {.batch_size = 1, .prefetch = 4});
    int seen = 0;
    for (const auto& batch : loader)
      if (seen += static_cast<int>(batch[0].numel()); seen == 3) break;
    EXPECT_EQ(seen, 3);
  }
  EXPECT_EQ(Numbers::alive, 0);
}

// The threads of workers do not exist in a child of fork().
TEST(DataLoader, AForkedChildLeavesTheLoop) {
  data::DataLoader loader(Numbers(1000), {.batch_size = 1, .workers = 2});
  std::optional batches(loader.begin());
  EXPECT_EQ(in_child([&] {
              const std::string why = error_of([&] {
                for (int i = 0; i < 10; ++i) ++*batches;
              });
              batches.reset();
              int seen = why.find("iterate anew in the child") == std::string::npos ? 10 : 0;
              for (const auto& batch : loader)
                if (seen += static_cast<int>(batch[0].numel()); seen % 10 == 3) break;
              return seen;
            }),
            3);
  ++*batches;
  EXPECT_EQ((**batches)[0].item<int64_t>(), 1) << "the parent's threads go on";
}

TEST(DataLoader, TemporariesLiveAsLongAsTheLoader) {
  const auto make = [] { return Numbers(4); };
  int64_t sum = 0;
  for (const auto& [first, second] : data::DataLoader(make(), {.prefetch = 1}))
    sum += first.item<int64_t>() * (second.numel());
  EXPECT_EQ(sum, 6);
  {
    data::DataLoader loader(
        data::map(data::map(make(), [](const Tensor& x) { return x * 2; }), [](const Tensor& x) { return x + 1; }));
    EXPECT_EQ(Numbers::alive, 1);
    EXPECT_EQ(flat(epoch(loader)), (std::vector<int64_t>{1, 3, 5, 7}));
  }
  EXPECT_EQ(Numbers::alive, 0);
  const Numbers numbers(4);
  data::DataLoader loader(numbers);
  EXPECT_EQ(Numbers::alive, 1);  // by reference: no copy was made
}

TEST(DataLoader, OneTensorAndThree) {
  int batches = 0;
  for (const auto& [x] : data::DataLoader(data::TensorDataset(arange(6).view({3, 2})), {.batch_size = 2})) {
    EXPECT_EQ(x.size(1), 2);
    ++batches;
  }
  EXPECT_EQ(batches, 2);
  struct Triples : data::DatasetOf<3> {
    int64_t size() const override { return 2; }
    Example get(int64_t i) const override { return {tensor({i}), tensor({1.0}), ones({2, 2})}; }
  };
  for (const auto& [a, b, c] : data::DataLoader(Triples(), {.batch_size = 2})) {
    EXPECT_EQ(a.shape(), (Shape{2, 1}));
    EXPECT_EQ(b.dtype(), f32);
    EXPECT_EQ(c.shape(), (Shape{2, 2, 2}));
  }
}

TEST(DataLoader, ExamplesOfDifferentShapesAreAnError) {
  struct Ragged : data::DatasetOf<1> {
    int64_t size() const override { return 2; }
    Example get(int64_t i) const override { return {ones({i + 1})}; }
  };
  data::DataLoader loader(Ragged(), {.batch_size = 2, .prefetch = 1});
  EXPECT_THROW(loader.begin(), ShapeError);
}

TEST(DataLoader, TwoIteratorsEachSeeAllAndPositionIsTheLastOnes) {
  for (const int64_t prefetch : {0, 2}) {
    data::DataLoader loader(Numbers(10), {.batch_size = 2, .shuffle = true, .prefetch = prefetch});
    std::vector<int64_t> outer;
    for (const auto& batch : loader) {
      outer.push_back(batch[0].reshape({-1}).to_vector<int64_t>()[0]);
      auto inner = loader.begin();
      const std::string position = loader.position();
      if (outer.size() == 1) {
        // What is read of the outer epoch, its end too, moves the position of the inner one no more.
        auto rest = loader.begin();
        const std::string newest = loader.position();
        while (inner != loader.end()) ++inner;
        EXPECT_EQ(loader.position(), newest);
        while (rest != loader.end()) ++rest;
        EXPECT_NE(loader.position(), newest);
      } else {
        EXPECT_EQ(inner->at(0).size(0), 2);
        EXPECT_EQ(loader.position(), position);
      }
    }
    EXPECT_EQ(outer.size(), 5u);

    auto begun = loader.begin();
    data::DataLoader fresh(Numbers(10), {.batch_size = 2, .shuffle = true});
    const std::string position = fresh.position();
    loader.set_position(position);
    ++begun;
    EXPECT_EQ(loader.position(), position);
  }
}

TEST(DataLoader, TheFirstBatchOutlivesItsIterator) {
  data::DataLoader loader(Numbers(4), {.batch_size = 2});
  const auto& [first, second] = *loader.begin();
  const Tensor other = full({64}, 7.0);  // would take the memory of a batch that is gone
  EXPECT_EQ(first.to_vector<int64_t>(), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(second.to_vector<double>(), (std::vector<double>{0, 10}));
}

// As a buffer of experience: each epoch visits what there is when it begins.
struct Buffer : data::DatasetOf<1> {
  std::vector<int64_t> values;
  int64_t size() const override { return static_cast<int64_t>(values.size()); }
  Example get(int64_t index) const override { return {tensor(values.at(static_cast<size_t>(index)))}; }
};

TEST(DataLoader, ADatasetMayGrowAndShrinkBetweenEpochs) {
  Buffer buffer;
  data::DataLoader loader(buffer, {.batch_size = 2}), shuffled(buffer, {.shuffle = true, .workers = 2}),
      sampled(buffer, {.sampler = data::weighted({})});
  EXPECT_EQ(loader.size(), 0);
  for (const std::vector<int64_t>& values : {std::vector<int64_t>{4, 5, 6}, {7}, {}}) {
    buffer.values = values;
    EXPECT_EQ(flat(epoch(loader)), values);
    EXPECT_EQ(loader.size(), (buffer.size() + 1) / 2);
    std::vector<int64_t> all = flat(epoch(shuffled));
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, values);
  }
  buffer.values = {1, 2};
  EXPECT_EQ(error_of([&] { sampled.begin(); }), "Sampler: it is for 0 examples, the dataset has 2");
}

TEST(DataLoader, APositionIsOfTheDatasetAsItIs) {
  Buffer buffer, restored;
  data::DataLoader loader(buffer, {.batch_size = 2}), resumed(restored, {.batch_size = 2});
  buffer.values = {1, 2, 3};
  EXPECT_EQ(epoch(loader).size(), 2u);
  buffer.values = restored.values = {4};
  resumed.set_position(loader.position());  // it has grown since `resumed` was made, and shrunk since the last epoch
  EXPECT_EQ(flat(epoch(resumed)), buffer.values);
  buffer.values = {5, 6, 7, 8};
  const auto at = loader.begin();
  const std::string position = loader.position();
  buffer.values = {1, 2};
  EXPECT_EQ(loader.position(), position);
  EXPECT_EQ(error_of([&] { loader.set_position(position); }),
            "set_position: it is of a dataset of 4 examples, this one has 2");
  restored.values = {5, 6, 7, 8};
  resumed.set_position(position);
  EXPECT_EQ(resumed.size(), 2);
  restored.values = {5};
  EXPECT_EQ(error_of([&] { resumed.begin(); }),
            "DataLoader: the epoch to resume is of a dataset of 4 examples, which has 1 now");
}

// The sampler of a distributed loader throws where ranks differ.
TEST(DataLoader, AnEpochOfAGrownDatasetThatDidNotBeginLeavesThePosition) {
  bool fails = false;
  const data::DistributedOptions options = {.shuffle = true, .agree = [&](RandomKey) {
                                              if (fails) throw Error("the ranks differ");
                                            }};
  Buffer buffer;
  buffer.values = {1, 2, 3, 4};
  data::DataLoader loader(buffer, {.batch_size = 2, .sampler = data::distributed(0, 1, options)});
  const auto at = loader.begin();
  const std::string position = loader.position();
  buffer.values = {1, 2, 3, 4, 5, 6};
  fails = true;
  EXPECT_EQ(error_of([&] { loader.begin(); }), "the ranks differ");
  EXPECT_EQ(loader.position(), position);
  EXPECT_EQ(loader.size(), 2);
}

// Where a loop goes beyond the end, or on after an exception, it must not see the last batch again.
TEST(DataLoader, AnIteratorWithoutABatchGivesNone) {
  for (const int64_t workers : {0, 2}) {
    data::DataLoader loader(data::TensorDataset(arange(3)), {.batch_size = 2, .workers = workers});
    auto at = loader.begin();
    EXPECT_EQ((*++at)[0].to_vector<int64_t>(), std::vector<int64_t>{2});
    EXPECT_EQ(++at, loader.end());
    const std::string ended = "data loader: the epoch has ended; its iterator has no further batch";
    EXPECT_EQ(error_of([&] { (void)*at; }), ended);
    EXPECT_EQ(error_of([&] { (void)at->size(); }), ended);
    EXPECT_EQ(error_of([&] { (void)*std::move(at); }), ended);
  }
  struct OneOnly : data::DatasetOf<1> {
    int64_t size() const override { return 2; }
    Example get(int64_t index) const override { return index == 0 ? Example{ones({})} : throw Error("a hole"); }
  };
  data::DataLoader loader(OneOnly{});
  auto at = loader.begin();
  EXPECT_EQ(error_of([&] { ++at; }), "a hole");
  EXPECT_FALSE((*at)[0].defined());
}

TEST(DataLoader, ADatasetThatHasEndedIsAnError) {
  auto dataset = std::make_unique<Numbers>(4);
  data::DataLoader loader(*dataset, {.batch_size = 2});
  const auto mapped = data::map(*dataset, [](const Tensor& x) { return x; });
  // A copy has a life of its own, what is given away lives on.
  const Numbers copy = *dataset;
  data::DataLoader of_copy(copy, {.batch_size = 4}), of_given(std::move(*dataset), {.batch_size = 4});
  EXPECT_EQ(epoch(loader).size(), 2u);
  dataset.reset();
  EXPECT_THROW(loader.begin(), Error);
  EXPECT_THROW(mapped.get(0), Error);
  EXPECT_EQ(epoch(of_copy).size(), 1u);
  EXPECT_EQ(epoch(of_given).size(), 1u);
}

TEST(DataLoader, HugeNumbers) {
  for (const data::LoaderOptions& options :
       {data::LoaderOptions{.prefetch = INT64_MAX}, data::LoaderOptions{.workers = INT64_MAX},
        data::LoaderOptions{.prefetch = INT64_MAX, .workers = 2}}) {
    data::DataLoader loader(Numbers(10), options);
    loader.set_position("loader 1 10 1 0 0 1 0 0 4");
    EXPECT_EQ(epoch(loader).size(), 6u);
    EXPECT_EQ(epoch(loader).size(), 10u);
  }
  EXPECT_THROW(data::DataLoader(Numbers(10), {.batch_size = INT64_MAX, .sampler = data::distributed(0, 2)}), Error);
  EXPECT_THROW(data::BatchSampler(data::distributed(0, 2), INT64_MAX), Error);
  EXPECT_EQ(data::distributed(5, INT64_MAX).count(10, false), 1);
}

}  // namespace
}  // namespace weft
