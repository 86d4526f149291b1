#include "distributed/communicator.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <utility>

#include "distributed/cores.h"
#include "distributed/error.h"
#include "distributed/mpi/launcher.h"
#include "distributed/mpi/message_work.h"
#include "distributed/node/clock.h"
#include "distributed/node/monitor.h"
#include "tensor/runtime/log.h"
#include "tensor/runtime/threads.h"

namespace weft::distributed {
namespace {

constexpr int kFirstTag = 16, kOrderedTags = 8192;
constexpr int kReservedTags = kFirstTag + kOrderedTags;
constexpr double kStuck = 2;      // seconds without progress of any rank
constexpr double kSuspended = 2;  // seconds in which this rank should have looked for the others many times

/// The communicator that is there when the process ends: a static object, a gradient of a static model, or a program
/// that called std::exit() holds it.
Communicator* alive = nullptr;

void at_exit() {
  if (alive != nullptr && alive->is_here()) alive->end();
}

double timeout_of(const InitOptions& options) {
  const char* given = std::getenv("WEFT_DISTRIBUTED_TIMEOUT");
  if (given == nullptr) {
    if (options.timeout > 0) return options.timeout;
    throw DistributedError(text("init: the timeout must be above 0 seconds, not ", options.timeout));
  }
  const char* const end = given + std::strlen(given);
  double timeout = 0;
  const auto [rest, error] = std::from_chars(given, end, timeout);
  if (error == std::errc() && rest == end && timeout > 0) return timeout;
  throw DistributedError(text("init: WEFT_DISTRIBUTED_TIMEOUT=", given, " is not a number of seconds above 0"));
}

/// DistributedError where the launcher started more ranks than this one, of which the library knows nothing: each would
/// train alone.
void check_is_alone(const MpiLibrary& mpi) {
  const int started = ranks_started();
  if (started <= 1) return;
  throw DistributedError(text("init: ", started, " processes were started (", launched_by(), "), but MPI (", mpi.path,
                              ") sees one: the library belongs to another MPI than the launcher; "
                              "WEFT_MPI=/path/to/libmpi.so selects the launcher's"));
}

}  // namespace

/// What a wait remembers from check to check.
class Communicator::WaitState {
 public:
  explicit WaitState(double since) : started(since), moved(since) {}
  /// Records how far the ranks are.
  void record(uint64_t moves_of_all, std::vector<uint64_t> beats_of_all) {
    moves = moves_of_all, beats = std::move(beats_of_all), moved = seconds_now();
  }
  /// Sleeps, the longer the wait has taken: other ranks may want the core.
  void pause(int round) const {
    if (round < 2000) return void(sched_yield());
    const timespec nap = {.tv_sec = 0, .tv_nsec = round < 20000 ? 50'000 : 500'000};
    nanosleep(&nap, nullptr);
  }
  /// Whether it is time for the next check.
  bool is_due(double at) {
    if (at - checked < 0.02) return false;
    // Time in which this process was suspended is none that it waited.
    if (const double away = at - checked; checked > 0 && away > kSuspended) started += away, moved += away;
    checked = at;
    return true;
  }
  double started, moved, checked = 0;
  uint64_t moves = 0;
  std::vector<uint64_t> beats;  // when they last moved
};

// ---- construction and end ----

Communicator::Communicator(const InitOptions& options) : process_(getpid()), timeout_(timeout_of(options)) {
  if (options.threads < 0)
    throw DistributedError(text("init: the number of threads must be 0 or more, not ", options.threads));
  if (launched_by().empty())
    warn_of_lone_tasks();
  else
    open(options);
  if (size() == 1 && options.threads > 0) set_num_threads(options.threads);
  if (mpi_ == nullptr) return;
  [[maybe_unused]] static const int registered = std::atexit(at_exit);
  alive = this;
}

void Communicator::open(const InitOptions& options) {
  const MpiLibrary& mpi = MpiLibrary::open();
  mpi_ = &mpi;
  int flag = 0, provided = 0;
  mpi.finalized(&flag);
  if (flag != 0)
    throw DistributedError("init: MPI has ended with the last Group; keep one as long as ranks work together");
  mpi.initialized(&flag);
  finalizes_ = flag == 0;
  if (finalizes_)
    check_mpi(mpi, mpi.init_thread(nullptr, nullptr, mpi.thread_serialized, &provided), "MPI_Init_thread");
  check_mpi(mpi, mpi.comm_size(mpi.world, &self_.size), "MPI_Comm_size");
  check_mpi(mpi, mpi.comm_rank(mpi.world, &self_.rank), "MPI_Comm_rank");
  if (size() == 1) {
    check_is_alone(mpi);
    return warn_of_few_cores(options.threads);
  }
  for (MpiHandle* comm : {&comm_, &point_to_point_}) {
    check_mpi(mpi, mpi.comm_dup(mpi.world, comm), "MPI_Comm_dup");
    check_mpi(mpi, mpi.comm_set_errhandler(*comm, mpi.errors_return), "MPI_Comm_set_errhandler");
  }
  MpiHandle machine = 0;
  check_mpi(mpi, mpi.comm_split_type(comm_, mpi.comm_type_shared, rank(), mpi.info_null, &machine),
            "MPI_Comm_split_type");
  node_ = std::make_unique<Node>(mpi, machine, rank());
  local_rank_ = node_->local_rank();
  local_size_ = node_->size();
  const char* shared_memory = std::getenv("WEFT_DISTRIBUTED_SHARED_MEMORY");
  const bool wanted = options.shared_memory && (shared_memory == nullptr || std::string_view(shared_memory) != "0");
  shared_ = wanted && local_size_ == size();
  notice_ = std::make_unique<Notice>(mpi, comm_, rank(), size());
  monitor_ = std::make_unique<Monitor>(*node_);
  divide_cores(*this, options.threads);
  // A spinning rank must not hold the core that the rank it waits for would run on.
  spins_ = local_size_ <= sysconf(_SC_NPROCESSORS_ONLN) ? 4000 : 0;
}

bool Communicator::is_here() const { return getpid() == process_; }

Communicator::~Communicator() {
  if (alive == this) alive = nullptr;
  if (is_here())
    end();
  else
    (void)monitor_.release();  // a forked child has no such thread, and no part in MPI
}

void Communicator::end() noexcept {
  if (std::exchange(ended_, true)) return;
  if (size() > 1) leave();
  if (finalizes_ && !failed_) mpi_->finalize();
}

void Communicator::check_usable() const {
  if (size() > 1 && !is_here())
    throw DistributedError(text("this process is a fork of rank ", rank(), ", and no rank of the group itself"));
  if (failed_) throw DistributedError(text("rank ", rank(), ": the group has failed before; end the program"));
  if (left_) throw DistributedError(text("rank ", rank(), ": the group has ended, as the program does"));
}

void Communicator::leave() noexcept {
  try {
    if (std::uncaught_exceptions() > 0) give_up("it left the group with an error");
    if (failed_) return;
    finish_active();
    run(barrier_of(Call::leave));
    left_ = true;
    node_->own().state.store(State::ended, std::memory_order_release);
    monitor_.reset();
    notice_->stop();
    node_->free_windows();
  } catch (const std::exception& error) {
    // A destructor cannot throw, and a rank whose others fail must not end as if all were well.
    std::fprintf(stderr, "error: %s\n", error.what());
    std::fflush(nullptr);
    _exit(EXIT_FAILURE);
  }
}

void Communicator::finish_active() {
  try {
    while (!active_.empty()) {
      const std::shared_ptr<Progressive> work = active_.front();
      finish(*work);
    }
  } catch (const DistributedError& error) {
    throw DistributedError(text("an asynchronous collective was never waited for: ", error.what()));
  }
}

// ---- collectives ----

std::shared_ptr<Progressive> Communicator::start(Collective collective) {
  const uint64_t number = calls_;  // counted when it has begun: a call that found no memory can be repeated
  const size_t place = number % kOrderedTags;
  if (place >= ordered_.size()) ordered_.resize(place + 1);
  // The tag is free again when the call that had it is complete.
  if (const std::shared_ptr<Progressive> before = ordered_[place].lock()) finish(*before);
  collective.signature.number = number;
  check_usable();
  const auto work = std::make_shared<MessageWork>(*this, std::move(collective), kFirstTag + static_cast<int>(place));
  ++calls_;
  ordered_[place] = work;
  return start(work);
}

std::shared_ptr<Progressive> Communicator::start(Collective collective, int tag) {
  check_usable();
  return start(std::make_shared<MessageWork>(*this, std::move(collective), tag));
}

std::shared_ptr<Progressive> Communicator::start(std::shared_ptr<Progressive> work) {
  try {
    add(work);
    progress();
  } catch (...) {
    give_up("a collective ended with an error as it began");
    throw;
  }
  return work;
}

void Communicator::finish(Progressive& work) {
  wait(
      work.signature(), [&] { return work.progress(); }, [&] { return work.missing(); });
  progress();  // forgets it
}

size_t Communicator::first_of_all(std::vector<int32_t> flags) {
  const auto count = static_cast<int64_t>(flags.size());
  Collective agree = all_reduce_of(self_, ReduceOp::min, DType::i32, reinterpret_cast<std::byte*>(flags.data()), count);
  agree.signature = Signature::of(Call::all_reduce, {count}, DType::i32, 0, ReduceOp::min);
  run(std::move(agree));
  return static_cast<size_t>(std::find(flags.begin(), flags.end(), 1) - flags.begin());
}

int Communicator::reserve_tags(int count) {
  // Ranks reserve in the same order, and may release in another.
  std::vector<int32_t> unused;
  for (const Tags& tags : tags_) unused.push_back(tags.is_free && tags.count >= count ? 1 : 0);
  const size_t found = first_of_all(std::move(unused));
  if (found == tags_.size()) {
    const int first = tags_.empty() ? kReservedTags : tags_.back().first + tags_.back().count;
    if (first + count > kLastTag + 1)
      throw DistributedError(text(first - kReservedTags + count, " gradient buckets at a time, but there are tags for ",
                                  kLastTag + 1 - kReservedTags, "; make bucket_bytes larger"));
    tags_.push_back({.first = first, .count = count, .is_free = true});
  }
  tags_[found].is_free = false;
  return tags_[found].first;
}

void Communicator::release_tags(int first) {
  for (Tags& tags : tags_)
    if (tags.first == first) tags.is_free = true;
}

std::shared_ptr<Window> Communicator::allocate(size_t bytes) {
  if (!shared_) return nullptr;
  // Each rank looks for windows that it no longer uses, and for room; all must come to the same answer.
  std::vector<int32_t> flags = node_->unused_windows(bytes);
  const size_t windows = flags.size();
  flags.push_back(has_shared_memory(bytes, size()) ? 1 : 0);
  const size_t found = first_of_all(std::move(flags));
  if (found < windows) {
    std::shared_ptr<Window> window = node_->use_again(found);
    run(barrier_of());  // until all ranks have zeroed it
    return window;
  }
  if (found == windows) return node_->allocate(bytes);
  if (rank() == 0)
    log_warn(
        text("/dev/shm has no room for ", size(), " times ", bytes,
             " bytes of buckets: the ranks send messages, which is slower (mount it larger, `--shm-size` of docker)"));
  return nullptr;
}

// ---- waiting ----

void Communicator::progress() {
  if (progressing_) return;  // a consumer asks for something itself
  progressing_ = true;
  try {
    for (size_t i = 0; i < active_.size(); ++i) {
      const std::shared_ptr<Progressive> work = active_[i];
      if (!work->progress()) continue;
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i--));
    }
  } catch (...) {
    progressing_ = false;
    throw;
  }
  progressing_ = false;
}

void Communicator::wait(const Signature& what, const std::function<bool()>& ready,
                        const std::function<std::vector<int>()>& missing) try {
  if (ready()) return;
  Slot& own = node_->own();
  own.describe(what);
  own.waiting.store(1, std::memory_order_release);
  WaitState state(seconds_now());
  for (int round = 0; !ready(); ++round) {
    progress();
    state.pause(round);
    const double at = seconds_now();
    if (!state.is_due(at)) continue;
    check(what, missing);
    check_stuck(what, state);
    const std::vector<int> ranks = missing();
    if (at - state.started > timeout_ && !ranks.empty()) {
      std::string names;
      for (const int rank : ranks) names += text(names.empty() ? "rank " : ", rank ", rank);
      fail(what, text(names, " did not come within ", timeout_, " s",
                      shared_ ? "; it " + node_->slot(ranks[0]).activity() : std::string()));
    }
  }
  note_move();
  own.waiting.store(0, std::memory_order_release);
} catch (...) {
  give_up("a wait ended with an error");  // what it waited for has begun, and cannot be repeated
  throw;
}

void Communicator::check(const Signature& what, const std::function<std::vector<int>()>& missing) {
  const auto found = [&](const std::string& why) {
    give_up(why);
    throw DistributedError(text("rank ", rank(), ": ", what.to_string(), ": ", why));
  };
  if (node_->own().has_failed()) found(node_->own().reason);
  for (int local = 0; local < local_size_; ++local) {
    const Slot& slot = node_->slot(local);
    if (slot.has_failed()) found(text("rank ", slot.rank, " failed: ", static_cast<const char*>(slot.reason)));
    // (A message may still be on its way; there, leaving is a call whose signature does not match.)
    if (!shared_ || slot.state.load(std::memory_order_acquire) != State::ended) continue;
    // Read after the state: the rank may have arrived first and then left.
    const std::vector<int> ranks = missing();
    if (std::find(ranks.begin(), ranks.end(), slot.rank) != ranks.end())
      found(text("rank ", slot.rank, " has left the group"));
  }
  if (const auto notice = notice_->poll()) found(*notice);
}

void Communicator::check_stuck(const Signature& what, WaitState& state) {
  if (local_size_ != size()) return;  // it cannot see what ranks of other machines wait in
  uint64_t moves = 0;
  bool computing = false;
  std::vector<uint64_t> beats;
  for (int local = 0; local < local_size_; ++local) {
    const Slot& slot = node_->slot(local);
    moves += slot.moves.load(std::memory_order_acquire) + slot.published.load(std::memory_order_relaxed);
    beats.push_back(slot.beats.load(std::memory_order_relaxed));
    computing |= slot.waiting.load(std::memory_order_acquire) == 0;
  }
  if (computing || moves != state.moves || state.beats.empty()) return state.record(moves, std::move(beats));
  if (seconds_now() - state.moved < kStuck) return;
  // A stopped process may still show a wait that is already over; the monitor reports it, not this check.
  for (size_t i = 0; i < beats.size(); ++i)
    if (beats[i] < state.beats[i] + 2) return;
  std::vector<Signature> calls;
  for (int local = 0; local < local_size_; ++local) {
    const auto call = local == local_rank_ ? what : node_->slot(local).call();
    if (!call) return;  // it begins to wait right now
    calls.push_back(*call);
  }
  if (can_go_on(calls)) return;  // they wait for time alone: much data, a busy machine
  std::string others;
  for (int local = 0; local < local_size_; ++local)
    if (local != local_rank_)
      others += text(others.empty() ? "rank " : "; rank ", node_->slot(local).rank, " ", node_->slot(local).activity());
  fail(what, text("the ranks wait for each other in different calls: ", others));
}

void Communicator::fail(const Signature& what, const std::string& why) {
  const std::string reason = text(what.to_string(), ": ", why);
  give_up(reason);
  throw DistributedError(text("rank ", rank(), ": ", reason));
}

void Communicator::give_up(std::string_view why) noexcept {
  if (failed_ || !is_here()) return;  // a fork has no part in the group, but the same memory
  failed_ = true;
  active_.clear();  // buckets hold gradients, which hold this
  try {
    node_->own().fail(why);
    notice_->send(why);
  } catch (...) {
    // Ranks that no message reaches run into their timeout.
  }
}

}  // namespace weft::distributed
