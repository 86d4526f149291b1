#include "data/subset.h"

#include <algorithm>
#include <cmath>

#include "tensor/core/error.h"

namespace weft::data::detail {

std::vector<int64_t> random_order(int64_t size, std::optional<uint64_t> seed, Generator* generator) {
  return shuffled_order(seed ? RandomKey{*seed, 0} : weft::detail::generator_or_default(generator).next_key(2), size);
}

namespace {

/// `order` in pieces of these sizes, which add up to its own.
std::vector<std::vector<int64_t>> pieces(const std::vector<int64_t>& order, std::span<const int64_t> sizes) {
  std::vector<std::vector<int64_t>> out;
  auto begin = order.begin();
  for (const int64_t size : sizes) {
    out.emplace_back(begin, begin + size);
    begin += size;
  }
  return out;
}

}  // namespace

std::vector<std::vector<int64_t>> random_parts(std::span<const int64_t> sizes, int64_t size,
                                               std::optional<uint64_t> seed, Generator* generator) {
  int64_t left = size;
  for (const int64_t part : sizes) {
    if (part < 0) throw Error(text("random_split: a part of size ", part));
    left = part <= left ? left - part : -1;
    if (left < 0) break;
  }
  if (left != 0) throw Error(text("random_split: the sizes must add up to the ", size, " examples of the dataset"));
  const std::vector<int64_t> order = random_order(size, seed, generator);
  return pieces(order, sizes);
}

std::vector<std::vector<int64_t>> stratified_parts(std::span<const int64_t> sizes, const std::vector<int64_t>& order,
                                                   const std::vector<int64_t>& labels) {
  std::vector<int64_t> by_class = order;
  std::stable_sort(by_class.begin(), by_class.end(), [&](int64_t a, int64_t b) {
    return labels[static_cast<size_t>(a)] < labels[static_cast<size_t>(b)];
  });
  // Class after class, each example goes to the part that lacks most of its share of those that were given so far. In
  // the end no part lacks any.
  const auto size = static_cast<int64_t>(order.size());
  std::vector<size_t> part_of(order.size());
  std::vector<int64_t> lacks(sizes.size());  // times size
  for (const int64_t example : by_class) {
    for (size_t p = 0; p < sizes.size(); ++p) lacks[p] += sizes[p];
    const auto most = static_cast<size_t>(std::max_element(lacks.begin(), lacks.end()) - lacks.begin());
    lacks[most] -= size;
    part_of[static_cast<size_t>(example)] = most;
  }
  std::vector<std::vector<int64_t>> parts(sizes.size());
  for (const int64_t example : order) parts[part_of[static_cast<size_t>(example)]].push_back(example);
  return parts;
}

std::vector<std::vector<int64_t>> test_parts(int64_t folds, int64_t size, const FoldOptions& options) {
  if (folds < 2 || folds > size)
    throw Error(
        text("k_fold: the number of folds must be in [2, ", size, "], the examples of the dataset, not ", folds));
  if (!options.shuffle && (options.seed || options.generator != nullptr))
    throw Error("k_fold: a seed or generator is for shuffle, which is not set");
  std::vector<int64_t> classes, sizes;
  if (options.labels.defined()) classes = classes_of("k_fold", options.labels, size);
  for (int64_t i = 0; i < folds; ++i) sizes.push_back(size / folds + (i < size % folds ? 1 : 0));
  const std::vector<int64_t> order =
      options.shuffle ? random_order(size, options.seed, options.generator) : ordered(size);
  return classes.empty() ? pieces(order, sizes) : stratified_parts(sizes, order, classes);
}

std::vector<int64_t> all_but(const std::vector<std::vector<int64_t>>& parts, size_t left_out) {
  std::vector<int64_t> out;
  for (size_t i = 0; i < parts.size(); ++i)
    if (i != left_out) out.insert(out.end(), parts[i].begin(), parts[i].end());
  return out;
}

std::vector<int64_t> sizes_of(const char* who, std::span<const double> fractions, int64_t size) {
  double total = 0;
  for (const double fraction : fractions) {
    if (!(fraction >= 0 && fraction <= 1)) throw Error(text(who, ": a part of ", fraction, " of the dataset"));
    total += fraction;
  }
  if (std::abs(total - 1) > 1e-6) throw Error(text(who, ": the fractions must add up to 1, not ", total));
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
