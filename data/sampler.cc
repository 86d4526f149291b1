#include "data/sampler.h"

#include <cstddef>
#include <numeric>
#include <utility>

#include "tensor/core/error.h"

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

std::vector<int64_t> shuffled_order(RandomKey key, int64_t count) {
  if (count < 0) throw Error(text("shuffled_order: count must be 0 or more, not ", count));
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  // Fisher and Yates; the upper half of a 128-bit product is uniform to within count / 2^64.
  for (uint64_t left = order.size(); left > 1; --left) {
    const auto bits = random_block(key, left);
    const uint64_t word = uint64_t{bits[1]} << 32 | bits[0];
    const uint64_t chosen = static_cast<uint64_t>(static_cast<unsigned __int128>(word) * left >> 64);
    std::swap(order[left - 1], order[chosen]);
  }
  return order;
}

}  // namespace weft::data
