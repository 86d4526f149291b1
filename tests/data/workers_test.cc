// DataLoader with several workers: the same batches, errors where they belong, and threads that end.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "autograd/grad_mode.h"
#include "autograd/leaf.h"
#include "data/loader.h"
#include "data/transform.h"
#include "tensor/all.h"
#include "tensor/autocast.h"
#include "tests/error_of.h"
#include "tests/tensor/task_count.h"

namespace weft {
namespace {

/// Example i is {i, 10 i}; some take longer than others, example `bad` throws.
class Slow : public data::Dataset {
 public:
  explicit Slow(int64_t size, int64_t bad = -1) : size_(size), bad_(bad) {}
  int64_t size() const override { return size_; }
  Example get(int64_t i) const override {
    ++asked;
    if (i % 7 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    if (i == bad_) throw IndexError("this example is bad");
    return {tensor({i}), tensor({10.0 * static_cast<double>(i)})};
  }
  static inline std::atomic<int64_t> asked = 0;

 private:
  int64_t size_, bad_;
};

std::vector<int64_t> epoch(data::DataLoader<2>& loader) {
  std::vector<int64_t> out;
  for (const auto& [x, y] : loader)
    for (const int64_t value : x.to_vector<int64_t>()) out.push_back(value);
  return out;
}

struct Noisy : data::Dataset {
  int64_t size() const override { return 8; }
  Example get(int64_t) const override { return {randn({2}), zeros({1})}; }
};

TEST(Workers, RefuseDrawsWhoseOrderIsOpen) {
  data::DataLoader alone(Noisy(), {.batch_size = 4}), shared(Noisy(), {.batch_size = 4, .workers = 2});
  EXPECT_EQ(epoch(alone).size(), 16u);
  EXPECT_EQ(error_of([&] { epoch(shared); }),
            "randn(): a dataset draws from the default generator on a loader's thread, where the order of draws is "
            "left open; "
            "override sample() and is_random(), and draw from its key");
}

TEST(Workers, AProfilerSeesHowLongABatchIsWaitedFor) {
  for (const int workers : {0, 2}) {
    data::DataLoader loader(Slow(20), {.batch_size = 5, .workers = workers});
    Profiler profiler;
    {
      const ProfilerScope scope(profiler);
      EXPECT_EQ(epoch(loader).size(), 20u);
    }
    int64_t waits = 0, stacked = 0;
    for (const ProfilerEvent& event : profiler.events()) {
      waits += event.name == "DataLoader.next";
      stacked += event.name == "stack" || event.name == "cat";
    }
    EXPECT_EQ(waits, 4) << workers;
    EXPECT_EQ(stacked, workers == 0 ? 8 : 0) << "a worker's ops are on its own thread";
  }
}

TEST(Workers, AndPrefetchingChangeNothing) {
  const auto noise = [](const Tensor& x, RandomKey key) {
    return x + static_cast<int64_t>(random_bits(key, 0) % 1000) * 1000;
  };
  std::vector<int64_t> expected;
  const std::vector<std::pair<int64_t, int64_t>> ways = {{0, 0}, {1, 0}, {2, 0}, {50, 0},
                                                         {0, 1}, {0, 2}, {0, 5}, {0, 40}};
  for (const auto& [prefetch, workers] : ways) {
    manual_seed(5);
    data::DataLoader loader(data::map(Slow(60), noise),
                            {.batch_size = 4, .shuffle = true, .prefetch = prefetch, .workers = workers});
    auto found = epoch(loader);
    const auto second = epoch(loader);
    found.insert(found.end(), second.begin(), second.end());
    if (expected.empty()) expected = found;
    EXPECT_EQ(found, expected) << prefetch << " and " << workers;
    EXPECT_EQ(random_state().offset, 2u);  // one block per epoch, drawn on this thread
  }
}

/// Its examples tell the modes they were made in.
struct OfModes : data::Dataset {
  int64_t size() const override { return 8; }
  Example get(int64_t) const override {
    const Tensor product = matmul(ones({2, 2}), parameter(ones({2, 2})));
    return {tensor({product.requires_grad()}), tensor({product.dtype() == f16})};
  }
};

TEST(Workers, MakeBatchesInTheModesOfTheLoop) {
  const NoGrad guard;
  const Autocast autocast(f16);
  for (const int64_t workers : {0, 2}) {
    data::DataLoader loader(OfModes(), {.batch_size = 4, .workers = workers});
    for (const auto& [recorded, cast] : loader) {
      EXPECT_FALSE(any(recorded).item<bool>()) << workers;
      EXPECT_TRUE(all(cast).item<bool>()) << workers;
    }
  }
}

TEST(Workers, ErrorsComeAfterTheBatchesBefore) {
  for (const int64_t workers : {1, 2, 4}) {
    data::DataLoader loader(Slow(40, 14), {.batch_size = 2, .prefetch = 8, .workers = workers});
    for (int run = 0; run < 2; ++run) {
      int64_t batches = 0;
      EXPECT_THROW(for (const auto& [x, y] : loader) batches += x.numel() == y.numel(), IndexError);
      EXPECT_EQ(batches, 7);
    }
  }
}

TEST(Workers, EndWithTheLoop) {
  const int64_t before = weft::testing::task_count();
  for (int run = 0; run < 5; ++run) {
    data::DataLoader loader(Slow(1000), {.batch_size = 2, .workers = 3});
    int batches = 0;
    for (const auto& batch : loader) {
      batches += batch[0].defined() ? 1 : 0;
      if (batches == 2) break;
    }
    EXPECT_EQ(weft::testing::task_count(), before);
  }
}

TEST(Workers, StayWithinTheirLead) {
  data::DataLoader loader(Slow(1000), {.batch_size = 1, .prefetch = 5, .workers = 3});
  Slow::asked = 0;
  auto it = loader.begin();
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_LE(Slow::asked, 6);  // the one handed out, and five
  EXPECT_EQ((*it)[0].item<int>(), 0);
}

TEST(Workers, GoOnInTheMiddleOfAnEpoch) {
  manual_seed(8);
  data::DataLoader loader(Slow(30), {.batch_size = 4, .shuffle = true, .workers = 3});
  std::vector<int64_t> rest;
  std::string position;
  int batches = 0;
  for (const auto& [x, y] : loader) {
    if (!position.empty())
      for (const int64_t value : x.to_vector<int64_t>()) rest.push_back(value);
    if (++batches == 3) position = loader.position();
  }
  loader.set_position(position);
  EXPECT_EQ(epoch(loader), rest);
}

/// Example i is {i, i}, once `fails` of them have thrown.
struct Unreliable : data::Dataset {
  mutable std::atomic<int> fails = 0;
  int64_t size() const override { return 10; }
  Example get(int64_t i) const override {
    if (fails > 0 && fails-- > 0) throw IoError("not yet");
    return {tensor({i}), tensor({i})};
  }
};

TEST(Workers, AnEpochThatIsResumedIsResumedByTheNextTryIfItsFirstBatchFails) {
  for (const int64_t workers : {0, 1}) {  // that begin with the first batch
    const Unreliable dataset;
    data::DataLoader loader(dataset, {.batch_size = 2, .shuffle = true, .workers = workers});
    const std::string position = [&] {
      auto at = loader.begin();
      return loader.position();
    }();
    loader.set_position(position);
    const std::vector<int64_t> rest = epoch(loader);
    loader.set_position(position);
    dataset.fails = 1;
    EXPECT_THROW((void)loader.begin(), IoError);
    EXPECT_EQ(loader.position(), position);
    EXPECT_EQ(epoch(loader), rest) << workers;
  }
}

TEST(Workers, BadOptions) {
  EXPECT_THROW(data::DataLoader(Slow(3), {.workers = -1}), Error);
  data::DataLoader none(Slow(0), {.workers = 2});
  EXPECT_TRUE(epoch(none).empty());
}

}  // namespace
}  // namespace weft
