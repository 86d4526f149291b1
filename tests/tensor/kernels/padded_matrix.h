// Matrices of small integers inside of larger memory, so that what a product writes beside its result shows.
#pragma once

#include <vector>

#include "tensor/kernels/cpu/base/matrix.h"
#include "tests/reference/matmul.h"
#include "tests/tensor/kernels/arrays.h"

namespace weft::testing {

/// A matrix with gaps between its rows (columns where `transposed`, whose row stride is 1) and on either side.
template <class T> struct Padded {
  static constexpr int64_t kGap = 3;
  Padded(int64_t rows, int64_t columns, bool transposed, Random& random) : memory(size(rows, columns)) {
    for (T& v : memory) v = static_cast<T>(static_cast<float>(pick(random, -4, 4)));
    const int64_t step = (transposed ? rows : columns) + kGap;
    matrix = {memory.data() + kGap, rows, columns, transposed ? 1 : step, transposed ? step : 1};
  }
  static size_t size(int64_t rows, int64_t columns) {
    return static_cast<size_t>((rows + kGap) * (columns + kGap) + 2 * kGap);
  }
  std::vector<T> memory;
  kernels::cpu::Matrix<T> matrix;
};

template <class T> reference::Array values_of(const kernels::cpu::Matrix<T>& x) {
  return reference::build({x.rows, x.columns}, [&](const std::vector<int64_t>& i) {
    return static_cast<double>(static_cast<float>(x.at(i[0], i[1])));
  });
}

/// What a product is added to: nothing, what its result held before, a row.
enum class Add { nothing, before, bias };

/// check(whether a is transposed, whether b is, add) in all combinations.
template <class Check> void for_all_products(const Check& check) {
  for (const bool a_columns : {false, true})
    for (const bool b_columns : {false, true})
      for (const Add add : {Add::nothing, Add::before, Add::bias}) check(a_columns, b_columns, add);
}

/// check_all(m, k, n) of every height and width of a tile of `lanes` columns per register, and of what is left of it:
/// whole registers, parts of one, a single row or column; sums of odd lengths.
template <class Check> void for_all_tiles(int64_t lanes, const Check& check_all) {
  for (int64_t m = 1; m <= 26; ++m)
    for (const int64_t n :
         {int64_t{1}, lanes - 1, lanes, lanes + 1, 2 * lanes, 3 * lanes - 2, 4 * lanes, 4 * lanes + 1, 5 * lanes + 3})
      check_all(m, m % 5 + 1, n);
}

}  // namespace weft::testing
