// The thread count is one figure for the whole process. OpenMP keeps its own per thread (a new std::thread starts from
// the environment's), so weft's kernels always pass theirs explicitly, and what goes through OpenMP's default (oneDNN)
// is set on the thread that calls set_num_threads or opens a SerialScope.
//
// Other processes that want the cores (backoff.h): without a chosen count, regions are cut into fewer parts. A chosen
// count fixes the parts, because oneDNN's sums depend on their number in the last bits; then fewer threads run the
// parts of weft's own kernels, and waiting threads sleep early (short_spins.h), which also helps inside of oneDNN.
#include "tensor/runtime/threads.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "tensor/core/error.h"
#include "tensor/runtime/backoff.h"
#include "tensor/runtime/cpu_quota.h"
#include "tensor/runtime/parallel.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace weft {

namespace {

/// libgomp ends the process where it cannot start a thread, and its teams of 100,000 leave their stack.
constexpr int kMostThreads = 1024;

std::atomic<int> chosen_count{0};  // 0: not chosen, the environment decides
std::atomic<bool> forked{false};   // this process lost OpenMP's threads in fork()
thread_local bool serial = false;

#ifdef _OPENMP
/// OpenMP's own choice, OMP_NUM_THREADS or the number of cores; of cores, no more than the container may use.
int default_count() {
  static const int count = [] {
    const int cores = omp_get_max_threads();
    const int quota = internal::is_count_chosen() ? cores : detail::cpu_quota().value_or(cores);
    return std::clamp(std::min(cores, quota), 1, kMostThreads);
  }();
  return count;
}
void set_openmp_count(int count) { omp_set_num_threads(count); }
/// The threads that OpenMP gives a team at the most: OMP_THREAD_LIMIT; one, where OMP_MAX_ACTIVE_LEVELS allows no team.
int most_threads() {
  static const int most = omp_get_max_active_levels() < 1 ? 1 : std::max(omp_get_thread_limit(), 1);
  return most;
}
#else
int default_count() { return 1; }
void set_openmp_count(int) {}
int most_threads() { return kMostThreads; }
#endif

}  // namespace

/// A child of fork() has one thread, but libgomp still counts on the parent's team and would wait for it for ever. The
/// handler is installed before the first team starts: a child that is forked earlier may use threads.
void internal::watch_forks() {
  static const bool installed = pthread_atfork(nullptr, nullptr, [] {
                                  forked.store(true, std::memory_order_relaxed);
                                  set_openmp_count(1);
                                }) == 0;
  (void)installed;
}

bool internal::is_count_chosen() {
  static const bool by_environment = std::getenv("OMP_NUM_THREADS") != nullptr;
  return by_environment || chosen_count.load(std::memory_order_relaxed) != 0;
}

void set_num_threads(int count) {
  if (count < 1 || count > kMostThreads)
    throw Error(text("set_num_threads(", count, "): the number of threads must be from 1 to ", kMostThreads));
  default_count();  // remember the environment's before it is overwritten
  chosen_count.store(count, std::memory_order_relaxed);
  if (!serial) set_openmp_count(num_threads());
}

int num_threads() {
  if (forked.load(std::memory_order_relaxed)) return 1;
  const int count = chosen_count.load(std::memory_order_relaxed);
  return std::min(count != 0 ? count : default_count(), most_threads());
}

SerialScope::SerialScope() : previous_(serial) {
  num_threads();  // remember the environment's count before OpenMP's is overwritten
  serial = true;
  set_openmp_count(1);
}

SerialScope::~SerialScope() {
  serial = previous_;
  if (!serial) set_openmp_count(num_threads());
}

int region_threads() {
  if (serial) return 1;
#ifdef _OPENMP
  if (omp_in_parallel()) return 1;
#endif
  const int count = num_threads();
  if (count == 1) return 1;
  internal::watch_forks();
  const bool chosen = internal::is_count_chosen();
  const int free = detail::threads_after_backoff(count, chosen);
  return chosen ? count : free;
}

int team_threads(int chunks) {
  return internal::is_count_chosen() ? std::min(chunks, detail::last_threads_after_backoff(num_threads())) : chunks;
}

}  // namespace weft
