#include "data/prefetcher.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "tensor/core/error.h"
#include "tensor/core/random.h"
#include "tensor/dispatch/modes.h"
#include "tensor/profiler.h"
#include "tensor/runtime/threads.h"

namespace weft::data::detail {

struct Prefetcher::Team {
  const std::function<Batch(int64_t)> fetch;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<int64_t, Batch> made;
  int64_t taken;      // numbers below were taken by a thread
  int64_t wanted;     // the number that next() gives next
  int64_t end;        // the number behind the last batch, as far as that is known
  bool stop = false;  // the consumer has gone, or a batch failed: nothing more is begun
  int64_t failed = std::numeric_limits<int64_t>::max();  // the first number of which there is no batch, and why
  std::exception_ptr failure;
  std::vector<std::thread> threads;
  const pid_t process = getpid();  // a child of fork() does not have the threads

  Team(std::function<Batch(int64_t)> given_fetch, int64_t first, int64_t given_end)
      : fetch(std::move(given_fetch)), taken(first), wanted(first), end(given_end) {}

  /// All that a thread does. What it throws is the failure of the batch it makes, or would have made next.
  void run(int64_t ahead, const internal::Modes& modes) {
    std::optional<int64_t> number;
    try {
      internal::modes() = modes;
      const SerialScope serial;
      RandomLog none;
      const RandomScope keyed(RandomScope::Kind::refuse, none);  // threads draw in any order
      while ((number = take(ahead))) put(*number, fetch(*number));
    } catch (...) {
      fail(number, std::current_exception());
    }
  }
  /// The next number, as soon as its batch may be made; none after the last.
  std::optional<int64_t> take(int64_t ahead) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return stop || taken >= end || taken - wanted < ahead; });
    if (stop || taken >= end) return std::nullopt;
    return taken++;
  }
  void put(int64_t number, Batch batch) {
    const std::lock_guard lock(mutex);
    if (batch.empty())
      end = std::min(end, number);
    else
      made.emplace(number, std::move(batch));
    changed.notify_all();
  }
  void fail(std::optional<int64_t> number, std::exception_ptr reason) {
    const std::lock_guard lock(mutex);
    stop = true;
    if (number.value_or(taken) < failed) {
      failed = number.value_or(taken);
      failure = std::move(reason);
    }
    changed.notify_all();
  }
  void finish() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
      changed.notify_all();
    }
    for (std::thread& thread : threads) thread.join();
  }
};

Prefetcher::Prefetcher(std::function<Batch(int64_t)> fetch, int64_t first, int64_t end, int64_t workers, int64_t ahead)
    : next_(first), end_(end) {
  if (workers == 0 || first >= end) {
    fetch_ = std::move(fetch);
    return;
  }
  team_ = Owned<Team>(new Team(std::move(fetch), first, end));
  // The scopes around the loop hold for every batch. Observers stay with the thread that registered them.
  internal::Modes modes = internal::modes();
  modes.observer = nullptr;
  try {
    for (int64_t i = 0; i < std::min(workers, end - first); ++i)  // no more than there are batches
      team_->threads.emplace_back([this, ahead, modes] { team_->run(ahead, modes); });
  } catch (...) {  // no more threads: those there are must be joined
    const size_t started = team_->threads.size();
    team_->finish();
    throw Error(text("data loader: of ", workers, " workers the system starts ", started, " threads"));
  }
}

Prefetcher::~Prefetcher() {
  if (!team_) return;
  if (team_->process == getpid())
    team_->finish();
  else
    (void)team_.release();  // its threads cannot be joined, and fetch() may hold what they wait for
}

bool Prefetcher::next(Batch& out) {
  if (next_ >= end_) return false;
  const RecordFunction section("DataLoader.next");
  if (!team_) {
    out = fetch_(next_);
    if (out.empty()) end_ = next_;
    return next_++ < end_;
  }
  if (team_->process != getpid())
    throw Error("data loader: its workers are threads of the process that forked this one; iterate anew in the child");
  std::unique_lock lock(team_->mutex);
  // Numbers are taken in order, so the batches before one that failed are all made or being made.
  team_->changed.wait(lock,
                      [&] { return team_->made.contains(next_) || team_->failed == next_ || team_->end <= next_; });
  if (team_->end <= next_) return false;
  if (team_->failed == next_) std::rethrow_exception(team_->failure);
  const auto found = team_->made.find(next_);
  out = std::move(found->second);
  team_->made.erase(found);
  team_->wanted = ++next_;
  team_->changed.notify_all();
  return true;
}

}  // namespace weft::data::detail
