// Backoff: fewer threads while other processes want the cores.
//
// A team of threads is as fast as its slowest. Where another process takes a core, every region waits until the scheduler
// gives the thread that lost its turn another one, milliseconds later, and a step of a quarter of a millisecond takes
// four. So every few milliseconds it is looked at how long threads of this process stood ready to run without a core (the
// kernel counts it: /proc/self/task/*/schedstat). Where that is more than a third of the time, one thread fewer is used for a
// while; then all are tried again, less often each time that it is of no use.
#pragma once

#include <cstdint>
#include <optional>

namespace weft::detail {

/// The decision, apart from clock and kernel. Times in nanoseconds.
class Backoff {
 public:
  /// Threads that should not be used at present.
  int given_up() const { return given_up_; }
  /// When look() is due again.
  int64_t next_look() const { return next_look_; }
  /// What is known at `now`: how many threads are wanted, and for how long threads have waited for a core in all.
  void look(int64_t now, int64_t waited, int wanted);

 private:
  void give_up_one(int64_t now);

  int given_up_ = 0;
  int64_t next_look_ = 0;
  int64_t seen_at_ = -1;    // the last look, -1 before the first
  int64_t waited_ = 0;      // what it saw
  int64_t retry_at_ = 0;    // when all threads are tried again
  int64_t patience_ = 0;    // how long that takes
  bool suspected_ = false;  // the last look found trouble out of the blue
  bool retrying_ = false;   // the time since the last look was a trial
};

/// How long this process's threads have stood ready to run without a core; nothing where the system does not say.
std::optional<int64_t> time_without_core();

/// Of `wanted` threads those that may be used now.
int threads_after_backoff(int wanted);

}  // namespace weft::detail
