// Products of bf16 in AMX tiles (Intel's matrix extension): 16 rows of 64 bytes, 8,192 multiplications an instruction.
#pragma once

#include <cstdint>
#include <utility>

#include "tensor/core/half.h"
#include "tensor/kernels/cpu/base/arithmetic.h"

namespace weft::kernels::cpu::amx {

/// Whether this CPU has tiles for bf16 and the system lets this process use them. DNNL_MAX_CPU_ISA may switch them off.
bool available();

/// While alive, this thread's tiles are 16 rows of 64 bytes, as product() requires; no library may be called.
class Tiles {
 public:
  Tiles();
  ~Tiles();
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

/// Every size that product() is given is a multiple of this, but for rows, which may be one of kTileRows; callers pad
/// with zeros.
inline constexpr int64_t kMultiple = 32, kTileRows = 16;
constexpr int64_t padded(int64_t size) { return ceil_div(size, kMultiple) * kMultiple; }
constexpr int64_t padded_rows(int64_t rows) { return ceil_div(rows, kTileRows) * kTileRows; }

/// c = a b, or c += a b. a is (rows, depth), row-major with `a_row` elements a row; b (depth, columns) is stored in
/// pairs: word (k / 2, j) holds b(k, j) in its lower half and b(k + 1, j) in its upper one, `b_row` words
/// a row; sums in f32.
void product(const BFloat16* a, int64_t a_row, const uint32_t* b, int64_t b_row, float* c, int64_t c_row, int64_t rows,
             int64_t columns, int64_t depth, bool accumulate);

/// The product of one tile's rows; a way to use tiles as tiled_product() has it.
template <class Way> struct TileRow {
  Way& way;
  const BFloat16* a;
  int64_t a_row;
  const uint32_t* b;
  int64_t b_row;
  float* c;
  int64_t c_row, depth;
  bool accumulate;

  /// kTiles tiles of c from column j on: each has a sum of its own, so that one need not wait for the other's.
  template <int kTiles> void columns(int64_t j) const {
    const auto each = [&](const auto& step) {
      [&]<int... T>(std::integer_sequence<int, T...>) { (step.template operator()<T>(), ...); }
      (std::make_integer_sequence<int, kTiles>{});
    };
    each([&]<int T>() {
      if (accumulate)
        way.template load<T>(c + j + 16 * T, c_row * 4);
      else
        way.template zero<T>();
    });
    for (int64_t k = 0; k < depth; k += 32) {
      way.template load<4>(a + k, a_row * 2);
      each([&]<int T>() {
        way.template load<5 + T % 3>(b + k / 2 * b_row + j + 16 * T, b_row * 4);
        way.template add_products<T, 4, 5 + T % 3>();
      });
    }
    each([&]<int T>() { way.template store<T>(c + j + 16 * T, c_row * 4); });
  }
};

/// The loop of product() over a way to use tiles, so that a machine without AMX can run all of it but the
/// instructions: product() takes the CPU's tiles, a test takes arrays. A way has eight tiles: load<T>(address, bytes
/// from row to row), zero<T>(), add_products<C, A, B>() (tile C += tile A, rows of 32 halves, times tile B, pairs of
/// rows in words) and store<T>().
///
/// Four tiles of c, 32 x 32, stay in registers; each step along the depth loads two of a and two of b. In the last
/// rows, where they are 16, the four tiles are adjacent.
template <class Way>
void tiled_product(Way& way, const BFloat16* a, int64_t a_row, const uint32_t* b, int64_t b_row, float* c,
                   int64_t c_row, int64_t rows, int64_t columns, int64_t depth, bool accumulate) {
  const int64_t a_bytes = a_row * 2, b_bytes = b_row * 4, c_bytes = c_row * 4, whole = rows / 32 * 32;
  for (int64_t i = 0; i < whole; i += 32)
    for (int64_t j = 0; j < columns; j += 32) {
      float *upper = c + i * c_row + j, *lower = upper + 16 * c_row;
      if (accumulate) {
        way.template load<0>(upper, c_bytes);
        way.template load<1>(upper + 16, c_bytes);
        way.template load<2>(lower, c_bytes);
        way.template load<3>(lower + 16, c_bytes);
      } else {
        way.template zero<0>();
        way.template zero<1>();
        way.template zero<2>();
        way.template zero<3>();
      }
      for (int64_t k = 0; k < depth; k += 32) {
        way.template load<4>(a + i * a_row + k, a_bytes);
        way.template load<6>(b + k / 2 * b_row + j, b_bytes);
        way.template add_products<0, 4, 6>();
        way.template load<7>(b + k / 2 * b_row + j + 16, b_bytes);
        way.template add_products<1, 4, 7>();
        way.template load<5>(a + (i + 16) * a_row + k, a_bytes);
        way.template add_products<2, 5, 6>();
        way.template add_products<3, 5, 7>();
      }
      way.template store<0>(upper, c_bytes);
      way.template store<1>(upper + 16, c_bytes);
      way.template store<2>(lower, c_bytes);
      way.template store<3>(lower + 16, c_bytes);
    }
  if (whole == rows) return;
  const TileRow<Way> last{way, a + whole * a_row, a_row, b, b_row, c + whole * c_row, c_row, depth, accumulate};
  int64_t j = 0;
  for (; j + 64 <= columns; j += 64) last.template columns<4>(j);
  if (j < columns) last.template columns<2>(j);
}

}  // namespace weft::kernels::cpu::amx
