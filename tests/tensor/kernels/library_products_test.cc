// What oneDNN's products do that results must not show, and the cache of its primitives.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tensor/kernels/cpu/base/primitive_cache.h"
#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/ops/matmul.h"
#include "tensor/runtime/threads.h"
#include "tests/tensor/kernels/exact.h"

namespace weft {
namespace {

using testing::Array;
using testing::Layout;
using testing::Random;

// Hazard: sgemm sums one row in a single chain. Eight threads would get one row of 33, with fourteen times the error.
TEST(KernelHazards, ARowLeftOverIsAsAccurateAtAnyThreadCount) {
  constexpr int64_t kTerms = 70001, kRows = 33;
  const int before = num_threads();
  set_num_threads(8);
  Random random(16);
  Array<float> a = testing::random_array<float>({kRows, kTerms}, Layout::row_major, random);
  Array<float> b = testing::random_array<float>({kTerms, kRows}, Layout::row_major, random);
  for (Array<float>* x : {&a, &b})
    for (float& v : x->memory) v = static_cast<float>(testing::pick(random, 1, 1000)) / 1000.0f;
  Array<float> out = testing::make_array<float>({kRows, kRows}, Layout::row_major, random);
  op::Matmul{}.cpu(a.operand(), b.operand(), out.operand());
  set_num_threads(before);
  for (int64_t j = 0; j < kRows; ++j) {
    double sum = 0;
    for (int64_t k = 0; k < kTerms; ++k)
      sum += static_cast<double>(a.at({kRows - 1, k})) * static_cast<double>(b.at({k, j}));
    EXPECT_NEAR(static_cast<double>(out.at({kRows - 1, j})) / sum, 1, 3e-6) << j;
  }
}

// A last odd element beside a gap was multiplied by zero, so that an infinity there gave NaN.
TEST(KernelHazards, Bf16InfinitiesBesideGaps) {
  constexpr int64_t kRows = 64, kTerms = 65, kGap = 66, kColumns = 8;
  const std::vector<BFloat16> ones(kTerms * kColumns, BFloat16(1));
  std::vector<BFloat16> left(kRows * kGap, BFloat16(1)), out(kRows * kColumns);
  left[32 * kGap + kTerms - 1] = BFloat16(std::numeric_limits<float>::infinity());
  kernels::cpu::gemm<BFloat16>({left.data(), kRows, kTerms, kGap, 1}, {ones.data(), kTerms, kColumns, kColumns, 1},
                               {out.data(), kRows, kColumns, kColumns, 1});
  EXPECT_TRUE(std::isinf(static_cast<float>(out[32 * kColumns])));
}

TEST(PrimitiveCache, ForgetsWhatWasUsedLongestAgo) {
  kernels::cpu::LruCache<int, int, std::hash<int>> cache(2);
  int made = 0;
  const auto get = [&](int key) { return cache.find_or_make(key, [&] { return ++made, 10 * key; }); };
  EXPECT_EQ(get(1), 10);
  EXPECT_EQ(get(2), 20);
  EXPECT_EQ(get(1), 10);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(get(3), 30);  // pushes out 2
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(get(1), 10);
  EXPECT_EQ(made, 3);
  EXPECT_EQ(get(2), 20);
  EXPECT_EQ(made, 4);
}

}  // namespace
}  // namespace weft
