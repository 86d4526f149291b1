#include "data/loader.h"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "tensor/core/error.h"
#include "tensor/runtime/threads.h"

namespace weft::data::detail {

LoaderCore::LoaderCore(LoaderOptions options, int64_t dataset_size) : options_(options), dataset_size_(dataset_size) {
  if (options.batch_size < 1) throw Error(text("DataLoader: batch_size must be at least 1, not ", options.batch_size));
  if (options.prefetch < 0) throw Error(text("DataLoader: prefetch cannot be ", options.prefetch));
  if (dataset_size < 0) throw Error(text("DataLoader: a dataset of size ", dataset_size));
  const bool rest = dataset_size % options.batch_size != 0 && !options.drop_last;
  batches_ = dataset_size / options.batch_size + (rest ? 1 : 0);
}

std::shared_ptr<const Epoch> LoaderCore::start_epoch(bool random) {
  if (!resume_) {
    key_ = options_.shuffle || random ? next_random_key(2) : RandomKey{};
    next_ = 0;
  }
  resume_ = false;
  running_ = true;
  auto epoch = std::make_shared<Epoch>();
  epoch->key = split_key(key_, 1);
  epoch->batch_size = options_.batch_size;
  if (options_.shuffle) {
    epoch->order = shuffled_order(split_key(key_, 0), dataset_size_);
  } else {
    epoch->order.resize(static_cast<size_t>(dataset_size_));
    std::iota(epoch->order.begin(), epoch->order.end(), int64_t{0});
  }
  return epoch;
}

std::vector<int64_t> Epoch::indices(int64_t batch) const {
  const int64_t begin = batch * batch_size;
  const int64_t end = begin + std::min(batch_size, static_cast<int64_t>(order.size()) - begin);
  return {order.begin() + begin, order.begin() + end};
}

std::vector<RandomKey> Epoch::keys(std::span<const int64_t> indices) const {
  std::vector<RandomKey> keys;
  for (const int64_t index : indices) keys.push_back(split_key(key, static_cast<uint64_t>(index)));
  return keys;
}

// `loader 1 SIZE BATCH_SIZE SHUFFLE DROP_LAST RUNNING SEED OFFSET NEXT`
std::string LoaderCore::position() const {
  return text("loader 1 ", dataset_size_, " ", options_.batch_size, " ", int{options_.shuffle}, " ",
              int{options_.drop_last}, " ", int{running_ || resume_}, " ", key_.seed, " ", key_.offset, " ", next_);
}

void LoaderCore::set_position(const std::string& position) {
  constexpr std::string_view kStart = "loader 1 ";
  uint64_t numbers[8] = {};
  const char* at = position.data();
  const char* const end = at + position.size();
  bool good = position.starts_with(kStart);
  if (good) at += kStart.size();
  for (size_t i = 0; good && i < std::size(numbers); ++i) {
    const auto result = std::from_chars(at, end, numbers[i]);
    const bool last = i + 1 == std::size(numbers);
    good = result.ec == std::errc() && (last ? result.ptr == end : result.ptr != end && *result.ptr == ' ');
    at = result.ptr + 1;
  }
  if (!good || numbers[7] > static_cast<uint64_t>(batches_))
    throw Error("set_position: not the position of a loader like this");
  const auto [size, batch_size, shuffle, drop_last, running, seed, offset, next] = numbers;
  if (size != static_cast<uint64_t>(dataset_size_))
    throw Error(text("set_position: it is of a dataset of ", size, " examples, this one has ", dataset_size_));
  if (batch_size != static_cast<uint64_t>(options_.batch_size))
    throw Error(text("set_position: it is of batches of ", batch_size, ", this loader's have ", options_.batch_size));
  if (shuffle != uint64_t{options_.shuffle} || drop_last != uint64_t{options_.drop_last})
    throw Error("set_position: it is of a loader with another shuffle or drop_last");
  key_ = {seed, offset};
  next_ = static_cast<int64_t>(next);
  resume_ = running != 0;
  running_ = false;
}

struct Prefetcher::Worker {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Batch> ready;
  std::exception_ptr failure;
  bool stop = false;      // the consumer has gone
  bool finished = false;  // nothing more will come
  std::thread thread;

  void run(const std::function<Batch(int64_t)>& fetch, int64_t first, int64_t end, size_t ahead) {
    try {
      const SerialScope serial;
      for (int64_t number = first; number < end; ++number) {
        {
          std::unique_lock lock(mutex);
          changed.wait(lock, [&] { return stop || ready.size() < ahead; });
          if (stop) return;
        }
        Batch batch = fetch(number);
        const std::lock_guard lock(mutex);
        ready.push_back(std::move(batch));
        changed.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    finished = true;
    changed.notify_all();
  }
};

Prefetcher::Prefetcher(std::function<Batch(int64_t)> fetch, int64_t first, int64_t end, int64_t ahead)
    : fetch_(std::move(fetch)), next_(first), end_(end) {
  if (ahead == 0 || first >= end) return;
  worker_ = std::make_unique<Worker>();
  worker_->thread =
      std::thread([this, first, end, ahead] { worker_->run(fetch_, first, end, static_cast<size_t>(ahead)); });
}

Prefetcher::~Prefetcher() {
  if (!worker_) return;
  {
    const std::lock_guard lock(worker_->mutex);
    worker_->stop = true;
    worker_->changed.notify_all();
  }
  worker_->thread.join();
}

bool Prefetcher::next(Batch& out) {
  if (!worker_) {
    if (next_ >= end_) return false;
    out = fetch_(next_);
    ++next_;
    return true;
  }
  std::unique_lock lock(worker_->mutex);
  worker_->changed.wait(lock, [&] { return !worker_->ready.empty() || worker_->finished; });
  if (worker_->ready.empty()) {
    if (worker_->failure) std::rethrow_exception(worker_->failure);
    return false;
  }
  out = std::move(worker_->ready.front());
  worker_->ready.pop_front();
  worker_->changed.notify_all();
  return true;
}

}  // namespace weft::data::detail
