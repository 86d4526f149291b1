// The functions of tensors on inputs small enough to check by eye: every value, every shape, and what is printed.
// conventions_test.cc has the rules.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "tests/counting.h"
#include "weft.h"

namespace weft {
namespace {

using testing::counting;
using testing::Values;

void expect(const Tensor& x, const Shape& shape, const Values& values) {
  EXPECT_EQ(x.shape(), shape);
  EXPECT_EQ(x.to_vector<float>(), values);
}

TEST(TransformExamples, View) {
  const Tensor a = tensor({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}).reshape({2, 3});
  expect(a.view({6}), {6}, {1, 2, 3, 4, 5, 6});
  expect(a.view({3, 2}), {3, 2}, {1, 2, 3, 4, 5, 6});
}

TEST(TransformExamples, Squeeze) { expect(counting({1, 3}).squeeze(0), {3}, {1, 2, 3}); }
TEST(TransformExamples, SqueezeAll) { expect(counting({1, 3, 1}).squeeze_all(), {3}, {1, 2, 3}); }

TEST(TransformExamples, Unsqueeze) {
  expect(counting({3}).unsqueeze(0), {1, 3}, {1, 2, 3});
  expect(counting({3}).unsqueeze(1), {3, 1}, {1, 2, 3});
}

TEST(TransformExamples, Transpose) { expect(counting({2, 3}).transpose(0, 1), {3, 2}, {1, 4, 2, 5, 3, 6}); }

TEST(TransformExamples, Slice) {
  expect(counting({5}).slice(0, 1, 4, 1), {3}, {2, 3, 4});
  expect(counting({5}).slice(0, 0, 5, 2), {3}, {1, 3, 5});
}

TEST(TransformExamples, Unfold) { expect(counting({5}).unfold(0, 2, 1), {4, 2}, {1, 2, 2, 3, 3, 4, 4, 5}); }

TEST(TransformExamples, Broadcast) {
  expect(counting({3}).broadcast({2, 3}), {2, 3}, {1, 2, 3, 1, 2, 3});
  expect(counting({3}).broadcast_like(zeros({2, 3})), {2, 3}, {1, 2, 3, 1, 2, 3});
  expect(counting({3}).broadcast_left({2, 2}), {2, 2, 3}, {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3});
}

TEST(TransformExamples, Reshape) {
  expect(counting({2, 3}).reshape({3, 2}), {3, 2}, {1, 2, 3, 4, 5, 6});
  expect(counting({2, 3}).reshape({-1}), {6}, {1, 2, 3, 4, 5, 6});
}

TEST(TransformExamples, BroadcastingRules) {
  EXPECT_EQ((ones({3}) + ones({2, 3})).shape(), Shape({2, 3}));
  EXPECT_EQ((ones({2, 1}) + ones({2, 3})).shape(), Shape({2, 3}));
  EXPECT_EQ((ones({3, 1}) + ones({1, 4})).shape(), Shape({3, 4}));
}

TEST(ViewExamples, DefaultsAndScalars) {
  const View v = View::contiguous({2, 3});
  EXPECT_EQ(v.offset(), 0);
  EXPECT_EQ(v.strides(), Strides({3, 1}));
  EXPECT_FALSE(v.has_mask());
  EXPECT_EQ(View().numel(), 1);
  EXPECT_EQ(View().expand({2, 1, 2}).shape(), Shape({2, 1, 2}));
  EXPECT_EQ(View::create({2, 3}, {3, 1}, 4).linear_index({1, 2}), 4 + 3 + 2);
}

TEST(OperatorExamples, FourOperatorsAndNegation) {
  const Tensor a = tensor({{1.0, 2.0}, {3.0, 4.0}}, f64), b = full({2, 2}, 10.0, f64);
  expect(a + b, {2, 2}, {11, 12, 13, 14});
  expect(a - b, {2, 2}, {-9, -8, -7, -6});
  expect(a * b, {2, 2}, {10, 20, 30, 40});
  expect(a / b, {2, 2}, {0.1f, 0.2f, 0.3f, 0.4f});
  expect(-a, {2, 2}, {-1, -2, -3, -4});
  expect(a, {2, 2}, {1, 2, 3, 4});
}

TEST(OperatorExamples, Scalars) {
  const Tensor t = tensor({1.0, 2.0, 3.0});
  expect(t + 10.0, {3}, {11, 12, 13});
  expect(t * 2.0, {3}, {2, 4, 6});
  expect(10.0 + t, {3}, {11, 12, 13});
  expect(2.0 * t, {3}, {2, 4, 6});
}

TEST(OperatorExamples, BroadcastingTable) {
  EXPECT_EQ((ones({}) + ones({3, 4})).shape(), Shape({3, 4}));
  EXPECT_EQ((ones({4}) + ones({3, 4})).shape(), Shape({3, 4}));
  EXPECT_EQ((ones({3, 1}) + ones({1, 4})).shape(), Shape({3, 4}));
  try {
    (void)(ones({2, 3}) + ones({2}));
    ADD_FAILURE() << "[2, 3] and [2] do not broadcast";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "add([2, 3] f32, [2] f32): shapes [2, 3] and [2] do not broadcast: 3 and 2 on axis -1");
  }
}

TEST(OperatorExamples, BiasAddition) {
  expect(counting({2, 3}) + tensor({10.0, 20.0, 30.0}), {2, 3}, {11, 22, 33, 14, 25, 36});
}

TEST(OperatorExamples, ClipAbsSqrtAndLog) {
  expect(tensor({-5.0, 0.5, 9.0}).clip(0.0, 1.0), {3}, {0, 0.5, 1});
  EXPECT_EQ(tensor({-2.0}).abs().item<float>(), 2);
  EXPECT_TRUE(std::isnan(tensor({-1.0}).sqrt().item<float>()));
  EXPECT_TRUE(std::isnan(tensor({-1.0}).log().item<float>()));
  EXPECT_EQ(tensor({0.0}).log().item<float>(), -std::numeric_limits<float>::infinity());
  const auto clipped = attempt([] { return ones({3}).clip(2.0, 1.0); });
  ASSERT_FALSE(clipped);
  EXPECT_STREQ(clipped.error().what(), "clip([3] f32): min 2 is above max 1");
}

TEST(TensorExamples, Broadcasting) { EXPECT_EQ((ones({2, 1, 3}) + ones({1, 4, 1})).shape(), Shape({2, 4, 3})); }

TEST(TensorExamples, Manipulation) {
  expect(counting({2, 3}).reshape({3, 2}), {3, 2}, {1, 2, 3, 4, 5, 6});
  expect(counting({2, 2}).t(), {2, 2}, {1, 3, 2, 4});
  const Tensor squeezed = ones({1, 3, 1}).squeeze_all();
  EXPECT_EQ(squeezed.shape(), Shape({3}));
  EXPECT_EQ(squeezed.unsqueeze(0).shape(), Shape({1, 3}));
}

TEST(TensorExamples, FullReductions) {
  EXPECT_EQ(counting({2, 2}).sum().item<float>(), 10.0f);
  EXPECT_EQ(counting({2, 2}).mean().item<float>(), 2.5f);
  EXPECT_EQ(counting({2, 2}).sum().shape(), Shape());
}

TEST(TensorExamples, Display) {
  std::ostringstream out;
  out << counting({2, 2});
  EXPECT_EQ(out.str(), "Tensor([[1.0000, 2.0000],\n        [3.0000, 4.0000]], dtype=f32)");
}

}  // namespace
}  // namespace weft
