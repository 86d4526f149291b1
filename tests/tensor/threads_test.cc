// Threads: one count for the process, serial scopes, and parallel_for.
#include "tensor/runtime/threads.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tensor/core/error.h"
#include "tensor/runtime/backoff.h"
#include "tensor/runtime/denormals.h"
#include "tensor/runtime/parallel.h"
#include "tensor/runtime/short_spins.h"
#include "tests/in_child.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace weft {
namespace {

class Threads : public testing::Test {
  const int before_ = num_threads();
  const detail::GiveUpThreads none_{0};  // the machine may be busy

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

TEST_F(Threads, RefusesCountsThatNoMachineStarts) {
  for (const int count : {0, -4, 1025, 1 << 30}) {
    try {
      set_num_threads(count);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), text("set_num_threads(", count, "): the number of threads must be from 1 to 1024"));
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

#ifdef _OPENMP
// libgomp would wait in the child for the parent's threads, which fork() does not copy.
TEST_F(Threads, AForkedChildRunsSerially) {
  set_num_threads(2);
  const auto sum = [] {
    std::atomic<int> total{0};
    parallel_for(100, 1, [&](int64_t begin, int64_t end) { total += static_cast<int>(end - begin); });
    return total.load();
  };
  EXPECT_EQ(sum(), 100);  // starts the team
  EXPECT_EQ(in_child(sum), 100);
  EXPECT_EQ(in_child([] { return region_threads(); }), 1);
  EXPECT_EQ(in_child([] {
              set_num_threads(4);
              flush_denormals(false);
              const SerialScope scope;
              return num_threads();
            }),
            1);
  EXPECT_EQ(in_child([&] { return in_child(sum); }), 100) << "in a child's child";
  EXPECT_EQ(region_threads(), 2) << "the parent keeps its threads";
}

// Regions are not all that starts the team.
TEST_F(Threads, SoDoesAChildAfterFlushDenormals) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process of its own, which has not started it yet
  const auto threads_in_child = [] {
    set_num_threads(2);
    flush_denormals(true);
    return in_child([] {
      parallel_for(100, 1, [](int64_t, int64_t) {});
      return region_threads();
    });
  };
  EXPECT_EXIT(std::_Exit(threads_in_child()), ::testing::ExitedWithCode(1), "");
}
#endif

// Other processes may take threads, but never change the parts that work is cut into.
TEST_F(Threads, AChosenCountFixesTheParts) {
  set_num_threads(4);
  const auto parts = [] {
    std::mutex mutex;
    std::set<std::pair<int64_t, int64_t>> ranges;
    parallel_for(1003, 10, [&](int64_t begin, int64_t end) {
      const std::lock_guard lock(mutex);
      ranges.insert({begin, end});
      EXPECT_EQ(region_threads(), 1);
    });
    return ranges;
  };
  const auto before = parts();
  EXPECT_EQ(before.size(), 4u);
  for (const int given_up : {1, 2, 3}) {
    const detail::GiveUpThreads fewer(given_up);
    EXPECT_EQ(team_threads(4), 4 - given_up);
    EXPECT_EQ(region_threads(), 4);
    EXPECT_EQ(parts(), before) << given_up;
  }
}

#ifdef _OPENMP
// What the workers burn after a region while they wait for the next one, in ms of processor time.
double waiting_cost() {
  double cost = 0;
  for (int i = 0; i < 20; ++i) {
    parallel_for(2, 1, [](int64_t, int64_t) {});
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    cost += 1e3 * static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  }
  return cost;
}

TEST_F(Threads, ShortSpinsLetWaitingThreadsSleep) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) {
    // libgomp has read them: a new process without them.
    const std::string command =
        "unset OMP_WAIT_POLICY GOMP_SPINCOUNT GTEST_SHARD_STATUS_FILE GTEST_OUTPUT XML_OUTPUT_FILE; exec '" +
        std::filesystem::read_symlink("/proc/self/exe").string() + "' --gtest_filter=Threads.ShortSpins*";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return;
  }
  set_num_threads(2);
  const double normal = waiting_cost();
  detail::set_short_spins(true);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // until the team is there, and asleep
  const double with_short_spins = waiting_cost();
  detail::set_short_spins(false);
  EXPECT_LT(with_short_spins, normal / 4) << "ms of processor time in 400 ms";
}
#endif

TEST_F(Threads, AnExceptionLeavesTheRegionAsItself) {
  set_num_threads(2);
  EXPECT_THROW(parallel_for(100, 1,
                            [](int64_t, int64_t end) {
                              if (end == 100) throw std::out_of_range("index");
                            }),
               std::out_of_range);
}

}  // namespace
}  // namespace weft
