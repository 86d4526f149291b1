// The innermost part of weft's own matrix products: a few rows times a few registers of columns, all of c's tile in
// registers.
#pragma once

#include <array>
#include <cstdint>

#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/gemm/tile_table.h"

namespace weft::kernels::cpu {

/// c(r, j) = sum over k of a(r, k) b(k, j), + add(r, j) where there is one, for a tile of c.
template <class T> struct GemmTile {
  int64_t depth;
  const T* a;
  int64_t a_row, a_step;  // a(r, k) at a[r * a_row + k * a_step]
  const T* b;
  int64_t b_step;  // a full register of b is read everywhere: at b + k * b_step
  T* c;
  int64_t c_row;
  int last;  // columns of c in its last register
  const T* add;
  int64_t add_row;
  const T* next;  // the rows of a that are read next, with the same stride, to be prefetched meanwhile; or null
};

/// Registers of columns that a tile may have, and its most rows: what 32 (16) registers hold beside a row of b. With
/// four registers a step of k takes 34 instructions for 24 products, with two it would take 38.
#if defined(__AVX512F__)
inline constexpr std::array<int, 4> kGemmTileRows = {12, 12, 8, 6};
#else
inline constexpr std::array<int, 2> kGemmTileRows = {12, 6};
#endif
inline constexpr int kGemmTileVectors = static_cast<int>(kGemmTileRows.size());

template <class T> using GemmTileFunction = void (*)(const GemmTile<T>&);

/// The function for tiles of `rows` rows and `vectors` registers of columns; T is float or double.
template <class T> GemmTileFunction<T> gemm_tile_function(int64_t rows, int64_t vectors);

/// The product of `t` for any number of rows: tiles of about the same height, one below the other.
template <class T> void gemm_strips(GemmTile<T> t, int64_t rows, int64_t vectors);

}  // namespace weft::kernels::cpu
