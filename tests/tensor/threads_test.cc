// Threads: one count for the process, serial scopes, and parallel_for.
#include "tensor/runtime/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tensor/core/error.h"
#include "tensor/runtime/parallel.h"

namespace weft {
namespace {

using kernels::cpu::parallel_for;
using kernels::cpu::region_threads;

class Threads : public testing::Test {
  const int before_ = num_threads();

 protected:
  void TearDown() override { set_num_threads(before_); }
};

TEST_F(Threads, OneCountForTheWholeProcess) {
  set_num_threads(3);
  EXPECT_EQ(num_threads(), 3);
  EXPECT_EQ(region_threads(), 3);
  int elsewhere = 0;
  std::thread([&] { elsewhere = region_threads(); }).join();
  EXPECT_EQ(elsewhere, 3);
}

TEST_F(Threads, RefusesLessThanOne) {
  for (const int count : {0, -4}) {
    try {
      set_num_threads(count);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), text("the number of threads must be at least 1, not ", count));
    }
  }
  EXPECT_GE(num_threads(), 1);
}

TEST_F(Threads, SerialScopesNestAndEndOnTheirThread) {
  set_num_threads(3);
  {
    const SerialScope outer;
    EXPECT_EQ(region_threads(), 1);
    {
      const SerialScope inner;
      EXPECT_EQ(region_threads(), 1);
    }
    EXPECT_EQ(region_threads(), 1);
    EXPECT_EQ(num_threads(), 3);
    int elsewhere = 0;
    std::thread([&] { elsewhere = region_threads(); }).join();
    EXPECT_EQ(elsewhere, 3);
  }
  EXPECT_EQ(region_threads(), 3);
}

#ifdef _OPENMP
TEST_F(Threads, SerialScopesHoldForLibrariesThatAskOpenMP) {
  set_num_threads(3);
  EXPECT_EQ(omp_get_max_threads(), 3);
  {
    const SerialScope scope;
    EXPECT_EQ(omp_get_max_threads(), 1);
    set_num_threads(2);  // takes effect where the scope ends
    EXPECT_EQ(omp_get_max_threads(), 1);
  }
  EXPECT_EQ(omp_get_max_threads(), 2);
}

TEST_F(Threads, ARegionInsideARegionIsSerial) {
  set_num_threads(2);
  std::atomic<int> team{0}, inside{0};
  parallel_for(2, 1, [&](int64_t, int64_t) {
    team = omp_get_num_threads();
    inside += region_threads();
  });
  EXPECT_EQ(team, 2);
  EXPECT_EQ(inside, 2);  // 1 on each of the two
}
#endif

TEST_F(Threads, ParallelForCoversEveryItemOnce) {
  for (const int count : {1, 2, 3, 5}) {
    set_num_threads(count);
    for (const int64_t items : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> visits(static_cast<size_t>(items));
      parallel_for(items, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
      });
      for (const auto& visit : visits) ASSERT_EQ(visit, 1);
    }
  }
}

TEST_F(Threads, AnExceptionLeavesTheRegionAsItself) {
  set_num_threads(2);
  EXPECT_THROW(parallel_for(
                   100, 1,
                   [](int64_t, int64_t end) {
    if (end == 100) throw std::out_of_range("index");
                   }),
               std::out_of_range);
}

}  // namespace
}  // namespace weft
