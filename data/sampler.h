// Samplers: the order in which examples are visited, and their random keys. Both are pure functions of one key per
// epoch.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tensor/core/error.h"
#include "tensor/core/random.h"
#include "tensor/tensor.h"

namespace weft::data {

namespace detail {
/// first .. first + count - 1. MemoryError for more than memory holds.
std::vector<int64_t> ordered(int64_t count, int64_t first = 0);
/// IndexError unless all indices are in [0, dataset_size); `who` starts its message.
void check_examples(const char* who, std::span<const int64_t> indices, int64_t dataset_size);
/// The class of each of `size` examples (nullopt: of any number). `who` starts the messages: ShapeError unless `labels`
/// is a list of that size, DtypeError unless they are integers.
std::vector<int64_t> classes_of(const char* who, const Tensor& labels, std::optional<int64_t> size = std::nullopt);
}  // namespace detail

/// Derives key `number` from `key`. The random streams of different numbers, and of `key` itself, are independent.
RandomKey split_key(RandomKey key, uint64_t number);

/// A random permutation of 0 .. count-1. Error if count < 0.
std::vector<int64_t> shuffled_order(RandomKey key, int64_t count);

/// A loader's request to a sampler for the order of one epoch.
struct OrderRequest {
  RandomKey key;
  int64_t dataset_size = 0;
  int64_t batch_size = 1;
  bool drop_last = false;  // incomplete batches are left out
};

/// Which examples an epoch visits, and in which order: a function of the epoch's key.
class Sampler {
 public:
  using Order = std::function<std::vector<int64_t>(const OrderRequest& request)>;
  using Count = std::function<int64_t(int64_t dataset_size, bool drop_last)>;
  /// Undefined: the loader visits all examples, shuffled or not.
  Sampler() = default;
  /// `order(key)` returns `count` example indices, always the same for the same key. `random` says whether it reads the
  /// key.
  Sampler(std::function<std::vector<int64_t>(RandomKey)> order, int64_t count, bool random = true);
  /// For datasets of any size: `order(request)` returns `count(dataset_size, drop_last)` example indices. They are one
  /// of `parts` parts of the epoch, each visited by another process.
  Sampler(Order order, Count count, bool random, int64_t parts);
  /// Restricts the sampler to datasets of this size.
  Sampler& for_size(int64_t size) { return size_ = size, *this; }

  bool defined() const { return order_ != nullptr; }
  bool is_random() const { return random_; }
  /// The number of indices that order() returns.
  int64_t count(int64_t dataset_size = 0, bool drop_last = false) const;
  /// The number of processes that share an epoch.
  int64_t parts() const { return parts_; }
  /// The number of examples that all processes together visit in an epoch; it does not depend on the number of
  /// processes.
  int64_t visited(int64_t dataset_size, bool drop_last) const {
    return parts_ > 1 ? dataset_size : count(dataset_size, drop_last);
  }
  /// Error if the sampler was made for another dataset size.
  void check_size(int64_t dataset_size) const;
  /// The order of an epoch. Error if the sampler does not return count() indices, IndexError if one is not in [0,
  /// dataset_size).
  std::vector<int64_t> order(const OrderRequest& request) const;
  std::vector<int64_t> order(RandomKey key, int64_t dataset_size) const;

 private:
  Order order_;
  Count count_;
  int64_t parts_ = 1;
  bool random_ = false;
  std::optional<int64_t> size_;
};

/// The indices 0 .. count-1 in order.
Sampler sequential(int64_t count);
/// A random permutation of 0 .. count-1.
Sampler shuffled(int64_t count);

struct SubsetSamplerOptions {
  bool shuffle = false;
};
/// Visits these examples, in this order or shuffled.
Sampler subset(std::vector<int64_t> indices, const SubsetSamplerOptions& options = {});

struct WeightedOptions {
  std::optional<int64_t> count = std::nullopt;  // nullopt: the number of weights
  bool replacement = true;                      // an example may be drawn more than once
};
/// Draws `count` examples with probabilities proportional to their weights (one weight per example). Error if a weight
/// is negative or not finite or if all are zero; without replacement, also if `count` is larger than the number of
/// weights above 0.
Sampler weighted(std::vector<double> weights, const WeightedOptions& options = {});

/// weighted() where all classes are drawn equally often: an example weighs 1 / (the number of examples of its class).
/// `labels` (n) has the class of each example. ShapeError unless it is a list, DtypeError unless they are integers.
Sampler class_balanced(const Tensor& labels, const WeightedOptions& options = {});

struct DistributedOptions {
  bool shuffle = false;  // PyTorch's DistributedSampler shuffles by default
  /// If the order is random, called with the key of each epoch's order. It may throw if other processes have another
  /// key.
  std::function<void(RandomKey key)> agree = {};
};
/// The share of process `rank` when `ranks` processes share every dataset. From each ranks * batch_size examples of the
/// epoch's order, it takes the rank-th batch_size. So all processes together visit the same examples in the same steps
/// as one process with a batch of ranks * batch_size. All processes have the same number of examples: the remainder at
/// the end is divided evenly, and up to ranks - 1 of the first examples are repeated (with drop_last, up to that many
/// are left out). A loader's position is the same in all processes. It can be used with another number of processes if
/// the total batch per step is the same. IndexError unless 0 <= rank < ranks.
Sampler distributed(int64_t rank, int64_t ranks, const DistributedOptions& options = {});

/// Which examples form each batch of an epoch: a function of the epoch's key. Batches may differ in size.
class BatchSampler {
 public:
  using Batches = std::vector<std::vector<int64_t>>;
  /// Undefined: the loader's own options apply.
  BatchSampler() = default;
  /// `batches(key)` returns `count` non-empty lists of example indices, always the same for the same key. `random` says
  /// whether it reads the key. Error if count < 0.
  BatchSampler(std::function<Batches(RandomKey)> batches, int64_t count, bool random = true);
  /// Groups the examples of `sampler` into batches of batch_size. With `drop_last`, a smaller last batch is left out.
  /// Error if the sampler is undefined or batch_size < 1.
  BatchSampler(Sampler sampler, int64_t batch_size, bool drop_last = false);

  bool defined() const { return batches_ != nullptr || sampler_.defined(); }
  bool is_random() const { return random_; }
  /// Batches per epoch.
  int64_t count(int64_t dataset_size = 0) const;
  /// The number of examples per batch, summed over all processes that share an epoch; 0 if batch sizes are arbitrary.
  int64_t step_size() const;
  /// The number of examples that all processes together visit in an epoch; the number of batches if batch sizes are
  /// arbitrary.
  int64_t visited(int64_t dataset_size) const {
    return sampler_.defined() ? sampler_.visited(dataset_size, drop_last_) : count_;
  }
  bool drops_last() const { return drop_last_; }
  /// Error if the sampler was made for another dataset size.
  void check_size(int64_t dataset_size) const { sampler_.check_size(dataset_size); }
  /// The batches of an epoch. Error if there are not count() lists or one is empty, IndexError if an index is not in
  /// [0, dataset_size).
  Batches batches(RandomKey key, int64_t dataset_size) const;

 private:
  std::function<Batches(RandomKey)> batches_;
  int64_t count_ = 0;
  bool random_ = false;
  Sampler sampler_;  // used if batches_ is null
  int64_t batch_size_ = 1;
  bool drop_last_ = false;
};

}  // namespace weft::data
