// The allocator: size classes, exact figures, reuse, threads that hand blocks over, and poison under AddressSanitizer.
#include "tensor/memory/allocator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "tensor/core/error.h"
#include "tensor/memory/poison.h"
#include "tensor/memory/size_class.h"
#include "tensor/memory/small_blocks.h"
#include "tests/in_child.h"

namespace weft::detail {
namespace {

int64_t rounded(size_t bytes) { return static_cast<int64_t>(class_bytes(size_class(bytes))); }

TEST(SizeClass, HoldsTheRequestWithinAnEighth) {
  for (size_t bytes = 1; bytes < 200'000; ++bytes) {
    const size_t got = class_bytes(size_class(bytes));
    ASSERT_GE(got, bytes);
    ASSERT_EQ(got % 64, 0u);
    ASSERT_TRUE(got - bytes < 64 || (got - bytes) * 8 <= bytes) << bytes;
  }
  for (size_t bytes = 1; bytes < PTRDIFF_MAX / 2; bytes += bytes / 4 + 1) {
    const size_t got = class_bytes(size_class(bytes));
    ASSERT_GE(got, bytes);
    ASSERT_TRUE(got - bytes < 64 || (got - bytes) / 2 <= bytes / 16) << bytes;
  }
}

TEST(SizeClass, ClassesAreTheirOwnRequests) {
  EXPECT_EQ(size_class(0), 0);
  for (int i = 0; i < kClasses - 1; ++i) {
    ASSERT_EQ(size_class(class_bytes(i)), i);
    ASSERT_EQ(size_class(class_bytes(i) + 1), i + 1);
  }
}

/// Every test ends with as much in use as it began with.
class Allocator : public testing::Test {
  const int64_t bytes_ = memory_stats().live_bytes, blocks_ = memory_stats().live_blocks, objects_ = live_objects();

 protected:
  void TearDown() override {
    EXPECT_EQ(memory_stats().live_bytes, bytes_);
    EXPECT_EQ(memory_stats().live_blocks, blocks_);
    EXPECT_EQ(live_objects(), objects_);
  }
};

TEST_F(Allocator, BlocksAreAlignedDistinctAndWritable) {
  for (const size_t bytes : {1, 64, 100, 512, 513, 3000, 65536, 65537, 300'000, 2 << 20, 3'000'001}) {
    std::vector<char*> blocks;
    for (int i = 0; i < 40; ++i) {
      blocks.push_back(static_cast<char*>(allocate_block(bytes)));
      ASSERT_EQ(reinterpret_cast<uintptr_t>(blocks.back()) % 64, 0u);
      std::memset(blocks.back(), i, bytes);
    }
    for (int i = 0; i < 40; ++i) {
      EXPECT_EQ(blocks[static_cast<size_t>(i)][0], i);
      EXPECT_EQ(blocks[static_cast<size_t>(i)][bytes - 1], i);
      free_block(blocks[static_cast<size_t>(i)], bytes);
    }
  }
}

TEST_F(Allocator, HugeBlocksLieOnHugePages) {
  for (const size_t bytes : {size_t{2} << 20, size_t{5} << 20}) {
    void* block = allocate_block(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % (2 << 20), 0u);
    free_block(block, bytes);
  }
}

TEST_F(Allocator, FiguresAreExact) {
  const MemoryStats before = memory_stats();
  const int64_t objects = live_objects();
  std::vector<std::pair<void*, size_t>> blocks;
  int64_t bytes = 0;
  for (size_t size = 0; size < 400'000; size = size * 3 / 2 + 7) {
    blocks.emplace_back(allocate_block(size), size);
    bytes += rounded(size);
  }
  void* const object = allocate_object(200);
  const MemoryStats full = memory_stats();
  EXPECT_EQ(full.live_bytes - before.live_bytes, bytes);
  EXPECT_EQ(full.live_blocks - before.live_blocks, static_cast<int64_t>(blocks.size()));
  EXPECT_EQ(full.allocations - before.allocations, static_cast<int64_t>(blocks.size()));
  EXPECT_EQ(live_objects(), objects + 1);  // and no part of the above
  for (const auto& [block, size] : blocks) free_block(block, size);
  free_object(object, 200);
  const MemoryStats after = memory_stats();
  EXPECT_EQ(after.live_bytes, before.live_bytes);
  EXPECT_GE(after.cached_bytes, bytes);
  EXPECT_EQ(after.cached_bytes - full.cached_bytes, bytes + rounded(200));
}

TEST_F(Allocator, PeakIsThatOfTheBlocksHeldTogether) {
  const int64_t base = memory_stats().live_bytes;
  void* a = allocate_block(4 << 20);
  void* b = allocate_block(1 << 20);
  free_block(a, 4 << 20);
  free_block(b, 1 << 20);
  EXPECT_GE(memory_stats().peak_bytes, base + (5 << 20));
  reset_peak_memory();
  EXPECT_EQ(memory_stats().peak_bytes, base);
  a = allocate_block(3 << 20);
  free_block(a, 3 << 20);
  b = allocate_block(2 << 20);
  free_block(b, 2 << 20);
  EXPECT_EQ(memory_stats().peak_bytes, base + (3 << 20));
}

TEST_F(Allocator, PeakSeesManySmallBlocks) {
  reset_peak_memory();
  const int64_t base = memory_stats().live_bytes;
  std::vector<void*> blocks;
  for (int i = 0; i < 4096; ++i) blocks.push_back(allocate_block(1024));
  for (void* block : blocks) free_block(block, 1024);
  EXPECT_NEAR(static_cast<double>(memory_stats().peak_bytes - base), 4 << 20, 64 << 10);
}

TEST_F(Allocator, AFreedBlockIsTheNextOneHandedOut) {
  for (const size_t bytes : {200, 40'000, 1'000'000}) {
    void* const first = allocate_block(bytes);
    free_block(first, bytes);
    const int64_t hits = memory_stats().cache_hits;
    void* const again = allocate_block(bytes);
    EXPECT_EQ(again, first) << bytes;
    EXPECT_EQ(memory_stats().cache_hits, hits + 1) << bytes;
    free_block(again, bytes);
  }
}

TEST_F(Allocator, EmptyCacheGivesEverythingBack) {
  std::vector<void*> blocks;
  for (int i = 0; i < 5000; ++i) blocks.push_back(allocate_block(512));
  void* const large = allocate_block(8 << 20);
  for (void* block : blocks) free_block(block, 512);
  free_block(large, 8 << 20);
  EXPECT_GE(memory_stats().cached_bytes, (8 << 20) + 5000 * 512);
  empty_cache();
  EXPECT_EQ(memory_stats().cached_bytes, 0);
}

TEST_F(Allocator, EmptyCacheKeepsWhatIsInUse) {
  std::vector<char*> blocks;
  for (int i = 0; i < 5000; ++i) blocks.push_back(static_cast<char*>(allocate_block(1024)));
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (i % 1000 == 0)
      std::memset(blocks[i], static_cast<int>(i / 1000), 1024);
    else
      free_block(blocks[i], 1024);
  }
  empty_cache();
  std::set<void*> kept;
  for (size_t i = 0; i < blocks.size(); i += 1000) {
    kept.insert(blocks[i]);
    EXPECT_EQ(blocks[i][1023], static_cast<char>(i / 1000));
  }
  std::vector<void*> others;  // what the rest of these slabs hands out overlaps none of them
  for (int i = 0; i < 10'000; ++i) {
    others.push_back(allocate_block(1024));
    ASSERT_EQ(kept.count(others.back()), 0u);
    std::memset(others.back(), 0xee, 1024);
  }
  for (size_t i = 0; i < blocks.size(); i += 1000) {
    EXPECT_EQ(blocks[i][0], static_cast<char>(i / 1000));
    free_block(blocks[i], 1024);
  }
  for (void* block : others) free_block(block, 1024);
}

TEST_F(Allocator, AThreadThatEndsGivesItsBlocksBack) {
  empty_cache();
  void* block = nullptr;
  std::thread([&] {
    block = allocate_block(48'000);
    free_block(block, 48'000);
    block = allocate_block(48'000);
    free_block(block, 48'000);
  }).join();
  void* const mine = allocate_block(48'000);
  EXPECT_EQ(mine, block);
  free_block(mine, 48'000);
  empty_cache();
  EXPECT_EQ(memory_stats().cached_bytes, 0);  // nothing is left with the thread
}

TEST_F(Allocator, FiguresOutliveTheThread) {
  const MemoryStats before = memory_stats();
  void* block = nullptr;
  std::thread([&] { block = allocate_block(300); }).join();
  EXPECT_EQ(memory_stats().live_bytes - before.live_bytes, rounded(300));
  EXPECT_EQ(memory_stats().allocations - before.allocations, 1);
  free_block(block, 300);
}

TEST_F(Allocator, BlocksThatWanderBetweenThreadsFlowBack) {
  empty_cache();
  int64_t held_after_one_round = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<void*> blocks;
    std::thread([&] {
      for (int i = 0; i < 3000; ++i) blocks.push_back(allocate_block(256));
    }).join();
    for (void* block : blocks) free_block(block, 256);
    if (round == 0) held_after_one_round = small_bytes_held();
  }
  // A freeing thread keeps two chains at most, the rest is there for the next producer.
  EXPECT_LE(small_bytes_held(), held_after_one_round + 2 * chain_length(size_class(256)) * 256);
}

TEST_F(Allocator, ThreadsAllocateAndFreeEachOthersBlocks) {
  std::vector<std::pair<void*, size_t>> handed[4];
  const auto work = [&](unsigned seed, std::vector<std::pair<void*, size_t>>& out) {
    std::mt19937 random(seed);
    for (int i = 0; i < 20'000; ++i) {
      const size_t bytes = size_t{1} << (random() % 18);
      auto* block = static_cast<unsigned char*>(allocate_block(bytes));
      block[0] = block[bytes - 1] = static_cast<unsigned char>(seed);
      if (i % 20 == 0)
        out.emplace_back(block, bytes);
      else
        free_block(block, bytes);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) threads.emplace_back(work, t, std::ref(handed[t]));
  for (auto& thread : threads) thread.join();
  for (unsigned t = 0; t < 4; ++t)
    for (const auto& [block, bytes] : handed[t]) {
      ASSERT_EQ(static_cast<unsigned char*>(block)[bytes - 1], t);
      free_block(block, bytes);
    }
}

/// Frees a block and allocates another while the thread's own destructors run, after the allocator's.
struct UsedAtThreadExit {
  void* block = nullptr;
  ~UsedAtThreadExit() {
    if (block == nullptr) return;
    free_block(block, 700);
    void* const late = allocate_block(700);
    free_block(late, 700);
    free_object(allocate_object(100), 100);
  }
};
thread_local UsedAtThreadExit used_at_thread_exit;

TEST_F(Allocator, WorksInThreadLocalDestructors) {
  const MemoryStats before = memory_stats();
  std::thread([] {
    used_at_thread_exit.block = nullptr;  // constructed before the allocator opens, so destroyed after it closed
    used_at_thread_exit.block = allocate_block(700);
  }).join();
  EXPECT_EQ(memory_stats().allocations - before.allocations, 2);
}

TEST_F(Allocator, ObjectsAreReusedAndLimited) {
  void* const object = allocate_object(1000);
  free_object(object, 1000);
  void* const again = allocate_object(1000);
  EXPECT_EQ(again, object);
  free_object(again, 1000);
  EXPECT_THROW(allocate_object(1 << 20), Error);
}

TEST_F(Allocator, RefusesWhatNoMachineHas) {
  const auto message = [](size_t bytes) -> std::string {
    try {
      allocate_block(bytes);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(message(SIZE_MAX).find("out of memory: 16.0 EB asked for, "), 0u);
  EXPECT_EQ(message(size_t{4} << 40).find("out of memory: 4.0 TB asked for, "), 0u);
}

int64_t resident_bytes() {
  long total = 0, resident = 0;
  FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &total, &resident) != 2) resident = -1;
  if (file != nullptr) std::fclose(file);
  return int64_t{resident} * 4096;
}

TEST_F(Allocator, MemoryStaysFlatWhereSizesKeepChanging) {
  empty_cache();
  std::mt19937 random(5);
  int64_t first = 0, most = 0;
  for (int step = 0; step < 300; ++step) {
    std::vector<std::pair<void*, size_t>> blocks;
    const size_t scale = 1000 + random() % 400'000;  // each step at a scale of its own, up to about 100 MB in all
    for (size_t i = 1; i <= 20; ++i) {
      blocks.emplace_back(allocate_block(scale * i / 2), scale * i / 2);
      std::memset(blocks.back().first, 1, blocks.back().second);
    }
    for (const auto& [block, bytes] : blocks) free_block(block, bytes);
    const MemoryStats stats = memory_stats();
    most = std::max(most, stats.cached_bytes);
    if (step == 150) first = resident_bytes();
  }
  constexpr int64_t kMostLive = int64_t{400'000} * 105 * 9 / 8;
  EXPECT_LE(most, 2 * kMostLive + (int64_t{256} << 20) + (int64_t{64} << 20));
#ifndef WEFT_ASAN  // whose own shadow grows
  EXPECT_LE(resident_bytes(), first + (int64_t{128} << 20));
#endif
  EXPECT_GT(first, 0);
  empty_cache();
}

#ifdef WEFT_ASAN
void read_after_free(size_t bytes, size_t at) {
  auto* const block = static_cast<volatile char*>(allocate_block(bytes));
  free_block(const_cast<char*>(block), bytes);
  (void)block[at];
}

TEST(AllocatorDeathTest, UseAfterFreeOfACachedBlockIsCaught) {
  EXPECT_DEATH(read_after_free(256, 0), "use-after-poison");
  EXPECT_DEATH(read_after_free(256, 255), "use-after-poison");
  EXPECT_DEATH(read_after_free(1 << 20, 0), "use-after-poison");
  EXPECT_DEATH(read_after_free(4 << 20, 4'000'000), "use-after-poison");
}

TEST(AllocatorDeathTest, RunningPastTheEndIsCaught) {
  const auto read_past = [](size_t bytes) { (void)static_cast<volatile char*>(allocate_block(bytes))[bytes]; };
  EXPECT_DEATH(read_past(256), "use-after-poison");
  EXPECT_DEATH(read_past(100), "use-after-poison");
  EXPECT_DEATH(read_past(1 << 20), "use-after-poison");
}

TEST(AllocatorDeathTest, AnObjectIsPoisonedToo) {
  const auto read = [] {
    auto* const object = static_cast<volatile char*>(allocate_object(96));
    free_object(const_cast<char*>(object), 96);
    (void)object[40];
  };
  EXPECT_DEATH(read(), "use-after-poison");
}
#endif

/// Allocates and frees blocks of many classes.
void use_memory(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::pair<void*, size_t>> blocks;
  for (int i = 0; i < 300; ++i) {
    const size_t bytes = random() % 200'000;
    blocks.emplace_back(allocate_block(bytes), bytes);
    if (i % 3 != 0) continue;
    free_block(blocks.front().first, blocks.front().second);
    blocks.erase(blocks.begin());
  }
  for (const auto& [block, bytes] : blocks) free_block(block, bytes);
}

// The child has none of the parent's other threads, idle ones or ones inside of the allocator, and threads of its own
// may get their stacks.
TEST_F(Allocator, AForkedChildGoesOn) {
  std::atomic<bool> stop{false};
  std::atomic<int> started{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      use_memory(i);
      ++started;
      while (!stop) i % 2 == 0 ? use_memory(i) : std::this_thread::yield();
    });
  while (started < 4) std::this_thread::yield();
  for (int round = 0; round < 20; ++round)
    ASSERT_EQ(in_child([] {
                for (int i = 0; i < 3; ++i) {
                  std::vector<std::thread> own;
                  for (unsigned k = 0; k < 6; ++k) own.emplace_back(use_memory, k);
                  for (std::thread& thread : own) thread.join();
                  (void)memory_stats();
                }
                return 7;
              }),
              7);
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace weft::detail
