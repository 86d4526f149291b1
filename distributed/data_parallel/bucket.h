// Bucket: gradients that are reduced together. Its memory holds them side by side, and they are views of it: nothing is
// copied, and the mean over the ranks is written where the gradients are.
//
// Behind the gradients lies one element for each, 1 where this rank has it and 0 where it has none (then zeros take its
// place). Reduced with the rest, it says whether any rank has.
//
// Where the ranks share memory, buckets lie in a window. A rank that has completed its bucket says so in its header;
// when all have, each rank sums a slice of it over all ranks, in their order, and writes the mean into every rank's.
// No rank waits before that: it looks whenever it has completed a gradient (Communicator::progress), and waits at
// the end of backward.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "distributed/communicator.h"
#include "distributed/data_parallel/options.h"
#include "tensor/tensor.h"

namespace weft::distributed {

class Bucket final : public Progressive {
 public:
  /// In front of the bucket in shared memory: the last reduction that this rank is ready for, and has done its part of.
  struct Header {
    alignas(64) std::atomic<uint64_t> ready;
    std::atomic<int64_t> samples;  // that this rank has seen by then
    alignas(64) std::atomic<uint64_t> done;
  };

  Bucket(Communicator& group, std::vector<Tensor> parameters, Wire wire, int tag);
  /// Of the memory that a rank needs for it.
  int64_t bytes() const { return static_cast<int64_t>(sizeof(Header)) + elements_ * width_; }
  /// Takes its place, at `offset` of each rank's part of `window`, or in memory of its own where that is null; from
  /// here on the gradients are collected there.
  void settle(const std::shared_ptr<Communicator>& group, const std::shared_ptr<Window>& window, int64_t offset);
  /// Gradients are collected in storages of their own again.
  void unsettle();

  /// A backward begins that will reduce.
  void expect() { waiting_ = parameters_.size(), started_ = false; }
  /// A gradient is complete; whether all are.
  bool complete_one() { return --waiting_ == 0; }
  bool is_started() const { return started_; }
  /// Starts the reduction of what is there.
  void start(const Signature& what);
  bool progress() override;
  /// The ranks that it waits for.
  std::vector<int> missing() const override;
  const Signature& signature() const override { return what_; }
  /// After the reduction: gradients that only other ranks had are there now.
  void adopt();

 private:
  Header& header(int rank) const;
  std::byte* data(int rank) const;
  void gather_unused();
  /// Brings a gradient that lies elsewhere (set_grad()) to its place. GradientError where that is not possible.
  void take(size_t index, const Tensor& gradient) const;
  void round_to_wire(std::byte* from, int64_t count) const;
  void check_samples() const;
  void reduce_slice();
  void start_messages();

  Communicator& group_;
  std::vector<Tensor> parameters_, views_;
  std::vector<int64_t> offsets_;  // of the gradients, in elements
  int64_t elements_ = 0, flags_ = 0, width_;
  DType dtype_;
  Wire wire_;
  Signature what_;
  int tag_;
  std::shared_ptr<Window> window_;
  int64_t window_offset_ = 0;
  Tensor flat_, sent_;
  size_t waiting_ = 0;
  bool started_ = false, done_ = true, reduced_ = true;
  uint64_t number_ = 0;  // of reductions
  std::shared_ptr<Progressive> messages_;
};

}  // namespace weft::distributed
