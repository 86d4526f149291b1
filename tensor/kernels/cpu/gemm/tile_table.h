// The instances of a tile function, which keeps a tile of c in registers, by the size of the tile; and the strips of
// rows that are cut into tiles.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "tensor/kernels/cpu/base/arithmetic.h"

namespace weft::kernels::cpu {

/// Strips of about the same height, none above `most`.
struct Strips {
  int64_t count, height, higher;  // the first `higher` strips have a row more than `height`
  Strips(int64_t rows, int64_t most) : count(ceil_div(rows, most)), height(rows / count), higher(rows % count) {}
  int64_t first(int64_t s) const { return s * height + std::min(s, higher); }
  int64_t rows(int64_t s) const { return height + (s < higher ? 1 : 0); }
};

/// Functions for tiles of 1 to kMostRows[v] rows and v + 1 registers of columns.
template <class Function, auto kMostRows> class TileTable {
 public:
  /// `instance.template operator()<kRows, kVectors>()` is the function for such tiles.
  constexpr explicit TileTable(const auto& instance) {
    const auto of_width = [&]<int kVectors, int... R>(std::integer_sequence<int, R...>) {
      ((functions_[kVectors - 1][R] = instance.template operator()<R + 1, kVectors>()), ...);
    };
    [&]<int... V>(std::integer_sequence<int, V...>) {
      (of_width.template operator()<V + 1>(std::make_integer_sequence<int, kMostRows[V]>{}), ...);
    }
    (std::make_integer_sequence<int, static_cast<int>(kMostRows.size())>{});
  }
  constexpr Function at(int64_t rows, int64_t vectors) const {
    return functions_[static_cast<size_t>(vectors - 1)][static_cast<size_t>(rows - 1)];
  }

 private:
  static constexpr int kHighest = kMostRows[0];  // one register of columns leaves room for the most rows
  std::array<std::array<Function, kHighest>, kMostRows.size()> functions_{};
};

}  // namespace weft::kernels::cpu
