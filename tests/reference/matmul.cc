#include "tests/reference/matmul.h"

namespace weft::testing::reference {

Array product(const Array& a, const Array& b) {
  Array out = zeros({a.size(0), b.size(1)});
  const auto inner = static_cast<size_t>(a.size(1)), columns = static_cast<size_t>(b.size(1));
  for (size_t i = 0; i < static_cast<size_t>(a.size(0)); ++i)
    for (size_t k = 0; k < inner; ++k)
      for (size_t j = 0; j < columns; ++j)
        out.values[i * columns + j] += a.values[i * inner + k] * b.values[k * columns + j];
  return out;
}

Array transposed(const Array& a) {
  Array out = zeros({a.size(1), a.size(0)});
  const auto rows = static_cast<size_t>(a.size(0)), columns = static_cast<size_t>(a.size(1));
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) out.values[j * rows + i] = a.values[i * columns + j];
  return out;
}

Shape batch_of(const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); }

Array matrix_at(const Array& x, const Index& batch) {
  const Shape own = batch_of(x.shape);
  Index index(batch.end() - own.rank(), batch.end());
  for (size_t i = 0; i < index.size(); ++i)
    if (own[i] == 1) index[i] = 0;
  const int64_t size = x.size(-2) * x.size(-1);
  const auto first = x.values.begin() + static_cast<int64_t>(offset_of(own, index)) * size;
  return {{x.size(-2), x.size(-1)}, Row(first, first + size)};
}

Array matmul(const Array& a, const Array& b) {
  const Shape batch = broadcast_of(batch_of(a.shape), batch_of(b.shape));
  Array out{batch, {}};
  out.shape.push_back(a.size(-2));
  out.shape.push_back(b.size(-1));
  for (const Index& at : indices_of(batch)) {
    const Array one = product(matrix_at(a, at), matrix_at(b, at));
    out.values.insert(out.values.end(), one.values.begin(), one.values.end());
  }
  return out;
}

}  // namespace weft::testing::reference
