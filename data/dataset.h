// Datasets: examples by index. Derive from Dataset (pairs, such as image and label) or from DatasetOf<N>.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/core/random.h"
#include "tensor/functions/cat.h"
#include "tensor/tensor.h"

namespace weft::data {

template <class Base> class Held;

namespace detail {
/// begin .. end-1. IndexError unless they are a range in a dataset of `size`.
std::vector<int64_t> range(int64_t begin, int64_t end, int64_t size);

/// A member by which those who refer to an object see whether it still exists. A copy is another object's.
class Lifetime {
 public:
  Lifetime() = default;
  Lifetime(const Lifetime&) noexcept {}
  Lifetime& operator=(const Lifetime&) noexcept { return *this; }  // NOLINT(bugprone-unhandled-self-assignment)
  ~Lifetime() {
    if (token_) __atomic_store_n(&token_->ended, true, __ATOMIC_RELEASE);
  }
  struct Token final : SharedObject {
    bool has_ended() const noexcept { return __atomic_load_n(&ended, __ATOMIC_ACQUIRE); }
    bool ended = false;
  };
  /// Says when the object has ended.
  IntrusivePtr<Token> watch() const;

 private:
  mutable IntrusivePtr<Token> token_;  // made by the first watch()
};
[[noreturn]] void throw_ended();

/// List n holds tensor n of every example.
template <size_t N> std::array<std::vector<Tensor>, N> columns(std::vector<std::array<Tensor, N>> examples) {
  std::array<std::vector<Tensor>, N> out;
  for (std::array<Tensor, N>& example : examples)
    for (size_t n = 0; n < N; ++n) out[n].push_back(std::move(example[n]));
  return out;
}
/// The examples along a new first axis.
template <size_t N> std::array<Tensor, N> stacked(std::vector<std::array<Tensor, N>> examples) {
  const auto tensors = columns(std::move(examples));
  std::array<Tensor, N> batch;
  for (size_t n = 0; n < N; ++n) batch[n] = stack(tensors[n]);
  return batch;
}
}  // namespace detail

/// A dataset whose examples are N tensors each. `auto [image, label] = dataset.get(0);`
///
///   struct Squares : data::Dataset {
///     int64_t size() const override { return 100; }
///     Example get(int64_t i) const override { return {tensor({double(i)}), tensor({double(i * i)})}; }
///   };
template <size_t N> class DatasetOf {
 public:
  static_assert(N > 0);
  static constexpr size_t kTensors = N;
  /// One example; or a batch of examples, whose tensors have one additional first axis.
  using Example = std::array<Tensor, N>;

  virtual ~DatasetOf() = default;
  virtual int64_t size() const = 0;
  /// Returns example `index`, in [0, size()). A prefetching loader calls it from its own threads.
  virtual Example get(int64_t index) const = 0;

  /// The call that loaders use: get() with random augmentation. The randomness must come from `key`, which depends only
  /// on the epoch, the index, and how often the epoch has had that example before (a sampler may draw it several
  /// times), not on the thread or on what was loaded before. A class that overrides it must override is_random() too.
  virtual Example sample(int64_t index, RandomKey key) const {
    (void)key;
    return get(index);
  }
  /// Whether sample() or collate() reads keys. If not, they are not derived, and a loader that does not shuffle draws
  /// no key from the global generator.
  virtual bool is_random() const { return false; }
  /// Combines examples into a batch: by default stacks them along a new first axis, with a ShapeError if shapes differ.
  /// map(), concat() and Subset use the override of the dataset that they wrap.
  virtual Example combine(std::vector<Example> examples) const { return detail::stacked(std::move(examples)); }
  /// Loads a batch: combine() of the sample() of each index; `keys` has one key per index. Override it if the dataset
  /// can load a batch faster, with the same result.
  virtual Example collate(std::span<const int64_t> indices, std::span<const RandomKey> keys) const {
    std::vector<Example> examples;
    for (size_t i = 0; i < indices.size(); ++i) examples.push_back(sample(indices[i], keys[i]));
    return combine(std::move(examples));
  }

  /// The examples begin .. end-1 as one batch. IndexError unless 0 <= begin < end <= size().
  Example batch(int64_t begin, int64_t end) const {
    const std::vector<int64_t> indices = detail::range(begin, end, size());
    return collate(indices, std::vector<RandomKey>(indices.size()));
  }

 protected:
  /// Transposes the examples: list n holds tensor n of every example.
  static std::array<std::vector<Tensor>, N> columns(std::vector<Example> examples) {
    return detail::columns(std::move(examples));
  }

  DatasetOf() = default;
  DatasetOf(const DatasetOf&) = default;
  DatasetOf(DatasetOf&&) noexcept = default;
  DatasetOf& operator=(const DatasetOf&) = default;
  DatasetOf& operator=(DatasetOf&&) noexcept = default;

 private:
  friend class Held<DatasetOf<N>>;
  detail::Lifetime lifetime_;
};

/// Pairs of an input and its target.
using Dataset = DatasetOf<2>;

/// Which part of a dataset.
enum class Split { train, test };

template <class D>
concept AnyDataset = std::is_base_of_v<DatasetOf<std::remove_cvref_t<D>::kTensors>, std::remove_cvref_t<D>>;

namespace detail {
/// A dataset that its readers own together.
template <class D> struct OwnDataset final : SharedObject {
  explicit OwnDataset(D&& given) : dataset(std::move(given)) {}
  const D dataset;
};
}  // namespace detail

/// A dataset or stream (a Base) that a loader or another dataset reads: its own, or one that must outlive it. Error
/// where that has ended.
template <class Base> class Held {
 public:
  /// Of a temporary, which all copies share.
  template <std::derived_from<Base> D> explicit Held(D&& dataset) {
    auto* const own = new detail::OwnDataset<D>(std::forward<D>(dataset));
    own_ = IntrusivePtr<SharedObject>::adopt(own);
    dataset_ = &own->dataset;
  }
  explicit Held(const Base* other) : dataset_(other), lives_(other->lifetime_.watch()) {}
  const Base* operator->() const {
    if (lives_ && lives_->has_ended()) detail::throw_ended();
    return dataset_;
  }
  const Base& operator*() const { return *operator->(); }

 private:
  const Base* dataset_;
  IntrusivePtr<SharedObject> own_;
  IntrusivePtr<detail::Lifetime::Token> lives_;  // of one that is not its own
};
template <size_t N> using HeldDataset = Held<DatasetOf<N>>;

namespace detail {
/// An lvalue is held by reference and must outlive the holder; a temporary is moved in.
template <class Base, class D> Held<Base> hold_as(D&& dataset) {
  if constexpr (std::is_lvalue_reference_v<D>)
    return Held<Base>(&dataset);
  else
    return Held<Base>(std::forward<D>(dataset));
}
}  // namespace detail

/// Holds a dataset for loaders and wrapper datasets. An lvalue is held by reference and must outlive the holder; a
/// temporary is moved in.
template <AnyDataset D> auto hold(D&& dataset) {
  return detail::hold_as<DatasetOf<std::remove_cvref_t<D>::kTensors>>(std::forward<D>(dataset));
}

}  // namespace weft::data
