#include "tensor/runtime/backoff.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>

#include "tensor/runtime/short_spins.h"

namespace weft::detail {
namespace {

constexpr int64_t kMillisecond = 1000000;
constexpr int64_t kWindow = 10 * kMillisecond;
constexpr int64_t kFirstPatience = 50 * kMillisecond, kLongestPatience = 1600 * kMillisecond;
constexpr int64_t kContestedPart = 3;  // of the time: a third

}  // namespace

void Backoff::look(int64_t now, int64_t waited, int wanted) {
  const int64_t passed = now - seen_at_, lost = std::max<int64_t>(0, waited - waited_);
  const bool first = seen_at_ < 0, contested = !first && lost > passed / kContestedPart;
  seen_at_ = now;
  waited_ = waited;
  next_look_ = now + kWindow;
  // One sample above the threshold may be over soon (a timer, another program's start): wait for a second in a row.
  const bool sudden = contested && given_up_ == 0 && !retrying_ && !suspected_;
  suspected_ = sudden;
  if (sudden) return;
  if (contested && wanted - given_up_ > 1) return give_up_one(now);
  if (given_up_ > 0 && now >= retry_at_) {
    given_up_ = 0;
    retrying_ = true;
  } else if (given_up_ == 0 && !contested) {
    retrying_ = false;
  }
}

void Backoff::give_up_one(int64_t now) {
  ++given_up_;
  patience_ = retrying_ ? std::min(2 * patience_, kLongestPatience) : std::max(patience_ / 2, kFirstPatience);
  retrying_ = false;
  retry_at_ = now + patience_;
}

std::optional<int64_t> time_without_core() {
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir("/proc/self/task"), &closedir);
  if (!tasks) return std::nullopt;
  int64_t sum = 0;
  while (const dirent* task = readdir(tasks.get())) {
    if (task->d_name[0] == '.') continue;
    char path[300], line[80];
    std::snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", task->d_name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;  // it has just ended
    const ssize_t length = read(file, line, sizeof line - 1);
    close(file);
    if (length <= 0) continue;  // it has ended since
    long long ran = 0, waited = 0;
    line[length] = 0;
    if (std::sscanf(line, "%lld %lld", &ran, &waited) != 2) return std::nullopt;
    sum += waited;
  }
  return sum;
}

namespace {

int64_t now_in_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The process's samples, taken by the first thread that starts a region when one is due.
struct Watch {
  std::atomic<bool> on{true};  // off where the system does not tell
  std::atomic<int> given_up{0};
  std::atomic<int64_t> next_look{0};
  std::mutex mutex;
  Backoff backoff;
  bool short_spins = false;

  void look(int64_t now, int wanted, bool shorten_spins) {
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (!lock) return;
    const std::optional<int64_t> waited = time_without_core();
    if (!waited) return on.store(false, std::memory_order_relaxed);
    backoff.look(now, *waited, wanted);
    given_up.store(backoff.given_up(), std::memory_order_relaxed);
    if (const bool shorten = shorten_spins && backoff.given_up() > 0; shorten != short_spins)
      set_short_spins(short_spins = shorten);
    // A sample of many threads takes long: at most one part in a hundred of the time.
    const int64_t cost = now_in_ns() - now;
    next_look.store(std::max(backoff.next_look(), now + 100 * cost), std::memory_order_relaxed);
  }
};

/// Never destroyed: static destructors may still compute.
Watch& watch() {
  static Watch* const instance = new Watch;
  return *instance;
}

}  // namespace

int threads_after_backoff(int wanted, bool shorten_spins) {
  Watch& w = watch();
  if (wanted <= 1 || !w.on.load(std::memory_order_relaxed)) return wanted;
  const int64_t now = now_in_ns();
  if (now >= w.next_look.load(std::memory_order_relaxed)) w.look(now, wanted, shorten_spins);
  return last_threads_after_backoff(wanted);
}

int last_threads_after_backoff(int wanted) {
  return std::max(1, wanted - watch().given_up.load(std::memory_order_relaxed));
}

GiveUpThreads::GiveUpThreads(int count) : was_on_(watch().on.exchange(false)) { watch().given_up = count; }

GiveUpThreads::~GiveUpThreads() {
  watch().given_up = 0;
  watch().on = was_on_;
}

}  // namespace weft::detail
