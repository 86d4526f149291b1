#include "tensor/functions/split.h"

#include <algorithm>

#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/view.h"
#include "tensor/ops/view.h"

namespace weft {

std::vector<Tensor> split(const Tensor& x, int64_t size, int64_t axis) {
  ErrorFrame frame("split", x);
  if (size < 1) throw ShapeError(text("size ", size, " of the pieces must be 1 or more"));
  const int64_t a = normalize_axis(axis, x.rank());
  std::vector<Tensor> pieces;
  const int64_t whole = x.size(a), count = whole / size + (whole % size != 0 ? 1 : 0);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = i * size;
    pieces.push_back(dispatch::apply(op::Slice{a, begin, begin + std::min(size, whole - begin), 1}, x));
  }
  if (pieces.empty()) pieces.push_back(slice(x, a));
  return pieces;
}

std::vector<Tensor> split(const Tensor& x, const IntList& sizes, int64_t axis) {
  ErrorFrame frame("split", x);
  const int64_t a = normalize_axis(axis, x.rank());
  int64_t sum = 0;
  for (const int64_t size : sizes) {
    if (size < 0) throw ShapeError(text("size ", size, " in ", sizes, " is negative"));
    sum = checked_add(sum, size);
  }
  if (sum != x.size(a)) throw ShapeError(text("sizes ", sizes, " sum to ", sum, ", axis ", a, " has ", x.size(a)));
  std::vector<Tensor> pieces;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    pieces.push_back(slice(x, a, begin, begin + size));
    begin += size;
  }
  return pieces;
}

std::vector<Tensor> chunk(const Tensor& x, int64_t count, int64_t axis) {
  ErrorFrame frame("chunk", x);
  if (count < 1) throw ShapeError(text("count ", count, " of the pieces must be 1 or more"));
  const int64_t size = x.size(axis);
  if (size == 0) return tensor_split(x, count, axis);  // as many as are asked for, as in PyTorch
  return split(x, size / count + (size % count == 0 ? 0 : 1), axis);
}

std::vector<Tensor> tensor_split(const Tensor& x, int64_t sections, int64_t axis) {
  ErrorFrame frame("tensor_split", x);
  if (sections < 1) throw ShapeError(text("sections ", sections, " must be 1 or more"));
  const int64_t a = normalize_axis(axis, x.rank()), size = x.size(a);
  std::vector<Tensor> pieces;
  if (sections > size) (void)empty({sections}, i64);  // MemoryError for more pieces than memory holds
  int64_t begin = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t end = begin + size / sections + (i < size % sections ? 1 : 0);
    pieces.push_back(slice(x, a, begin, end));
    begin = end;
  }
  return pieces;
}

std::vector<Tensor> tensor_split(const Tensor& x, const IntList& positions, int64_t axis) {
  ErrorFrame frame("tensor_split", x);
  const int64_t a = normalize_axis(axis, x.rank());
  std::vector<Tensor> pieces;
  int64_t begin = 0;
  for (const int64_t position : positions) {
    pieces.push_back(slice(x, a, begin, position));
    begin = position;
  }
  pieces.push_back(slice(x, a, begin));
  return pieces;
}

namespace {

/// tensor_split() into pieces of one size, or at positions, of a tensor of at least `rank` axes.
template <class Parts>
std::vector<Tensor> parts_along(const char* name, const Tensor& x, const Parts& parts, int64_t rank, int64_t axis) {
  ErrorFrame frame(name, x);
  if (x.rank() < rank) throw ShapeError(text(rank, rank == 1 ? " axis or more is" : " axes or more are", " needed"));
  if constexpr (std::same_as<Parts, int64_t>)
    if (parts >= 1 && x.size(axis) % parts != 0)
      throw ShapeError(text("axis ", axis, " of size ", x.size(axis), " does not divide into ", parts, " pieces"));
  return tensor_split(x, parts, axis);
}
int64_t across(const Tensor& x) { return x.rank() == 1 ? 0 : 1; }

}  // namespace

std::vector<Tensor> hsplit(const Tensor& x, int64_t sections) {
  return parts_along("hsplit", x, sections, 1, across(x));
}
std::vector<Tensor> hsplit(const Tensor& x, const IntList& positions) {
  return parts_along("hsplit", x, positions, 1, across(x));
}
std::vector<Tensor> vsplit(const Tensor& x, int64_t sections) { return parts_along("vsplit", x, sections, 2, 0); }
std::vector<Tensor> vsplit(const Tensor& x, const IntList& positions) {
  return parts_along("vsplit", x, positions, 2, 0);
}
std::vector<Tensor> dsplit(const Tensor& x, int64_t sections) { return parts_along("dsplit", x, sections, 3, 2); }
std::vector<Tensor> dsplit(const Tensor& x, const IntList& positions) {
  return parts_along("dsplit", x, positions, 3, 2);
}

std::vector<Tensor> unbind(const Tensor& x, int64_t axis) {
  ErrorFrame frame("unbind", x);
  const int64_t a = normalize_axis(axis, x.rank());
  std::vector<Tensor> entries;
  for (int64_t i = 0; i < x.size(a); ++i) entries.push_back(select(x, a, i));
  return entries;
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, std::string_view indexing) {
  ErrorFrame frame("meshgrid", std::span<const Tensor>(tensors));
  if (indexing != "ij" && indexing != "xy") throw Error(text("indexing `", indexing, "` is none of ij and xy"));
  if (tensors.empty()) throw ShapeError("1 tensor or more is needed");
  Shape shape;
  for (const Tensor& x : tensors) {
    if (x.rank() > 1) throw ShapeError(text("each tensor must have one axis, not shape ", x.shape()));
    shape.push_back(x.numel());
  }
  std::vector<Tensor> out;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const Tensor line = reshape(tensors[static_cast<size_t>(i)], internal::shape_along(i, shape.rank(), shape[i]));
    const Tensor grid = expand(line, shape);
    out.push_back(indexing == "xy" && tensors.size() > 1 ? transpose(grid, 0, 1) : grid);
  }
  return out;
}

Tensor cartesian_prod(const std::vector<Tensor>& tensors) {
  ErrorFrame frame("cartesian_prod", std::span<const Tensor>(tensors));
  if (tensors.empty()) throw Error("1 tensor or more is needed");
  for (const Tensor& x : tensors)
    if (x.rank() != 1) throw ShapeError(text("each tensor must have one axis, not shape ", x.shape()));
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns;
  for (const Tensor& grid : meshgrid(tensors)) columns.push_back(reshape(grid, {-1}));
  return stack(columns, 1);
}

namespace {

/// The number of ways to choose r of n things.
int64_t choices(int64_t n, int64_t r) {
  if (r > n) return 0;
  const int64_t k = std::min(r, n - r);
  int64_t count = 1;
  for (int64_t i = 1; i <= k; ++i) count = checked_multiply(count, n - k + i) / i;
  return count;
}

/// Writes the `rows` combinations of r of the numbers below n to `to`, one after the other.
void write_choices(int64_t* to, int64_t rows, int64_t n, int64_t r, bool with_replacement) {
  const int64_t step = with_replacement ? 0 : 1;  // from one number to the next, at least
  for (int64_t i = 0; i < r && rows > 0; ++i) to[i] = i * step;
  for (int64_t row = 1; row < rows; ++row, to += r) {
    std::copy_n(to, r, to + r);
    int64_t* const next = to + r;
    int64_t i = r - 1;  // the last number that can grow; those behind it follow it as closely as they may
    while (next[i] == n - 1 - (r - 1 - i) * step) --i;
    ++next[i];
    for (int64_t j = i + 1; j < r; ++j) next[j] = next[j - 1] + step;
  }
}

}  // namespace

Tensor combinations(const Tensor& x, int64_t r, bool with_replacement) {
  ErrorFrame frame("combinations", x);
  if (x.rank() != 1) throw ShapeError(text("it takes a tensor with one axis, not shape ", x.shape()));
  if (r < 0) throw Error(text("the number of elements must be 0 or more, not ", r));
  if (r == 0) return empty({0}, x.dtype(), x.device());
  const int64_t n = x.size(0), rows = choices(with_replacement ? checked_add(n, r - 1) : n, r);
  const Tensor places = empty({checked_multiply(rows, r)}, i64);
  write_choices(places.data<int64_t>(), rows, n, r, with_replacement);
  return reshape(index_select(x, 0, places.to(x.device())), {rows, r});
}

}  // namespace weft
