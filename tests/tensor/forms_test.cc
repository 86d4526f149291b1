// Several forms of one call, and what they have in common with the others.
#include <gtest/gtest.h>

#include <tuple>
#include <type_traits>
#include <vector>

#include "tensor/functions_all.h"
#include "tensor/tensor.h"
#include "tests/error_of.h"

namespace weft {
namespace {

TEST(Forms, GiveTheSame) {
  const Tensor x = arange(24, f32).view({2, 3, 4});
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
  EXPECT_TRUE(x.cpu().is_same(x));
  EXPECT_TRUE(equal(var(x, 1, keepdim), x.var(1, keepdim)));
  EXPECT_TRUE(equal(stddev(x, {0, 2}, keepdim), x.std({0, 2}, 1, keepdim)));
  EXPECT_TRUE(equal(var_mean(x, 1, keepdim).var, x.var(1, keepdim)));
  EXPECT_TRUE(equal(std_mean(x, 1, keepdim).mean, x.mean(1, keepdim)));
}

TEST(Forms, SizesAreAsManyAsAxes) {
  const Tensor x = ones({2, 3, 4});
  const auto [a, b, c] = x.sizes<3>();
  EXPECT_EQ((Shape{a, b, c}), x.shape());
  EXPECT_EQ(error_of([&] { (void)x.sizes<2>(); }), "sizes([2, 3, 4] f32): 2 sizes were asked for, there are 3 axes");
}

TEST(Forms, BytesAreCounted) {
  EXPECT_EQ(ones({2, 3, 4}).nbytes(), 96);
  EXPECT_EQ(ones({2}, f16).element_size(), 2);
}

TEST(Forms, ZeroOfAnUndefinedTensorIsRefused) {
  EXPECT_EQ(error_of([] {
              Tensor none;
              none.zero_();
            }),
            "zero_(): a tensor is undefined (default-constructed, or an absent gradient)");
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

template <class T>
concept HasVarOf = requires(const Tensor& x, T second) {
  x.var(0, second);
};
template <class T>
concept VarMeanTakes = requires(const Tensor& x, T second) {
  var_mean(x, 0, second);
};
template <class T>
concept VarTakes = requires(const Tensor& x, T second) {
  var(x, 0, second);
};

TEST(Forms, ABoolIsNoCorrection) {
  EXPECT_TRUE(HasVarOf<int> && HasVarOf<KeepDim> && VarTakes<int64_t> && VarTakes<KeepDim>);
  EXPECT_FALSE(HasVarOf<bool> || VarTakes<bool> || VarMeanTakes<bool>);
}

template <class T, class U>
concept Sorts = requires(T x, U axis) {
  x.sort(axis);
}
|| requires(T x, U axis) { sort(x, axis); };
template <class T, class U>
concept Indexes = requires(T x, U i) {
  x[i];
}
|| requires(T x, U i) { x.topk(1, i); };
template <class T, class U>
concept TakesIndex = requires(T x, U i) {
  x.index({i});
};
template <class T, class U>
concept Becomes = requires(T x, U value) {
  x = value;
};

// These would convert to an integer without a word.
TEST(Forms, ABoolOrAFractionIsNoAxis) {
  static_assert(Sorts<Tensor, int> && !Sorts<Tensor, bool> && !Sorts<Tensor, double>);
  static_assert(Indexes<Tensor, int8_t> && !Indexes<Tensor, bool> && !Indexes<Tensor, float>);
  static_assert(TakesIndex<Tensor, bool> && TakesIndex<Tensor, int> && !TakesIndex<Tensor, double>);
  static_assert(!TakesIndex<Tensor, std::initializer_list<int64_t>>, "Slice, or tensor({...})");
  static_assert(!Becomes<Tensor&, int> && Becomes<Tensor&, Tensor>);
  static_assert(!std::is_constructible_v<Shape, int, int>, "[2, 3], or 2 times 3?");
  static_assert(!std::is_constructible_v<Shape, const char*, const char*>);
}

TEST(Forms, OneNumberInBracesIsAList) {
  const Tensor x = arange(40).reshape({4, 10});
  const auto sizes = [](const std::vector<Tensor>& parts) {
    std::vector<int64_t> out;
    for (const Tensor& part : parts) out.push_back(part.size(-1));
    return out;
  };
  using List = std::vector<int64_t>;
  EXPECT_EQ(sizes(x.tensor_split({2}, 1)), List({2, 8}));
  EXPECT_EQ(sizes(x.tensor_split(2, 1)), List({5, 5}));
  EXPECT_EQ(sizes(hsplit(x, {2})), List({2, 8}));
  EXPECT_EQ(sizes(hsplit(x, {2, 3})), List({2, 1, 7}));
  EXPECT_EQ(vsplit(x, {1}).size(), 2u);
  EXPECT_EQ(dsplit(x.reshape({2, 2, 10}), {3}).size(), 2u);
  EXPECT_EQ(sizes(split(x, {10}, 1)), List({10}));
  EXPECT_NE(error_of([&] { (void)x.split({5}, 1); }), "");
  EXPECT_EQ(ones({1, 1, 3}).squeeze({}).shape(), Shape({1, 1, 3}));
  EXPECT_EQ(squeeze(ones({1, 1, 3}), {1}).shape(), Shape({1, 3}));
  EXPECT_EQ(tensor({{1}, {2.5}}).shape(), Shape({2, 1}));
  EXPECT_EQ(tensor({1, 2.5}).shape(), Shape({2}));
}

TEST(Forms, TheShapeOfATemporaryMayBeKept) {
  const Tensor x = ones({2, 3});
  const Shape& shape = (x + x).shape();
  const Strides& strides = x.t().strides();
  const View& layout = x.t().layout();
  std::vector<int64_t> sizes;
  for (const int64_t size : relu(x).shape()) {
    const Tensor other = zeros({9, 9, 9});
    sizes.push_back(size);
  }
  const Tensor more = zeros({7, 5, 4});
  EXPECT_EQ(shape, Shape({2, 3}));
  EXPECT_EQ(strides, Strides({1, 3}));
  EXPECT_EQ(layout.shape(), Shape({3, 2}));
  EXPECT_EQ(sizes, std::vector<int64_t>({2, 3}));
}

TEST(Forms, EmptyBracesAreTheDefaultOptions) {
  const Tensor x = ones({2}, f64), y = x + 1e-7;
  EXPECT_TRUE(x.allclose(y, {}) && allclose(x, y, {}) && x.allclose(y) && x.isclose(y, {}).all().item<bool>());
  EXPECT_FALSE(x.allclose(y, 0) || x.allclose(y, {.rtol = 0, .atol = 1e-9}));
}

TEST(Forms, CopiesAreNoViews) {  // not even where nothing is moved
  const Tensor x = ones({1, 4, 2, 2});
  const std::vector<Padding> none(4), less = {{0, 0}, {0, 0}, {-1, 0}, {0, 0}};
  for (const PadMode mode : {PadMode::reflect, PadMode::replicate, PadMode::circular})
    for (const auto& widths : {none, less}) EXPECT_FALSE(pad(x, widths, mode).shares_storage(x));
  EXPECT_FALSE(im2col(x, {.kernel_size = 1}).shares_storage(x));
  EXPECT_FALSE(pixel_shuffle(x, 1).shares_storage(x));
  EXPECT_FALSE(pixel_unshuffle(x, 1).shares_storage(x));
  EXPECT_FALSE(channel_shuffle(x, 1).shares_storage(x));
}

TEST(Forms, WritesToPartsOfAPaddedViewAreRefused) {
  const Tensor y = pad(ones({3}), {{1, 2}});
  const auto refused = [&](Tensor part) {
    const std::string message = error_of([&] { part.fill_(7); });
    EXPECT_NE(message.find("fill_ would write to "), std::string::npos) << message;
    EXPECT_NE(message.find("a view with zero padding"), std::string::npos) << message;
    // What the message advises works.
    const bool is_masked = message.ends_with("; write before pad(), or to its contiguous()");
    EXPECT_TRUE(is_masked || message.ends_with("; write before pad(), or to a clone()")) << message;
    Tensor own = is_masked ? part.contiguous() : part.clone();
    own.fill_(7);
    EXPECT_TRUE(equal(own, full(part.shape(), 7.0)));
  };
  for (const Tensor& part : {y[0], y.slice(0, 0, 1), y.slice(0, 0, 1).squeeze(0), y.view({2, 3}), y.view({2, 3})[0],
                             y.unfold(0, 2, 2), y.unbind()[5]})
    refused(part);
  Tensor copy = y.contiguous();
  copy[0] = 7.0;
  EXPECT_EQ(copy.to_vector<float>(), (std::vector<float>{7, 1, 1, 1, 0, 0}));
  Tensor shaped = y.reshape({3, 2});
  shaped[0][0] = 5.0;
  EXPECT_EQ(shaped.sum().item(), 8);
}

TEST(Forms, RepeatInterleaveOfAsManyAxesAsThereMayBe) {
  const Tensor x = arange(4, f32).view({1, 1, 1, 1, 1, 1, 2, 2});
  EXPECT_TRUE(
      equal(repeat_interleave(x, 3, 6), repeat_interleave(x.view({2, 2}), 3, 0).view({1, 1, 1, 1, 1, 1, 6, 2})));
  EXPECT_EQ(repeat_interleave(x, 0, 7).shape(), (Shape{1, 1, 1, 1, 1, 1, 2, 0}));
}

// The dtypes that torch.result_type gives.
TEST(Forms, ResultTypeIsThatOfASum) {
  const Tensor halves = ones({2}, f16), number = ones({}, f64), whole = ones({2}, i32), flag = ones({}, boolean);
  const std::tuple<Tensor, Tensor, DType> rows[] = {
      {halves, number, f16}, {halves, number.view({1}), f64}, {whole, number, f64},        {whole, ones({}, i64), i32},
      {whole, flag, i32},    {halves, ones({2}, bf16), f32},  {number, ones({}, f32), f64}};
  for (const auto& [a, b, dtype] : rows) {
    EXPECT_EQ(result_type(a, b), dtype) << describe(a) << " and " << describe(b);
    EXPECT_EQ(result_type(b, a), dtype);
    EXPECT_EQ((a + b).dtype(), dtype);
  }
  EXPECT_EQ(result_type(whole, 2.5), f32);
  EXPECT_EQ(result_type(2, halves), f16);
  EXPECT_EQ(result_type(flag, 2), i64);
}

}  // namespace
}  // namespace weft
