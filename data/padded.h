// Batches of examples of different sizes.
#pragma once

#include "data/dataset.h"

namespace weft::data {

/// Stacks tensors of the same rank along a new first axis. Each tensor is padded at the end of every axis with `value`
/// to the largest size of that axis. ShapeError if ranks differ, Error for an empty list.
Tensor pad_stack(const std::vector<Tensor>& tensors, double value = 0);

/// A dataset whose batches are padded; see padded().
template <size_t N> class PaddedDataset : public DatasetOf<N> {
 public:
  using typename DatasetOf<N>::Example;
  PaddedDataset(HeldDataset<N> dataset, const std::array<double, N>& values)
      : dataset_(std::move(dataset)), values_(values) {}

  int64_t size() const override { return dataset_->size(); }
  bool is_random() const override { return dataset_->is_random(); }
  Example get(int64_t index) const override { return dataset_->get(index); }
  Example sample(int64_t index, RandomKey key) const override { return dataset_->sample(index, key); }
  Example combine(std::vector<Example> examples) const override {
    const auto tensors = this->columns(std::move(examples));
    Example batch;
    for (size_t n = 0; n < N; ++n) batch[n] = pad_stack(tensors[n], values_[n]);
    return batch;
  }

 private:
  HeldDataset<N> dataset_;
  std::array<double, N> values_;
};

/// Returns `dataset` with each batch padded to its longest example; tensor n is padded with values[n], for example {0,
/// -100} for sentences and labels. An lvalue is held by reference and must outlive the result; a temporary is moved in.
template <AnyDataset D>
auto padded(D&& dataset, const std::array<double, std::remove_cvref_t<D>::kTensors>& values = {}) {
  return PaddedDataset<std::remove_cvref_t<D>::kTensors>(hold(std::forward<D>(dataset)), values);
}

}  // namespace weft::data
