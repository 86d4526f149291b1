#include "data/tensor_dataset.h"

#include <cstring>

#include "tensor/core/error.h"
#include "tensor/functions/fill.h"

namespace weft::data::detail {

namespace {

size_t row_bytes(const Tensor& column) {
  return static_cast<size_t>(column.numel() / column.size(0)) * size_of(column.dtype());
}

void copy_row(const Tensor& column, int64_t index, void* out) {
  if (index < 0 || index >= column.size(0))
    throw IndexError(text("example ", index, " of a dataset of ", column.size(0)));
  const size_t bytes = row_bytes(column);
  std::memcpy(out, internal::first_byte(column) + static_cast<size_t>(index) * bytes, bytes);
}

Shape row_shape(const Tensor& column) { return Shape(column.shape().begin() + 1, column.shape().end()); }

}  // namespace

void prepare_columns(std::span<Tensor> columns) {
  ErrorFrame frame("TensorDataset", std::span<const Tensor>(columns));
  for (Tensor& column : columns) {
    if (column.rank() == 0) throw ShapeError("a scalar has no rows");
    if (column.size(0) != columns[0].size(0))
      throw ShapeError(text(columns[0].shape(), " and ", column.shape(), " have different numbers of rows"));
    column = internal::host_row_major(column);
  }
}

Tensor row(const Tensor& column, int64_t index) {
  ErrorFrame frame("TensorDataset", column);
  Tensor out = empty(row_shape(column), column.dtype());
  copy_row(column, index, internal::raw(out));
  return out;
}

Tensor rows(const Tensor& column, std::span<const int64_t> indices) {
  ErrorFrame frame("TensorDataset", column);
  Shape shape = column.shape();
  shape[0] = static_cast<int64_t>(indices.size());
  Tensor out = empty(shape, column.dtype());
  char* position = static_cast<char*>(internal::raw(out));
  for (const int64_t index : indices) {
    copy_row(column, index, position);
    position += row_bytes(column);
  }
  return out;
}

void check_column(size_t n, size_t count) {
  if (n >= count) throw IndexError(text("TensorDataset: column ", n, " of a dataset of ", count, " tensors"));
}

}  // namespace weft::data::detail
