#include "data/stream.h"

#include <condition_variable>
#include <limits>
#include <mutex>

#include "tensor/core/error.h"

namespace weft::data::detail {

struct InOrder::State {
  std::mutex mutex;
  std::condition_variable changed;
  int64_t next = 0;  // the batch whose turn it is
  bool is_over = false;
  std::exception_ptr failure;
};

InOrder::InOrder(int64_t first) : state_(new State) { state_->next = first; }
InOrder::~InOrder() = default;

void InOrder::run(int64_t number, const std::function<bool()>& read) {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->failure || state_->is_over || state_->next == number; });
  if (state_->failure) std::rethrow_exception(state_->failure);
  if (state_->is_over) return;
  state_->is_over = !read();
  ++state_->next;
  state_->changed.notify_all();
}

void InOrder::fail(std::exception_ptr reason) {
  const std::lock_guard lock(state_->mutex);
  state_->failure = std::move(reason);
  state_->changed.notify_all();
}

StreamCore::StreamCore(const StreamOptions& options) : options_(options) {
  check_options("StreamLoader", options.batch_size, options.prefetch, options.workers);
}

int64_t StreamCore::start_epoch(bool random) {
  if (resume_) return start(key_);
  if (!random) return start({});
  return start(weft::detail::generator_or_default(options_.generator).next_key(2));
}

// `stream 1 BATCH_SIZE DROP_LAST RUNNING SEED OFFSET NEXT`
std::string StreamCore::position() const {
  return text("stream 1 ", options_.batch_size, " ", int{options_.drop_last}, " ", int{is_within()}, " ", key_.seed,
              " ", key_.offset, " ", next_);
}

void StreamCore::set_position(const std::string& position) {
  const std::vector<uint64_t> numbers = numbers_of(position, "stream 1 ");
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  if (numbers.size() != 6 || numbers[5] > kMost) throw Error("set_position: not the position of a loader of a stream");
  if (numbers[0] != static_cast<uint64_t>(options_.batch_size))
    throw Error(text("set_position: it is of batches of ", numbers[0], ", this loader's have ", options_.batch_size));
  if (numbers[1] != uint64_t{options_.drop_last})
    throw Error(text("set_position: it is of a loader with drop_last = ", numbers[1] != 0, ", this one has ",
                     options_.drop_last));
  select({numbers[3], numbers[4]}, static_cast<int64_t>(numbers[5]), numbers[2] != 0);
}

}  // namespace weft::data::detail
