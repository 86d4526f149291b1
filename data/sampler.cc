#include "data/sampler.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "tensor/core/error.h"
#include "tensor/core/shape.h"

namespace weft::data {

RandomKey split_key(RandomKey key, uint64_t number) {
  // Two steps of Philox mix the seed, the offset and the number into a new seed. The counters end in 1 and 2, where
  // those of ordinary streams (random_block) end in 0.
  const auto halves = [](uint64_t word) {
    return std::array{static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32)};
  };
  const auto at = halves(key.offset), part = halves(number);
  const auto inner = philox({at[0], at[1], 0, 1}, halves(key.seed));
  const auto outer = philox({part[0], part[1], 0, 2}, {inner[0], inner[1]});
  return {uint64_t{outer[1]} << 32 | outer[0], 0};
}

namespace {

std::vector<int64_t> list_of(int64_t count) try {
  return std::vector<int64_t>(static_cast<size_t>(count));
} catch (const std::exception&) {  // bad_alloc, or length_error where it leaves the address space
  throw MemoryError(text("out of memory: the order of ", count, " examples"));
}

}  // namespace

std::vector<int64_t> detail::ordered(int64_t count, int64_t first) {
  std::vector<int64_t> order = list_of(count);
  std::iota(order.begin(), order.end(), first);
  return order;
}

std::vector<int64_t> shuffled_order(RandomKey key, int64_t count) {
  if (count < 0) throw Error(text("shuffled_order: count must be 0 or more, not ", count));
  std::vector<int64_t> order = detail::ordered(count);
  // Fisher and Yates; the upper half of a 128-bit product is uniform to within count / 2^64.
  for (uint64_t left = order.size(); left > 1; --left) {
    const auto bits = random_block(key, left);
    const uint64_t word = uint64_t{bits[1]} << 32 | bits[0];
    const uint64_t chosen = static_cast<uint64_t>(static_cast<unsigned __int128>(word) * left >> 64);
    std::swap(order[left - 1], order[chosen]);
  }
  return order;
}

void detail::check_examples(const char* who, std::span<const int64_t> indices, int64_t dataset_size) {
  for (const int64_t index : indices)
    if (index < 0 || index >= dataset_size)
      throw IndexError(text(who, ": example ", index, " of a dataset of ", dataset_size));
}

std::vector<int64_t> detail::classes_of(const char* who, const Tensor& labels, std::optional<int64_t> size) {
  ErrorFrame frame(who, labels);
  if (labels.rank() != 1) throw ShapeError(text("labels are a list, one for each example, not ", labels.shape()));
  if (size && labels.size(0) != *size) throw ShapeError(text(labels.size(0), " labels for ", *size, " examples"));
  if (!is_integer(labels.dtype()) && labels.dtype() != boolean)
    throw DtypeError(text("labels are classes, integers, not ", labels.dtype()));
  return labels.detach().cpu().to_vector<int64_t>();
}

Sampler::Sampler(std::function<std::vector<int64_t>(RandomKey)> order, int64_t count, bool random)
    : order_([order = weft::detail::not_empty("Sampler", std::move(order))](const OrderRequest& request) {
        return order(request.key);
      }),
      count_([count](int64_t, bool) { return count; }),
      random_(random) {
  if (count < 0) throw Error(text("Sampler: count must be 0 or more, not ", count));
}

Sampler::Sampler(Order order, Count count, bool random, int64_t parts)
    : order_(weft::detail::not_empty("Sampler", std::move(order))),
      count_(weft::detail::not_empty("Sampler", std::move(count))),
      parts_(parts),
      random_(random) {
  if (parts < 1) throw Error(text("Sampler: it must be one of 1 or more parts, not of ", parts));
}

int64_t Sampler::count(int64_t dataset_size, bool drop_last) const {
  return count_ ? count_(dataset_size, drop_last) : 0;
}

void Sampler::check_size(int64_t dataset_size) const {
  if (size_ && *size_ != dataset_size)
    throw Error(text("Sampler: it is for ", *size_, " examples, the dataset has ", dataset_size));
}

std::vector<int64_t> Sampler::order(const OrderRequest& request) const {
  std::vector<int64_t> out = order_(request);
  const int64_t promised = count(request.dataset_size, request.drop_last);
  if (static_cast<int64_t>(out.size()) != promised)
    throw Error(text("Sampler: it gave ", out.size(), " examples, not ", promised));
  detail::check_examples("Sampler", out, request.dataset_size);
  return out;
}

std::vector<int64_t> Sampler::order(RandomKey key, int64_t dataset_size) const {
  return order(OrderRequest{.key = key, .dataset_size = dataset_size});
}

namespace {

/// `order` in pieces of `size`; the last may be smaller.
BatchSampler::Batches pieces(const std::vector<int64_t>& order, int64_t size, int64_t count) {
  BatchSampler::Batches out;
  for (int64_t i = 0; i < count; ++i) {
    const auto begin = order.begin() + i * size;
    out.emplace_back(begin, begin + std::min<int64_t>(size, order.end() - begin));
  }
  return out;
}

}  // namespace

BatchSampler::BatchSampler(std::function<Batches(RandomKey)> batches, int64_t count, bool random)
    : batches_(weft::detail::not_empty("BatchSampler", std::move(batches))), count_(count), random_(random) {
  if (count < 0) throw Error(text("BatchSampler: count must be 0 or more, not ", count));
}

BatchSampler::BatchSampler(Sampler sampler, int64_t batch_size, bool drop_last)
    : random_(sampler.is_random()), sampler_(std::move(sampler)), batch_size_(batch_size), drop_last_(drop_last) {
  if (!sampler_.defined()) throw Error("BatchSampler: it needs a sampler, like sequential(size) or shuffled(size)");
  if (batch_size < 1) throw Error(text("BatchSampler: batch_size must be 1 or more, not ", batch_size));
  (void)step_size();
}

int64_t BatchSampler::step_size() const {
  return sampler_.defined() ? checked_multiply(batch_size_, sampler_.parts()) : 0;
}

int64_t BatchSampler::count(int64_t dataset_size) const {
  if (batches_) return count_;
  const int64_t examples = sampler_.count(dataset_size, drop_last_);
  return examples / batch_size_ + (examples % batch_size_ != 0 && !drop_last_ ? 1 : 0);
}

BatchSampler::Batches BatchSampler::batches(RandomKey key, int64_t dataset_size) const {
  if (!batches_)
    return pieces(
        sampler_.order({.key = key, .dataset_size = dataset_size, .batch_size = batch_size_, .drop_last = drop_last_}),
        batch_size_, count(dataset_size));
  Batches out = batches_(key);
  if (static_cast<int64_t>(out.size()) != count_)
    throw Error(text("BatchSampler: it gave ", out.size(), " batches, not ", count_));
  for (const std::vector<int64_t>& batch : out) {
    if (batch.empty()) throw Error("BatchSampler: it gave an empty batch");
    detail::check_examples("BatchSampler", batch, dataset_size);
  }
  return out;
}

Sampler sequential(int64_t count) {
  return Sampler([count](RandomKey) { return detail::ordered(count); }, count, false);
}

Sampler shuffled(int64_t count) {
  return Sampler([count](RandomKey key) { return shuffled_order(key, count); }, count);
}

Sampler subset(std::vector<int64_t> indices, const SubsetSamplerOptions& options) {
  const auto count = static_cast<int64_t>(indices.size());
  const auto order = [indices = std::move(indices), options](RandomKey key) {
    if (!options.shuffle) return indices;
    std::vector<int64_t> out;
    for (const int64_t place : shuffled_order(key, static_cast<int64_t>(indices.size())))
      out.push_back(indices[static_cast<size_t>(place)]);
    return out;
  };
  return Sampler(order, count, options.shuffle);
}

namespace {

/// Element `i` of a stream, uniform in (0, 1), with 52 random bits.
double open_uniform(RandomKey key, uint64_t i) {
  const auto bits = random_block(key, i);
  const uint64_t word = uint64_t{bits[1]} << 32 | bits[0];
  return (static_cast<double>(word >> 12) + 0.5) * 0x1p-52;
}

/// Places in the sum of the weights so far.
std::vector<int64_t> with_replacement(const std::vector<double>& sums, int64_t count, RandomKey key) {
  std::vector<int64_t> out = list_of(count);
  for (int64_t i = 0; i < count; ++i) {
    const double place = open_uniform(key, static_cast<uint64_t>(i)) * sums.back();
    // The first sum above; rounding may lead to the end, past the last weight that is not 0.
    auto found = std::upper_bound(sums.begin(), sums.end(), place);
    if (found == sums.end()) found = std::lower_bound(sums.begin(), sums.end(), sums.back());
    out[static_cast<size_t>(i)] = found - sums.begin();
  }
  return out;
}

/// The examples that come first where each waits for a time of exponential distribution (Efraimidis and Spirakis).
std::vector<int64_t> without_replacement(const std::vector<double>& weights, int64_t count, RandomKey key) {
  std::vector<std::pair<double, int64_t>> times;
  for (size_t i = 0; i < weights.size(); ++i)
    if (weights[i] > 0) times.emplace_back(-std::log(open_uniform(key, i)) / weights[i], static_cast<int64_t>(i));
  std::partial_sort(times.begin(), times.begin() + count, times.end());
  std::vector<int64_t> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(times[static_cast<size_t>(i)].second);
  return out;
}

}  // namespace

Sampler weighted(std::vector<double> weights, const WeightedOptions& options) {
  std::vector<double> sums;
  double sum = 0;
  int64_t positive = 0;
  for (const double weight : weights) {
    if (!(weight >= 0) || !std::isfinite(weight))
      throw Error(text("weighted: a weight must be finite and 0 or more, not ", weight));
    sums.push_back(sum += weight);
    positive += weight > 0 ? 1 : 0;
  }
  const auto size = static_cast<int64_t>(weights.size());
  const int64_t count = options.count.value_or(size);
  if (count > 0 && !(sum > 0 && std::isfinite(sum))) throw Error(text("weighted: the weights add up to ", sum));
  if (!options.replacement && count > positive)
    throw Error(text("weighted: ", count, " examples without replacement, of ", positive, " with a weight"));
  const auto order = [weights = std::move(weights), sums = std::move(sums), count, options](RandomKey key) {
    return options.replacement ? with_replacement(sums, count, key) : without_replacement(weights, count, key);
  };
  return Sampler(order, count).for_size(size);
}

Sampler class_balanced(const Tensor& labels, const WeightedOptions& options) {
  const std::vector<int64_t> classes = detail::classes_of("class_balanced", labels);
  std::unordered_map<int64_t, double> counts;
  for (const int64_t label : classes) ++counts[label];
  std::vector<double> weights;
  for (const int64_t label : classes) weights.push_back(1 / counts[label]);
  return weighted(std::move(weights), options);
}

}  // namespace weft::data
