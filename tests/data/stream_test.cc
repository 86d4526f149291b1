// Streams and their loader: batches, workers, errors, and positions.
#include "data/stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tensor/all.h"
#include "tests/error_of.h"
#include "tests/in_child.h"

namespace weft {
namespace {

using Numbers = std::vector<int64_t>;
using Batches = std::vector<Numbers>;

/// 0 .. count - 1, some of which take longer to prepare; at `bad`, next() or prepare() throws.
struct Counting : data::Stream {
  int64_t count, bad_read = -1, bad_prepare = -1;
  explicit Counting(int64_t n) : count(n) {}
  struct Reader : Pass {
    const Counting* of;
    int64_t i = 0;
    bool ended = false;
    explicit Reader(const Counting* stream) : of(stream) {}
    std::optional<Example> next() override {
      EXPECT_FALSE(ended) << "next() is not called after the end";
      ended = i == of->count || i == of->bad_read;
      if (i == of->bad_read) throw IndexError("this example is bad");
      if (ended) return std::nullopt;
      return Example{tensor({i++}), tensor({0.0})};
    }
  };
  Owned<Pass> begin(RandomKey) const override { return Owned<Pass>(new Reader(this)); }
  Example prepare(Example example, RandomKey) const override {
    const auto i = example[0].item<int64_t>();
    if (i == bad_prepare) throw IndexError("this example cannot be prepared");
    if (i % 5 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return {example[0], example[0] * 10};
  }
};

template <size_t N> Batches epoch(data::StreamLoader<N>& loader) {
  Batches out;
  for (const auto& batch : loader) out.push_back(batch[0].template to_vector<int64_t>());
  return out;
}

TEST(StreamLoader, GivesTheSameBatchesWithAnyNumberOfWorkers) {
  for (const int64_t count : {0, 3, 12, 14}) {
    const Counting stream(count);
    for (const bool drop_last : {false, true}) {
      Batches expected;
      for (int64_t i = 0; i + (drop_last ? 4 : 1) <= count; i += 4)
        expected.push_back(arange(i, std::min(count, i + 4)).to_vector<int64_t>());
      for (const int64_t workers : {0, 1, 2, 5}) {
        data::StreamLoader loader(stream, {.batch_size = 4, .drop_last = drop_last, .workers = workers});
        for (int i = 0; i < 2; ++i) EXPECT_EQ(epoch(loader), expected) << count << ' ' << workers;
      }
    }
  }
}

TEST(StreamLoader, PreparesAndCombines) {
  data::StreamLoader loader(Counting(3), {.batch_size = 2, .prefetch = 1});
  auto batch = loader.begin();
  EXPECT_EQ((*batch)[1].to_vector<int64_t>(), (Numbers{0, 10}));
  EXPECT_EQ((*batch)[1].shape(), Shape({2, 1}));
  ++batch;
  EXPECT_EQ((*batch)[1].to_vector<int64_t>(), Numbers{20});
  ++batch;
  EXPECT_TRUE(batch == loader.end());
}

TEST(StreamLoader, OfAFunction) {
  const auto numbers = data::stream([] {
    return [i = 0]() mutable -> std::optional<std::array<Tensor, 1>> {
      if (i == 5) return std::nullopt;
      return std::array{tensor({i++})};
    };
  });
  data::StreamLoader loader(numbers, {.batch_size = 2, .workers = 2});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(epoch(loader), (Batches{{0, 1}, {2, 3}, {4}}));
}

/// Random numbers without an end.
struct Noise : data::StreamOf<1> {
  struct Reader : Pass {
    RandomKey key;
    uint64_t i = 0;
    explicit Reader(RandomKey given) : key(given) {}
    std::optional<Example> next() override { return Example{tensor({int64_t{random_bits(key, i++) % 1000}})}; }
  };
  Owned<Pass> begin(RandomKey key) const override { return Owned<Pass>(new Reader(key)); }
  Example prepare(Example example, RandomKey key) const override {
    return {example[0] * 1000 + int64_t{random_bits(key, 0) % 1000}};
  }
  bool is_random() const override { return true; }
};

Batches first_batches(data::StreamLoader<1>& loader, size_t count) {
  Batches out;
  for (const auto& [x] : loader) {
    out.push_back(x.to_vector<int64_t>());
    if (out.size() == count) break;
  }
  return out;
}

TEST(StreamLoader, HasAKeyForEachEpochAndEndsWithoutTheStream) {
  Batches first, second;
  for (const int64_t workers : {0, 1, 3}) {
    manual_seed(5);
    data::StreamLoader loader(Noise(), {.batch_size = 3, .workers = workers});
    const Batches a = first_batches(loader, 4), b = first_batches(loader, 4);
    EXPECT_NE(a, b);
    if (workers == 0) first = a, second = b;
    EXPECT_EQ(a, first);
    EXPECT_EQ(b, second);
  }
}

TEST(StreamLoader, ResumesAnEpoch) {
  manual_seed(6);
  data::StreamLoader whole(Noise(), {.batch_size = 3}), rest(Noise(), {.batch_size = 3, .workers = 2});
  const Batches expected = first_batches(whole, 5);
  manual_seed(6);
  data::StreamLoader broken(Noise(), {.batch_size = 3});
  (void)first_batches(broken, 2);
  rest.set_position(broken.position());
  EXPECT_EQ(rest.position(), broken.position());
  EXPECT_EQ(first_batches(rest, 3), Batches(expected.begin() + 2, expected.end()));
  EXPECT_NE(first_batches(rest, 3), Batches(expected.begin() + 2, expected.end()));
}

TEST(StreamLoader, ResumesAtTheEnd) {
  const Counting stream(4);
  data::StreamLoader loader(stream, {.batch_size = 2}), other(stream, {.batch_size = 2});
  auto batch = loader.begin();
  ++batch;
  other.set_position(loader.position());  // after the last batch
  EXPECT_EQ(epoch(other), Batches());
  EXPECT_EQ(epoch(other).size(), 2u);
  other.set_position("stream 1 2 0 1 0 0 9");  // the stream has become shorter
  EXPECT_EQ(epoch(other), Batches());
}

TEST(StreamLoader, RethrowsInTurn) {
  for (const int64_t workers : {0, 1, 4}) {
    Counting read(20), prepared(20);
    read.bad_read = 9;
    prepared.bad_prepare = 9;
    for (const Counting& stream : {std::cref(read), std::cref(prepared)}) {
      data::StreamLoader loader(stream, {.batch_size = 2, .workers = workers});
      size_t seen = 0;
      EXPECT_THROW(
          {
            for (const auto& batch : loader) {
              (void)batch;
              ++seen;
            }
          },
          IndexError);
      EXPECT_EQ(seen, 4u) << workers;
    }
  }
}

TEST(StreamLoader, FailsAgainAfterAnExceptionThatWasCaught) {
  for (const int64_t workers : {0, 3}) {
    Counting read(8), prepared(8);
    read.bad_read = 5;
    prepared.bad_prepare = 7;
    for (const Counting& stream : {std::cref(read), std::cref(prepared)}) {
      data::StreamLoader loader(stream, {.batch_size = 4, .workers = workers});
      auto batch = loader.begin();
      const std::string position = loader.position();
      EXPECT_THROW(++batch, IndexError);
      EXPECT_THROW(++batch, IndexError) << "neither the end nor a wait for ever";
      EXPECT_EQ(loader.position(), position);
    }
  }
}

// A child of fork() has a copy of the locks that the threads hold or wait for, and not the threads.
TEST(StreamLoader, AForkedChildLeavesTheLoop) {
  const auto slow = data::stream([] {
    return [i = 0]() mutable -> std::optional<std::array<Tensor, 1>> {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return std::array{tensor({i++})};
    };
  });
  for (int i = 0; i < 8; ++i) {
    data::StreamLoader loader(slow, {.batch_size = 4, .workers = 8});
    std::optional batches(loader.begin());
    for (int b = 0; b < i; ++b) ++*batches;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // threads wait for their turn to read
    EXPECT_EQ(in_child([&] {
                batches.reset();
                return 7;
              }),
              7);
  }
}

TEST(StreamLoader, Errors) {
  EXPECT_EQ(error_of([] { data::StreamLoader(Counting(1), {.batch_size = 0}); }),
            "StreamLoader: batch_size must be 1 or more, not 0");
  EXPECT_EQ(error_of([] { data::StreamLoader(Counting(1), {.workers = -1}); }),
            "StreamLoader: workers must be 0 or more, not -1");
  data::StreamLoader loader(Counting(1));
  EXPECT_EQ(error_of([&] { loader.set_position("loader 1 2"); }),
            "set_position: not the position of a loader of a stream");
  EXPECT_EQ(error_of([&] { loader.set_position("stream 1 4 0 0 0 0 0"); }),
            "set_position: it is of batches of 4, this loader's have 1");
  EXPECT_EQ(error_of([&] { loader.set_position("stream 1 1 1 0 0 0 0"); }),
            "set_position: it is of a loader with drop_last = true, this one has false");
  EXPECT_EQ(error_of([&] { loader.set_position("stream 1 1 0 1 0 0 18446744073709551615"); }),
            "set_position: not the position of a loader of a stream");
  struct Nothing : data::StreamOf<1> {
    Owned<Pass> begin(RandomKey) const override { return nullptr; }
  };
  data::StreamLoader nothing((Nothing()));
  EXPECT_EQ(error_of([&] { (void)nothing.begin(); }), "StreamLoader: begin() of the stream gave no pass");
}

}  // namespace
}  // namespace weft
