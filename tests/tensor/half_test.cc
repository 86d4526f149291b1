// Float16 and BFloat16 against rounding by search in the table of all representable values.
#include "tensor/core/half.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace weft {
namespace {

/// A 16-bit format of `kMantissa` bits of mantissa, from the definition in IEEE 754, in double (where all is exact).
template <class Half, int kMantissa> struct Format {
  using Type = Half;
  static constexpr int kBits = kMantissa;
  static constexpr int kExponent = 15 - kMantissa;
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr uint16_t kInfinity = static_cast<uint16_t>(((1 << kExponent) - 1) << kMantissa);

  /// The value of a finite pattern; of kInfinity, the power of two that would follow the largest finite value.
  static double value(uint16_t pattern) {
    const int exponent = (pattern & 0x7fff) >> kMantissa, mantissa = pattern & ((1 << kMantissa) - 1);
    const double magnitude = exponent == 0 ? std::ldexp(mantissa, 1 - kBias - kMantissa)
                                           : std::ldexp(mantissa + (1 << kMantissa), exponent - kBias - kMantissa);
    return (pattern & 0x8000) != 0 ? -magnitude : magnitude;
  }

  static const std::vector<double>& table() {
    static const std::vector<double> values = [] {
      std::vector<double> made;
      for (int pattern = 0; pattern <= kInfinity; ++pattern) made.push_back(value(static_cast<uint16_t>(pattern)));
      return made;
    }();
    return values;
  }

  /// The pattern nearest to x, ties to the even one.
  static uint16_t nearest(double x) {
    const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    const double magnitude = std::abs(x);
    const auto& values = table();
    const auto above = std::lower_bound(values.begin(), values.end(), magnitude) - values.begin();
    if (above > kInfinity) return sign | kInfinity;
    if (above == 0) return sign;
    const double down = magnitude - values[static_cast<size_t>(above - 1)];
    const double up = values[static_cast<size_t>(above)] - magnitude;
    const bool take_above = up < down || (up == down && above % 2 == 0);
    return static_cast<uint16_t>(sign | (take_above ? above : above - 1));
  }
};

template <class F> class HalfTest : public testing::Test {};
using Formats = testing::Types<Format<Float16, 10>, Format<BFloat16, 7>>;
TYPED_TEST_SUITE(HalfTest, Formats);

TYPED_TEST(HalfTest, EveryPatternWidensExactlyAndComesBack) {
  using Half = typename TypeParam::Type;
  for (int i = 0; i < 65536; ++i) {
    Half half;
    half.bits = static_cast<uint16_t>(i);
    const float wide = half;
    if ((i & 0x7fff) > TypeParam::kInfinity) {
      EXPECT_TRUE(std::isnan(wide)) << i;
      EXPECT_TRUE(std::isnan(static_cast<float>(Half(wide)))) << i;
      continue;
    }
    if ((i & 0x7fff) == TypeParam::kInfinity) {
      EXPECT_TRUE(std::isinf(wide)) << i;
    } else {
      EXPECT_EQ(static_cast<double>(wide), TypeParam::value(half.bits)) << i;
    }
    EXPECT_EQ(std::signbit(wide), i >= 0x8000) << i;
    EXPECT_EQ(Half(wide).bits, i);
  }
}

TYPED_TEST(HalfTest, HalfwayCasesGoToTheEvenPatternAndTheirNeighborsToTheNearest) {
  using Half = typename TypeParam::Type;
  const auto& values = TypeParam::table();
  for (int i = 0; i < TypeParam::kInfinity; ++i) {
    const auto middle = static_cast<float>((values[static_cast<size_t>(i)] + values[static_cast<size_t>(i) + 1]) / 2);
    EXPECT_EQ(Half(middle).bits, i + i % 2) << middle;
    EXPECT_EQ(Half(-middle).bits, 0x8000 | (i + i % 2)) << middle;
    EXPECT_EQ(Half(std::nextafter(middle, 0.0f)).bits, i) << middle;
    EXPECT_EQ(Half(std::nextafter(middle, std::numeric_limits<float>::infinity())).bits, i + 1) << middle;
  }
}

TYPED_TEST(HalfTest, RandomFloatsRoundToNearest) {
  std::mt19937 bits(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(bits()));
    const typename TypeParam::Type half(x);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(half)));
    } else if (std::isinf(x)) {
      EXPECT_EQ(half.bits, TypeParam::kInfinity | (x < 0 ? 0x8000 : 0));
    } else {
      ASSERT_EQ(half.bits, TypeParam::nearest(x)) << x;
    }
  }
}

TYPED_TEST(HalfTest, FloatsAroundItsRangeRoundToNearest) {
  std::mt19937 bits(2);
  std::uniform_real_distribution<double> exponent(-26.0, 17.0);
  for (int i = 0; i < 1'000'000; ++i) {
    const auto x = static_cast<float>((bits() % 2 == 0 ? 1 : -1) * std::exp2(exponent(bits)));
    ASSERT_EQ(typename TypeParam::Type(x).bits, TypeParam::nearest(x)) << x;
  }
}

TYPED_TEST(HalfTest, NaNWhosePayloadSitsInTheLowBitsStaysNaN) {
  using Half = typename TypeParam::Type;
  for (const uint32_t pattern : {0x7f800001u, 0xff800001u, 0x7fc00000u, 0x7fffffffu, 0xffffffffu})
    EXPECT_TRUE(std::isnan(static_cast<float>(Half(std::bit_cast<float>(pattern))))) << pattern;
}

TEST(Float16Test, IntegersAndInstructionsGiveTheSameBits) {
  for (int i = 0; i < 65536; ++i) {
    Float16 half;
    half.bits = static_cast<uint16_t>(i);
    EXPECT_EQ(std::bit_cast<uint32_t>(detail::half_to_float(half.bits)), std::bit_cast<uint32_t>(float{half})) << i;
  }
  for (uint64_t word = 0; word < uint64_t{1} << 32; word += 4093) {  // odd: every pattern of low bits is met
    const auto x = std::bit_cast<float>(static_cast<uint32_t>(word));
    ASSERT_EQ(detail::float_to_half(x), Float16(x).bits) << word;
  }
}

}  // namespace
}  // namespace weft
