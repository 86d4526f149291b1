// The loop of AMX products with tiles that are arrays, on any CPU: sizes as callers pad them (rows to one tile), among
// them those for which libraries set their tiles up wrongly (a sum of 63). On a CPU with AMX the instructions run too.
#include "tensor/kernels/cpu/gemm/amx.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/tensor/kernels/padded_matrix.h"

namespace weft {
namespace {

namespace amx = kernels::cpu::amx;
using testing::Random;

/// What Intel's manual says of the instructions: 16 rows of 64 bytes each; f32 sums of products of adjacent values.
class ArrayTiles {
 public:
  template <int kTile> void load(const void* from, int64_t row_bytes) {
    for (size_t r = 0; r < 16; ++r)
      std::memcpy(tiles_[kTile][r], static_cast<const char*>(from) + static_cast<int64_t>(r) * row_bytes, 64);
  }
  template <int kTile> void zero() { std::memset(tiles_[kTile], 0, sizeof tiles_[kTile]); }
  template <int kTile> void store(void* to, int64_t row_bytes) const {
    for (size_t r = 0; r < 16; ++r)
      std::memcpy(static_cast<char*>(to) + static_cast<int64_t>(r) * row_bytes, tiles_[kTile][r], 64);
  }
  template <int kC, int kA, int kB> void add_products() {
    for (size_t m = 0; m < 16; ++m)
      for (size_t k = 0; k < 16; ++k)
        for (size_t n = 0; n < 16; ++n) {
          const uint32_t a = tiles_[kA][m][k], b = tiles_[kB][k][n];
          const float lower = half(a << 16) * half(b << 16), upper = half(a & 0xffff0000u) * half(b & 0xffff0000u);
          tiles_[kC][m][n] = std::bit_cast<uint32_t>(half(tiles_[kC][m][n]) + lower + upper);
        }
  }

 private:
  static float half(uint32_t bits) { return std::bit_cast<float>(bits); }
  uint32_t tiles_[8][16][16] = {};
};

void run_arrays(const BFloat16* a, int64_t a_row, const uint32_t* b, int64_t b_row, float* c, int64_t c_row,
                int64_t rows, int64_t columns, int64_t depth, bool accumulate) {
  ArrayTiles tiles;
  amx::tiled_product(tiles, a, a_row, b, b_row, c, c_row, rows, columns, depth, accumulate);
}

void run_instructions(const BFloat16* a, int64_t a_row, const uint32_t* b, int64_t b_row, float* c, int64_t c_row,
                      int64_t rows, int64_t columns, int64_t depth, bool accumulate) {
  const amx::Tiles tiles;
  amx::product(a, a_row, b, b_row, c, c_row, rows, columns, depth, accumulate);
}

/// A product whose operands lie as amx::product() takes them: padded with zeros, and with gaps between rows.
struct Problem {
  static constexpr int64_t kGap = 32;
  int64_t m, k, n;
  std::vector<BFloat16> a;
  std::vector<uint32_t> b;
  std::vector<float> c;

  int64_t a_row() const { return amx::padded(k) + kGap; }
  int64_t b_row() const { return amx::padded(n) + kGap; }
  Problem(int64_t rows, int64_t depth, int64_t columns, Random& random) : m(rows), k(depth), n(columns) {
    const auto count = [](int64_t lines, int64_t row) { return static_cast<size_t>(lines * row); };
    a.assign(count(amx::padded(m), a_row()), BFloat16());
    b.assign(count(amx::padded(k) / 2, b_row()), 0);
    c.resize(count(amx::padded(m), b_row()));
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < k; ++j) a_at(i, j) = drawn(random);
    for (int64_t i = 0; i < k; ++i)
      for (int64_t j = 0; j < n; ++j) set_b(i, j, drawn(random));
    for (float& v : c) v = static_cast<float>(testing::pick(random, -4, 4));
  }
  static BFloat16 drawn(Random& random) { return BFloat16(static_cast<float>(testing::pick(random, -4, 4))); }
  BFloat16& a_at(int64_t i, int64_t j) { return a[static_cast<size_t>(i * a_row() + j)]; }
  void set_b(int64_t i, int64_t j, BFloat16 value) {
    uint32_t& word = b[static_cast<size_t>(i / 2 * b_row() + j)];
    const int shift = i % 2 == 0 ? 0 : 16;
    word = (word & ~(0xffffu << shift)) | static_cast<uint32_t>(value.bits) << shift;
  }
  float b_at(int64_t i, int64_t j) const {
    const uint32_t word = b[static_cast<size_t>(i / 2 * b_row() + j)];
    return std::bit_cast<float>(i % 2 == 0 ? word << 16 : word & 0xffff0000u);
  }
  /// What c should be, the gaps between its rows included.
  std::vector<float> expected(bool accumulate) {
    std::vector<float> out = c;
    for (int64_t i = 0; i < amx::padded_rows(m); ++i)
      for (int64_t j = 0; j < amx::padded(n); ++j) {
        float sum = accumulate ? out[static_cast<size_t>(i * b_row() + j)] : 0;
        for (int64_t l = 0; l < amx::padded(k); ++l) sum += static_cast<float>(a_at(i, l)) * b_at(l, j);
        out[static_cast<size_t>(i * b_row() + j)] = sum;
      }
    return out;
  }
};

using Run = decltype(&run_arrays);

void check_sizes(Run run) {
  Random random(1);
  for (const int64_t k : {1, 2, 31, 32, 33, 63, 64, 65, 127, 129})
    for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {16, 16}, {17, 31}, {33, 65}, {64, 48}})
      for (const bool accumulate : {false, true}) {
        Problem p(m, k, n, random);
        const std::vector<float> expected = p.expected(accumulate);
        run(p.a.data(), p.a_row(), p.b.data(), p.b_row(), p.c.data(), p.b_row(), amx::padded_rows(m), amx::padded(n),
            amx::padded(k), accumulate);
        ASSERT_EQ(p.c, expected) << m << " x " << k << " x " << n << (accumulate ? ", added" : "");
      }
}

// What is padded is zero, so a NaN or an infinity stays in its row or column.
void check_special_values(Run run) {
  Random random(2);
  Problem p(20, 63, 40, random);
  for (int64_t l = 0; l < p.k; ++l)
    for (int64_t i = 0; i < p.m; ++i) p.a_at(i, l) = BFloat16(1.0f);
  p.a_at(7, 62) = BFloat16(std::numeric_limits<float>::quiet_NaN());
  p.set_b(4, 39, BFloat16(std::numeric_limits<float>::infinity()));
  run(p.a.data(), p.a_row(), p.b.data(), p.b_row(), p.c.data(), p.b_row(), amx::padded(p.m), amx::padded(p.n),
      amx::padded(p.k), false);
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      const float v = p.c[static_cast<size_t>(i * p.b_row() + j)];
      EXPECT_EQ(std::isnan(v), i == 7) << i << ", " << j;
      EXPECT_EQ(std::isinf(v), i != 7 && j == 39) << i << ", " << j;
    }
}

TEST(Amx, LoopOverArraysIsTheProduct) { check_sizes(run_arrays); }
TEST(Amx, LoopOverArraysKeepsSpecialValuesApart) { check_special_values(run_arrays); }

TEST(Amx, InstructionsAreTheProduct) {
  if (!amx::available()) GTEST_SKIP() << "this CPU has no AMX, or the system keeps it";
  check_sizes(run_instructions);
  check_special_values(run_instructions);
}

}  // namespace
}  // namespace weft
