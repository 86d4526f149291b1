// The order examples are visited in, and the random keys they get: pure functions of one key per epoch.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tensor/core/random.h"

namespace weft::data {

/// The key of part `number` of what `key` names: the streams of different numbers, and of `key` itself, are
/// independent.
RandomKey split_key(RandomKey key, uint64_t number);

/// A random permutation of 0 .. count-1. Error where count < 0.
std::vector<int64_t> shuffled_order(RandomKey key, int64_t count);

/// What a loader asks a sampler for: the order of one epoch.
struct OrderRequest {
  RandomKey key;
  int64_t dataset_size = 0;
  int64_t batch_size = 1;
  bool drop_last = false;  // batches that are not full are left out
};

/// Which examples an epoch visits, in which order: a function of the epoch's key.
class Sampler {
 public:
  using Order = std::function<std::vector<int64_t>(const OrderRequest& request)>;
  using Count = std::function<int64_t(int64_t dataset_size, bool drop_last)>;
  /// Whatever the loader says: all examples, shuffled or not.
  Sampler() = default;
  /// `order(key)` gives `count` numbers of examples, the same for the same key. It reads the key where `random`.
  Sampler(std::function<std::vector<int64_t>(RandomKey)> order, int64_t count, bool random = true);
  /// For datasets of any size: `order(request)` gives `count(dataset_size, drop_last)` numbers of examples, one of
  /// `parts` parts that as many processes take at the same time.
  Sampler(Order order, Count count, bool random, int64_t parts);
  /// For datasets of this size only.
  Sampler& for_size(int64_t size) { return size_ = size, *this; }

  bool defined() const { return order_ != nullptr; }
  bool is_random() const { return random_; }
  /// How many numbers of examples order() gives.
  int64_t count(int64_t dataset_size = 0, bool drop_last = false) const;
  /// How many processes take a part each of what an epoch visits.
  int64_t parts() const { return parts_; }
  /// How many examples an epoch visits in all of these processes together: the same for any number of them.
  int64_t visited(int64_t dataset_size, bool drop_last) const {
    return parts_ > 1 ? dataset_size : count(dataset_size, drop_last);
  }
  /// Error where it is made for datasets of another size.
  void check_size(int64_t dataset_size) const;
  /// Error where it does not give count() numbers, IndexError where one is not in [0, dataset_size).
  std::vector<int64_t> order(const OrderRequest& request) const;
  std::vector<int64_t> order(RandomKey key, int64_t dataset_size) const;

 private:
  Order order_;
  Count count_;
  int64_t parts_ = 1;
  bool random_ = false;
  std::optional<int64_t> size_;
};

/// 0 .. count-1.
Sampler sequential(int64_t count);
/// A random permutation of 0 .. count-1.
Sampler shuffled(int64_t count);

struct SubsetOptions {
  bool shuffle = false;
};
/// These examples, in this order or in a random one.
Sampler subset(std::vector<int64_t> indices, const SubsetOptions& options = {});

struct WeightedOptions {
  std::optional<int64_t> count = std::nullopt;  // as many as weights where absent
  bool replacement = true;                      // an example may come again
};
/// `count` examples, each drawn with a probability in proportion to its weight (one per example). Error for weights
/// that are negative, not finite or all zero, and, without replacement, for more examples than have a weight above 0.
Sampler weighted(std::vector<double> weights, const WeightedOptions& options = {});

struct DistributedOptions {
  bool shuffle = false;
  /// Called with the key of each epoch's order, where it is random; may throw where other processes have another.
  std::function<void(RandomKey key)> agree = {};
};
/// The part of process `rank` where `ranks` processes share every dataset: of each ranks * batch_size examples in the
/// order of the epoch, the rank-th batch_size. So the processes together see what one process sees with batches that
/// are as large as theirs together, in the same steps. All have equally many: what is left over at the end is shared
/// evenly, and up to ranks - 1 of the first examples come again (with drop_last, that many are left out). A loader's
/// position is the same in all of them, and fits any number of processes with as many examples to a step. IndexError
/// unless 0 <= rank < ranks.
Sampler distributed(int64_t rank, int64_t ranks, const DistributedOptions& options = {});

/// Which examples make up each batch of an epoch: a function of the epoch's key. Batches may differ in size.
class BatchSampler {
 public:
  using Batches = std::vector<std::vector<int64_t>>;
  /// Whatever the loader says.
  BatchSampler() = default;
  /// `batches(key)` gives `count` lists of numbers of examples, none of them empty, the same for the same key. It reads
  /// the key where `random`. Error where count < 0.
  BatchSampler(std::function<Batches(RandomKey)> batches, int64_t count, bool random = true);
  /// The examples of `sampler`, batch_size at a time; a smaller last batch is left out where `drop_last`. Error where
  /// the sampler is undefined or batch_size < 1.
  BatchSampler(Sampler sampler, int64_t batch_size, bool drop_last = false);

  bool defined() const { return batches_ != nullptr || sampler_.defined(); }
  bool is_random() const { return random_; }
  /// Batches per epoch.
  int64_t count(int64_t dataset_size = 0) const;
  /// The examples of a batch in all processes that share an epoch; 0 where batches differ as they like.
  int64_t step_size() const;
  /// How many examples an epoch visits in all of them, or batches where these differ as they like.
  int64_t visited(int64_t dataset_size) const {
    return sampler_.defined() ? sampler_.visited(dataset_size, drop_last_) : count_;
  }
  bool drops_last() const { return drop_last_; }
  /// Error where it is made for datasets of another size.
  void check_size(int64_t dataset_size) const { sampler_.check_size(dataset_size); }
  /// Error where it does not give count() lists or an empty one, IndexError where a number is not in [0, dataset_size).
  Batches batches(RandomKey key, int64_t dataset_size) const;

 private:
  std::function<Batches(RandomKey)> batches_;
  int64_t count_ = 0;
  bool random_ = false;
  Sampler sampler_;  // where there are no batches_
  int64_t batch_size_ = 1;
  bool drop_last_ = false;
};

}  // namespace weft::data
