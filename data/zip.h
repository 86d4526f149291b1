// Datasets side by side (PyTorch's StackDataset).
#pragma once

#include <tuple>

#include "data/dataset.h"
#include "data/sampler.h"

namespace weft::data {

namespace detail {
/// Error unless the sizes of all datasets are equal.
void check_equal_sizes(std::span<const int64_t> sizes);
}  // namespace detail

/// Datasets of one size, whose tensors come one after the other; see zip().
template <size_t... N> class Zip : public DatasetOf<(N + ...)> {
 public:
  using typename DatasetOf<(N + ...)>::Example;
  explicit Zip(HeldDataset<N>... parts) : parts_(std::move(parts)...) { (void)size(); }

  /// Error unless all datasets have the same size.
  int64_t size() const override {
    const std::array sizes = each([](const auto& part, auto) { return part->size(); });
    detail::check_equal_sizes(sizes);
    return sizes[0];
  }
  bool is_random() const override {
    bool out = false;
    for (const bool part : each([](const auto&part, auto) { return part->is_random(); })) out = out || part;
    return out;
  }
  Example get(int64_t index) const override {
    return joined([&](const auto& part, auto) { return part->get(index); });
  }
  /// Each dataset has keys of its own.
  Example sample(int64_t index, RandomKey key) const override {
    return joined([&](const auto& part, auto i) { return part->sample(index, split_key(key, i)); });
  }
  /// Batches are combined as each dataset does it.
  Example combine(std::vector<Example> examples) const override {
    return joined([&](const auto& part, auto i) {
      std::vector<ExampleOf<i>> own(examples.size());
      for (size_t e = 0; e < examples.size(); ++e)
        for (size_t n = 0; n < own[e].size(); ++n) own[e][n] = std::move(examples[e][kBegin<i> + n]);
      return part->combine(std::move(own));
    });
  }
  Example collate(std::span<const int64_t> indices, std::span<const RandomKey> keys) const override {
    return joined([&](const auto& part, auto i) {
      if (!part->is_random()) return part->collate(indices, keys);
      std::vector<RandomKey> own;
      for (const RandomKey key : keys) own.push_back(split_key(key, i));
      return part->collate(indices, own);
    });
  }

 private:
  static constexpr std::array kCounts = {N...};
  template <size_t I> using ExampleOf = std::array<Tensor, kCounts[I]>;
  static constexpr size_t begin_of(size_t part) {
    size_t out = 0;
    for (size_t i = 0; i < part; ++i) out += kCounts[i];
    return out;
  }
  template <size_t I> static constexpr size_t kBegin = begin_of(I);

  /// f(part, number) of each part; the number is a constant.
  template <class F> auto each(const F& f) const {
    return [&]<size_t... i>(std::index_sequence<i...>) {
      return std::array{f(std::get<i>(parts_), std::integral_constant<size_t, i>())...};
    }
    (std::make_index_sequence<sizeof...(N)>());
  }
  /// The tensors of f(part, number) of each part.
  template <class F> Example joined(const F& f) const {
    Example out;
    [&]<size_t... i>(std::index_sequence<i...>) {
      (put(out, kBegin<i>, f(std::get<i>(parts_), std::integral_constant<size_t, i>())), ...);
    }
    (std::make_index_sequence<sizeof...(N)>());
    return out;
  }
  template <class Part> static void put(Example& out, size_t begin, Part part) {
    for (size_t n = 0; n < part.size(); ++n) out[begin + n] = std::move(part[n]);
  }
  std::tuple<HeldDataset<N>...> parts_;
};

/// Example i has the tensors of example i of each dataset: `auto pairs = data::zip(images, masks);`. Datasets that are
/// lvalues must outlive the result. Error unless all have the same size.
template <AnyDataset... D> auto zip(D&&... datasets) {
  return Zip<std::remove_cvref_t<D>::kTensors...>(hold(std::forward<D>(datasets))...);
}

}  // namespace weft::data
