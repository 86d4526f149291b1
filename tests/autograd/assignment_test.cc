// Assignment to a temporary writes through it.
#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "tensor/functions_all.h"

namespace weft {
namespace {

TEST(Assignment, ToAViewWritesToItsBase) {
  Tensor x = zeros({2, 3});
  x[0] = tensor({1.0, 2.0, 3.0});
  x[1] = 4.0;
  x.t()[2] = x.t()[0];
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 1, 4, 4, 4}));
  x.slice(1, 0, 2) = zeros({2, 1});
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{0, 0, 1, 0, 0, 4}));
}

TEST(Assignment, ToAGradientWritesToIt) {
  Tensor w = parameter(ones({2}));
  w.sum().backward();
  w.grad() = tensor({5.0, 6.0});
  EXPECT_EQ(w.grad().to_vector<float>(), (std::vector<float>{5, 6}));
  Tensor fresh = parameter(ones({2}));
  EXPECT_THROW(fresh.grad() = ones({2}), Error) << "there is no memory to write to";
}

TEST(Assignment, OfANameGivesItAnotherTensor) {
  Tensor x = zeros({2});
  const Tensor old = x;
  x = ones({2});
  EXPECT_EQ(old.to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST(Assignment, FollowsTheRulesOfWritesInPlace) {
  Tensor w = parameter(ones({2, 2}));
  EXPECT_THROW(w[0] = zeros({2}), GradientError);
  EXPECT_THROW(ones({2, 2})[0] = ones({3}), ShapeError);
}

}  // namespace
}  // namespace weft
