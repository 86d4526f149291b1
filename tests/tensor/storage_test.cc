// Storage: alignment, reference counts, borrowed memory and versions; nothing stays behind.
#include "tensor/memory/storage.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "tensor/core/error.h"
#include "tensor/memory/allocator.h"

namespace weft {
namespace {

/// Every test ends with as much memory in use as it began with.
class StorageTest : public testing::Test {
  const int64_t bytes_ = memory_stats().live_bytes, blocks_ = memory_stats().live_blocks;
  const int64_t objects_ = detail::live_objects();

 protected:
  void TearDown() override {
    EXPECT_EQ(memory_stats().live_bytes, bytes_);
    EXPECT_EQ(memory_stats().live_blocks, blocks_);
    EXPECT_EQ(detail::live_objects(), objects_);
  }
};

constexpr size_t kSizes[] = {0, 1, 63, 64, 65, 1000, 1024, 1025, 4096, 65536, 65537, 1 << 20, (2 << 20) - 1, 5'000'000};

TEST_F(StorageTest, IsAlignedAndWritable) {
  for (const size_t bytes : kSizes) {
    const auto storage = Storage::allocate(bytes);
    EXPECT_EQ(storage->bytes(), bytes);
    EXPECT_NE(storage->data(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(storage->data()) % 64, 0u) << bytes;
    std::memset(storage->data(), 0x5a, bytes);
    EXPECT_EQ(storage->device(), Device{});
  }
}

TEST_F(StorageTest, IsOneBlockEach) {
  const int64_t before = memory_stats().live_blocks;
  std::vector<IntrusivePtr<Storage>> storages;
  for (const size_t bytes : kSizes) storages.push_back(Storage::allocate(bytes));
  EXPECT_EQ(memory_stats().live_blocks - before, static_cast<int64_t>(std::size(kSizes)));
}

TEST_F(StorageTest, StoragesDoNotOverlap) {
  std::vector<IntrusivePtr<Storage>> storages;
  for (size_t i = 0; i < 2000; ++i) {
    storages.push_back(Storage::allocate(i * 7 % 3000));
    std::memset(storages.back()->data(), static_cast<int>(i % 251), storages.back()->bytes());
  }
  for (size_t i = 0; i < storages.size(); ++i) {
    const auto* data = static_cast<const unsigned char*>(storages[i]->data());
    for (size_t k = 0; k < storages[i]->bytes(); ++k) ASSERT_EQ(data[k], i % 251) << i << ", " << k;
    EXPECT_EQ(storages[i]->version(), 0u);
  }
}

TEST_F(StorageTest, LivesAsLongAsItsLastReference) {
  const int64_t before = memory_stats().live_blocks;
  auto first = Storage::allocate(100);
  auto second = first;
  EXPECT_FALSE(first->unique());
  first = nullptr;
  EXPECT_TRUE(second->unique());
  EXPECT_EQ(memory_stats().live_blocks, before + 1);
  second = nullptr;
  EXPECT_EQ(memory_stats().live_blocks, before);
}

TEST_F(StorageTest, VersionCountsWritesAndNamesTheWriter) {
  const auto storage = Storage::allocate(16);
  EXPECT_EQ(storage->version(), 0u);
  EXPECT_EQ(storage->writer(), nullptr);
  storage->written_by("add_");
  storage->written_by("fill_");
  EXPECT_EQ(storage->version(), 2u);
  EXPECT_STREQ(storage->writer(), "fill_");
  EXPECT_EQ(storage->recorded_version(), 0u);
  storage->set_recorded_version(2);
  EXPECT_EQ(storage->recorded_version(), 2u);
}

TEST_F(StorageTest, AHandedDownBlockStartsAtVersionZero) {
  const void* address = nullptr;
  {
    const auto storage = Storage::allocate(128);
    storage->written_by("copy_");
    storage->set_recorded_version(1);
    address = storage.get();
  }
  const auto again = Storage::allocate(128);
  ASSERT_EQ(static_cast<const void*>(again.get()), address);  // else this tests nothing
  EXPECT_EQ(again->version(), 0u);
  EXPECT_EQ(again->recorded_version(), 0u);
  EXPECT_EQ(again->writer(), nullptr);
}

void count_release(void* context) { ++*static_cast<int*>(context); }

TEST_F(StorageTest, WrapReleasesExactlyOnce) {
  for (const size_t bytes : {size_t{8}, size_t{1 << 20}}) {
    std::vector<char> memory(bytes);
    int releases = 0;
    const int64_t live = memory_stats().live_bytes;
    {
      auto storage = Storage::wrap(memory.data(), bytes, count_release, &releases);
      auto copy = storage;
      EXPECT_EQ(storage->data(), memory.data());
      EXPECT_EQ(storage->bytes(), bytes);
      EXPECT_EQ(memory_stats().live_bytes, live);  // borrowed memory is not weft's
      storage = nullptr;
      EXPECT_EQ(releases, 0);
    }
    EXPECT_EQ(releases, 1);
  }
}

TEST_F(StorageTest, WrapTakesNoReleaseAndNothing) {
  char byte = 1;
  EXPECT_EQ(Storage::wrap(&byte, 1, nullptr, nullptr)->data(), &byte);
  EXPECT_EQ(Storage::wrap(nullptr, 0, nullptr, nullptr)->bytes(), 0u);
}

TEST_F(StorageTest, WrapRefusesNullAndStillReleases) {
  int releases = 0;
  try {
    Storage::wrap(nullptr, 4, count_release, &releases);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot wrap a null pointer as 4 bytes");
  }
  EXPECT_EQ(releases, 1);
}

TEST_F(StorageTest, ReleaseMayAllocateAndFree) {
  char byte = 0;
  int calls = 0;
  const auto release = [](void* context) {
    Storage::allocate(64);
    ++*static_cast<int*>(context);
  };
  Storage::wrap(&byte, 1, release, &calls);
  EXPECT_EQ(calls, 1);
}

TEST_F(StorageTest, AHugeRequestIsAnErrorAndLeavesNothing) {
  for (const size_t bytes : {SIZE_MAX, SIZE_MAX - 63, size_t{1} << 63, size_t{1} << 62, size_t{1} << 60}) {
    try {
      Storage::allocate(bytes);
      FAIL() << bytes;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("out of memory: "), 0u) << error.what();
    }
  }
}

TEST_F(StorageTest, ReferencesAreCountedAcrossThreads) {
  auto storage = Storage::allocate(512);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([copy = storage] {
      for (int i = 0; i < 10'000; ++i) {
        auto mine = copy;
        auto moved = std::move(mine);
      }
    });
  for (auto& thread : threads) thread.join();
  threads.clear();
  EXPECT_TRUE(storage->unique());
}

}  // namespace
}  // namespace weft
