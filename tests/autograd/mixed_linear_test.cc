// linear beside parameters in f32: under Autocast they have no copy in 16 bits, the values are those of explicit casts,
// and the weight's gradient is f32 that was never rounded to 16 bits.
#include <gtest/gtest.h>

#include <vector>

#include "autograd/autograd.h"
#include "tensor/autocast.h"
#include "tensor/batching/vmap.h"
#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/autocast_copies.h"
#include "tensor/functions_all.h"
#include "tensor/memory/allocator.h"
#include "tensor/ops/matmul.h"

namespace weft {
namespace {

struct Layer {
  Tensor x, weight, bias;
};

/// Sizes that meet the tile, exceed it, and take the ways of small and odd products.
const std::vector<std::array<int64_t, 3>> kSizes = {
    {64, 96, 128}, {35, 7, 3}, {33, 63, 17}, {32, 256, 40}, {130, 31, 1}};

Layer layer(const std::array<int64_t, 3>& size, bool transposed = false) {
  const auto [rows, in, out] = size;
  const Tensor weight = transposed ? randn({in, out}).transpose(0, 1) : randn({out, in});
  return {parameter(randn({rows, in})), parameter(weight), parameter(randn({out}))};
}

TEST(MixedLinear, HasTheBitsOfExplicitCasts) {
  for (const DType half : {bf16, f16})
    for (const auto& size : kSizes)
      for (const bool transposed : {false, true}) {
        const auto [x, weight, bias] = layer(size, transposed);
        Tensor y, alone;
        {
          const internal::ModeScope scope(&internal::Modes::autocast, half);  // whatever this CPU computes bf16 in
          y = linear(x, weight, bias);
          alone = linear(x, weight);
        }
        EXPECT_EQ(y.dtype(), half);
        EXPECT_TRUE(equal(y, linear(x.to(half), weight.to(half), bias.to(half)))) << size[0] << " rows";
        EXPECT_TRUE(equal(alone, linear(x.to(half), weight.to(half)))) << size[0] << " rows";
      }
}

TEST(MixedLinear, GradientsOfWeightsAreNotRounded) {
  for (const DType half : {bf16, f16})
    for (const auto& size : kSizes) {
      const auto [x, weight, bias] = layer(size);
      const Tensor incoming = randn({size[0], size[2]}).to(half);
      Tensor y;
      {
        const internal::ModeScope scope(&internal::Modes::autocast, half);
        y = linear(x, weight, bias);
      }
      y.backward(incoming);
      ASSERT_EQ(weight.grad().dtype(), f32);
      // Products of halves are exact in f64; sums of `rows` of them in f32 are off by rows * 2^-24 of their magnitudes.
      const Tensor g = incoming.to(f64), rows = x.detach().to(half).to(f64);
      const Tensor exact = matmul(g.transpose(0, 1), rows), magnitude = matmul(abs(g).transpose(0, 1), abs(rows));
      const Tensor bound = magnitude * (static_cast<double>(size[0]) * 0x1p-24) + 1e-30;
      EXPECT_TRUE(all(abs(weight.grad().to(f64) - exact) <= bound).item<bool>()) << size[0] << " rows";
      EXPECT_TRUE(equal(x.grad(), matmul(incoming, weight.detach().to(half)).to(f32))) << size[0] << " rows";
      ASSERT_EQ(bias.grad().dtype(), f32);
      const double rounding = half == bf16 ? 0x1p-8 : 1e-6;  // of bf16: once, at the end
      EXPECT_TRUE(allclose(bias.grad().to(f64), sum(g, 0), rounding, 1e-5)) << size[0] << " rows";
    }
}

TEST(MixedLinear, TheGradientOfTheBiasMayExceedHalves) {
  const Tensor x = randn({300, 8}), weight = randn({5, 8}), bias = parameter(randn({5}));
  Tensor y;
  {
    const internal::ModeScope scope(&internal::Modes::autocast, f16);
    y = linear(x, weight, bias);
  }
  y.backward(full({300, 5}, 1000, f16));
  EXPECT_TRUE(equal(bias.grad(), full({5}, 300000, f32)));
}

TEST(MixedLinear, KeepsNoCopyOfTheWeight) {
  const Tensor x = randn({dispatch::kManyRows, 512}).to(f16), weight = parameter(randn({512, 512}));
  const internal::ModeScope scope(&internal::Modes::autocast, f16);
  const int64_t before = memory_stats().live_bytes;
  const Tensor y = linear(x, weight);
  EXPECT_LT(memory_stats().live_bytes - before, 512 * 512);
}

// As where a text is written character by character: one copy for all calls.
TEST(MixedLinear, OfFewRowsSharesTheScopesCopy) {
  const Tensor x = randn({dispatch::kManyRows - 1, 512}).to(f16), weight = parameter(randn({512, 512}));
  const Autocast scope(f16);
  const Tensor first = linear(x, weight);
  const int64_t before = memory_stats().live_bytes;
  const Tensor second = linear(x, weight);
  EXPECT_LT(memory_stats().live_bytes - before, 512 * 512);
  EXPECT_TRUE(dispatch::autocast_copy(weight, f16).shares_storage(dispatch::autocast_copy(weight, f16)));
  EXPECT_TRUE(equal(first, second));
  sum(second.to(f32)).backward();
  EXPECT_EQ(weight.grad().dtype(), f32);
}

TEST(MixedLinear, PromotesOutsideOfAScope) {
  EXPECT_EQ(linear(randn({2, 3}).to(f16), randn({4, 3})).dtype(), f32);
  const internal::ModeScope scope(&internal::Modes::autocast, f16);
  EXPECT_EQ(linear(randn({2, 3}, f64), randn({4, 3})).dtype(), f64);
}

// What second derivatives are made of: every kind of operands and result, of values that 16 bits hold exactly.
TEST(MixedLinear, ProductsOfTwoDtypesDifferentiateTwice) {
  for (const DType a_type : {f16, f32})
    for (const DType b_type : {f16, f32})
      for (const DType result : {f16, f32}) {
        const auto product = [&](const Tensor& a, const Tensor& b) {
          return dispatch::apply(op::RoundedMatmul{f16, result}, a, b);
        };
        const Tensor a = parameter(randint(-3, 4, {3, 5}).to(a_type)), b = parameter(randint(-3, 4, {5, 2}).to(b_type));
        const Tensor y = product(a, b);
        EXPECT_EQ(y.dtype(), result);
        EXPECT_TRUE(equal(y.to(f32), matmul(a.detach().to(f32), b.detach().to(f32))));
        const auto first = grad({sum(square(y.to(f32)))}, {a, b}, {.create_graph = true});
        EXPECT_EQ(first[0].dtype(), a_type);
        EXPECT_EQ(first[1].dtype(), b_type);
        const auto second = grad({sum(first[0].to(f32))}, {a, b});
        const Tensor wide_a = parameter(a.detach().to(f32)), wide_b = parameter(b.detach().to(f32));
        const auto wide = grad({sum(square(matmul(wide_a, wide_b)))}, {wide_a, wide_b}, {.create_graph = true});
        const auto wide_second = grad({sum(wide[0])}, {wide_a, wide_b});
        EXPECT_TRUE(equal(first[0].to(f32), wide[0]));
        EXPECT_TRUE(equal(second[0].to(f32), wide_second[0]));
        EXPECT_TRUE(equal(second[1].to(f32), wide_second[1]));
      }
}

TEST(MixedLinear, RunsInVmapWithAWeightOfEachSample) {
  const Tensor x = randn({3, 2, 4}), weights = randn({3, 5, 4}), biases = randn({3, 5});
  const internal::ModeScope scope(&internal::Modes::autocast, f16);
  const Tensor mapped = vmap([](const Tensor& rows, const Tensor& weight, const Tensor& bias) {
    return linear(rows, weight, bias);
  })(x, weights, biases);
  EXPECT_EQ(mapped.dtype(), f16);
  for (int64_t i = 0; i < 3; ++i) {
    const Tensor one = linear(x[i], weights[i], biases[i]);
    // Under vmap, products (below 8) are rounded to f16 before the bias is added.
    EXPECT_TRUE(allclose(mapped[i].to(f32), one.to(f32), 0x1p-10, 0x1p-8));
  }
}

}  // namespace
}  // namespace weft
