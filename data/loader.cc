#include "data/loader.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_map>

#include "tensor/core/error.h"
#include "tensor/core/shape.h"

namespace weft::data::detail {

void check_options(const char* who, int64_t batch_size, int64_t prefetch, int64_t workers) {
  if (batch_size < 1) throw Error(text(who, ": batch_size must be 1 or more, not ", batch_size));
  if (prefetch < 0) throw Error(text(who, ": prefetch must be 0 or more, not ", prefetch));
  if (workers < 0) throw Error(text(who, ": workers must be 0 or more, not ", workers));
}

Owned<Prefetcher> prefetcher(std::function<Batch(int64_t)> fetch, int64_t first, int64_t end, int64_t prefetch,
                             int64_t workers) {
  const int64_t threads = workers > 0 ? workers : prefetch > 0 ? 1 : 0;
  const int64_t ahead = prefetch > 0 ? prefetch : 2 * std::min(workers, std::numeric_limits<int64_t>::max() / 2);
  return Owned<Prefetcher>(new Prefetcher(std::move(fetch), first, end, threads, ahead));
}

int64_t Progress::start(RandomKey key) {
  key_ = key;
  if (!resume_) next_ = 0;
  resume_ = false;
  running_ = true;
  return ++epochs_;
}

void Progress::select(RandomKey key, int64_t next, bool is_within) {
  ++epochs_;
  key_ = key;
  next_ = next;
  resume_ = is_within;
  running_ = false;
}

LoaderCore::LoaderCore(LoaderOptions options, int64_t dataset_size)
    : options_(std::move(options)), dataset_size_(dataset_size), batches_(batches_of(dataset_size)) {}

int64_t LoaderCore::batches_of(int64_t dataset_size) const {
  check(dataset_size);
  if (options_.batch_sampler.defined()) return options_.batch_sampler.count(dataset_size);
  const int64_t count =
      options_.sampler.defined() ? options_.sampler.count(dataset_size, options_.drop_last) : dataset_size;
  const bool rest = count % options_.batch_size != 0 && !options_.drop_last;
  return count / options_.batch_size + (rest ? 1 : 0);
}

void LoaderCore::check(int64_t dataset_size) const {
  check_options("DataLoader", options_.batch_size, options_.prefetch, options_.workers);
  if (dataset_size < 0) throw Error(text("DataLoader: the size of the dataset must be 0 or more, not ", dataset_size));
  if (options_.shuffle && options_.sampler.defined())
    throw Error("DataLoader: a sampler gives the order itself; leave shuffle out");
  if (options_.batch_sampler.defined() &&
      (options_.batch_size != 1 || options_.shuffle || options_.sampler.defined() || options_.drop_last))
    throw Error(
        "DataLoader: batch_sampler gives the batches itself; leave batch_size, shuffle, sampler and drop_last out");
  options_.sampler.check_size(dataset_size);
  options_.batch_sampler.check_size(dataset_size);
  (void)step_size();
}

int64_t LoaderCore::step_size() const {
  return options_.batch_sampler.defined() ? options_.batch_sampler.step_size()
                                          : checked_multiply(options_.batch_size, options_.sampler.parts());
}

std::optional<int64_t> LoaderCore::visited(int64_t dataset_size) const {
  if (options_.batch_sampler.defined()) return options_.batch_sampler.visited(dataset_size);
  if (options_.sampler.defined()) return options_.sampler.visited(dataset_size, options_.drop_last);
  return std::nullopt;
}

void LoaderCore::choose(Epoch& epoch, int64_t dataset_size, bool random) const {
  const RandomKey key = split_key(epoch.key, 0);
  if (options_.batch_sampler.defined()) {
    epoch.take(options_.batch_sampler.batches(key, dataset_size));
  } else if (options_.sampler.defined()) {
    epoch.order = options_.sampler.order(
        {.key = key, .dataset_size = dataset_size, .batch_size = options_.batch_size, .drop_last = options_.drop_last});
  } else if (options_.shuffle) {
    epoch.order = shuffled_order(key, dataset_size);
  } else {
    epoch.order = ordered(dataset_size);
  }
  const bool may_repeat = options_.sampler.defined() || options_.batch_sampler.defined();
  if (random && may_repeat) epoch.count_earlier(dataset_size);
}

IntrusivePtr<const Epoch> LoaderCore::start_epoch(int64_t dataset_size, bool random) {
  if (resume_ && dataset_size != dataset_size_)
    throw Error(text("DataLoader: the epoch to resume is of a dataset of ", dataset_size_, " examples, which has ",
                     dataset_size, " now"));
  const int64_t batches = batches_of(dataset_size);
  RandomKey key = resume_ ? key_ : RandomKey{};
  const bool random_order = options_.shuffle || options_.sampler.is_random() || options_.batch_sampler.is_random();
  if (!resume_ && (random_order || random)) key = weft::detail::generator_or_default(options_.generator).next_key(2);
  auto* const epoch = new Epoch;
  auto owner = IntrusivePtr<const Epoch>::adopt(epoch);
  epoch->key = key;
  epoch->batch_size = options_.batch_size;
  choose(*epoch, dataset_size, random);
  // Only now: where a sampler throws, the position stays, and the next begin() resumes it.
  dataset_size_ = dataset_size, batches_ = batches;
  epoch->number = start(key);
  return owner;
}

void throw_epoch_ended() { throw Error("data loader: the epoch has ended; its iterator has no further batch"); }

void Epoch::take(const BatchSampler::Batches& batches) {
  begins.push_back(0);
  for (const std::vector<int64_t>& batch : batches) {
    order.insert(order.end(), batch.begin(), batch.end());
    begins.push_back(static_cast<int64_t>(order.size()));
  }
}

void Epoch::count_earlier(int64_t dataset_size) {
  std::vector<int64_t> counts(order.size());
  bool any = false;
  const auto count = [&](auto seen) {
    for (size_t place = 0; place < order.size(); ++place) {
      counts[place] = seen[static_cast<size_t>(order[place])]++;
      any = any || counts[place] > 0;
    }
  };
  // A list of all examples is faster, unless few of very many are visited.
  if (static_cast<size_t>(dataset_size) / 8 <= order.size())
    count(std::vector<int64_t>(static_cast<size_t>(dataset_size)));
  else
    count(std::unordered_map<size_t, int64_t>());
  if (any) earlier = std::move(counts);
}

std::pair<int64_t, int64_t> Epoch::places(int64_t batch) const {
  if (!begins.empty()) return {begins[static_cast<size_t>(batch)], begins[static_cast<size_t>(batch) + 1]};
  const int64_t begin = batch * batch_size;
  return {begin, begin + std::min(batch_size, static_cast<int64_t>(order.size()) - begin)};
}

std::vector<int64_t> Epoch::indices(int64_t batch) const {
  const auto [begin, end] = places(batch);
  return {order.begin() + begin, order.begin() + end};
}

std::vector<RandomKey> Epoch::keys(int64_t batch, bool are_read) const {
  const auto [begin, end] = places(batch);
  if (!are_read) return std::vector<RandomKey>(static_cast<size_t>(end - begin));
  const RandomKey first = split_key(key, 1);  // of examples that did not come before; the order has number 0
  std::vector<RandomKey> keys;
  for (auto place = static_cast<size_t>(begin); place < static_cast<size_t>(end); ++place) {
    const int64_t before = earlier.empty() ? 0 : earlier[place];
    const RandomKey base = before == 0 ? first : split_key(key, 1 + static_cast<uint64_t>(before));
    keys.push_back(split_key(base, static_cast<uint64_t>(order[place])));
  }
  return keys;
}

// `loader 1 SIZE BATCH_SIZE ORDER DROP_LAST RUNNING SEED OFFSET NEXT`, and of a sampler ` VISITED`. Where processes
// share the examples, the batches of all of them together count: such a position fits another number of processes.
// Between epochs SIZE is that of the dataset as it is now, which may have changed since the last epoch.
std::string LoaderCore::position(int64_t dataset_size) const {
  const int64_t size = is_within() ? dataset_size_ : dataset_size;
  const std::optional<int64_t> examples = visited(size);
  return text("loader 1 ", size, " ", step_size(), " ", order_kind(), " ", int{drops_last()}, " ", int{is_within()},
              " ", key_.seed, " ", key_.offset, " ", next_, examples ? text(" ", *examples) : "");
}

std::vector<uint64_t> numbers_of(const std::string& position, std::string_view start) {
  std::vector<uint64_t> numbers;
  if (!position.starts_with(start)) return {};
  const char* const end = position.data() + position.size();
  for (const char* at = position.data() + start.size();; ++at) {
    const auto [rest, error] = std::from_chars(at, end, numbers.emplace_back());
    if (error != std::errc()) return {};
    if (rest == end) return numbers;
    if (*rest != ' ') return {};
    at = rest;
  }
}

void LoaderCore::set_position(const std::string& position, int64_t dataset_size) {
  constexpr size_t kNumbers = 8;
  const std::vector<uint64_t> numbers = numbers_of(position, "loader 1 ");
  if (numbers.size() != kNumbers && numbers.size() != kNumbers + 1)
    throw Error("set_position: not the position of a loader");
  if (numbers[0] != static_cast<uint64_t>(dataset_size))
    throw Error(text("set_position: it is of a dataset of ", numbers[0], " examples, this one has ", dataset_size));
  const int64_t batches = batches_of(dataset_size);
  const std::optional<int64_t> examples = visited(dataset_size);
  if (numbers[1] != static_cast<uint64_t>(step_size()))
    throw Error(text("set_position: it is of batches of ", numbers[1], ", this loader's have ", step_size()));
  if (numbers[2] != order_kind() || numbers[3] != uint64_t{drops_last()} ||
      numbers.size() != kNumbers + (examples ? 1 : 0))
    throw Error("set_position: it is of a loader with another shuffle, sampler or drop_last");
  if (examples && numbers[kNumbers] != static_cast<uint64_t>(*examples))
    throw Error(
        text("set_position: it is of a sampler that gives ", numbers[kNumbers], ", this loader's gives ", *examples));
  const bool is_within = numbers[4] != 0;
  if (is_within && numbers[7] > static_cast<uint64_t>(batches))
    throw Error(text("set_position: it is after ", numbers[7], " batches, of which this loader has ", batches));
  dataset_size_ = dataset_size, batches_ = batches;
  select({numbers[5], numbers[6]}, static_cast<int64_t>(numbers[7]), is_within);
}

}  // namespace weft::data::detail
