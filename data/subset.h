// Subsets, splits and concatenations of datasets.
#pragma once

#include <concepts>
#include <optional>

#include "data/dataset.h"
#include "data/sampler.h"

namespace weft::data {

namespace detail {
/// The indices 0 .. size-1 in random order, divided into parts of `sizes`. Error unless the sizes add up to `size`.
std::vector<std::vector<int64_t>> random_parts(std::span<const int64_t> sizes, int64_t size,
                                               std::optional<uint64_t> seed, Generator* generator);
/// The same, with the classes in the same proportions in every part; see stratified_split().
std::vector<std::vector<int64_t>> stratified_parts(std::span<const int64_t> sizes, const std::vector<int64_t>& order,
                                                   const std::vector<int64_t>& labels);
/// A random order of `size` examples.
std::vector<int64_t> random_order(int64_t size, std::optional<uint64_t> seed, Generator* generator);
/// The sizes of parts that have these fractions of `size` examples; see random_split(). `who` starts the messages.
std::vector<int64_t> sizes_of(const char* who, std::span<const double> fractions, int64_t size);
/// The dataset that contains example `index` of a concatenation, where `ends` are the cumulative sizes. IndexError if
/// out of range.
size_t part_of(std::span<const int64_t> ends, int64_t index);
}  // namespace detail

/// `data::Subset(dataset, {3, 1, 4})`: example i is example indices[i] of the dataset. An lvalue dataset is held by
/// reference and must outlive the subset; a temporary is moved in. IndexError for an index out of range.
template <size_t N> class Subset : public DatasetOf<N> {
 public:
  using typename DatasetOf<N>::Example;

  template <AnyDataset D>
    requires(std::remove_cvref_t<D>::kTensors == N)
  Subset(D&& dataset, std::vector<int64_t> indices) : Subset(hold(std::forward<D>(dataset)), std::move(indices)) {}
  Subset(HeldDataset<N> dataset, std::vector<int64_t> indices)
      : dataset_(std::move(dataset)), indices_(std::move(indices)) {
    detail::check_examples("Subset", indices_, dataset_->size());
  }

  int64_t size() const override { return static_cast<int64_t>(indices_.size()); }
  bool is_random() const override { return dataset_->is_random(); }
  Example get(int64_t index) const override { return dataset_->get(original(index)); }
  Example sample(int64_t index, RandomKey key) const override { return dataset_->sample(original(index), key); }
  Example collate(std::span<const int64_t> indices, std::span<const RandomKey> keys) const override {
    std::vector<int64_t> originals;
    for (const int64_t index : indices) originals.push_back(original(index));
    return dataset_->collate(originals, keys);
  }
  Example combine(std::vector<Example> examples) const override { return dataset_->combine(std::move(examples)); }
  /// The indices of its examples in the full dataset.
  const std::vector<int64_t>& indices() const { return indices_; }

 private:
  int64_t original(int64_t index) const {
    detail::check_examples("Subset", {&index, 1}, size());
    return indices_[static_cast<size_t>(index)];
  }
  HeldDataset<N> dataset_;
  std::vector<int64_t> indices_;
};

template <AnyDataset D> Subset(D&&, std::vector<int64_t>) -> Subset<std::remove_cvref_t<D>::kTensors>;

struct SplitOptions {
  std::optional<uint64_t> seed = std::nullopt;  // replaces the generator
  Generator* generator = nullptr;               // null: the default generator
};
namespace detail {
template <size_t K, size_t N>
std::array<Subset<N>, K> subsets(const HeldDataset<N>& dataset, std::vector<std::vector<int64_t>> parts) {
  return [&]<size_t... k>(std::index_sequence<k...>) {
    return std::array<Subset<N>, K>{Subset<N>(dataset, std::move(parts[k]))...};
  }
  (std::make_index_sequence<K>());
}
template <size_t K, AnyDataset D> auto split(D&& dataset, std::span<const int64_t> sizes, const SplitOptions& options) {
  const auto held = hold(std::forward<D>(dataset));
  return subsets<K>(held, random_parts(sizes, held->size(), options.seed, options.generator));
}
}  // namespace detail

/// Splits a dataset randomly into parts of these sizes: `auto [train, test] = data::random_split(all, {500, 100});`. A
/// dataset that is an lvalue must outlive the parts. Error unless the sizes add up to the dataset's size.
template <AnyDataset D, size_t K>
auto random_split(D&& dataset, const int64_t (&sizes)[K], const SplitOptions& options = {}) {
  return detail::split<K>(std::forward<D>(dataset), sizes, options);
}
/// The same with fractions, as in PyTorch: `data::random_split(all, {0.8, 0.2})`. Sizes are rounded down, and what is
/// left goes, one each, to the first parts. Error unless the fractions are in [0, 1] and add up to 1, within 1e-6.
template <AnyDataset D, size_t K, std::floating_point F>
auto random_split(D&& dataset, const F (&fractions)[K], const SplitOptions& options = {}) {
  const std::vector<double> shares(fractions, fractions + K);
  const int64_t size = dataset.size();
  return detail::split<K>(std::forward<D>(dataset), detail::sizes_of("random_split", shares, size), options);
}

/// random_split() by fractions, where every part has nearly its share of each class. `labels` (size) has the class of
/// each example:
///   auto [train, test] = data::stratified_split(all, labels, {0.8, 0.2});
/// ShapeError or DtypeError if the labels are not such a list of integers, and errors as of random_split().
template <AnyDataset D, size_t K, std::floating_point F>
auto stratified_split(D&& dataset, const Tensor& labels, const F (&fractions)[K], const SplitOptions& options = {}) {
  const auto held = hold(std::forward<D>(dataset));
  const int64_t size = held->size();
  const std::vector<int64_t> classes = detail::classes_of("stratified_split", labels, size);
  const std::vector<double> shares(fractions, fractions + K);
  const std::vector<int64_t> sizes = detail::sizes_of("stratified_split", shares, size);
  const std::vector<int64_t> order = detail::random_order(size, options.seed, options.generator);
  return detail::subsets<K>(held, detail::stratified_parts(sizes, order, classes));
}

struct FoldOptions {
  bool shuffle = false;                         // default: each test part is a range of the dataset
  Tensor labels = {};                           // (size) integers: every part has nearly its share of each class
  std::optional<uint64_t> seed = std::nullopt;  // replaces the generator
  Generator* generator = nullptr;               // null: the default generator
};
template <size_t N> struct Fold { Subset<N> train, test; };
namespace detail {
/// The test parts of k_fold().
std::vector<std::vector<int64_t>> test_parts(int64_t folds, int64_t size, const FoldOptions& options);
/// All examples in the order of `parts`, without those of part `left_out`.
std::vector<int64_t> all_but(const std::vector<std::vector<int64_t>>& parts, size_t left_out);
}  // namespace detail

/// Cross-validation: divides a dataset into `folds` test parts whose sizes differ by at most 1. The train part of each
/// fold is the rest.
///   for (const auto& [train, test] : data::k_fold(all, 5, {.shuffle = true})) ...
/// An lvalue must outlive the parts. Error unless 2 <= folds <= size, or if there is a seed or generator without
/// shuffle.
template <AnyDataset D> auto k_fold(D&& dataset, int64_t folds, const FoldOptions& options = {}) {
  constexpr size_t kTensors = std::remove_cvref_t<D>::kTensors;
  const auto held = hold(std::forward<D>(dataset));
  const std::vector<std::vector<int64_t>> parts = detail::test_parts(folds, held->size(), options);
  std::vector<Fold<kTensors>> out;
  for (size_t i = 0; i < parts.size(); ++i)
    out.push_back({Subset<kTensors>(held, detail::all_but(parts, i)), Subset<kTensors>(held, parts[i])});
  return out;
}

/// A concatenation of datasets; see concat().
template <size_t N> class Concatenation : public DatasetOf<N> {
 public:
  using typename DatasetOf<N>::Example;
  explicit Concatenation(std::vector<HeldDataset<N>> parts) : parts_(std::move(parts)) {
    int64_t total = 0;
    for (const auto& part : parts_) ends_.push_back(total += part->size());
  }

  int64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  bool is_random() const override {
    bool out = false;
    for (const auto& part : parts_) out = out || part->is_random();
    return out;
  }
  Example get(int64_t index) const override {
    const auto [part, own] = find(index);
    return part->get(own);
  }
  Example sample(int64_t index, RandomKey key) const override {
    const auto [part, own] = find(index);
    return part->sample(own, key);
  }
  Example combine(std::vector<Example> examples) const override {
    return parts_.empty() ? DatasetOf<N>::combine(std::move(examples)) : parts_[0]->combine(std::move(examples));
  }

 private:
  std::pair<const DatasetOf<N>*, int64_t> find(int64_t index) const {
    const size_t part = detail::part_of(ends_, index);
    return {&*parts_[part], index - (part == 0 ? 0 : ends_[part - 1])};
  }
  std::vector<HeldDataset<N>> parts_;
  std::vector<int64_t> ends_;
};

/// Concatenates datasets. Batches are combined as the first dataset does it. Datasets that are lvalues must outlive the
/// result.
template <AnyDataset First, AnyDataset... More> auto concat(First&& first, More&&... more) {
  constexpr size_t kTensors = std::remove_cvref_t<First>::kTensors;
  return Concatenation<kTensors>({hold(std::forward<First>(first)), hold(std::forward<More>(more))...});
}

}  // namespace weft::data
