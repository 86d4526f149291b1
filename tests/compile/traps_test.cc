// Traps of the C++ API that were tried and found real. That this file compiles without a warning is half of the test.
#include <gtest/gtest.h>

#include <sstream>

#include "weft.h"

namespace weft {
namespace {

using Numbers = std::vector<double>;
Numbers numbers(const Tensor& x) { return x.to_vector<double>(); }

TEST(Traps, NestedBracesAreNotAmbiguousAtAnyDepth) {
  EXPECT_EQ(tensor({1.0, 2.0}).shape(), Shape({2}));
  EXPECT_EQ(tensor({{1.0, 2.0}}).shape(), Shape({1, 2}));
  EXPECT_EQ(tensor({{1.0}, {2.0}}).shape(), Shape({2, 1}));
  EXPECT_EQ(tensor({{{1.0, 2.0}, {3.0, 4.0}}}).shape(), Shape({1, 2, 2}));
  EXPECT_EQ(tensor({{{{1.0}}}}).shape(), Shape({1, 1, 1, 1}));
  EXPECT_EQ(tensor(3.0).shape(), Shape());
}

TEST(Traps, BracesKnowTheirElementType) {
  EXPECT_EQ(tensor({{1, 2}, {3, 4}}).dtype(), i64);
  EXPECT_EQ(tensor({1.0f, 2.0f}).dtype(), f32);
  EXPECT_EQ(tensor({1.0, 2.0}).dtype(), f32);
  EXPECT_EQ(tensor({true, false}).dtype(), boolean);
  EXPECT_EQ(tensor({int64_t{1} << 53, (int64_t{1} << 53) + 1}).to_vector<int64_t>()[1], (int64_t{1} << 53) + 1);
  EXPECT_EQ(tensor({1, 2}, f64).dtype(), f64);
  EXPECT_THROW(tensor({{1, 2}, {3}}), ShapeError);
}

TEST(Traps, BracesTakeNumbersOfUnlikeTypes) {
  const int64_t n = 3;
  EXPECT_EQ(tensor({1.5, 2}).dtype(), f32);
  EXPECT_EQ(numbers(tensor({1, 2.5, 3})), Numbers({1, 2.5, 3}));
  EXPECT_EQ(numbers(tensor({1.5f, 0.1}, f64)), Numbers({1.5, 0.1}));
  EXPECT_EQ(tensor({n, 1}).dtype(), i64);
  EXPECT_EQ(numbers(tensor({true, 2})), Numbers({1, 2}));
  EXPECT_EQ(tensor({{1.0, 2}, {3, 4}}).shape(), Shape({2, 2}));
  EXPECT_EQ(numbers(tensor({{1, 2}, {n, 4}, {5, 6.5}})), Numbers({1, 2, 3, 4, 5, 6.5}));
  EXPECT_EQ(tensor({(int64_t{1} << 53) + 1, int64_t{0}, true}).to_vector<int64_t>()[0], (int64_t{1} << 53) + 1);
  EXPECT_THROW(tensor({{1.0, 2}, {3}}), ShapeError);
  EXPECT_THROW(tensor({1, 300.0}, u8), Error);
  EXPECT_EQ(tensor(std::vector<std::vector<float>>{{1, 2}, {3, 4}}).shape(), Shape({2, 2}));
  EXPECT_EQ(numbers(tensor(std::vector<bool>{true, false})), Numbers({1, 0}));
}

TEST(Traps, MaxAndMinOfTwoTensorsAreElementWise) {
  const Tensor a = tensor({1.0, 5.0}), b = tensor({3.0, 2.0});
  EXPECT_EQ(numbers(max(a, b)), Numbers({3, 5}));
  EXPECT_EQ(numbers(min(a, b)), Numbers({1, 2}));
  EXPECT_EQ(numbers(a.max(b)), Numbers({3, 5}));
  EXPECT_EQ(numbers(a.min(b)), Numbers({1, 2}));
  EXPECT_EQ(max(a, {}).shape(), Shape());
  EXPECT_EQ(a.max({}).shape(), Shape());
  EXPECT_EQ(max(a, 0).item<float>(), 5.0f);
}

TEST(Traps, NoAxesAreAllAxes) {
  const Tensor x = ones({2, 3});
  EXPECT_EQ(x.sum().shape(), Shape());
  EXPECT_EQ(x.sum({}).shape(), Shape());
  EXPECT_EQ(sum(x, {}).item<float>(), 6.0f);
  EXPECT_EQ(x.sum(0).shape(), Shape({3}));
  EXPECT_EQ(x.sum({0}).shape(), Shape({3}));
  EXPECT_EQ(x.sum({0, 1}).shape(), Shape());
  EXPECT_EQ(x.sum(-1, keepdim).shape(), Shape({2, 1}));
  EXPECT_EQ(x.sum({}, keepdim).shape(), Shape({1, 1}));
  EXPECT_EQ(x.sum(std::vector<int64_t>{1}).shape(), Shape({2}));
}

TEST(Traps, AStrideOfAPoolIsANumberOneForEachAxisOrNone) {
  const Tensor x = ones({1, 1, 6, 6}), volume = ones({1, 1, 4, 4, 6});
  EXPECT_EQ(max_pool2d(x, {.kernel_size = {2, 1}, .stride = {2, 1}}).shape(), Shape({1, 1, 3, 6}));
  EXPECT_EQ(max_pool2d(x, {.kernel_size = 2, .stride = 1}).shape(), Shape({1, 1, 5, 5}));
  EXPECT_EQ(nn::AvgPool2d({.kernel_size = 2, .stride = Size2(2, 4)})(x).shape(), Shape({1, 1, 3, 2}));
  EXPECT_EQ(avg_pool3d(volume, {.kernel_size = 2, .stride = {1, 2, 4}}).shape(), Shape({1, 1, 3, 2, 2}));
  Pool2dOptions options = {.kernel_size = 2};
  EXPECT_EQ(options.step(), Size2(2));
  options.stride = {1, 3};
  EXPECT_EQ(options.step(), Size2(1, 3));
}

template <class T>
concept SumsOver = requires(const Tensor& x, T axis) {
  x.sum(axis);
};
template <class T>
concept VariesOver = requires(const Tensor& x, T axis) {
  x.var(axis);
};

template <class T>
concept VariesWith = requires(const Tensor& x, T second) {
  x.var(1, second);
};

TEST(Traps, ABoolIsNoAxis) {
  static_assert(SumsOver<int> && SumsOver<int64_t> && SumsOver<Axes> && VariesOver<size_t>);
  static_assert(!SumsOver<bool> && !VariesOver<bool>);
  static_assert(!std::is_convertible_v<bool, Axes> && !std::is_constructible_v<Axes, bool>);
}

TEST(Traps, ABoolAfterTheAxesKeepsThem) {
  const Tensor x = ones({2, 3});
  EXPECT_EQ(x.sum(1, true).shape(), Shape({2, 1}));
  EXPECT_EQ(mean(x, {0, 1}, true).shape(), Shape({1, 1}));
  EXPECT_EQ(x.argmax(1, true).shape(), Shape({2, 1}));
  EXPECT_EQ(max_with_indices(x, 0, false).indices.shape(), Shape({3}));
  EXPECT_EQ(x.norm(2, 1, true).shape(), Shape({2, 1}));
  static_assert(!std::is_convertible_v<int, KeepDim>);
  // PyTorch's var() takes whether to correct there.
  static_assert(!VariesWith<bool> && VariesWith<int> && VariesWith<KeepDim>);
}

TEST(Traps, ShapesAndDtypesPrint) {
  std::ostringstream out;
  out << ones({2, 3}).shape() << " " << ones({2}, bf16).dtype() << " " << Shape() << " " << boolean;
  EXPECT_EQ(out.str(), "[2, 3] bf16 [] bool");
}

TEST(Traps, ClampIsClip) { EXPECT_EQ(numbers(clamp(tensor({-1.0, 0.5, 3.0}), 0, 1)), Numbers({0, 0.5, 1})); }

TEST(Traps, OptionStructsTakeAnyOfTheirFields) {
  // Without a default for every field, -Wextra warns at each of these.
  const Tensor image = ones({1, 1, 4, 4}), kernel = ones({1, 1, 2, 2});
  EXPECT_EQ(conv2d(image, kernel, {.stride = 2}).shape(), Shape({1, 1, 2, 2}));
  EXPECT_EQ(conv2d(image, kernel, {.padding = 1}).shape(), Shape({1, 1, 5, 5}));
  EXPECT_EQ(max_pool2d(image, {.kernel_size = 2}).shape(), Shape({1, 1, 2, 2}));
  const Tensor w = parameter(ones({}));
  EXPECT_EQ(grad({w * 2.0}, {w}, {.allow_unused = true})[0].item<float>(), 2.0f);
  EXPECT_EQ(grad({w * w}, {w}, {.create_graph = true})[0].item<float>(), 2.0f);
  EXPECT_FALSE(PrintOptions{.precision = 2}.scientific);
  EXPECT_FALSE(GradcheckOptions{.eps = 1e-4}.rtol.has_value());
  const BackwardOptions keep{.retain_graph = true};
  EXPECT_FALSE(keep.create_graph);
}

TEST(Traps, AHookMayReturnATensorOrNothing) {
  Tensor w = parameter(ones({}));
  int calls = 0;
  w.register_hook([&](const Tensor&) { ++calls; });
  w.register_hook([](const Tensor& g) { return g * 3.0; });
  w.register_hook([](Tensor g) { return g; });
  w.register_hook([count = 0](const Tensor&) mutable { ++count; });
  (w * 1.0).backward();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(w.grad().item<float>(), 3.0f);
}

TEST(Traps, ADroppedHookHandleDoesNotUnregister) {
  Tensor w = parameter(ones({}));
  {
    HookHandle handle = w.register_hook([](const Tensor& g) { return g * 3.0; });
  }
  (w * 1.0).backward();
  EXPECT_EQ(w.grad().item<float>(), 3.0f);
}

TEST(Traps, ANumberMayStandOnTheLeft) {
  const Tensor x = tensor({1.0, 2.0});
  EXPECT_EQ(numbers(2.0 == x), Numbers({0, 1}));
  EXPECT_EQ(numbers(2.0 != x), Numbers({1, 0}));
  EXPECT_EQ(numbers(1.5 < x), Numbers({0, 1}));
  EXPECT_EQ(numbers(1.5 >= x), Numbers({1, 0}));
  EXPECT_EQ(numbers(x == 2.0), Numbers({0, 1}));
  EXPECT_EQ(numbers(x == x), Numbers({1, 1}));
  EXPECT_EQ(numbers(1 - x), Numbers({0, -1}));
  EXPECT_EQ(numbers(2.0 / x), Numbers({2, 1}));
  EXPECT_EQ(numbers(2 + x), Numbers({3, 4}));
  EXPECT_EQ(numbers(2 * x), Numbers({2, 4}));
}

TEST(Traps, AResultMayBeDiscarded) {
  Tensor x = ones({2});
  x.add_(1.0);
  x += 1.0;
  x.fill_(2.0).mul_(2.0);
  relu(x);
  x.sum();
  EXPECT_EQ(numbers(x), Numbers({4, 4}));
}

TEST(Traps, ScalarsKnowWhetherTheyAreIntegers) {
  const Tensor whole = tensor({1, 2});
  EXPECT_EQ((whole + 1).dtype(), i64);
  EXPECT_EQ((1 - whole).dtype(), i64);
  EXPECT_EQ((whole * 2L).dtype(), i64);
  EXPECT_EQ((whole + 1.0).dtype(), f32);
  EXPECT_EQ((whole / 2).dtype(), f32);
  EXPECT_EQ((tensor({1, 2}, u8) + 1).dtype(), u8);
  EXPECT_EQ((tensor({1.0}, bf16) * 2.0).dtype(), bf16);
  EXPECT_EQ((tensor({1.0}, f64) * 2.0f).dtype(), f64);
  EXPECT_EQ((whole + (int64_t{1} << 53) + 1).to_vector<int64_t>()[0], (int64_t{1} << 53) + 2);
}

TEST(Traps, ATensorIsNoCondition) {
  static_assert(!std::is_constructible_v<bool, Tensor>);
  static_assert(!std::is_convertible_v<Tensor, bool>);
  static_assert(!std::is_convertible_v<Tensor, double>);
}

template <class T>
concept PicksAlong = requires(const Tensor& x, T axis) {
  x.argmax(axis), argmin(x, axis);
};

TEST(Traps, ABoolIsNoAxisOfArgmax) {
  static_assert(PicksAlong<int> && PicksAlong<int64_t> && PicksAlong<std::optional<int64_t>>);
  static_assert(!PicksAlong<bool>);
}

TEST(Traps, MembersOfThePyTorchKind) {
  const Tensor x = tensor({1.0, 2.0, 3.0});
  EXPECT_EQ(numbers(x.clamp(1.5, 2.5)), Numbers({1.5, 2, 2.5}));
  EXPECT_EQ(numbers(x.eq(2)), Numbers({0, 1, 0}));
  EXPECT_EQ(numbers(x.ge(x.flip({0}))), Numbers({0, 1, 1}));
  EXPECT_EQ(numbers(stddev(x)), numbers(x.std()));
}

TEST(Traps, ASliceTakesNothingForAnOpenEnd) {
  const Tensor x = arange(5);
  EXPECT_EQ(numbers(x.slice(0, 1)), Numbers({1, 2, 3, 4}));
  EXPECT_EQ(numbers(x.slice(0, {}, -3)), Numbers({0, 1}));
  EXPECT_EQ(numbers(x.slice(0, std::nullopt, std::nullopt, -2)), Numbers({4, 2, 0}));
}

}  // namespace
}  // namespace weft
