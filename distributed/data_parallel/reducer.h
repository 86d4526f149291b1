// Reducer: the part of DataParallel that does not depend on the model's type.
//
// A hook on each parameter reports when its gradient is complete, while older ops have yet to run. When the last
// gradient of a bucket is complete, the bucket's reduction starts. At the end of backward, the Reducer starts the
// buckets that still wait for parameters without a gradient and waits for all of them. When backward returns, every
// gradient is the mean over the ranks.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "distributed/data_parallel/options.h"
#include "distributed/group.h"
#include "nn/module/module.h"

namespace weft::distributed {

class Bucket;
struct Signature;

class Reducer {
 public:
  /// Checks that all ranks have the same model, copies rank 0's parameters and buffers to all ranks, and creates the
  /// buckets.
  Reducer(const nn::Module& model, Group group, const DataParallelOptions& options);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  const Group& group() const { return group_; }
  /// Whether backward reduces gradients.
  bool is_synchronized() const { return synchronized_; }
  void set_synchronized(bool on) { synchronized_ = on; }
  /// Marks the start of a backward that reduces; called by hooks.
  void begin();
  /// Counts the samples of a call of the model. Error for a negative number.
  void count_samples(int64_t samples);
  size_t bucket_count() const { return buckets_.size(); }

 private:
  struct Watch;
  explicit Reducer(Group group) : group_(std::move(group)) {}
  void check_same(const nn::Module& model, const DataParallelOptions& options);
  void copy_from_first(const nn::Module& model);
  void fill_buckets(const nn::Module& model, const DataParallelOptions& options);
  void watch_parameters();
  void place_buckets();
  void complete(size_t bucket, size_t position);
  void finish();
  Signature signature() const;

  Group group_;
  std::vector<std::vector<Tensor>> contents_;
  std::vector<std::shared_ptr<Bucket>> buckets_;
  std::vector<HookHandle> hooks_;
  bool synchronized_ = true, running_ = false;
  int first_tag_ = 0;
  uint64_t backwards_ = 0;
  int64_t samples_ = 0;
};

}  // namespace weft::distributed
