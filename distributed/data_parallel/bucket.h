// Bucket: gradients that are reduced together. They are views of the bucket's contiguous memory, so nothing is copied,
// and the mean over the ranks is written directly into the gradients.
//
// After the gradients, the bucket has one flag element per gradient: 1 if this rank has the gradient and 0 if not
// (zeros are then used in its place). The flags are reduced with the gradients, and show whether any rank has one.
//
// If the ranks share memory, buckets lie in a window. A rank that has completed its bucket marks it in the bucket's
// header. When all ranks have done so, each rank sums a slice of the bucket over all ranks, in rank order, and writes
// the mean into every rank's bucket. No rank waits for that during backward: it checks whenever it has completed a
// gradient (Communicator::progress), and waits at the end of backward.
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
  /// Precedes the bucket in shared memory: the last reduction that this rank is ready for, and the last one of which it
  /// has done its part.
  struct Header {
    alignas(64) std::atomic<uint64_t> ready;
    std::atomic<int64_t> samples;  // number of samples that this rank had seen by then
    alignas(64) std::atomic<uint64_t> done;
  };

  Bucket(Communicator& group, std::vector<Tensor> parameters, Wire wire, int tag);
  /// The number of bytes that a rank needs for this bucket.
  int64_t bytes() const { return static_cast<int64_t>(sizeof(Header)) + elements_ * width_; }
  /// Places the bucket at `offset` of each rank's part of `window`, or in its own memory if `window` is null. From then
  /// on, gradients are accumulated there.
  void attach(const std::shared_ptr<Communicator>& group, const std::shared_ptr<Window>& window, int64_t offset);
  /// From then on, gradients are accumulated in separate storages again.
  void detach();

  /// Called when a backward starts that will reduce gradients.
  void expect() { waiting_ = parameters_.size(), started_ = false, held_ = false; }
  /// Called when a gradient is complete. Returns whether all are.
  bool complete_one() { return --waiting_ == 0 && !held_; }
  /// Called when a backward within this one, which may still add to the gradient, has completed one: the bucket starts
  /// at the end of backward.
  void hold() { held_ = true; }
  bool is_started() const { return started_; }
  /// Starts the reduction with the gradients that exist.
  void start(const Signature& what);
  bool progress() override;
  /// The ranks that it waits for.
  std::vector<int> missing() const override;
  const Signature& signature() const override { return what_; }
  /// Called after the reduction: sets the gradients that only other ranks had.
  void set_unused_gradients();

 private:
  Header& header(int rank) const;
  std::byte* data(int rank) const;
  void gather_unused();
  /// Copies a gradient that lies elsewhere (set_grad()) into the bucket. GradientError if that is not possible.
  void copy_into_bucket(size_t index, const Tensor& gradient) const;
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
  bool started_ = false, held_ = false, done_ = true, reduced_ = true;
  uint64_t number_ = 0;  // number of reductions so far
  std::shared_ptr<Progressive> messages_;
};

}  // namespace weft::distributed
