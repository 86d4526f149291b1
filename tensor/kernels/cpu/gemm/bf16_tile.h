// The innermost part of weft's own products of bf16: a few rows times a few registers of columns, whose sums are f32
// and stay in registers. A step adds the products of two adjacent elements along the sum, which are stored as one
// word: word (k / 2, j) of b holds b(k, j) in its lower half and b(k + 1, j) in its upper one; a row of a that lies
// along the sum is words already.
//
// `Instruction` does a step with vdpbf16ps, which takes what is below the normal numbers of f32 for zero; `Widened`,
// for CPUs without it, with two multiplications of widened halves.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/gemm/tile_table.h"

namespace weft::kernels::cpu::bf16 {

/// Lanes of a register, of words and of sums.
inline constexpr int kLanes = simd::kLanes<float>;
using Words = simd::Vec<uint32_t>;
using Sums = simd::Vec<float>;

/// c(r, j) = start(r, j) + sum over k of a(r, k) b(k, j) + add(r, j), where there are such, rounded to Out.
template <class Out> struct Tile {
  int64_t depth;  // words
  const BFloat16* a;
  int64_t a_row, a_step;  // word (r, k) at a + r * a_row + k * a_step
  const uint32_t* b;
  int64_t b_step;  // full registers are read at b + k * b_step
  Out* c;
  int64_t c_row;
  int last;            // columns of c in its last register
  const float* start;  // sums of an earlier part of k, or null
  int64_t start_row;
  const Out* add;  // or null
  int64_t add_row;
};

struct Widened {
  struct Operand {
    Sums lower, upper;
  };
  WEFT_SIMD static Operand operand(Words w) { return {(Sums)(w << 16), (Sums)(w & 0xffff0000u)}; }
  WEFT_SIMD static Sums add_products(Sums sum, const Operand& a, const Operand& b) {
    return sum + a.lower * b.lower + a.upper * b.upper;
  }
  template <class Out> WEFT_SIMD static void store(Out* p, Sums v, int count) {
    count == kLanes ? simd::store<float>(p, v) : simd::store_part<float>(p, v, count);
  }
};

#if defined(__AVX512BW__) && defined(__AVX512VL__)
#define WEFT_BF16_INSTRUCTION
/// Written out in assembly: the compiler's own names ask for a target that the rest of the kernels does not have.
struct Instruction {
  using Operand = Words;
  WEFT_SIMD static Operand operand(Words w) { return w; }
  WEFT_SIMD static Sums add_products(Sums sum, Operand a, Operand b) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
  }
  WEFT_SIMD static void store(float* p, Sums v, int count) { simd::store_part<float>(p, v, count); }
  WEFT_SIMD static void store(BFloat16* p, Sums v, int count) {
    simd::Vec<uint16_t, kLanes> rounded;
    asm("vcvtneps2bf16 %1, %0" : "=v"(rounded) : "v"(v));
    _mm256_mask_storeu_epi16(p, static_cast<__mmask16>((1u << count) - 1u), (__m256i)rounded);
  }
};
#endif

/// Most rows of a tile for one, two, ... registers of columns: what 32 (16) registers hold beside the operands.
#if defined(__AVX512F__)
inline constexpr std::array<int, 4> kTileRows = {12, 12, 8, 6};
#else
inline constexpr std::array<int, 2> kTileRows = {8, 4};
#endif
inline constexpr int kTileVectors = static_cast<int>(kTileRows.size());

namespace detail {
template <class T> WEFT_SIMD Sums load(const T* p, int count) {
  return count == kLanes ? simd::load<float>(p) : simd::load_part<float>(p, count);
}
}  // namespace detail

template <class Way, class Out, int kRows, int kVectors> [[gnu::noinline]] void tile(const Tile<Out>& t) {
  constexpr int N = kLanes, kGroups = (kRows + 3) / 4, kLast = kVectors - 1;
  Sums sum[kRows][kVectors] = {};
  // A pointer for four rows, so that their addresses fit the instructions: 0, 1, 2 and 3 times a row from it.
  const int64_t row = t.a_row, row3 = 3 * row, a_step = t.a_step, b_step = t.b_step;
  const BFloat16* left[kGroups];
  for (int g = 0; g < kGroups; ++g) left[g] = t.a + int64_t{4} * g * row;
  const uint32_t* b = t.b;
  for (int64_t k = t.depth; k > 0; --k, b += b_step) {
    typename Way::Operand right[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) right[v] = Way::operand(simd::load<uint32_t>(b + v * N));
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      uint32_t word;
      std::memcpy(&word, left[r / 4] + (r % 4 == 3 ? row3 : r % 4 * row), sizeof word);
      const typename Way::Operand value = Way::operand(simd::splat(word));
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[r][v] = Way::add_products(sum[r][v], value, right[v]);
    }
#pragma GCC unroll 4
    for (int g = 0; g < kGroups; ++g) left[g] += a_step;
  }
  // Unrolled as well, and no single lane is taken out: the sums must not leave the registers.
  const auto add = [&](const auto* from, int64_t step) {
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[r][v] += detail::load(from + r * step + v * N, v == kLast ? t.last : N);
  };
  if (t.start != nullptr) add(t.start, t.start_row);
  if (t.add != nullptr) add(t.add, t.add_row);
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) Way::store(t.c + r * t.c_row + v * N, sum[r][v], v == kLast ? t.last : N);
}

template <class Out> using TileFunction = void (*)(const Tile<Out>&);

template <class Way, class Out>
inline constexpr TileTable<TileFunction<Out>, kTileRows> kTiles([]<int kRows, int kVectors>() {
  return tile<Way, Out, kRows, kVectors>;
});

/// The function for tiles of `rows` rows and `vectors` registers of columns.
template <class Way, class Out> TileFunction<Out> tile_function(int64_t rows, int64_t vectors) {
  return kTiles<Way, Out>.at(rows, vectors);
}

}  // namespace weft::kernels::cpu::bf16
