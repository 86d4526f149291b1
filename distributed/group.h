// Group: the processes that work together, and the collectives on tensors.
//
//   auto group = distributed::init();          // alone, or the ranks that mpirun started
//   group.all_reduce(loss);                    // every rank has the sum
//   if (group.rank() == 0) save(model);
//
// Every rank must call the same collectives in the same order with the same shapes and dtypes. If a rank does not, the
// job ends on every rank with an error that says which rank called what. Collectives accept any dtype and any memory
// order, which may differ from rank to rank: elements are matched by index. Reductions are computed in rank order, so
// the bits are the same on every rank, in every run, and on one machine or many.
//
// The member functions below write to memory and are not recorded; functions.h has differentiable ones. Only one thread
// at a time may use a group. A group with one rank does not need MPI; its collectives copy or do nothing.
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

/// A handle of an asynchronous collective. The collective makes progress whenever the group is used or waits. If the
/// handle is dropped, the collective still completes; the end of the group waits for it.
class [[nodiscard]] Work {
 public:
  /// A handle of completed work.
  Work() = default;
  /// Whether the work is complete. Makes progress if it is not.
  bool is_done();
  /// Waits until the work is complete; only then may the tensors be used. Error if a tensor was written to before that.
  /// Copies of a handle refer to the same work; the first wait() completes it.
  void wait();

 private:
  friend class Group;
  struct State;
  std::shared_ptr<State> state_;
};

/// A handle; copies refer to the same group. When the last one is destroyed (including those in DataParallel objects
/// and their gradients), or at program exit, the ranks wait for each other, and MPI is finalized if init() initialized
/// it.
class Group {
 public:
  int64_t rank() const;
  int64_t size() const;
  /// The rank and the number of ranks on this machine.
  int64_t local_rank() const;
  int64_t local_size() const;
  /// Whether the ranks exchange data through shared memory.
  bool is_shared() const;

  // All of these throw DistributedError; ShapeError or DtypeError if a tensor is wrong by itself; IndexError if a rank
  // or a tag is out of range; GradientError if they would write to a tensor that has a history (see functions.h), or to
  // a parameter while recording.

  /// Replaces x by the reduction of all ranks' x. sum takes numeric dtypes, mean only floating ones, max and min take
  /// all.
  void all_reduce(const Tensor& x, ReduceOp op = ReduceOp::sum) const;
  /// Replaces x by the root's x.
  void broadcast(const Tensor& x, int64_t root) const;
  /// x (...) -> (size, ...): every rank's x, stacked in rank order.
  Tensor all_gather(const Tensor& x) const;
  /// x (size n, ...) -> (n, ...): this rank's n rows of the reduction of all ranks' x.
  Tensor reduce_scatter(const Tensor& x, ReduceOp op = ReduceOp::sum) const;
  /// x (size n, ...), n rows for each rank -> (size n, ...): the rows that each rank holds for this rank, in rank
  /// order.
  Tensor all_to_all(const Tensor& x) const;
  /// Replaces the root's x by the reduction of all ranks' x, as all_reduce() does. The other ranks' x keeps its values.
  void reduce(const Tensor& x, int64_t root, ReduceOp op = ReduceOp::sum) const;
  /// x (...) -> (size, ...) on the root: every rank's x, stacked in rank order. On the other ranks the result is
  /// undefined.
  Tensor gather(const Tensor& x, int64_t root) const;
  /// x (size n, ...) -> (n, ...): this rank's n rows of the root's x. The other ranks' x gives the shape and the dtype,
  /// and its values are not read: zeros({1}).expand(shape) does, without memory for them.
  Tensor scatter(const Tensor& x, int64_t root) const;
  /// x (n, ...) -> (the sum of all n, ...): every rank's rows, one rank's after the other's in rank order. n may differ
  /// from rank to rank and may be 0. ShapeError if x has no axis.
  Tensor all_gather_rows(const Tensor& x) const;
  /// Waits until every rank has called it, for at most `timeout` seconds. 0: the group's timeout. So ranks can wait
  /// longer for one that evaluates or writes than in other calls. Each rank waits for its own timeout, and the first
  /// that is over ends the group with an error. Error if it is negative or NaN.
  void barrier(double timeout = 0) const;

  /// Sends x to rank `to`, which must call recv() with the same tag (0 .. 32767), shape and dtype.
  void send(const Tensor& x, int64_t to, int64_t tag = 0) const;
  /// Receives x from rank `from`.
  void recv(const Tensor& x, int64_t from, int64_t tag = 0) const;

  /// Asynchronous versions. No code may touch x before wait(). If an op wrote to x before, wait() throws an Error
  /// (detected if x covers all of its memory). New result tensors exist immediately, on x's device; their values are
  /// valid after wait(). Messages between two ranks with the same tag arrive in the order of the calls.
  Work all_reduce_async(const Tensor& x, ReduceOp op = ReduceOp::sum) const;
  Work broadcast_async(const Tensor& x, int64_t root) const;
  struct [[nodiscard]] Pending;
  Pending all_gather_async(const Tensor& x) const;
  Pending reduce_scatter_async(const Tensor& x, ReduceOp op = ReduceOp::sum) const;
  Pending all_to_all_async(const Tensor& x) const;
  Work reduce_async(const Tensor& x, int64_t root, ReduceOp op = ReduceOp::sum) const;
  Pending gather_async(const Tensor& x, int64_t root) const;
  Pending scatter_async(const Tensor& x, int64_t root) const;
  Work barrier_async() const;
  Work send_async(const Tensor& x, int64_t to, int64_t tag = 0) const;
  Work recv_async(const Tensor& x, int64_t from, int64_t tag = 0) const;

  /// The communicator; internal to weft.
  Communicator& communicator() const { return *communicator_; }
  const std::shared_ptr<Communicator>& handle() const { return communicator_; }

 private:
  friend Group init(const InitOptions& options);
  explicit Group(std::shared_ptr<Communicator> communicator) : communicator_(std::move(communicator)) {}
  Work started(Collective collective, std::shared_ptr<Written> written) const;
  std::shared_ptr<Communicator> communicator_;
};

/// A result whose values are valid after wait().
struct [[nodiscard]] Group::Pending {
  Tensor result;
  Work work;
  Tensor wait() { return work.wait(), result; }
};

/// The group of this process: the ranks that mpirun (or srun) started, or this process alone. Every rank must call it
/// before any other function of distributed/. Later calls return the same group and ignore their options. The ranks on
/// one machine divide its cores among their kernels (see InitOptions). DistributedError if MPI started the process but
/// its library cannot be opened, or belongs to another MPI.
Group init(const InitOptions& options = {});

}  // namespace weft::distributed
