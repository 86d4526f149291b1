// DataLoader: a dataset in batches, in order or shuffled, and optionally fetched ahead by a thread.
//
//   for (const auto& [images, labels] : data::DataLoader(train, {.batch_size = 64, .shuffle = true, .prefetch = 2}))
//     step(images, labels);
//
// Each begin() starts an epoch: on the calling thread, one key is drawn from the generator (where order or
// transforms need one), and everything random in the epoch follows from it. So batches are the same with any number of
// workers and without, and an epoch can be resumed in the middle: position() is that key and the number of batches
// handed out.
#pragma once

#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/prefetcher.h"
#include "data/sampler.h"
#include "io/resumable.h"

namespace weft::data {

struct LoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = false;
  bool drop_last = false;           // leaves out a last batch that is smaller
  int64_t prefetch = 0;             // batches fetched ahead by threads; 0: none, or with workers two for each
  Sampler sampler = {};             // which examples in which order; none: all of them
  BatchSampler batch_sampler = {};  // which examples in each batch, in place of all of the above but prefetch
  int64_t workers = 0;  // threads that fetch; the dataset is then asked from several at once. 0: one if prefetch > 0
  Generator* generator = nullptr;  // of the epochs' keys, which must outlive the loader; null: the process's
};

namespace detail {

/// What makes up an epoch; never changes, so that a prefetching thread reads it without locks.
struct Epoch {
  RandomKey key;
  std::vector<int64_t> order;
  int64_t batch_size = 1;
  BatchSampler::Batches batches;  // of a batch sampler; else there is an order
  /// The examples of a batch, and their keys.
  std::vector<int64_t> indices(int64_t batch) const;
  std::vector<RandomKey> keys(std::span<const int64_t> indices) const;
};

/// What a loader knows beside its dataset's type.
class LoaderCore {
 public:
  LoaderCore(LoaderOptions options, int64_t dataset_size);

  const LoaderOptions& options() const { return options_; }
  /// The number of batches of an epoch.
  int64_t batches() const { return batches_; }
  /// Starts an epoch, or goes on with the one that set_position() asked for.
  std::shared_ptr<const Epoch> start_epoch(bool random);
  int64_t handed_out() const { return next_; }
  void hand_out() { ++next_; }
  void finish() { running_ = false; }
  /// Threads that fetch, and how many batches they may be ahead.
  int64_t workers() const { return options_.workers > 0 ? options_.workers : options_.prefetch > 0 ? 1 : 0; }
  int64_t ahead() const;

  std::string position() const;
  void set_position(const std::string& position);

 private:
  void check() const;
  /// The examples of a batch, of all processes that take part. Error where they are too many to count.
  int64_t step_size() const;
  /// What position() compares of a sampler's epoch; nothing where there is none.
  std::optional<int64_t> visited() const;
  bool drops_last() const {
    return options_.batch_sampler.defined() ? options_.batch_sampler.drops_last() : options_.drop_last;
  }
  /// 0: in order, 1: shuffled, 2: by a sampler, 3: by a batch sampler.
  uint64_t order_kind() const {
    return options_.batch_sampler.defined() ? 3u : options_.sampler.defined() ? 2u : options_.shuffle ? 1u : 0u;
  }

  LoaderOptions options_;
  int64_t dataset_size_;
  int64_t batches_;
  RandomKey key_;         // of the epoch
  int64_t next_ = 0;      // batches of it that were handed out
  bool running_ = false;  // it has begun and has not come to its end
  bool resume_ = false;   // the next begin() goes on with it
};

}  // namespace detail

/// See the top of the file. A dataset that is an lvalue is referred to and must outlive the loader; a temporary is
/// taken over. Errors: Error where batch_size < 1, prefetch < 0, workers < 0, or a sampler is not for the dataset; what
/// the dataset throws comes out of the loop.
template <size_t N> class DataLoader : public io::Resumable {
 public:
  using Batch = std::array<Tensor, N>;
  class Iterator;

  template <AnyDataset D>
    requires(std::remove_cvref_t<D>::kTensors == N)
  explicit DataLoader(D&& dataset, LoaderOptions options = {})
      : dataset_(hold(std::forward<D>(dataset))), core_(options, dataset_->size()) {}
  DataLoader(const DataLoader&) = delete;
  DataLoader& operator=(const DataLoader&) = delete;

  /// Batches per epoch.
  int64_t size() const { return core_.batches(); }
  /// Starts an epoch. One iterator of a loader is in use at a time.
  Iterator begin() { return Iterator(*this, core_.start_epoch(dataset_->is_random())); }
  std::default_sentinel_t end() const { return {}; }

  /// The epoch's key and how many of its batches were handed out (the one in use counts), for a checkpoint.
  std::string position() const override { return core_.position(); }
  /// The next begin() goes on after that many batches of that epoch. Error where the text is not position()'s, or of a
  /// loader of another dataset size, batch size or order. (Of what a sampler gives, only how much it gives is
  /// compared.)
  void set_position(const std::string& position) override { core_.set_position(position); }

 private:
  std::shared_ptr<const DatasetOf<N>> dataset_;
  detail::LoaderCore core_;
};

template <AnyDataset D> DataLoader(D&&, LoaderOptions = {}) -> DataLoader<std::remove_cvref_t<D>::kTensors>;

/// Walks over an epoch. Leaving a loop early (break, exception) destroys it, which joins the threads that fetch.
template <size_t N> class DataLoader<N>::Iterator {
 public:
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;

  Iterator(DataLoader& loader, std::shared_ptr<const detail::Epoch> epoch)
      : core_(&loader.core_),
        batches_(std::make_unique<detail::Prefetcher>(
            [&dataset = *loader.dataset_, epoch = std::move(epoch)](int64_t number) {
              const std::vector<int64_t> indices = epoch->indices(number);
              Batch batch = dataset.collate(indices, epoch->keys(indices));
              return detail::Batch(std::make_move_iterator(batch.begin()), std::make_move_iterator(batch.end()));
            },
            loader.core_.handed_out(), loader.core_.batches(), loader.core_.workers(), loader.core_.ahead())) {
    advance();
  }
  const Batch& operator*() const { return batch_; }
  const Batch* operator->() const { return &batch_; }
  Iterator& operator++() {
    advance();
    return *this;
  }
  void operator++(int) { advance(); }
  bool operator==(std::default_sentinel_t) const { return done_; }

 private:
  void advance() {
    detail::Batch next;
    done_ = !batches_->next(next);
    if (done_) return core_->finish();
    std::move(next.begin(), next.end(), batch_.begin());
    core_->hand_out();
  }

  detail::LoaderCore* core_;
  std::unique_ptr<detail::Prefetcher> batches_;
  Batch batch_;
  bool done_ = false;
};

}  // namespace weft::data
