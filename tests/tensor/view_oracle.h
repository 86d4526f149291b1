// The index oracle of the view tests: a view as the explicit list of what each element reads, in row-major order, and
// every view operation done on that list one element at a time. It shares no code with tensor/view.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace weft::oracle {

using List = std::vector<int64_t>;

/// What an element of the padding reads; every other cell is a memory position.
inline constexpr int64_t kZero = std::numeric_limits<int64_t>::min();

inline int64_t product(const List& sizes) {
  int64_t out = 1;
  for (int64_t size : sizes) out *= size;
  return out;
}

/// Calls `visit` with every index of `shape` in row-major order.
template <class Visit> void for_each_index(const List& shape, Visit visit) {
  if (product(shape) == 0) return;
  List index(shape.size(), 0);
  while (true) {
    visit(std::as_const(index));
    size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

struct Cells {
  List shape;
  List cells;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t at(const List& index) const {
    int64_t place = 0;
    for (size_t i = 0; i < shape.size(); ++i) place = place * shape[i] + index[i];
    return cells[static_cast<size_t>(place)];
  }
  List valid() const {
    List out;
    for (int64_t cell : cells)
      if (cell != kZero) out.push_back(cell);
    return out;
  }
};

/// The cells of a new shape, each read at the old index that `source` turns the new one into (in place); kZero where
/// `source` answers false.
template <class Source> Cells gather(const Cells& old, const List& shape, Source source) {
  Cells out{shape, {}};
  for_each_index(shape, [&](List index) { out.cells.push_back(source(index) ? old.at(index) : kZero); });
  return out;
}

inline Cells contiguous(const List& shape, int64_t offset) {
  Cells out{shape, {}};
  for (int64_t i = 0; i < product(shape); ++i) out.cells.push_back(offset + i);
  return out;
}

inline Cells reshape(const Cells& old, const List& shape) { return {shape, old.cells}; }

inline Cells broadcast(const Cells& old, const List& shape) {
  return gather(old, shape, [&](List& index) {
    index.erase(index.begin(), index.end() - old.rank());
    for (size_t i = 0; i < index.size(); ++i)
      if (old.shape[i] == 1) index[i] = 0;
    return true;
  });
}

inline Cells permute(const Cells& old, const List& axes) {
  List shape;
  for (int64_t axis : axes) shape.push_back(old.shape[static_cast<size_t>(axis)]);
  return gather(old, shape, [&](List& index) {
    List from(index.size());
    for (size_t i = 0; i < index.size(); ++i) from[static_cast<size_t>(axes[i])] = index[i];
    index = from;
    return true;
  });
}

/// Only the given indices of one axis, in the given order; -1 reads as padding.
inline Cells pick(const Cells& old, size_t axis, const List& indices) {
  List shape = old.shape;
  shape[axis] = static_cast<int64_t>(indices.size());
  return gather(old, shape, [&](List& index) {
    index[axis] = indices[static_cast<size_t>(index[axis])];
    return index[axis] >= 0;
  });
}

/// The indices that Python's range(n)[start:end:step] holds.
inline List python_slice(int64_t n, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  List out;
  int64_t first = !start ? (step > 0 ? 0 : n - 1) : *start < 0 ? *start + n : *start;
  int64_t last = !end ? (step > 0 ? n : -1) : *end < 0 ? *end + n : *end;
  if (step > 0)
    for (int64_t i = std::max<int64_t>(first, 0); i < std::min(last, n); i += step) out.push_back(i);
  else
    for (int64_t i = std::min(first, n - 1); i > std::max<int64_t>(last, -1); i += step) out.push_back(i);
  return out;
}

inline Cells select(const Cells& old, size_t axis, int64_t at) {
  Cells out = pick(old, axis, {at});
  out.shape.erase(out.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return out;
}

inline Cells pad(const Cells& old, size_t axis, int64_t before, int64_t after) {
  List indices(static_cast<size_t>(before), -1);
  for (int64_t i = 0; i < old.shape[axis]; ++i) indices.push_back(i);
  indices.resize(indices.size() + static_cast<size_t>(after), -1);
  return pick(old, axis, indices);
}

inline Cells unfold(const Cells& old, size_t axis, int64_t size, int64_t step) {
  List shape = old.shape;
  shape[axis] = 0;
  for (int64_t start = 0; start + size <= old.shape[axis]; start += step) ++shape[axis];
  shape.push_back(size);
  return gather(old, shape, [&](List& index) {
    index[axis] = index[axis] * step + index.back();
    index.pop_back();
    return true;
  });
}

inline Cells diagonal(const Cells& old, int64_t offset, size_t axis0, size_t axis1) {
  List rows;
  for (int64_t row = 0; row < old.shape[axis0]; ++row)
    if (row + offset >= 0 && row + offset < old.shape[axis1]) rows.push_back(row);
  List shape = old.shape;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(std::max(axis0, axis1)));
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(std::min(axis0, axis1)));
  shape.push_back(static_cast<int64_t>(rows.size()));
  return gather(old, shape, [&](List& index) {
    int64_t row = rows[static_cast<size_t>(index.back())];
    index.pop_back();
    List from;
    for (size_t axis = 0, next = 0; axis < old.shape.size(); ++axis)
      from.push_back(axis == axis0 ? row : axis == axis1 ? row + offset : index[next++]);
    index = from;
    return true;
  });
}

/// Over the cells of a contiguous view.
inline Cells as_strided(const Cells& old, const List& shape, const List& strides, int64_t offset) {
  Cells out{shape, {}};
  for_each_index(shape, [&](const List& index) {
    int64_t place = offset;
    for (size_t i = 0; i < index.size(); ++i) place += index[i] * strides[i];
    out.cells.push_back(old.cells[static_cast<size_t>(place)]);
  });
  return out;
}

/// Whether some strides, offset and one interval per axis read exactly these cells, tried out on every cell.
inline bool is_expressible(const Cells& view) {
  if (view.cells.empty()) return true;
  List low, high;  // corners of the box around what is valid
  for_each_index(view.shape, [&](const List& index) {
    if (view.at(index) == kZero) return;
    if (low.empty()) low = high = index;
    for (size_t i = 0; i < index.size(); ++i) {
      low[i] = std::min(low[i], index[i]);
      high[i] = std::max(high[i], index[i]);
    }
  });
  if (view.valid().empty()) return view.rank() > 0;  // an empty interval says it, but a scalar has none
  List strides;
  for (size_t i = 0; i < low.size(); ++i) {
    List next = low;
    next[i] = std::min(next[i] + 1, high[i]);
    if (view.at(low) == kZero || view.at(next) == kZero) return false;
    strides.push_back(view.at(next) - view.at(low));
  }
  bool fits = true;
  for_each_index(view.shape, [&](const List& index) {
    int64_t expected = view.at(low);
    for (size_t i = 0; i < index.size(); ++i) {
      if (index[i] < low[i] || index[i] > high[i]) return;  // padding, by the choice of the box
      expected += (index[i] - low[i]) * strides[i];
    }
    fits &= view.at(index) == expected;
  });
  return fits;
}

}  // namespace weft::oracle
