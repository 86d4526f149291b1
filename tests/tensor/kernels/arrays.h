// Arrays for kernel tests: memory under a view with random strides, filled with small integers so that sums are exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "tensor/core/operand.h"
#include "tests/setting.h"

namespace weft::testing {

using Random = std::mt19937_64;

/// A uniform integer in [low, high].
inline int64_t pick(Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}

/// `n` numbers of a normal distribution, times `scale`.
inline std::vector<double> normal_values(Random& random, size_t n, double scale = 1) {
  std::normal_distribution<double> normal(0, scale);
  std::vector<double> out(n);
  for (double& v : out) v = normal(random);
  return out;
}

/// Memory and a view of it.
template <class T> struct Array {
  std::vector<T> memory;
  View view;

  Operand operand() { return {memory.data(), &view, dtype_of<T>}; }
  T& at(const IntList& index) { return memory[static_cast<size_t>(view.linear_index(index))]; }
  const Shape& shape() const { return view.shape(); }
};

enum class Layout { row_major, permuted, gaps, reversed, channels_last, broadcast };

/// Calls f(index) for every index of `shape` in row-major order.
template <class F> void for_each_index(const Shape& shape, F&& f) {
  const int64_t count = checked_numel(shape);
  IntList index = IntList::filled(static_cast<size_t>(shape.rank()), 0);
  for (int64_t i = 0; i < count; ++i) {
    f(index);
    for (int64_t axis = shape.rank() - 1; axis >= 0; --axis) {
      const auto a = static_cast<size_t>(axis);
      if (++index[a] < shape[a]) break;
      index[a] = 0;
    }
  }
}

/// Room for `shape` in the given layout, at an offset; everything is `fill`.
template <class T> Array<T> make_array(const Shape& shape, Layout layout, Random& random, T fill = T{}) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (layout == Layout::permuted || layout == Layout::gaps) std::shuffle(order.begin(), order.end(), random);
  if (layout == Layout::channels_last && shape.size() == 4) order = {0, 2, 3, 1};
  Strides strides = IntList::filled(shape.size(), 0);
  int64_t offset = pick(random, 0, 3), step = layout == Layout::gaps ? 2 : 1, used = offset + 1;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t axis = order[i];
    if (layout == Layout::broadcast && pick(random, 0, 1) == 0) continue;
    strides[axis] = step;
    step *= std::max<int64_t>(shape[axis], 1) + (layout == Layout::gaps ? 1 : 0);
  }
  used += step;
  if (layout == Layout::reversed)
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] > 0 && pick(random, 0, 1) == 0) {
        offset += strides[axis] * (shape[axis] - 1);
        strides[axis] = -strides[axis];
      }
  return {std::vector<T>(static_cast<size_t>(used), fill), View::create(shape, strides, offset)};
}

/// The same, filled with integers in [-range, range] (from 0 where T has no sign).
template <class T> Array<T> random_array(const Shape& shape, Layout layout, Random& random, int64_t range = 4) {
  Array<T> array = make_array<T>(shape, layout, random);
  for (T& value : array.memory)
    value = static_cast<T>(static_cast<float>(pick(random, std::is_unsigned_v<T> ? 0 : -range, range)));
  return array;
}

inline Layout any_layout(Random& random, bool broadcast) {
  return static_cast<Layout>(pick(random, 0, broadcast ? 5 : 4));
}

}  // namespace weft::testing
