// Backoff: when threads are given up and tried again, and that a process whose cores are taken really does.
#include "tensor/runtime/backoff.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tensor/runtime/parallel.h"
#include "tensor/runtime/threads.h"

namespace weft::detail {
namespace {

constexpr int64_t kMs = 1000000;

/// Looks every 10 ms for `ms`, a part of each having been lost.
class Machine {
 public:
  explicit Machine(int wanted) : wanted_(wanted) { backoff.look(now, waited, wanted_); }
  void pass(int64_t ms, double lost) {
    for (int64_t i = 0; i < ms; i += 10) {
      now += 10 * kMs;
      waited += static_cast<int64_t>(lost * 10 * kMs);
      backoff.look(now, waited, wanted_);
    }
  }
  /// How long it takes, in ms, until all threads are tried again; nothing is lost meanwhile.
  int64_t until_retry() {
    int64_t ms = 0;
    for (; backoff.given_up() > 0; ms += 10) pass(10, 0);
    return ms;
  }
  Backoff backoff;
  int64_t now = 5 * kMs, waited = 123 * kMs;

 private:
  int wanted_;
};

TEST(Backoff, KeepsAllThreadsWhereCoresAreFree) {
  Machine machine(4);
  machine.pass(1000, 0.0);
  machine.pass(1000, 0.2);  // a loader's thread that takes a turn now and then
  EXPECT_EQ(machine.backoff.given_up(), 0);
}

TEST(Backoff, GivesUpOneThreadAfterTwoLooks) {
  Machine machine(4);
  machine.pass(10, 0.6);
  EXPECT_EQ(machine.backoff.given_up(), 0) << "it may be over already";
  machine.pass(10, 0.0);
  machine.pass(10, 0.6);
  EXPECT_EQ(machine.backoff.given_up(), 0) << "it was";
  machine.pass(10, 0.6);
  EXPECT_EQ(machine.backoff.given_up(), 1);
  EXPECT_EQ(machine.backoff.next_look(), machine.now + 10 * kMs);
}

TEST(Backoff, GivesUpMoreWhileItIsNotEnough) {
  Machine machine(4);
  machine.pass(30, 1.5);
  EXPECT_EQ(machine.backoff.given_up(), 2);
  machine.pass(10, 1.5);
  EXPECT_EQ(machine.backoff.given_up(), 3);
  machine.pass(10, 1.5);
  EXPECT_EQ(machine.backoff.given_up(), 3) << "one always stays";
}

TEST(Backoff, ASingleThreadIsNeverGivenUp) {
  Machine machine(1);
  machine.pass(100, 0.9);
  EXPECT_EQ(machine.backoff.given_up(), 0);
}

TEST(Backoff, TriesAllThreadsAgainAndLessOftenWhereThatIsOfNoUse) {
  Machine machine(2);
  machine.pass(10, 0.6);
  std::vector<int64_t> waits;
  for (int i = 0; i < 8; ++i) {
    machine.pass(10, 0.6);
    ASSERT_EQ(machine.backoff.given_up(), 1);
    waits.push_back(machine.until_retry());
  }
  EXPECT_EQ(waits, (std::vector<int64_t>{50, 100, 200, 400, 800, 1600, 1600, 1600}));
}

TEST(Backoff, ForgetsOldTroubleBitByBit) {
  Machine machine(2);
  machine.pass(10, 0.6);
  for (int i = 0; i < 4; ++i) {
    machine.pass(10, 0.6);
    machine.until_retry();
  }
  machine.pass(1000, 0.0);
  machine.pass(20, 0.6);
  EXPECT_EQ(machine.until_retry(), 200) << "half of the last 400";
}

TEST(Backoff, ALongPauseBetweenLooksIsNoTrouble) {
  Machine machine(2);
  machine.now += 60000 * kMs;
  machine.waited += 5 * kMs;
  machine.pass(10, 0.0);
  EXPECT_EQ(machine.backoff.given_up(), 0);
}

TEST(Backoff, AThreadThatEndedTakesItsCountAlong) {
  Machine machine(2);
  machine.waited -= 100 * kMs;
  machine.pass(10, 0.0);
  EXPECT_EQ(machine.backoff.given_up(), 0);
}

TEST(Backoff, AThreadThatEndsMeanwhileIsLeftOut) {
  if (!time_without_core()) GTEST_SKIP() << "the system does not tell how long threads wait for a core";
  std::atomic<bool> stop{false};
  std::thread starter([&] {
    while (!stop.load()) std::thread([] {}).join();
  });
  int silent = 0;
  for (int look = 0; look < 10000; ++look) silent += time_without_core().has_value() ? 0 : 1;
  stop = true;
  starter.join();
  EXPECT_EQ(silent, 0) << "the process would never look again";
}

void work(int64_t turns) {
  std::atomic<int64_t> done{0};
  while (done.fetch_add(1, std::memory_order_relaxed) < turns) {
  }
}

/// A process that never waits.
pid_t spinner() {
  const pid_t child = fork();
  if (child == 0)
    for (;;) work(1000);
  return child;
}

TEST(Backoff, ABusyMachineIsNoticed) {
  if (!time_without_core()) GTEST_SKIP() << "the system does not tell how long threads wait for a core";
  const int threads = num_threads();
  std::vector<pid_t> others;
  for (int64_t i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); ++i) others.push_back(spinner());
  set_num_threads(4);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  int used = 4;
  while (used == 4 && std::chrono::steady_clock::now() < end) {
    parallel_for(100000, 1, [](int64_t from, int64_t until) { work(until - from); });
    used = threads_after_backoff(4);
  }
  for (pid_t other : others) {
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
  }
  EXPECT_LT(used, 4);
  EXPECT_EQ(num_threads(), 4) << "what was set stays as it is";
  EXPECT_EQ(region_threads(), 4) << "a count that was chosen is used";
  set_num_threads(threads);
}

}  // namespace
}  // namespace weft::detail
