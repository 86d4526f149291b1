#include "data/tensor_dataset.h"

#include <algorithm>
#include <cstring>

#include "tensor/core/error.h"
#include "tensor/functions/fill.h"

namespace weft::data::detail {

namespace {

Shape row_shape(const Tensor& column) { return Shape(column.shape().begin() + 1, column.shape().end()); }

void copy_rows(const Tensor& column, std::span<const int64_t> indices, const Tensor& out) {
  const int64_t size = column.size(0);
  for (const int64_t index : indices)
    if (index < 0 || index >= size) throw IndexError(text("example ", index, " of a dataset of ", size));
  if (indices.empty()) return;
  const size_t bytes = static_cast<size_t>(out.nbytes()) / indices.size();
  const char* const from = internal::first_byte(column);
  char* to = static_cast<char*>(internal::raw(out));
  const auto row = [=](size_t i) { return from + static_cast<size_t>(indices[i]) * bytes; };
  // Shuffled rows are not in the cache; a copy by itself waits for each before it asks for the next.
  constexpr size_t kAhead = 16;
  for (size_t i = 0; i < indices.size(); ++i, to += bytes) {
    __builtin_prefetch(row(std::min(i + kAhead, indices.size() - 1)));
    std::memcpy(to, row(i), bytes);
  }
}

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
  copy_rows(column, {&index, 1}, out);
  return out;
}

Tensor rows(const Tensor& column, std::span<const int64_t> indices) {
  ErrorFrame frame("TensorDataset", column);
  Shape shape = column.shape();
  shape[0] = static_cast<int64_t>(indices.size());
  Tensor out = empty(shape, column.dtype());
  copy_rows(column, indices, out);
  return out;
}

void check_column(size_t n, size_t count) {
  if (n >= count) throw IndexError(text("TensorDataset: column ", n, " of a dataset of ", count, " tensors"));
}

}  // namespace weft::data::detail
