// Batch normalization, relu and max-pooling in one op, on images in 16 bits with parameters in f32, as Autocast gives
// them.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string_view>

#include "autograd/autograd.h"
#include "nn/layers/batch_norm.h"
#include "tensor/dispatch/observer.h"
#include "tensor/functions_all.h"

namespace weft::nn {
namespace {

struct Names : Observer {
  void begin(const ObserverEvent& event) override {
    if (event.kind == ObserverEvent::Kind::op) seen.insert(event.name);
  }
  std::set<std::string_view> seen;
};

/// |a - b| <= `bound`, relative to the largest element of b.
void expect_near(const Tensor& a, const Tensor& b, double bound) {
  const std::vector<double> x = a.detach().to_vector<double>(), y = b.detach().to_vector<double>();
  ASSERT_EQ(x.size(), y.size());
  double largest = 0;
  for (const double value : y) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < x.size(); ++i) ASSERT_LE(std::abs(x[i] - y[i]), bound * largest) << "element " << i;
}

TEST(BatchNormPool, IsOneOpInSixteenBits) {
  for (const DType half : {bf16, f16}) {
    manual_seed(8);
    const Tensor image = randn({4, 6, 8, 20}).to(half).permute({0, 3, 1, 2});
    const Tensor x = parameter(image), exact_x = parameter(image.to(f64));
    BatchNorm2d norm(20), exact(BatchNormOptions{.num_features = 20, .dtype = f64});
    Names names;
    Tensor y;
    {
      const ObserverScope scope(names);
      y = norm.forward_relu_max_pool(x, {.kernel_size = 2});
    }
    EXPECT_TRUE(names.seen.contains("batch_norm_relu_max_pool2d"));
    EXPECT_FALSE(names.seen.contains("cast"));
    const Tensor expected = exact.forward_relu_max_pool(exact_x, {.kernel_size = 2});
    const double unit = half == bf16 ? 0x1p-8 : 0x1p-11;
    EXPECT_EQ(y.dtype(), half);
    expect_near(y, expected, unit);  // rounded once
    const Tensor seed = randn(y.shape()).to(half);
    const auto found = grad({y}, {x, norm.weight(), norm.bias()}, {.seeds = {seed}});
    const auto wanted = grad({expected}, {exact_x, exact.weight(), exact.bias()}, {.seeds = {seed.to(f64)}});
    EXPECT_EQ(found[0].dtype(), half);
    EXPECT_EQ(found[1].dtype(), f32);
    EXPECT_EQ(found[2].dtype(), f32);
    expect_near(found[0], wanted[0], unit);
    expect_near(found[1], wanted[1], 1e-5);  // sums of the seed and x as they are
    expect_near(found[2], wanted[2], 1e-5);
  }
}

TEST(BatchNormPool, RefusesTheOptionsOfMeansInAnyMemoryOrder) {
  const Tensor x = randn({2, 3, 4, 4}), channels_last = x.permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2});
  for (const Tensor& image : {x, channels_last}) {
    EXPECT_THROW(batch_norm_relu_max_pool2d(image, {}, {}, {.kernel_size = 2, .divisor_override = 3}), Error);
    EXPECT_THROW(batch_norm_relu_max_pool2d(image, {}, {}, {.kernel_size = 2, .count_include_pad = false}), Error);
  }
}

}  // namespace
}  // namespace weft::nn
