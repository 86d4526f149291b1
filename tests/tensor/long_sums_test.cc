// Sums in f32 over more elements than one running sum can take.
#include <gtest/gtest.h>

#include <cmath>

#include "tensor/functions_all.h"

namespace weft {
namespace {

constexpr float kValue = 0.1f;  // no sum of it is exact

/// |x - expected| / expected.
double relative_error(const Tensor& x, double expected) {
  return std::fabs(x.flatten()[0].item<double>() / expected - 1);
}

TEST(LongSums, OfProductsLoseNothingThatGrowsWithTheLength) {
  constexpr int64_t kLength = (1 << 22) + 5;
  const double expected = static_cast<double>(kLength) * kValue * kValue;
  const Tensor tall = full({kLength, 3}, kValue), v = full({kLength}, kValue);
  EXPECT_LT(relative_error(dot(v, v), expected), 2e-5);
  EXPECT_LT(relative_error(matmul(tall.t(), v), expected), 5e-5) << "columns";
  EXPECT_LT(relative_error(matmul(tall.t().contiguous(), v), expected), 2e-5) << "rows";
  EXPECT_LT(relative_error(matmul(tall.t(), tall), expected), 2e-5) << "matrices";
  for (const DType half : {bf16, f16}) {
    const Tensor h = v.to(half);
    const double squared = std::pow(h[0].item<double>(), 2) * kLength;
    EXPECT_LT(relative_error(dot(h, h), squared), half == bf16 ? 0x1p-8 : 0x1p-11) << half;
  }
}

TEST(LongSums, OfProductsAreAddedToWhatIsThere) {
  constexpr int64_t kLength = (1 << 19) + 1;
  const Tensor a = full({2, kLength}, 1.0), b = full({kLength, 2}, 1.0);
  const Tensor out = linear(a, b.t(), full({2}, 7.0));  // the bias lies where the product is added
  EXPECT_EQ(out.to_vector<float>(), std::vector<float>(4, kLength + 7));
  for (const DType half : {bf16, f16}) {
    const double one = half == bf16 ? 1.0 : 1.0 / 64;  // f16 ends at 65504
    const Tensor x = (a * one).to(half), bias = full({2}, static_cast<double>(kLength) * one, half);
    EXPECT_EQ(linear(x, b.t().to(half), bias)[0][0].item<double>(), (bias * 2.0)[0].item<double>()) << half;
  }
}

TEST(LongSums, OfWindowsAndDistances) {
  const Tensor image = ones({1, 1, 2048, 16384});
  EXPECT_EQ(avg_pool2d(image, {.kernel_size = {2048, 16384}}).item<float>(), 1.0f);
  constexpr int64_t kFeatures = 1 << 20;
  const Tensor a = full({1, kFeatures}, kValue), zero = zeros({1, kFeatures});
  EXPECT_LT(relative_error(cdist(a, zero, 1), kFeatures * static_cast<double>(kValue)), 2e-5);
  EXPECT_LT(relative_error(cdist(a, zero, 2), std::sqrt(kFeatures) * kValue), 2e-5);
  EXPECT_EQ(cdist(a, zero, INFINITY).item<float>(), kValue);
  EXPECT_EQ(cdist(a, zero, 0).item<float>(), kFeatures);
}

}  // namespace
}  // namespace weft
