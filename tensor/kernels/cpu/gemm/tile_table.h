// The instances of a tile function, which keeps a tile of c in registers, by the size of the tile.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

namespace weft::kernels::cpu {

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
