// Communicator: the state behind a Group. It runs collectives, waits for other ranks, and detects failures.
//
// If all ranks are on one machine (and shared memory is enabled), blocking collectives use the staging areas of
// node/node.h; only asynchronous calls, send and recv use messages. Between machines everything uses messages
// (mpi/message_work.h). Both run the same descriptions (stage.h), so their results are bit-identical.
//
// There is no communication thread: ranks use all cores for their own computation, and another thread would take a core
// from it. Asynchronous calls make progress whenever the group is used, when it waits, or when a gradient is complete.
//
// Every wait is bounded. It ends with a DistributedError that names a rank if that rank died or is stopped (reported by
// node/monitor.h), left or failed, if it is in a different collective, if all ranks wait without progress, or if it
// does not arrive within the timeout.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "distributed/collectives.h"
#include "distributed/mpi/notice.h"
#include "distributed/node/node.h"
#include "distributed/options.h"

namespace weft::distributed {

class Monitor;

/// The largest tag that every MPI implementation supports.
inline constexpr int kLastTag = 32767;

/// An operation in progress.
class Progressive {
 public:
  virtual ~Progressive() = default;
  /// Makes progress without waiting. Returns whether the operation is complete.
  virtual bool progress() = 0;
  /// The ranks that it waits for.
  virtual std::vector<int> missing() const = 0;
  virtual const Signature& signature() const = 0;
};

class Communicator : public std::enable_shared_from_this<Communicator> {
 public:
  /// A single process, or the ranks that MPI started.
  explicit Communicator(const InitOptions& options);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// Waits until all ranks call it, unless this rank leaves with an error, and finalizes MPI if the group initialized
  /// it. It runs once: in the destructor, or at program exit if that comes first.
  void end() noexcept;

  int rank() const { return self_.rank; }
  int size() const { return self_.size; }
  RankInGroup rank_in_group() const { return self_; }
  int local_rank() const { return local_rank_; }
  int local_size() const { return local_size_; }
  /// Whether all ranks share memory.
  bool is_shared() const { return shared_; }
  Node& node() const { return *node_; }
  const MpiLibrary& mpi() const { return *mpi_; }
  MpiHandle comm() const { return comm_; }
  MpiHandle point_to_point() const { return point_to_point_; }

  /// Runs a collective and waits for it. All ranks must call it.
  void run(Collective collective);
  /// The same, in which this rank waits for others for `timeout` seconds; 0: for the group's timeout.
  void run(Collective collective, double timeout);
  /// Starts a collective that runs asynchronously. The communicator keeps it until it is complete.
  std::shared_ptr<Progressive> start(Collective collective);
  /// The same for a collective that may run in any order relative to others. It uses its own tag (see reserve_tags()).
  std::shared_ptr<Progressive> start(Collective collective, int tag);
  std::shared_ptr<Progressive> start(std::shared_ptr<Progressive> work);
  /// Waits until `work` is complete.
  void finish(Progressive& work);
  /// Tells the other ranks on this machine that this rank makes progress although it waits.
  void note_move() { node_->own().moves.fetch_add(1, std::memory_order_release); }
  /// Reserves `count` consecutive tags for parallel calls and returns the first. Released tags are reused. All ranks
  /// must call it.
  int reserve_tags(int count);
  /// Releases tags whose calls are complete.
  void release_tags(int first);
  /// Returns zeroed shared memory with one part per rank. A window of this size that no rank uses any more is reused.
  /// Null if the ranks do not share memory, or if there is no room (rank 0 then prints a warning). All ranks must call
  /// it.
  std::shared_ptr<Window> allocate(size_t bytes);

  void add(std::shared_ptr<Progressive> work) { active_.push_back(std::move(work)); }
  /// Whether this is the process that created the group, not a fork of it.
  bool is_here() const;
  /// DistributedError if the group can no longer be used, or in a fork of a process of several.
  void check_usable() const;
  void progress();
  /// Waits until `ready()` is true. `missing()` returns the ranks that it waits for.
  void wait(const Signature& what, const std::function<bool()>& ready,
            const std::function<std::vector<int>()>& missing);
  /// Ends the group with an error that this rank detected, and tells the other ranks.
  [[noreturn]] void fail(const Signature& what, const std::string& why);
  /// Tells the other ranks that this rank will not take part in the calls that they wait for; used while an error is
  /// already propagating.
  void give_up(std::string_view why) noexcept;

 private:
  class WaitState;
  void open(const InitOptions& options);
  /// Fills the next staging area and returns its number.
  uint64_t publish(const Stage& stage);
  /// Waits for all ranks' areas of this number and reads them. If `check` is not null, compares the signatures first.
  void consume(const Stage& stage, uint64_t number, const Signature* check);
  void compare_signatures(const Signature& own);
  /// The first index i such that flags[i] is set on every rank; flags.size() if there is none. All ranks must pass the
  /// same number of flags.
  size_t first_of_all(std::vector<int32_t> flags);
  void leave() noexcept;
  void finish_active();
  /// Throws if one of the `missing` ranks will not arrive.
  void check(const Signature& what, const std::function<std::vector<int>()>& missing);
  /// Throws if all ranks wait and none of the waits can end.
  void check_stuck(const Signature& what, WaitState& state);

  RankInGroup self_;
  int local_rank_ = 0, local_size_ = 1;
  int process_;
  double timeout_;
  bool shared_ = false, failed_ = false, progressing_ = false, finalizes_ = false, ended_ = false, left_ = false;
  int spins_ = 0;
  const MpiLibrary* mpi_ = nullptr;
  MpiHandle comm_ = 0, point_to_point_ = 0;
  std::unique_ptr<Node> node_;
  std::unique_ptr<Monitor> monitor_;
  std::unique_ptr<Notice> notice_;
  uint64_t calls_ = 0, blocking_ = 0, exchanges_ = 0;
  struct Tags {
    int first, count;
    bool is_free;
  };
  std::vector<Tags> tags_;
  std::vector<std::shared_ptr<Progressive>> active_;
  std::vector<std::weak_ptr<Progressive>> ordered_;  // the last call with each tag of those that run in order
};

}  // namespace weft::distributed
