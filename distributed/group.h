// Group: the processes that work together, and the collectives on tensors.
//
//   auto group = distributed::init();          // alone, or the ranks that mpirun started
//   group.all_reduce(loss);                    // every rank has the sum
//   if (group.rank() == 0) save(model);
//
// Every rank calls the same collectives in the same order with the same shapes and dtypes; a rank that does not ends
// the job with an error on every rank that says who called what (communicator.h says how). A collective takes any dtype
// and any memory order, also orders that differ from rank to rank: what counts is the index. Reductions go in the order
// of the ranks: the same bits on every rank, in every run, on one machine and on many.
//
// Those below write to memory and are not recorded; functions.h has differentiable ones. One thread at a time uses a
// group. Where there is one rank, nothing of MPI is needed and everything is a copy or nothing.
#pragma once

#include <cstdint>
#include <memory>

#include "distributed/error.h"
#include "distributed/options.h"
#include "distributed/reduce.h"
#include "tensor/tensor.h"

namespace weft::distributed {

class Communicator;
class Written;
struct Collective;

/// A collective that goes on while this rank does other things: it moves whenever the group is used or waits. Where the
/// handle is dropped it goes on all the same, and the end of the group waits for it.
class [[nodiscard]] Work {
 public:
  /// A handle of completed work.
  Work() = default;
  /// Whether it has come to its end; moves it on where it has not.
  bool is_done();
  /// Returns when it has: only then may the tensors be used. Error where one of them was written before. Copies of a
  /// handle are of the same work: the first that waits ends it.
  void wait();

 private:
  friend class Group;
  struct State;
  std::shared_ptr<State> state_;
};

/// A handle; copies are the same group. When the last one is gone (and with it every DataParallel and its gradients),
/// or the program ends, the ranks wait for each other, and MPI ends where init() has begun it.
class Group {
 public:
  int64_t rank() const;
  int64_t size() const;
  /// Among the ranks of this machine.
  int64_t local_rank() const;
  int64_t local_size() const;
  /// Whether ranks exchange data in shared memory.
  bool is_shared() const;

  // Errors of all of them: DistributedError; ShapeError and DtypeError where a tensor alone is wrong; GradientError
  // where what is written has a history (see functions.h) or is a parameter while recording.

  /// x becomes the reduction of all ranks' x. Floating dtypes and integers (mean: floating only); max and min of all.
  void all_reduce(const Tensor& x, ReduceOp op = ReduceOp::sum) const;
  /// x becomes the root's x.
  void broadcast(const Tensor& x, int64_t root) const;
  /// (size, ...): every rank's x.
  Tensor all_gather(const Tensor& x) const;
  /// x is (size n, ...); this rank's n rows of the reduction of all ranks' x.
  Tensor reduce_scatter(const Tensor& x, ReduceOp op = ReduceOp::sum) const;
  /// x is (size n, ...), n rows for each rank; the rows that each rank has for this one, in the order of the ranks.
  Tensor all_to_all(const Tensor& x) const;
  /// Returns when every rank has called it.
  void barrier() const;

  /// To the rank `to`, which calls recv() with the same tag (0 .. 32767), shape and dtype.
  void send(const Tensor& x, int64_t to, int64_t tag = 0) const;
  /// Fills x with what the rank `from` sends.
  void recv(const Tensor& x, int64_t from, int64_t tag = 0) const;

  /// The same, and the rank goes on: no code may touch x before wait(), which throws an Error where an op wrote to it
  /// (seen where x shows all of its memory). Results that are tensors of their own are there at once, on x's device,
  /// their values after wait(). What one rank sends another with one tag comes in the order of the calls.
  Work all_reduce_async(const Tensor& x, ReduceOp op = ReduceOp::sum) const;
  Work broadcast_async(const Tensor& x, int64_t root) const;
  struct [[nodiscard]] Pending;
  Pending all_gather_async(const Tensor& x) const;
  Pending reduce_scatter_async(const Tensor& x, ReduceOp op = ReduceOp::sum) const;
  Pending all_to_all_async(const Tensor& x) const;
  Work barrier_async() const;
  Work send_async(const Tensor& x, int64_t to, int64_t tag = 0) const;
  Work recv_async(const Tensor& x, int64_t from, int64_t tag = 0) const;

  /// What is behind it; for weft's own layers.
  Communicator& communicator() const { return *communicator_; }
  const std::shared_ptr<Communicator>& handle() const { return communicator_; }

 private:
  friend Group init(const InitOptions& options);
  explicit Group(std::shared_ptr<Communicator> communicator) : communicator_(std::move(communicator)) {}
  Work started(Collective collective, std::shared_ptr<Written> written) const;
  std::shared_ptr<Communicator> communicator_;
};

/// A result that is on its way.
struct [[nodiscard]] Group::Pending {
  Tensor result;
  Work work;
  Tensor wait() { return work.wait(), result; }
};

/// The group of this process: the ranks that mpirun (or srun) started, else this process alone. Every rank calls it
/// before anything else of this folder; later calls give the same group, whatever their options. Ranks of one machine
/// divide its cores among their kernels (InitOptions). DistributedError where MPI started the process and cannot be
/// opened.
Group init(const InitOptions& options = {});

}  // namespace weft::distributed
