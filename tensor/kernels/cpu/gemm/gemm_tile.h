// The innermost part of weft's own matrix products: a few rows times a few registers of columns, all of c's tile in
// registers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

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

namespace detail {
#if !defined(__AVX512F__)
/// Through memory of their own: what has its address taken does not stay in a register.
template <class T> [[gnu::noinline]] void copy_lanes(const T* from, T* to, int count) {
  std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
}
#endif

/// The first `count` lanes, often all: a mask costs nothing where the CPU has them, and much where it has none.
template <class T> WEFT_SIMD simd::Vec<T> load_last(const T* p, int count) {
#if defined(__AVX512F__)
  return simd::load_part<T>(p, count);
#else
  if (count == simd::kLanes<T>) return simd::load<T>(p);
  T lanes[simd::kLanes<T>] = {};
  copy_lanes(p, lanes, count);
  return simd::load<T>(lanes);
#endif
}
template <class T> WEFT_SIMD void store_last(T* p, simd::Vec<T> v, int count) {
#if defined(__AVX512F__)
  simd::store_part<T>(p, v, count);
#else
  if (count == simd::kLanes<T>) return simd::store<T>(p, v);
  T lanes[simd::kLanes<T>];
  simd::store<T>(lanes, v);
  copy_lanes(lanes, p, count);
#endif
}
}  // namespace detail

template <class T, int kRows, int kVectors> [[gnu::noinline]] void gemm_tile(const GemmTile<T>& t) {
  constexpr int N = simd::kLanes<T>;
  constexpr int kGroups = (kRows + 3) / 4;
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));  // of memory
  using Vector = simd::Vec<T, N>;
  Vector sum[kRows][kVectors] = {};
  // A pointer for four rows, so that their addresses fit the instructions: 0, 1, 2 and 3 times a row from it.
  const int64_t row = t.a_row, row3 = 3 * row, a_step = t.a_step, b_step = t.b_step;
  const T* left[kGroups];
  for (int g = 0; g < kGroups; ++g) left[g] = t.a + int64_t{4} * g * row;
  if (t.add_row != 0) {  // the sums of an earlier pass, which have left the L1 cache
    for (int r = 0; r < kRows; ++r)
      for (int v = 0; v < kVectors; ++v) __builtin_prefetch(t.add + r * t.add_row + v * N);
  }
  const T *b = t.b, *next = t.next;
  for (int64_t k = t.depth; k > 0;) {
    if (next != nullptr) {
      for (int r = 0; r < kRows; ++r) __builtin_prefetch(next + r * row);
      next += kLine;
    }
    for (const int64_t end = std::max<int64_t>(k - kLine, 0); k > end; --k, b += b_step) {
      Vector right[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) right[v] = simd::in_register(simd::load<T, N>(b + v * N));
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) {
        const T value = left[r / 4][r % 4 == 3 ? row3 : r % 4 * row];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) sum[r][v] += value * right[v];
      }
#pragma GCC unroll 4
      for (int g = 0; g < kGroups; ++g) left[g] += a_step;
    }
  }
  // Unrolled as well, and no single lane is taken out: the sums must not leave the registers.
  constexpr int kLast = kVectors - 1;
  if (t.add != nullptr) {
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const T* add = t.add + r * t.add_row;
#pragma GCC unroll 4
      for (int v = 0; v < kLast; ++v) sum[r][v] += simd::load<T, N>(add + v * N);
      sum[r][kLast] += detail::load_last<T>(add + kLast * N, t.last);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
    T* out = t.c + r * t.c_row;
#pragma GCC unroll 4
    for (int v = 0; v < kLast; ++v) simd::store<T, N>(out + v * N, sum[r][v]);
    detail::store_last<T>(out + kLast * N, sum[r][kLast], t.last);
  }
}

template <class T> using GemmTileFunction = void (*)(const GemmTile<T>&);

template <class T>
inline constexpr TileTable<GemmTileFunction<T>, kGemmTileRows> kGemmTiles([]<int kRows, int kVectors>() {
  return gemm_tile<T, kRows, kVectors>;
});

/// The function for tiles of `rows` rows and `vectors` registers of columns.
template <class T> GemmTileFunction<T> gemm_tile_function(int64_t rows, int64_t vectors) {
  return kGemmTiles<T>.at(rows, vectors);
}

/// The product of `t` for any number of rows: tiles of about the same height, one below the other. (Not inlined: that
/// would change what else is inlined in its callers, and so which of their products and sums g++ contracts to one
/// operation.)
template <class T> [[gnu::noinline]] void gemm_strips(GemmTile<T> t, int64_t rows, int64_t vectors) {
  if (rows == 0) return;
  const Strips strips(rows, kGemmTileRows[static_cast<size_t>(vectors - 1)]);
  for (int64_t s = 0; s < strips.count; ++s) {
    const int64_t height = strips.rows(s);
    gemm_tile_function<T>(height, vectors)(t);
    t.a += height * t.a_row, t.c += height * t.c_row;
    if (t.add != nullptr) t.add += height * t.add_row;
    if (t.next != nullptr) t.next += height * t.a_row;
  }
}

}  // namespace weft::kernels::cpu
