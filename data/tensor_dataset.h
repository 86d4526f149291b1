// A dataset whose examples are the rows of tensors in memory.
#pragma once

#include "data/dataset.h"

namespace weft::data {

namespace detail {
/// Makes the tensors row-major and detaches them. Error unless all have the same number of rows.
void prepare_columns(std::span<Tensor> columns);
/// Row `index`, copied. IndexError if out of range.
Tensor row(const Tensor& column, int64_t index);
Tensor rows(const Tensor& column, std::span<const int64_t> indices);
/// IndexError unless column `n` is one of `count`.
void check_column(size_t n, size_t count);
}  // namespace detail

/// `data::TensorDataset(images, labels)`: example i is {images[i], labels[i]}, copied. Error unless all tensors have
/// the same number of rows.
template <size_t N> class TensorDataset : public DatasetOf<N> {
 public:
  using typename DatasetOf<N>::Example;

  template <std::same_as<Tensor>... Columns>
    requires(sizeof...(Columns) == N)
  explicit TensorDataset(Columns... columns) : columns_{std::move(columns)...} { detail::prepare_columns(columns_); }

  int64_t size() const override { return columns_[0].size(0); }
  Example get(int64_t index) const override {
    Example example;
    for (size_t n = 0; n < N; ++n) example[n] = detail::row(columns_[n], index);
    return example;
  }
  Example collate(std::span<const int64_t> indices, std::span<const RandomKey>) const override {
    Example batch;
    for (size_t n = 0; n < N; ++n) batch[n] = detail::rows(columns_[n], indices);
    return batch;
  }
  /// All rows of one of the tensors. IndexError if there is no such tensor.
  const Tensor& column(size_t n) const {
    detail::check_column(n, N);
    return columns_[n];
  }

 private:
  std::array<Tensor, N> columns_;
};

template <std::same_as<Tensor>... Columns> TensorDataset(Columns...) -> TensorDataset<sizeof...(Columns)>;

}  // namespace weft::data
