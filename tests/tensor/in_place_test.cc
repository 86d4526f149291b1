// Writes in place without history: aliases, overlap, dtypes.
#include <gtest/gtest.h>

#include "tensor/functions_all.h"

namespace weft {
namespace {

using Numbers = std::vector<double>;
Numbers numbers(const Tensor& x) { return x.to_vector<double>(); }

TEST(InPlaceWrite, IsSeenByEveryViewOfTheStorage) {
  Tensor x = zeros({2, 3});
  const Tensor row = x[1], turned = x.t(), same = x;
  x.add_(tensor({1.0, 2.0, 3.0}));
  EXPECT_EQ(numbers(row), Numbers({1, 2, 3}));
  EXPECT_EQ(numbers(turned), Numbers({1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(numbers(same), Numbers({1, 2, 3, 1, 2, 3}));
}

TEST(InPlaceWrite, ThroughAStridedViewTouchesNothingElse) {
  Tensor x = zeros({4, 4});
  x.slice(0, 0, std::nullopt, 2).slice(1, 1, std::nullopt, 2).fill_(1.0);
  EXPECT_EQ(numbers(x), Numbers({0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0}));
  x.t().slice(0, std::nullopt, std::nullopt, -1)[0].copy_(arange(4));
  EXPECT_EQ(numbers(x.select(1, 3)), Numbers({0, 1, 2, 3}));
}

TEST(InPlaceWrite, RaisesTheVersionAndNamesItself) {
  Tensor x = zeros({2});
  EXPECT_EQ(internal::storage(x).version(), 0u);
  EXPECT_EQ(internal::storage(x).writer(), nullptr);
  x.view({2, 1}).add_(1.0);
  EXPECT_EQ(internal::storage(x).version(), 1u);
  EXPECT_STREQ(internal::storage(x).writer(), "add_");
  x /= 2.0;
  EXPECT_STREQ(internal::storage(x).writer(), "div_");
}

TEST(InPlaceWrite, AnOverlappingSourceIsReadBeforeItIsOverwritten) {
  Tensor x = arange(6).to(f32);
  x.slice(0, 1).copy_(x.slice(0, 0, 5));
  EXPECT_EQ(numbers(x), Numbers({0, 0, 1, 2, 3, 4}));
  Tensor y = arange(6).to(f32);
  y.slice(0, 0, 5).copy_(y.slice(0, 1));
  EXPECT_EQ(numbers(y), Numbers({1, 2, 3, 4, 5, 5}));
  Tensor z = arange(4).to(f32);
  z.copy_(z.flip({0}));
  EXPECT_EQ(numbers(z), Numbers({3, 2, 1, 0}));
  Tensor square = arange(9).view({3, 3}).to(f64);
  square.add_(square.t());
  EXPECT_EQ(numbers(square), Numbers({0, 4, 8, 4, 8, 12, 8, 12, 16}));
  Tensor sums = ones({5});
  sums.slice(0, 1).add_(sums.slice(0, 0, 4));
  EXPECT_EQ(numbers(sums), Numbers({1, 2, 2, 2, 2}));
}

TEST(InPlaceWrite, AnExpandedPartOfItselfIsReadFirst) {
  Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}});
  x.sub_(x[0]);
  EXPECT_EQ(numbers(x), Numbers({0, 0, 2, 2}));
  Tensor y = tensor({1.0, 2.0, 3.0});
  y.mul_(y[2]);
  EXPECT_EQ(numbers(y), Numbers({3, 6, 9}));
}

TEST(InPlaceWrite, WithItself) {
  Tensor x = tensor({1.0, 2.0});
  x.add_(x);
  EXPECT_EQ(numbers(x), Numbers({2, 4}));
  x.copy_(x);
  EXPECT_EQ(numbers(x), Numbers({2, 4}));
  x.sub_(x);
  EXPECT_EQ(numbers(x), Numbers({0, 0}));
}

TEST(InPlaceWrite, ByIndexWithItself) {
  const Tensor before = tensor({1.0, 2.0, 3.0, 4.0}), index = tensor<int64_t>({1, 2, 3, 0}), mask = before > 1.0;
  const auto written = [&](const auto& write) {
    Tensor x = before.clone(), y = before.clone();
    write(x, x);
    write(y, before);
    EXPECT_EQ(numbers(x), numbers(y));
  };
  written([&](Tensor& x, const Tensor& src) { x.index_add_(0, index, src); });
  written([&](Tensor& x, const Tensor& src) { x.index_copy_(0, index, src); });
  written([&](Tensor& x, const Tensor& src) { x.scatter_(0, index, src); });
  written([&](Tensor& x, const Tensor& src) { x.scatter_add_(0, index, src); });
  written([&](Tensor& x, const Tensor& src) { x.put_(index, src); });
  written([&](Tensor& x, const Tensor& src) { x.put_(index, src, true); });
  written([&](Tensor& x, const Tensor& src) { x.index_put_({index}, src); });
  written([&](Tensor& x, const Tensor& src) { x.index_put_({index}, src, true); });
  written([&](Tensor& x, const Tensor& src) { x.masked_scatter_(mask, src); });
}

// What was checked as an index must not be another number when it is used.
TEST(InPlaceWrite, OfWhatIsItsOwnIndex) {
  const Tensor before = tensor<int64_t>({1, 0, 3, 2});
  const auto written = [&](const auto& write) {
    Tensor x = before.clone(), y = before.clone();
    write(x, x);
    write(y, before);
    EXPECT_EQ(numbers(x), numbers(y));
  };
  const Tensor src = tensor<int64_t>({5, 6, 7, 8});
  written([&](Tensor& x, const Tensor& index) { x.scatter_(0, index, 9); });
  written([&](Tensor& x, const Tensor& index) { x.scatter_add_(0, index, src); });
  written([&](Tensor& x, const Tensor& index) { x.index_add_(0, index, src); });
  written([&](Tensor& x, const Tensor& index) { x.index_copy_(0, index, src); });
  written([&](Tensor& x, const Tensor& index) { x.index_fill_(0, index, 9); });
  written([&](Tensor& x, const Tensor& index) { x.put_(index, src); });
  written([&](Tensor& x, const Tensor& index) { x.index_put_({index}, src); });
  written([&](Tensor& x, const Tensor& index) { x.index_put_({index}, src, true); });
}

TEST(InPlaceWrite, PaddingIsReadAsZero) {
  Tensor x = ones({4});
  x.copy_(tensor({5.0, 6.0}).pad({{1, 1}}));
  EXPECT_EQ(numbers(x), Numbers({0, 5, 6, 0}));
  x.add_(x.slice(0, 1, 3).pad({{2, 0}}));
  EXPECT_EQ(numbers(x), Numbers({0, 5, 11, 6}));
}

TEST(InPlaceWrite, KeepsTheDtypeOfWhatIsWritten) {
  Tensor narrow = ones({2}, f32);
  narrow.add_(full({2}, 1.5, f64));
  EXPECT_EQ(narrow.dtype(), f32);
  EXPECT_EQ(numbers(narrow), Numbers({2.5, 2.5}));
  Tensor half = ones({2}, bf16);
  half.mul_(full({2}, 3.0, f32));
  EXPECT_EQ(half.dtype(), bf16);
  Tensor bytes = full({2}, 100, i8);
  bytes.add_(full({2}, 20, i64));
  EXPECT_EQ(bytes.dtype(), i8);
  EXPECT_EQ(numbers(bytes), Numbers({120, 120}));
  Tensor flags = zeros({2}, boolean);
  flags.copy_(tensor({0.0, 0.5}));
  EXPECT_EQ(numbers(flags), Numbers({0, 1}));
  Tensor whole = zeros({2}, i64);
  whole.copy_(tensor({1.9, -1.9}));
  EXPECT_EQ(numbers(whole), Numbers({1, -1}));
}

TEST(InPlaceWrite, AFloatingResultIsNotWrittenToIntegers) {
  Tensor x = ones({2}, i64);
  EXPECT_THROW(x.add_(1.5), DtypeError);
  EXPECT_THROW(x.add_(ones({2})), DtypeError);
  EXPECT_THROW(x.div_(2), DtypeError);
  EXPECT_THROW(x.div_(x), DtypeError);
  EXPECT_EQ(numbers(x.add_(1)), Numbers({2, 2}));
  try {
    x += 0.5;
    FAIL();
  } catch (const DtypeError& error) {
    EXPECT_STREQ(
        error.what(),
        "add_([2] i64): a floating result cannot be written in place to i64; use the form that returns a new tensor");
  }
}

TEST(InPlaceWrite, TheShapeOfWhatIsWrittenStays) {
  Tensor x = ones({3});
  EXPECT_THROW(x.add_(ones({2, 3})), ShapeError);
  EXPECT_THROW(x.copy_(ones({2})), ShapeError);
  EXPECT_THROW(x.mul_(ones({2, 1})), ShapeError);
  EXPECT_EQ(numbers(x.add_(ones({}))), Numbers({2, 2, 2}));
  EXPECT_EQ(numbers(x.add_(ones({1}))), Numbers({3, 3, 3}));
}

TEST(InPlaceWrite, RefusesOverlapAndPadding) {
  Tensor wide = zeros({1, 3}).expand({2, 3}), padded = zeros({2}).pad({{1, 0}}), windows = zeros({4}).unfold(0, 2, 1);
  for (Tensor* x : {&wide, &padded, &windows}) {
    EXPECT_THROW(x->fill_(1.0), Error);
    EXPECT_THROW(x->add_(1.0), Error);
    EXPECT_THROW(x->copy_(zeros({})), Error);
  }
  Tensor apart = zeros({4}).unfold(0, 2, 2);  // windows that do not overlap
  EXPECT_EQ(numbers(apart.fill_(1.0)), Numbers({1, 1, 1, 1}));
}

TEST(InPlaceWrite, NothingIsWrittenToNothing) {
  Tensor empty = zeros({0, 3});
  empty.add_(1.0).fill_(2.0).copy_(ones({3}));
  EXPECT_EQ(empty.numel(), 0);
  EXPECT_THROW(Tensor().fill_(1.0), Error);
}

TEST(InPlaceWrite, MembersChain) {
  EXPECT_EQ(numbers(ones({2}).add_(1.0).mul_(3.0).sub_(2.0).div_(2.0)), Numbers({2, 2}));
}

TEST(InPlaceWrite, ToATemporaryCopyIsAnError) {
  Tensor x = zeros({3});
  const Tensor at = tensor({0, 2});
  EXPECT_THROW(x.index({at}) = ones({2}), Error);
  EXPECT_THROW(x.index({at}) = 1.0, Error);
  EXPECT_THROW(x.index({at}) += 1.0, Error);
  EXPECT_THROW(x.index({at}) *= ones({2}), Error);
  EXPECT_THROW(x.index({x > 1.0}) %= 2, Error);
  try {
    x.index({at}) = 1.0;
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()),
              "=([2] f32): the left side is a temporary copy, whose values nothing would see: index tensors and masks "
              "gather; write with index_put_");
  }
  x.index_put_({at}, 1.0);
  EXPECT_EQ(numbers(x), Numbers({1, 0, 1}));
}

TEST(InPlaceWrite, ToATemporaryThatOthersSee) {
  Tensor x = zeros({3});
  const auto same = [&] { return x; };
  x[0] = 1.0;
  x.index({Slice(1)}) += 2.0;
  same() *= 3.0;
  same() %= 4;
  x.detach() += 1.0;
  EXPECT_EQ(numbers(x), Numbers({4, 3, 3}));
  std::vector<float> memory = {1, 2};
  Tensor::wrap(memory.data(), {2}) *= 2.0;  // the caller's
  EXPECT_EQ(memory[1], 4);
}

TEST(InPlaceWrite, ThatFailsHalfwayRaisesTheVersion) {
  Tensor x = tensor({7, 8, 9});
  const uint64_t before = internal::storage(x).version();
  EXPECT_THROW(x %= tensor({2, 0, 4}), Error);
  EXPECT_GT(internal::storage(x).version(), before) << "the elements that were divided have changed";
  EXPECT_THROW(x.floor_divide_(0), Error);
  x += 1;  // and it can be used
}

TEST(InPlaceWrite, DividesByRemainderAndFloor) {
  EXPECT_EQ(numbers(tensor({7, -7, 5}).remainder_(3)), Numbers({1, 2, 2}));
  EXPECT_EQ(numbers(tensor({7, -7, 5}).floor_divide_(tensor({2, 2, -2}))), Numbers({3, -4, -3}));
  EXPECT_THROW(ones({2}, i64).remainder_(0.5), DtypeError);
}

TEST(InPlaceWrite, OfASliceDropsAxesOfSizeOneInFront) {
  Tensor x = zeros({2, 3});
  x[0] = ones({1, 3});
  x[1][2] = full({1, 1}, 5.0);
  EXPECT_EQ(numbers(x), Numbers({1, 1, 1, 0, 0, 5}));
  x.index_put_({0}, full({1, 1, 3}, 2.0));
  x.index_put_({tensor({1})}, full({1, 1, 1, 3}, 7.0));
  EXPECT_EQ(numbers(x), Numbers({2, 2, 2, 7, 7, 7}));
  EXPECT_THROW(x[0] = ones({2, 3}), ShapeError);
  EXPECT_THROW(x[0].copy_(ones({1, 3})), ShapeError) << "copy_ broadcasts only";
}

}  // namespace
}  // namespace weft
