// loop_gemm: weft's own blocked matrix product, for the dtypes that oneDNN does not have and as a reference for tests.
//
// The result is cut into tiles; each is computed by one thread from packed blocks of a and b. Every element is summed
// in an order that depends on K alone, so the bits do not depend on the thread count.
#pragma once

#include <cstring>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/matrix.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/kernels/cpu/gemm/put_part.h"

namespace weft::kernels::cpu {

/// Tile sizes for element type T (floating or unsigned).
template <class T> struct GemmTiles {
#ifdef __AVX512F__
  static constexpr int kVectorBytes = 64;
  static constexpr int kRows = 12;  // of a micro tile: 12 x 2 vectors of 32 registers
#else
  static constexpr int kVectorBytes = 32;
  static constexpr int kRows = 6;
#endif
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
  static constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
  static constexpr int kColumns = 2 * kLanes;
  static constexpr int64_t kDepth = 256;
  static constexpr int64_t kTileRows = 8 * kRows;
  static constexpr int64_t kTileColumns = std::max(256 / kColumns, 1) * kColumns;
};

/// out(rows, columns) = sum over k of left[k][row] * right[k][column]: one micro tile, all in registers.
template <class T> inline void micro_product(int64_t depth, const T* left, const T* right, T* out) {
  using Tiles = GemmTiles<T>;
  using Vector = typename Tiles::Vector;
  Vector sum[Tiles::kRows][2] = {};
  for (int64_t k = 0; k < depth; ++k) {
    Vector r[2];  // read one by one: an array of them would be moved in pieces of 16 bytes
    std::memcpy(&r[0], right + k * Tiles::kColumns, sizeof r[0]);
    std::memcpy(&r[1], right + k * Tiles::kColumns + Tiles::kLanes, sizeof r[1]);
#pragma GCC unroll 12
    for (int i = 0; i < Tiles::kRows; ++i) {
      sum[i][0] += left[k * Tiles::kRows + i] * r[0];
      sum[i][1] += left[k * Tiles::kRows + i] * r[1];
    }
  }
  std::memcpy(out, sum, sizeof sum);
}

/// One tile of c from the columns [k, k + depth) of a: packs both operands, then runs the micro tiles.
template <class T>
void tile_product(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool accumulate, T* packed_a, T* packed_b) {
  using Tiles = GemmTiles<T>;
  constexpr int kRows = Tiles::kRows, kColumns = Tiles::kColumns;
  const int64_t depth = a.columns;
  for (int64_t i = 0; i < c.rows; i += kRows)
    for (int64_t k = 0; k < depth; ++k)
      for (int r = 0; r < kRows; ++r) packed_a[i * depth + k * kRows + r] = i + r < c.rows ? a.at(i + r, k) : T{};
  for (int64_t j = 0; j < c.columns; j += kColumns)
    for (int64_t k = 0; k < depth; ++k)
      for (int r = 0; r < kColumns; ++r)
        packed_b[j * depth + k * kColumns + r] = j + r < c.columns ? b.at(k, j + r) : T{};
  alignas(64) T block[kRows * kColumns];
  for (int64_t j = 0; j < c.columns; j += kColumns)
    for (int64_t i = 0; i < c.rows; i += kRows) {
      micro_product(depth, packed_a + i * depth, packed_b + j * depth, block);
      const int64_t rows = std::min<int64_t>(kRows, c.rows - i), columns = std::min<int64_t>(kColumns, c.columns - j);
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t s = 0; s < columns; ++s) {
          T& out = c.at(i + r, j + s);
          out = static_cast<T>(accumulate ? out + block[r * kColumns + s] : block[r * kColumns + s]);
        }
    }
}

/// c = a b (+ c), with threads over tiles. No size is 0.
template <class T> void loop_gemm(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool accumulate) {
  using Tiles = GemmTiles<T>;
  const int64_t down = ceil_div(c.rows, Tiles::kTileRows);
  const int64_t across = ceil_div(c.columns, Tiles::kTileColumns);
  const int64_t tile_work = std::min(c.rows, Tiles::kTileRows) * std::min(c.columns, Tiles::kTileColumns) * a.columns;
  parallel_for(
      down * across, std::max<int64_t>(1, 32768 / std::max<int64_t>(tile_work, 1)), [&](int64_t begin, int64_t end) {
        const int64_t depth = std::min(Tiles::kDepth, a.columns);
        Scratch<T> packed_a(Tiles::kTileRows * depth), packed_b(Tiles::kTileColumns * depth);
        for (int64_t tile = begin; tile < end; ++tile) {
          const int64_t i = tile % down * Tiles::kTileRows, j = tile / down * Tiles::kTileColumns;
          const int64_t rows = std::min(Tiles::kTileRows, c.rows - i),
                        columns = std::min(Tiles::kTileColumns, c.columns - j);
          for (int64_t k = 0; k < a.columns; k += Tiles::kDepth) {
            const int64_t part = std::min(Tiles::kDepth, a.columns - k);
            tile_product<T>(a.block(i, k, rows, part), b.block(k, j, part, columns), c.block(i, j, rows, columns),
                            accumulate || k > 0, packed_a.data(), packed_b.data());
          }
        }
      });
}

/// kRows rows of c from kVectors vectors of columns; of the last, `count` columns are there (all, where kFull). b's
/// rows are `stride` apart.
template <class T, int kRows, int kVectors, bool kFull>
inline void small_block(const Matrix<const T>& a, int64_t i, const T* b, int64_t stride, const Matrix<T>& c, int64_t j,
                        int count, bool accumulate) {
  constexpr int N = simd::kLanes<T>;
  constexpr int kGroups = (kRows + 3) / 4;
  simd::Vec<T, N> sum[kRows][kVectors] = {};
  // A pointer for four rows, so that their addresses fit the instructions: 0, 1, 2 and 3 times `down` from it.
  const int64_t down = a.row_stride, down3 = 3 * down;
  const T* left[kGroups];
  for (int g = 0; g < kGroups; ++g) left[g] = &a.at(i, 0) + 4 * g * down;
  for (int64_t k = 0; k < a.columns; ++k, b += stride) {
    simd::Vec<T, N> right[kVectors];
    for (int v = 0; v < kVectors; ++v)
      right[v] = kFull ? simd::load<T, N>(b + v * N) : simd::load_part<T, N>(b + v * N, count);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const T value = left[r / 4][r % 4 == 3 ? down3 : r % 4 * down];
      for (int v = 0; v < kVectors; ++v) sum[r][v] += value * right[v];
    }
    for (int g = 0; g < kGroups; ++g) left[g] += a.column_stride;
  }
  // Unrolled as well, and no single lane is taken out: the sums must not leave the registers.
  if (c.column_stride == 1) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
      for (int v = 0; v < kVectors; ++v)
        put_part<T, N>(sum[r][v], &c.at(i + r, j + v * N), kFull ? N : count, accumulate);
  } else {
    T lanes[kRows * kVectors * N];
    std::memcpy(lanes, sum, sizeof sum);
    put_rows(lanes, kVectors * N, c.block(i, j, kRows, kFull ? kVectors * N : count), accumulate);
  }
}

/// Columns [j, j + kVectors * N) of c, of the last vector `count`.
template <class T, int kVectors, bool kFull>
inline void small_columns(const Matrix<const T>& a, const T* b, int64_t stride, const Matrix<T>& c, int64_t j,
                          int count, bool accumulate) {
  int64_t i = 0;
  for (; i + 8 <= c.rows; i += 8) small_block<T, 8, kVectors, kFull>(a, i, b + j, stride, c, j, count, accumulate);
  for (; i + 4 <= c.rows; i += 4) small_block<T, 4, kVectors, kFull>(a, i, b + j, stride, c, j, count, accumulate);
  switch (c.rows - i) {  // in one block: a row alone waits for its own last sum
    case 3: return small_block<T, 3, kVectors, kFull>(a, i, b + j, stride, c, j, count, accumulate);
    case 2: return small_block<T, 2, kVectors, kFull>(a, i, b + j, stride, c, j, count, accumulate);
    case 1: return small_block<T, 1, kVectors, kFull>(a, i, b + j, stride, c, j, count, accumulate);
    default: return;
  }
}

/// c = a b (+ c) for matrices of floating or unsigned elements: rows of c are summed in registers, nothing is packed.
/// Where b's column stride is not 1, b is copied to the stack, and has at most kTinyProduct elements. No size is 0.
template <class T>
void small_gemm(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, bool accumulate) {
  constexpr int N = simd::kLanes<T>;
  T gathered[kTinyProduct];
  const T* right = b.data;
  int64_t stride = b.row_stride;
  if (b.column_stride != 1) {
    for (int64_t k = 0; k < b.rows; ++k)
      for (int64_t j = 0; j < b.columns; ++j) gathered[k * b.columns + j] = b.at(k, j);
    right = gathered;
    stride = b.columns;
  }
  int64_t j = 0;
  for (; j + 2 * N <= c.columns; j += 2 * N) small_columns<T, 2, true>(a, right, stride, c, j, N, accumulate);
  if (j + N <= c.columns) small_columns<T, 1, true>(a, right, stride, c, j, N, accumulate), j += N;
  if (j < c.columns) small_columns<T, 1, false>(a, right, stride, c, j, static_cast<int>(c.columns - j), accumulate);
}

}  // namespace weft::kernels::cpu
