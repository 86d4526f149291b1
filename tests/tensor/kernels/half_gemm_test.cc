// weft's own products of halves called directly, whatever sizes and CPUs they are chosen for: small integers, so that
// every sum is exact. On a CPU without vdpbf16ps the steps of bf16::gemm are widened; all but the instruction is the
// same.
#include "tensor/kernels/cpu/gemm/half_gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/gemm/bf16_gemm.h"
#include "tensor/runtime/threads.h"
#include "tests/tensor/kernels/padded_matrix.h"

namespace weft {
namespace {

using kernels::cpu::Matrix;
using testing::Add;
using testing::Padded;
using testing::Random;

/// By pairs in words, vdpbf16ps where it is.
struct InWords {
  using Half = BFloat16;
  template <class Out> static void run(const auto&... arguments) { kernels::cpu::bf16::gemm<Out>(arguments...); }
};
/// Widened to f32 while it is packed.
template <class H> struct Widened {
  using Half = H;
  template <class Out> static void run(const auto& a, const auto& b, const auto& c, bool accumulate, const Out* bias) {
    kernels::cpu::half_gemm<H, Out>(a, b, c, accumulate, bias);
  }
};

template <class Way> class HalfGemm : public ::testing::Test {};
using Ways = ::testing::Types<InWords, Widened<BFloat16>, Widened<Float16>>;
TYPED_TEST_SUITE(HalfGemm, Ways);

template <class Out> bool same(Out x, Out y) { return static_cast<float>(x) == static_cast<float>(y); }

template <class Way, class Out>
void check(int64_t m, int64_t k, int64_t n, bool a_columns, bool b_columns, Add add, Random& random) {
  const Padded<typename Way::Half> a(m, k, a_columns, random), b(k, n, b_columns, random);
  const Padded<Out> bias(1, n, false, random);
  Padded<Out> c(m, n, false, random);
  std::vector<Out> expected = c.memory;
  const Matrix<Out> right{expected.data() + Padded<Out>::kGap, m, n, n + Padded<Out>::kGap, 1};
  const testing::reference::Array products = product(testing::values_of(a.matrix), testing::values_of(b.matrix));
  size_t place = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const float start = add == Add::before ? static_cast<float>(right.at(i, j))
                          : add == Add::bias ? static_cast<float>(bias.matrix.at(0, j))
                                             : 0.0f;
      right.at(i, j) = static_cast<Out>(start + static_cast<float>(products.values[place++]));  // rounded once
    }
  const Out* added = add == Add::bias ? bias.matrix.data : nullptr;
  Way::template run<Out>(a.matrix, b.matrix, c.matrix, add == Add::before, added);
  bool equal = true;
  for (size_t i = 0; i < expected.size(); ++i) equal = equal && same(c.memory[i], expected[i]);
  ASSERT_TRUE(equal) << m << " x " << k << " x " << n << (a_columns ? " T" : " N") << (b_columns ? "T" : "N") << " add "
                     << static_cast<int>(add);  // the gaps included
}

template <class Way> void check_all(int64_t m, int64_t k, int64_t n, Random& random) {
  testing::for_all_products([&](bool a_columns, bool b_columns, Add add) {
    check<Way, typename Way::Half>(m, k, n, a_columns, b_columns, add, random);
    check<Way, float>(m, k, n, a_columns, b_columns, add, random);
  });
}

// Sums of odd lengths have a last word that is half empty.
TYPED_TEST(HalfGemm, TilesOfEverySize) {
  Random random(1);
  testing::for_all_tiles(kernels::cpu::simd::kLanes<float>,
                         [&](int64_t m, int64_t k, int64_t n) { check_all<TypeParam>(m, k, n, random); });
}

TYPED_TEST(HalfGemm, RandomSizes) {
  Random random(2);
  for (int i = 0; i < testing::property_cases(60); ++i)
    check_all<TypeParam>(testing::pick(random, 1, 150), testing::pick(random, 1, 150), testing::pick(random, 1, 150),
                         random);
}

// Sums in several passes, columns in several groups, rows that are packed in several batches; 63 is what AMX dies of.
TYPED_TEST(HalfGemm, PassesGroupsAndBatches) {
  Random random(3);
  check_all<TypeParam>(37, 4500, 40, random);
  check_all<TypeParam>(20, 2600, 150, random);
  check_all<TypeParam>(300, 63, 70, random);
}

TYPED_TEST(HalfGemm, SameBitsAtAnyThreadCount) {
  using Half = typename TypeParam::Half;
  const int before = num_threads();
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{150, 2700, 130}, {64, 784, 256}, {300, 64, 300}, {1000, 90, 20}})
    for (const bool columns : {false, true}) {
      std::vector<float> first;
      for (const int threads : {1, 2, 3, 5}) {
        set_num_threads(threads);
        Random random(4);
        Padded<Half> a(m, k, columns, random), b(k, n, columns, random);
        Padded<float> c(m, n, false, random);
        for (Half& v : a.memory) v = Half(1.0f / (static_cast<float>(v) + 0.3f));  // so that the order shows
        TypeParam::template run<float>(a.matrix, b.matrix, c.matrix, false, nullptr);
        if (threads == 1) first = c.memory;
        EXPECT_TRUE(std::equal(first.begin(), first.end(), c.memory.begin(), same<float>)) << threads << " threads";
      }
    }
  set_num_threads(before);
}

// Words that are padded hold zeros; an infinity or a NaN beside them must not spoil their neighbors.
TYPED_TEST(HalfGemm, NanAndInfinityStayInTheirRowsAndColumns) {
  using Half = typename TypeParam::Half;
  Random random(5);
  for (const bool columns : {false, true}) {
    Padded<Half> a(30, 21, columns, random), b(21, 37, columns, random);
    Padded<Half> c(30, 37, false, random);
    for (Half& v : a.memory) v = Half(std::numeric_limits<float>::quiet_NaN());  // in the gaps as well
    for (int64_t i = 0; i < 30; ++i)
      for (int64_t k = 0; k < 21; ++k) a.matrix.at(i, k) = Half(1.0f);
    a.matrix.at(7, 3) = Half(std::numeric_limits<float>::quiet_NaN());
    b.matrix.at(4, 36) = Half(std::numeric_limits<float>::infinity());
    TypeParam::template run<Half>(a.matrix, b.matrix, c.matrix, false, nullptr);
    for (int64_t i = 0; i < 30; ++i)
      for (int64_t j = 0; j < 37; ++j) {
        const auto v = static_cast<float>(c.matrix.at(i, j));
        EXPECT_EQ(std::isnan(v), i == 7) << i << ", " << j;
        if (i != 7) {
          EXPECT_EQ(std::isinf(v), j == 36) << i << ", " << j;
        }
      }
  }
}

}  // namespace
}  // namespace weft
