#include "tensor/kernels/cpu/gemm/gemm_tile.h"

#include <algorithm>
#include <cstring>

namespace weft::kernels::cpu {
namespace {

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

template <class T, int kRows, int kVectors> void gemm_tile(const GemmTile<T>& t) {
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
      sum[r][kLast] += load_last<T>(add + kLast * N, t.last);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
    T* out = t.c + r * t.c_row;
#pragma GCC unroll 4
    for (int v = 0; v < kLast; ++v) simd::store<T, N>(out + v * N, sum[r][v]);
    store_last<T>(out + kLast * N, sum[r][kLast], t.last);
  }
}

template <class T>
constexpr TileTable<GemmTileFunction<T>, kGemmTileRows> kTiles([]<int kRows, int kVectors>() {
  return gemm_tile<T, kRows, kVectors>;
});

}  // namespace

template <class T> GemmTileFunction<T> gemm_tile_function(int64_t rows, int64_t vectors) {
  return kTiles<T>.at(rows, vectors);
}
template GemmTileFunction<float> gemm_tile_function<float>(int64_t, int64_t);
template GemmTileFunction<double> gemm_tile_function<double>(int64_t, int64_t);

template <class T> void gemm_strips(GemmTile<T> t, int64_t rows, int64_t vectors) {
  if (rows == 0) return;
  const Strips strips(rows, kGemmTileRows[static_cast<size_t>(vectors - 1)]);
  for (int64_t s = 0; s < strips.count; ++s) {
    const int64_t height = strips.rows(s);
    kTiles<T>.at(height, vectors)(t);
    t.a += height * t.a_row, t.c += height * t.c_row;
    if (t.add != nullptr) t.add += height * t.add_row;
    if (t.next != nullptr) t.next += height * t.a_row;
  }
}
template void gemm_strips<float>(GemmTile<float>, int64_t, int64_t);
template void gemm_strips<double>(GemmTile<double>, int64_t, int64_t);

}  // namespace weft::kernels::cpu
