// Backoff: fewer threads while other processes want the cores.
//
// A team of threads is as fast as its slowest. Where another process takes a core, every region waits until the
// scheduler gives the thread that lost its turn another one, milliseconds later, and a step of a quarter of a
// millisecond takes four. So every few milliseconds we sample how long runnable threads of this process waited for a
// core (the kernel counts it: /proc/self/task/*/schedstat). Where that is more than a third of the time, one thread
// fewer is used for a while; then all are tried again, less often each time that the cores are still taken.
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
  /// A sample at `now`: how many threads are wanted, and for how long threads have waited for a core since their start.
  void look(int64_t now, int64_t waited, int wanted);

 private:
  void give_up_one(int64_t now);

  int given_up_ = 0;
  int64_t next_look_ = 0;
  int64_t seen_at_ = -1;    // the last sample, -1 before the first
  int64_t waited_ = 0;      // its value
  int64_t retry_at_ = 0;    // when all threads are tried again
  int64_t patience_ = 0;    // how long that takes
  bool suspected_ = false;  // the last sample was the first above the threshold
  bool retrying_ = false;   // all threads were tried again since the last sample
};

/// How long runnable threads of this process have waited for a core; nothing where the system does not tell.
std::optional<int64_t> time_without_core();

/// The threads of `wanted` that may be used now; takes a sample where one is due. With `shorten_spins`, waiting threads
/// sleep early as long as that is fewer than all (short_spins.h).
int threads_after_backoff(int wanted, bool shorten_spins = false);
/// The same by the last sample.
int last_threads_after_backoff(int wanted);

/// For tests: `count` threads count as given up while alive, whatever the samples say.
class GiveUpThreads {
 public:
  explicit GiveUpThreads(int count);
  ~GiveUpThreads();
  GiveUpThreads(const GiveUpThreads&) = delete;
  GiveUpThreads& operator=(const GiveUpThreads&) = delete;

 private:
  bool was_on_;
};

}  // namespace weft::detail
