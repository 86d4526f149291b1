#include "data/subset.h"

#include <algorithm>
#include <cmath>

#include "tensor/core/error.h"

namespace weft::data::detail {

std::vector<std::vector<int64_t>> random_parts(std::span<const int64_t> sizes, int64_t size,
                                               std::optional<uint64_t> seed, Generator& generator) {
  int64_t left = size;
  for (const int64_t part : sizes) {
    if (part < 0) throw Error(text("random_split: a part of size ", part));
    left = part <= left ? left - part : -1;
    if (left < 0) break;
  }
  if (left != 0) throw Error(text("random_split: the sizes must add up to the ", size, " examples of the dataset"));
  const std::vector<int64_t> order = shuffled_order(seed ? RandomKey{*seed, 0} : generator.next_key(2), size);
  std::vector<std::vector<int64_t>> parts;
  auto begin = order.begin();
  for (const int64_t part : sizes) {
    parts.emplace_back(begin, begin + part);
    begin += part;
  }
  return parts;
}

std::vector<int64_t> sizes_of(std::span<const double> fractions, int64_t size) {
  double total = 0;
  for (const double fraction : fractions) {
    if (!(fraction >= 0 && fraction <= 1)) throw Error(text("random_split: a part of ", fraction, " of the dataset"));
    total += fraction;
  }
  if (std::abs(total - 1) > 1e-6) throw Error(text("random_split: the fractions must add up to 1, not ", total));
  std::vector<int64_t> sizes;
  int64_t left = size;
  for (const double fraction : fractions) {
    sizes.push_back(std::min(left, static_cast<int64_t>(std::floor(static_cast<double>(size) * fraction))));
    left -= sizes.back();
  }
  for (size_t i = 0; left > 0; i = (i + 1) % sizes.size(), --left) ++sizes[i];
  return sizes;
}

size_t part_of(std::span<const int64_t> ends, int64_t index) {
  const int64_t size = ends.empty() ? 0 : ends.back();
  if (index < 0 || index >= size) throw IndexError(text("concat: example ", index, " of a dataset of ", size));
  return static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), index) - ends.begin());
}

}  // namespace weft::data::detail
