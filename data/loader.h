// DataLoader: iterates over a dataset in batches, in order or shuffled, optionally prefetched by threads.
//
//   for (const auto& [images, labels] : data::DataLoader(train, {.batch_size = 64, .shuffle = true, .prefetch = 2}))
//     step(images, labels);
//
// Each begin() starts an epoch. If the order or the transforms are random, it draws one key from the generator, on the
// calling thread, and all randomness of the epoch is derived from this key. So the batches are the same with any number
// of workers, and an epoch can be resumed in the middle: position() holds the key and the number of batches returned so
// far. A dataset that draws from the default generator instead of its key is an Error on a loading thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "data/prefetcher.h"
#include "data/sampler.h"
#include "io/resumable.h"
#include "tensor/core/owned.h"

namespace weft::data {

struct LoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = false;
  bool drop_last = false;  // leaves out the last batch if it is smaller
  /// Number of batches that threads load ahead. 0: none, or two per worker if `workers` is set.
  int64_t prefetch = 0;
  Sampler sampler = {};  // which examples, in which order; undefined: all of them. Excludes shuffle.
  /// Which examples form each batch. Excludes batch_size, shuffle, drop_last and sampler.
  BatchSampler batch_sampler = {};
  /// Number of loading threads. With more than one, the dataset is called from several threads at once. 0: one thread
  /// if prefetch > 0, else none.
  int64_t workers = 0;
  /// Draws the epochs' keys; must outlive the loader. Null: the default generator.
  Generator* generator = nullptr;
};

namespace detail {

/// The description of an epoch. It never changes, so prefetching threads read it without locks.
struct Epoch final : SharedObject {
  int64_t number = 0;  // of those that the loader started
  RandomKey key;
  std::vector<int64_t> order;  // the examples of all batches
  int64_t batch_size = 1;
  std::vector<int64_t> begins;   // of a batch sampler: the place in `order` where each batch begins, and the end
  std::vector<int64_t> earlier;  // for each place, how often its example came before; empty if none comes twice
  /// The indices of a batch's examples, and their keys; some keys if they are not read.
  std::vector<int64_t> indices(int64_t batch) const;
  std::vector<RandomKey> keys(int64_t batch, bool are_read) const;
  void take(const BatchSampler::Batches& batches);
  void count_earlier(int64_t dataset_size);

 private:
  /// The places in `order` of a batch: the first, and the one behind the last.
  std::pair<int64_t, int64_t> places(int64_t batch) const;
};

[[noreturn]] void throw_epoch_ended();

/// How far a loader has come.
class Progress {
 public:
  /// Whether the next epoch is one that set_position() selected.
  bool resumes() const { return resume_; }
  /// The epoch that was resumed got no first batch: the next begin() resumes it.
  void resume_again() { resume_ = true; }
  int64_t handed_out() const { return next_; }
  /// A batch of an epoch was returned; there are no more. Only the epoch that started last moves position().
  void hand_out(int64_t epoch) { next_ += epoch == epochs_ ? 1 : 0; }
  void finish(int64_t epoch) { running_ = running_ && epoch != epochs_; }

 protected:
  /// Starts an epoch with this key, or resumes that of key_, and returns its number.
  int64_t start(RandomKey key);
  /// Selects the epoch for the next begin(). An iterator that is still in use moves the new position no more.
  void select(RandomKey key, int64_t next, bool is_within);
  /// Whether position() is within an epoch.
  bool is_within() const { return running_ || resume_; }

  int64_t epochs_ = 0;    // number of epochs that were started, and of calls of set_position()
  RandomKey key_;         // of the epoch
  int64_t next_ = 0;      // number of its batches that were returned
  bool running_ = false;  // the epoch has started and not ended
  bool resume_ = false;   // the next begin() resumes it
};

/// The whole numbers behind `start`, one space between them; none if the text is something else.
std::vector<uint64_t> numbers_of(const std::string& position, std::string_view start);
/// Error, which begins with `who`, unless batch_size >= 1, prefetch >= 0 and workers >= 0.
void check_options(const char* who, int64_t batch_size, int64_t prefetch, int64_t workers);
/// How batches are loaded with these options: Prefetcher's threads, and the number of batches that they load ahead.
Owned<Prefetcher> prefetcher(std::function<Batch(int64_t)> fetch, int64_t first, int64_t end, int64_t prefetch,
                             int64_t workers);
/// The tensors of a batch as a list.
template <size_t N> Batch list_of(std::array<Tensor, N> batch) {
  return Batch(std::make_move_iterator(batch.begin()), std::make_move_iterator(batch.end()));
}

/// Iterates over an epoch. Its destructor, which also runs when the loop is left by break or an exception, joins the
/// loading threads.
template <size_t N> class BatchIterator {
 public:
  using value_type = std::array<Tensor, N>;
  using difference_type = std::ptrdiff_t;

  BatchIterator(Progress& progress, int64_t epoch, Owned<Prefetcher> batches)
      : progress_(&progress), epoch_(epoch), batches_(std::move(batches)) {
    advance();
  }
  /// The batch. Error at the end of the epoch.
  const value_type& operator*() const& { return *operator->(); }
  value_type operator*() && { return check(), std::move(batch_); }  // of *loader.begin(), whose iterator is gone then
  const value_type* operator->() const { return check(), &batch_; }
  BatchIterator& operator++() {
    advance();
    return *this;
  }
  void operator++(int) { advance(); }
  bool operator==(std::default_sentinel_t) const { return done_; }

 private:
  void check() const {
    if (done_) throw_epoch_ended();
  }
  void advance() {
    batch_ = {};  // if the next batch fails, this one is not there a second time
    Batch next;
    done_ = !batches_->next(next);
    if (done_) return progress_->finish(epoch_);
    std::move(next.begin(), next.end(), batch_.begin());
    progress_->hand_out(epoch_);
  }

  Progress* progress_;
  int64_t epoch_;
  Owned<Prefetcher> batches_;
  value_type batch_;
  bool done_ = false;
};

/// The part of a loader that does not depend on the dataset's type.
class LoaderCore : public Progress {
 public:
  LoaderCore(LoaderOptions options, int64_t dataset_size);

  const LoaderOptions& options() const { return options_; }
  /// The number of batches per epoch.
  int64_t batches() const { return batches_; }
  /// Starts an epoch of all examples that the dataset has now, or resumes the one that set_position() selected. Error,
  /// without changing anything, if the options do not fit them, or if the dataset had another size at set_position().
  IntrusivePtr<const Epoch> start_epoch(int64_t dataset_size, bool random);

  std::string position(int64_t dataset_size) const;
  void set_position(const std::string& position, int64_t dataset_size);

 private:
  void check(int64_t dataset_size) const;
  /// The number of batches per epoch of a dataset of this size. Error if the options do not fit it.
  int64_t batches_of(int64_t dataset_size) const;
  /// Sets which examples form which batch of the epoch; if it is `random`, also which of them come again.
  void choose(Epoch& epoch, int64_t dataset_size, bool random) const;
  /// The number of examples per batch, summed over all participating processes. Error if that overflows.
  int64_t step_size() const;
  /// The size of a sampler's epoch, which set_position() compares; nullopt without a sampler.
  std::optional<int64_t> visited(int64_t dataset_size) const;
  bool drops_last() const {
    return options_.batch_sampler.defined() ? options_.batch_sampler.drops_last() : options_.drop_last;
  }
  /// 0: in order, 1: shuffled, 2: by a sampler, 3: by a batch sampler.
  uint64_t order_kind() const {
    return options_.batch_sampler.defined() ? 3u : options_.sampler.defined() ? 2u : options_.shuffle ? 1u : 0u;
  }

  LoaderOptions options_;
  int64_t dataset_size_;  // of the epoch
  int64_t batches_;
};

}  // namespace detail

/// See the top of this file. A dataset that is an lvalue is held by reference and must outlive the loader; a temporary
/// is moved in. Error if batch_size < 1, prefetch < 0, workers < 0, or the sampler does not fit the dataset; if
/// `sampler` is set together with shuffle, or `batch_sampler` together with batch_size, shuffle, drop_last or sampler.
/// Exceptions from the dataset are rethrown in the loop.
template <size_t N> class DataLoader : public io::Resumable {
 public:
  using Batch = std::array<Tensor, N>;
  using Iterator = detail::BatchIterator<N>;

  template <AnyDataset D>
    requires(std::remove_cvref_t<D>::kTensors == N)
  explicit DataLoader(D&& dataset, LoaderOptions options = {})
      : dataset_(hold(std::forward<D>(dataset))), core_(options, dataset_->size()) {}
  DataLoader(const DataLoader&) = delete;
  DataLoader& operator=(const DataLoader&) = delete;

  /// Batches of the epoch that began last or that set_position() selected; before that, of the dataset as the
  /// constructor got it.
  int64_t size() const { return core_.batches(); }
  /// Starts an epoch of all examples that the dataset has now. Several iterators of a loader may be in use, each with
  /// loading threads of its own; position() is that of the one that began last.
  Iterator begin() {
    const bool resumes = core_.resumes();
    try {
      const auto epoch = core_.start_epoch(dataset_->size(), dataset_->is_random());
      const auto fetch = [dataset = dataset_, epoch](int64_t number) {
        return detail::list_of(dataset->collate(epoch->indices(number), epoch->keys(number, dataset->is_random())));
      };
      const LoaderOptions& options = core_.options();
      return Iterator(
          core_, epoch->number,
          detail::prefetcher(fetch, core_.handed_out(), core_.batches(), options.prefetch, options.workers));
    } catch (...) {
      if (resumes) core_.resume_again();
      throw;
    }
  }
  std::default_sentinel_t end() const { return {}; }

  /// The epoch's key and the number of its batches that were returned, including the one in use; for a checkpoint.
  std::string position() const override { return core_.position(dataset_->size()); }
  /// Makes the next begin() that does not throw resume that epoch after that number of batches. Error if the text is
  /// not from position(), or is of a dataset of another size than this one has now, or from a loader with another batch
  /// size or order. (For a sampler, only the number of examples is compared.)
  void set_position(const std::string& position) override { core_.set_position(position, dataset_->size()); }

 private:
  HeldDataset<N> dataset_;
  detail::LoaderCore core_;
};

template <AnyDataset D> DataLoader(D&&, LoaderOptions = {}) -> DataLoader<std::remove_cvref_t<D>::kTensors>;

}  // namespace weft::data
