// Datasets: examples by number. Users derive from Dataset (pairs such as image and label) or from DatasetOf<N>.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/core/random.h"
#include "tensor/functions/cat.h"
#include "tensor/tensor.h"

namespace weft::data {

namespace detail {
void check_range(int64_t begin, int64_t end, int64_t size);
}  // namespace detail

/// Examples of N tensors each. `auto [image, label] = dataset.get(0);`
///
///   struct Squares : data::Dataset {
///     int64_t size() const override { return 100; }
///     Example get(int64_t i) const override { return {tensor({double(i)}), tensor({double(i * i)})}; }
///   };
template <size_t N> class DatasetOf {
 public:
  static_assert(N > 0);
  static constexpr size_t kTensors = N;
  /// One example, or (with one axis more on each tensor) a batch of them.
  using Example = std::array<Tensor, N>;

  virtual ~DatasetOf() = default;
  virtual int64_t size() const = 0;
  /// Example `index` of [0, size()). A loader that prefetches calls it from its own thread.
  virtual Example get(int64_t index) const = 0;

  /// What a loader takes: like get(), but random changes (augmentation) draw from `key`, which depends on the epoch and
  /// the index alone: not on what was loaded before, nor on the thread. A class that overrides it must override
  /// is_random() too.
  virtual Example sample(int64_t index, RandomKey key) const {
    (void)key;
    return get(index);
  }
  /// Whether sample() reads its key: only then do loaders that do not shuffle draw one from the global generator.
  virtual bool is_random() const { return false; }
  /// What a batch of these examples is: stacked along a new first axis, where shapes that differ are a ShapeError. A
  /// class that overrides it decides so also for map(), concat() and Subset of it.
  virtual Example combine(std::vector<Example> examples) const {
    const auto tensors = columns(std::move(examples));
    Example batch;
    for (size_t n = 0; n < N; ++n) batch[n] = stack(tensors[n]);
    return batch;
  }
  /// A batch: combine() of sample() of each; `keys` has one key per index. For overriding where a dataset has a faster
  /// way to the same.
  virtual Example collate(std::span<const int64_t> indices, std::span<const RandomKey> keys) const {
    std::vector<Example> examples;
    for (size_t i = 0; i < indices.size(); ++i) examples.push_back(sample(indices[i], keys[i]));
    return combine(std::move(examples));
  }

  /// Examples begin .. end-1 as one batch. IndexError unless 0 <= begin < end <= size().
  Example batch(int64_t begin, int64_t end) const {
    detail::check_range(begin, end, size());
    std::vector<int64_t> indices(static_cast<size_t>(end - begin));
    std::iota(indices.begin(), indices.end(), begin);
    return collate(indices, std::vector<RandomKey>(indices.size()));
  }

 protected:
  /// The examples, tensor n of all of them in list n.
  static std::array<std::vector<Tensor>, N> columns(std::vector<Example> examples) {
    std::array<std::vector<Tensor>, N> out;
    for (Example& example : examples)
      for (size_t n = 0; n < N; ++n) out[n].push_back(std::move(example[n]));
    return out;
  }

  DatasetOf() = default;
  DatasetOf(const DatasetOf&) = default;
  DatasetOf(DatasetOf&&) noexcept = default;
  DatasetOf& operator=(const DatasetOf&) = default;
  DatasetOf& operator=(DatasetOf&&) noexcept = default;
};

/// Pairs: an input and what it should become.
using Dataset = DatasetOf<2>;

/// Which part of a data set.
enum class Split { train, test };

template <class D>
concept AnyDataset = std::is_base_of_v<DatasetOf<std::remove_cvref_t<D>::kTensors>, std::remove_cvref_t<D>>;

/// How loaders and mapped datasets hold a dataset: an lvalue by reference (it must outlive them), a temporary by taking
/// it over.
template <AnyDataset D> auto hold(D&& dataset) {
  using Base = DatasetOf<std::remove_cvref_t<D>::kTensors>;
  if constexpr (std::is_lvalue_reference_v<D>)
    return std::shared_ptr<const Base>(std::shared_ptr<const Base>(), &dataset);
  else
    return std::shared_ptr<const Base>(std::make_shared<std::remove_cvref_t<D>>(std::forward<D>(dataset)));
}

}  // namespace weft::data
