// Several forms of one call, and what they have in common with the others.
#include <gtest/gtest.h>

#include <vector>

#include "tensor/functions_all.h"
#include "tensor/tensor.h"
#include "tests/error_of.h"

namespace weft {
namespace {

TEST(Forms, GiveTheSame) {
  const Tensor x = arange(24, f32).view({2, 3, 4});
  const auto [a, b, c] = x.sizes<3>();
  EXPECT_EQ((Shape{a, b, c}), x.shape());
  EXPECT_EQ(error_of([&] { (void)x.sizes<2>(); }), "sizes([2, 3, 4] f32): 2 sizes were asked for, there are 3 axes");
  const Tensor half = x.to(f16);
  EXPECT_TRUE(equal(softmax(half, -1, f32), softmax(half.to(f32), -1)));
  EXPECT_TRUE(equal(half.softmax(0, f64), softmax(half.to(f64), 0)));
  EXPECT_TRUE(equal(half.log_softmax(1, f32), log_softmax(half.to(f32), 1)));
  EXPECT_TRUE(equal(half.cumsum(1, f64), cumsum(half, 1, f64)));
  EXPECT_TRUE(equal(half.cumprod(1, f64), cumprod(half, 1, f64)));
  EXPECT_TRUE(equal(quantile(x, 0.3, 1, keepdim), quantile(x, 0.3, {.axis = 1, .keepdim = true})));
  EXPECT_TRUE(equal(nanquantile(x, tensor({0.3, 0.4}), -1), nanquantile(x, tensor({0.3, 0.4}), {.axis = -1})));
  EXPECT_TRUE(equal(einsum("bij,kj->bik", x, x[0]), einsum("bij,kj->bik", {x, x[0]})));
  EXPECT_TRUE(equal(einsum("bij->ij", x), x.sum(0)));
  EXPECT_TRUE(equal(eye(2, f64), eye(2, 2, f64)));
  EXPECT_EQ(eye(2, f64).dtype(), f64);
  EXPECT_TRUE(equal(from_vector(std::vector<float>{1, 2}, {2, 1}), tensor({{1.0}, {2.0}})));
  EXPECT_EQ(x.nbytes(), 96);
  EXPECT_EQ(half.element_size(), 2);
  EXPECT_EQ(error_of([] {
              Tensor none;
              none.zero_();
            }),
            "zero_(): a tensor is undefined (default-constructed, or an absent gradient)");
  EXPECT_TRUE(x.cpu().is_same(x));
}

TEST(Forms, WrapReleasesMemoryThatItRefuses) {
  float values[2] = {1, 2};
  int released = 0;
  const auto release = [](void* count) { ++*static_cast<int*>(count); };
  EXPECT_THROW(Tensor::wrap(static_cast<float*>(nullptr), {2}, release, &released), Error);
  EXPECT_EQ(released, 1);
  EXPECT_THROW(Tensor::wrap(values, {2, -1}, release, &released), ShapeError);
  EXPECT_EQ(released, 2);
}

}  // namespace
}  // namespace weft
