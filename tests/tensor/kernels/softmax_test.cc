// Softmax, log-softmax and their gradients against naive ones in double, and where libraries are known to fail.
#include "tensor/ops/softmax.h"

#include "tests/reference/rows.h"
#include "tests/tensor/kernels/row_checks.h"

namespace weft::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

/// `alike`: results lie as their inputs.
void check(const Shape& shape, int64_t axis, DType dtype, Layout layout, Random& random, bool alike = false) {
  const auto other = [&](Layout result) { return alike ? layout : result; };
  AnyArray x = random_values(shape, dtype, layout, random, 3), g = random_values(shape, dtype, layout, random);
  AnyArray y(shape, dtype, other(Layout::permuted), random), log_y(shape, dtype, other(Layout::reversed), random);
  AnyArray dx(shape, dtype, other(Layout::gaps), random), log_dx(shape, dtype, other(Layout::permuted), random);
  op::Softmax{axis}.cpu(x.operand(), y.operand());
  op::LogSoftmax{axis}.cpu(x.operand(), log_y.operand());
  op::SoftmaxBackward{axis}.cpu(g.operand(), y.operand(), dx.operand());
  op::LogSoftmaxBackward{axis}.cpu(g.operand(), log_y.operand(), log_dx.operand());
  const auto rows = [&](auto f, const reference::Arrays& in) { return reference::rowwise(axis, f)(in)[0]; };
  const reference::Array logits = values_of(x), grad = values_of(g);
  const std::string what = describe(x) + text(" axis ", axis);
  expect_all_close(log_y, rows(reference::log_softmax, logits), 3, 1, "log_softmax " + what);
  expect_all_close(y, rows(reference::softmax, logits), 10, 0.1, "softmax " + what);
  // The gradients are those of the results as they are stored.
  expect_all_close(dx, rows(reference::softmax_gradient, {grad, values_of(y)}), 4, 1, "softmax gradient " + what);
  expect_all_close(log_dx, rows(reference::log_softmax_gradient, {grad, values_of(log_y)}), 4, 2,
                   "log_softmax gradient " + what);
}

TEST(Softmax, AgreesWithNaiveLoops) {
  Random random(31);
  for (int i = 0; i < property_cases(150); ++i) {
    Shape shape;
    const int64_t rank = pick(random, 1, 4);
    for (int64_t a = 0; a < rank; ++a) shape.push_back(pick(random, 1, 11));
    check(shape, pick(random, 0, rank - 1), kFloatingDtypes[pick(random, 0, 3)], kAllLayouts[pick(random, 0, 4)],
          random);
    if (HasFailure()) break;
  }
}

TEST(Softmax, LongRowsAndLargeImages) {
  Random random(32);
  for (DType dtype : {f32, f64, bf16}) {
    check({3, 1001}, 1, dtype, Layout::row_major, random);
    check({70, 33}, 0, dtype, Layout::row_major, random);
    check({2, 19, 5, 7}, 1, dtype, Layout::channels_last, random);
    check({2, 19, 5, 7}, 1, dtype, Layout::row_major, random);
  }
}

TEST(Softmax, RowsSideBySide) {
  Random random(36);
  for (DType dtype : {f32, f64, bf16})
    for (const Shape& shape : {Shape{2, 21, 37}, Shape{2, 3, 16}, Shape{1, 130, 5, 7}, Shape{3, 2, 15}})
      check(shape, 1, dtype, Layout::row_major, random, true);
  // A row that is NaN leaves its neighbors alone.
  AnyArray x = random_values({5, 40}, f32, Layout::row_major, random), y(x.shape(), f32, Layout::row_major, random);
  x.set({2, 7}, std::nan(""));
  for (int64_t i = 0; i < 5; ++i) x.set({i, 8}, -kInf);
  for (const bool log : {false, true}) {
    log ? op::LogSoftmax{0}.cpu(x.operand(), y.operand()) : op::Softmax{0}.cpu(x.operand(), y.operand());
    for (int64_t i = 0; i < 5; ++i)
      for (int64_t j = 0; j < 40; ++j) EXPECT_EQ(std::isnan(y.get({i, j})), j == 7 || j == 8) << j;
  }
}

std::vector<float> log_softmax_of(const std::vector<float>& values) {
  Array<float> x{values, View::contiguous({static_cast<int64_t>(values.size())})}, y = x;
  op::LogSoftmax{0}.cpu(x.operand(), y.operand());
  return y.memory;
}

TEST(Softmax, LogSoftmaxOfFarApartLogitsIsExact) {
  EXPECT_EQ(log_softmax_of({0, -110}), (std::vector<float>{0, -110}));
  EXPECT_EQ(log_softmax_of({0, -1e4f, 1e4f}), (std::vector<float>{-1e4f, -2e4f, 0}));
  EXPECT_EQ(log_softmax_of({5, -kInf}), (std::vector<float>{0, -kInf}));
}

TEST(Softmax, LogSoftmaxIsNeverPositive) {
  Random random(33);
  std::normal_distribution<float> normal(0, 20);
  for (int i = 0; i < 2000; ++i) {
    std::vector<float> x(static_cast<size_t>(pick(random, 1, 40)));
    for (float& v : x) v = normal(random);
    for (float v : log_softmax_of(x)) ASSERT_LE(v, 0.0f);
  }
}

TEST(Softmax, WhatHasNoAnswerIsNaN) {
  Array<float> x{{-kInf, -kInf, -kInf}, View::contiguous({3})}, y = x;
  op::Softmax{0}.cpu(x.operand(), y.operand());
  for (float v : y.memory) EXPECT_TRUE(std::isnan(v));
  x.memory = {1, std::nanf(""), 2};
  op::Softmax{0}.cpu(x.operand(), y.operand());
  for (float v : y.memory) EXPECT_TRUE(std::isnan(v));
}

TEST(Softmax, EmptyOnesWriteNothing) {
  for (const auto& [shape, axis] : {std::pair{Shape{0, 3}, 1}, {Shape{3, 0}, 1}, {Shape{0, 3}, 0}}) {
    const View view = View::contiguous(shape);
    const std::vector<float> before = {1, 2, 3};
    Array<float> x{before, view}, y{before, view};
    op::Softmax{axis}.cpu(x.operand(), y.operand());
    EXPECT_EQ(y.memory, before) << shape;
    op::LogSoftmax{axis}.cpu(x.operand(), y.operand());
    EXPECT_EQ(y.memory, before) << shape;
  }
}

TEST(Softmax, SameBitsForAnyNumberOfThreads) {
  Random random(35);
  AnyArray x = random_values({400, 301}, f32, Layout::row_major, random), y(x.shape(), f32, Layout::row_major, random);
  for (int64_t axis : {0, 1})
    expect_same_bits_for_threads([&] {
      op::Softmax{axis}.cpu(x.operand(), y.operand());
      return y.memory;
    });
}

}  // namespace
}  // namespace weft::testing
