#include "tensor/runtime/short_spins.h"

#ifdef _OPENMP
#include <omp.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#endif

namespace weft::detail {

#ifdef _OPENMP
namespace {

struct Holder {
  std::mutex mutex;
  std::condition_variable changed;
  bool wanted = false;  // the team should exist
  bool running = false;
  std::atomic<int> threads{0};  // that have started, in all

  /// Body of the thread; its team ends with it.
  void hold() {
#pragma omp parallel num_threads(omp_get_num_procs() + 1)
    threads.fetch_add(1, std::memory_order_relaxed);  // the compiler removes an empty region
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !wanted; });
    running = false;
  }
};

/// Never destroyed: the thread may outlive static objects.
Holder& holder() {
  static Holder* const instance = new Holder;
  return *instance;
}

}  // namespace

void set_short_spins(bool on) {
  Holder& h = holder();
  const std::lock_guard lock(h.mutex);
  h.wanted = on;
  h.changed.notify_all();
  if (!on || h.running) return;
  try {
    std::thread([&h] { h.hold(); }).detach();
    h.running = true;
  } catch (const std::system_error&) {
    h.wanted = false;
  }
}
#else
void set_short_spins(bool) {}
#endif

}  // namespace weft::detail
