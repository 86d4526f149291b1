// Limiting gradients.
#include "nn/clip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/leaf.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"

namespace weft::nn {
namespace {

using Values = std::vector<double>;

// Two parameters with gradients {3, -4} and {12}, and one without.
std::vector<Tensor> make() {
  std::vector<Tensor> out = {parameter(zeros({2}, f64)), parameter(zeros({1}, f64)), parameter(zeros({7}, f64))};
  out[0].set_grad(tensor({3.0, -4.0}, f64));
  out[1].set_grad(tensor({12.0}, f64));
  return out;
}

TEST(ClipGradNorm, ScalesAllByOneFactor) {
  const std::vector<Tensor> parameters = make();
  EXPECT_DOUBLE_EQ(clip_grad_norm(parameters, 6.5), 13);
  const double factor = 6.5 / (13 + 1e-6);
  EXPECT_TRUE(allclose(parameters[0].grad(), tensor({3 * factor, -4 * factor}, f64), 1e-14, 0));
  EXPECT_TRUE(allclose(parameters[1].grad(), tensor({12 * factor}, f64), 1e-14, 0));
  EXPECT_FALSE(parameters[2].grad().defined());
}

TEST(ClipGradNorm, LeavesSmallGradientsAlone) {
  const std::vector<Tensor> parameters = make();
  const uint64_t version = internal::storage(parameters[0].grad()).version();
  EXPECT_DOUBLE_EQ(clip_grad_norm(parameters, 14), 13);
  EXPECT_EQ(parameters[0].grad().to_vector<double>(), (Values{3, -4}));
  EXPECT_EQ(internal::storage(parameters[0].grad()).version(), version);
}

TEST(ClipGradNorm, TakesOtherNorms) {
  EXPECT_DOUBLE_EQ(clip_grad_norm(make(), 100, {.norm = std::numeric_limits<double>::infinity()}), 12);
  EXPECT_DOUBLE_EQ(clip_grad_norm(make(), 100, {.norm = 1}), 19);
  EXPECT_EQ(clip_grad_norm({parameter(zeros({2}))}, 1), 0);
}

TEST(ClipGradNorm, OfSixteenBitsIsF32) {
  const Tensor large = parameter(zeros({9}, f16)), fine = parameter(zeros({2}, bf16));
  large.set_grad(full({9}, 30000, f16)), fine.set_grad(tensor({302.0, 14.0}, bf16));
  EXPECT_FLOAT_EQ(clip_grad_norm({large}, 9), 90000);                      // f16 ends at 65504
  EXPECT_NEAR(large.grad().to(f64)[0].item<double>(), 3, 0x1p-10);         // half a unit of f16
  EXPECT_FLOAT_EQ(clip_grad_norm({fine}, 1000), std::hypot(302.f, 14.f));  // bf16 has 8 bits
}

TEST(ClipGradNorm, NaNIsSeen) {
  const std::vector<Tensor> parameters = make();
  parameters[0].grad().fill_(std::nan(""));
  EXPECT_THROW(clip_grad_norm(parameters, 1, {.error_if_nonfinite = true}), Error);
  EXPECT_EQ(parameters[1].grad().item<double>(), 12);
  EXPECT_TRUE(std::isnan(clip_grad_norm(parameters, 1)));
  EXPECT_TRUE(std::isnan(parameters[1].grad().item<double>()));
  EXPECT_THROW(clip_grad_norm(parameters, -1), Error);
}

TEST(ClipGradValue, LimitsElements) {
  const std::vector<Tensor> parameters = make();
  clip_grad_value(parameters, 3.5);
  EXPECT_EQ(parameters[0].grad().to_vector<double>(), (Values{3, -3.5}));
  EXPECT_EQ(parameters[1].grad().to_vector<double>(), (Values{3.5}));
  EXPECT_THROW(clip_grad_value(parameters, std::nan("")), Error);
}

}  // namespace
}  // namespace weft::nn
