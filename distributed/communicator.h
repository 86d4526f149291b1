// Communicator: the state behind a Group. It runs collectives, waits for other ranks, and notices what goes wrong.
//
// Where all ranks are on one machine (and shared memory is wanted), blocking collectives go through the staging areas
// of node/node.h, and messages are only used by asynchronous calls, send and recv. Between machines everything is
// messages (mpi/message_work.h). Both run the same descriptions (stage.h), so both give the same bits.
//
// There is no thread that communicates: ranks use all cores for their own work, and a second thread would take one from
// it. What was started asynchronously moves on whenever the group is asked for something, waits, or a gradient is done.
//
// Every wait is bounded. It ends with a DistributedError that names a rank where that rank died or is stopped (the
// monitor of node/monitor.h says so), left or failed; where it is in another collective than this one; where all ranks
// wait without progress; and where a rank has not come within the timeout.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "distributed/collectives.h"
#include "distributed/mpi/notice.h"
#include "distributed/node/node.h"
#include "distributed/options.h"

namespace weft::distributed {

class Monitor;

/// The largest tag that every MPI has.
inline constexpr int kLastTag = 32767;

/// Something that was started and has not ended.
class Progressive {
 public:
  virtual ~Progressive() = default;
  /// Moves on without waiting; whether it has come to its end.
  virtual bool progress() = 0;
  /// The ranks that it waits for.
  virtual std::vector<int> missing() const = 0;
  virtual const Signature& signature() const = 0;
};

class Communicator : public std::enable_shared_from_this<Communicator> {
 public:
  /// One process alone, or the ranks that MPI started.
  explicit Communicator(const InitOptions& options);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// Waits until all ranks come here, unless this one leaves with an error, and ends MPI where the group began it. Done
  /// once: by the destructor, or where the program ends before that.
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

  /// Runs a collective; all ranks call it.
  void run(Collective collective);
  /// Starts one that goes on while this rank does other things, and keeps it until it has come to its end.
  std::shared_ptr<Progressive> start(Collective collective);
  /// The same for one that needs no order among the others, with a tag of its own (see reserve_tags()).
  std::shared_ptr<Progressive> start(Collective collective, int tag);
  std::shared_ptr<Progressive> start(std::shared_ptr<Progressive> work);
  /// Waits for what was started.
  void finish(Progressive& work);
  /// Shows the other ranks of the machine that this one moves on, though it waits.
  void note_move() { node_->own().moves.fetch_add(1, std::memory_order_release); }
  /// Tags for `count` parallel calls, the first of them: released ones or new ones. All ranks call it.
  int reserve_tags(int count);
  /// Their calls have come to their end.
  void release_tags(int first);
  /// A window a rank for all ranks, zeroed: one of this size that no rank uses any more, or a new one. Null where they
  /// do not share memory, or have no room for it, which rank 0 warns of. All ranks call it.
  std::shared_ptr<Window> allocate(size_t bytes);

  void add(std::shared_ptr<Progressive> work) { active_.push_back(std::move(work)); }
  /// The process that the group belongs to, and not one that it has forked.
  bool is_here() const;
  void progress();
  /// Waits until `ready()`. `missing()`: the ranks that it waits for.
  void wait(const Signature& what, const std::function<bool()>& ready,
            const std::function<std::vector<int>()>& missing);
  /// Ends the group with an error that is this rank's own finding; the others learn of it.
  [[noreturn]] void fail(const Signature& what, const std::string& why);
  /// Tells the others that this rank will not come to what they wait for; for where an error is on its way already.
  void give_up(const std::string& why) noexcept;

 private:
  class Patience;
  void open(const InitOptions& options);
  /// Fills the next staging area, and says which.
  uint64_t publish(const Stage& stage);
  /// Waits for all ranks' areas of this number, and reads them; the first time with the signature to compare.
  void consume(const Stage& stage, uint64_t number, const Signature* check);
  void compare_signatures(const Signature& own);
  /// The first of `flags`, of which all ranks have as many, that is set on every rank; flags.size() where none is.
  size_t first_of_all(std::vector<int32_t> flags);
  void leave() noexcept;
  /// Throws where no more calls are possible.
  void check_usable() const;
  void finish_active();
  /// Throws where one of `missing` will not come.
  void check(const Signature& what, const std::function<std::vector<int>()>& missing);
  /// Throws where all ranks wait, and none for what it will get.
  void check_stuck(const Signature& what, Patience& patience);

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
};

}  // namespace weft::distributed
