// Tensor itself: memory, values, copies, comparison as a whole, errors as values.
#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <stdexcept>

#include "tensor/functions_all.h"
#include "tensor/result.h"
#include "tests/error_of.h"

namespace weft {
namespace {

using Numbers = std::vector<double>;
Numbers numbers(const Tensor& x) { return x.to_vector<double>(); }

TEST(TensorBodyAndHandle, CopyingAHandleSharesTheBody) {
  Tensor a = ones({2});
  const Tensor b = a;
  EXPECT_TRUE(a.is_same(b));
  a.fill_(3.0);
  EXPECT_EQ(numbers(b), Numbers({3, 3}));
}

TEST(TensorBodyAndHandle, CloneCopiesTheData) {
  Tensor a = ones({2});
  const Tensor b = a.clone();
  EXPECT_FALSE(a.shares_storage(b));
  a.fill_(3.0);
  EXPECT_EQ(numbers(b), Numbers({1, 1}));
}

TEST(TensorBodyAndHandle, AnUndefinedTensorIsAnErrorWhereverItIsUsed) {
  const Tensor none;
  EXPECT_FALSE(none.defined());
  for (const auto& use : std::vector<std::function<void()>>{
           [&] { (void)none.shape(); }, [&] { (void)none.dtype(); }, [&] { none + none; }, [&] { none.sum(); },
           [&] { ones({2}) * none; }, [&] { (void)none.item<float>(); }, [&] { none.view({1}); }, [&] { cat({none}); },
           [&] { none.clone(); }, [&] { (void)none.data<float>(); },
           [&] {
             matmul(none, ones({1, 1}));
           }})
    EXPECT_NE(error_of(use).find("a tensor is undefined"), std::string::npos) << error_of(use);
  EXPECT_EQ(describe(none), "undefined");
  EXPECT_EQ(describe(ones({2, 3})), "[2, 3] f32");
}

TEST(Values, DataGivesRowMajorMemoryOrAnErrorThatSaysWhatToDo) {
  const Tensor x = arange(6).view({2, 3});
  EXPECT_EQ(x.data<int64_t>()[5], 5);
  EXPECT_EQ(x[1].data<int64_t>()[0], 3) << "an offset is fine";
  EXPECT_EQ(error_of([&] { (void)x.data<float>(); }), "data([2, 3] i64): the elements are i64, not f32; use to(f32)");
  EXPECT_EQ(error_of([&] { (void)x.t().data<int64_t>(); }),
            "data([3, 2] i64): the memory is not row-major (strides [1, 3]); use contiguous() first");
  EXPECT_NE(error_of([&] { (void)x.pad({{0, 0}, {1, 0}}).data<int64_t>(); }).find("contiguous()"), std::string::npos);
  EXPECT_EQ(x.t().contiguous().data<int64_t>()[1], 3);
}

TEST(Values, SizeNamesTheShapeWhereThereIsNoSuchAxis) {
  EXPECT_EQ(ones({2, 3}).size(-1), 3);
  EXPECT_EQ(error_of([] { (void)ones({2, 3}).size(2); }), "size([2, 3] f32): axis 2 is out of range for 2 axes");
}

TEST(Values, ItemConvertsAndWantsOneElement) {
  EXPECT_EQ(tensor({2.75}).item<double>(), 2.75);
  EXPECT_EQ(tensor({{2.75}}).item<int64_t>(), 2);
  EXPECT_EQ(tensor({3}).item<size_t>(), 3u);
  EXPECT_EQ(full({}, 3).item<float>(), 3.0f);
  EXPECT_TRUE(full({}, 0.5).item<bool>());
  EXPECT_EQ(error_of([] { (void)ones({2}).item<float>(); }), "item([2] f32): it has 2 elements, not one");
  EXPECT_EQ(error_of([] { (void)ones({0}).item<float>(); }), "item([0] f32): it has 0 elements, not one");
}

TEST(Values, ItemIsADoubleUnlessAsked) {
  const auto value = tensor({7}).item();
  static_assert(std::is_same_v<decltype(value), const double>);
  EXPECT_EQ(value, 7);
}

TEST(Values, StrideAndKind) {
  const Tensor x = zeros({2, 3});
  EXPECT_EQ(x.stride(0), 3);
  EXPECT_EQ(x.t().stride(-1), 3);
  EXPECT_THROW(x.stride(2), IndexError);
  EXPECT_TRUE(x.is_floating_point());
  EXPECT_FALSE(tensor({1}).is_floating_point());
}

TEST(Values, ToVectorIsRowMajorForEveryView) {
  const Tensor x = arange(6).view({2, 3});
  EXPECT_EQ(x.t().to_vector<int>(), std::vector<int>({0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(x.flip({0, 1}).to_vector<double>(), Numbers({5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(x[0].pad({{1, 1}}).to_vector<float>(), std::vector<float>({0, 0, 1, 2, 0}));
  EXPECT_EQ(x[0].expand({2, 3}).to_vector<int64_t>(), std::vector<int64_t>({0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(x.to_vector<bool>(), std::vector<bool>({false, true, true, true, true, true}));
  EXPECT_TRUE(zeros({0, 4}).to_vector<float>().empty());
}

TEST(Memory, FromCopies) {
  std::vector<float> values = {1, 2, 3, 4};
  const Tensor x = Tensor::from(std::span<const float>(values), {2, 2});
  values[0] = 9;
  EXPECT_EQ(numbers(x), Numbers({1, 2, 3, 4}));
  EXPECT_EQ(Tensor::from(std::span<const float>(values)).shape(), Shape({4}));
  EXPECT_EQ(error_of([&] { Tensor::from(std::span<const float>(values), {3}); }),
            "from(): 4 values do not fill shape [3] of 3 elements");
  EXPECT_EQ(Tensor::from(std::span<const float>(), {0, 7}).numel(), 0);
  EXPECT_EQ(numbers(Tensor::from(values, {2, 2})), Numbers({9, 2, 3, 4}));
  EXPECT_EQ(Tensor::from(std::vector<int64_t>{1, 2}).dtype(), i64);
}

TEST(Memory, FromVectorTakesAShapeAndADtype) {
  EXPECT_EQ(from_vector(std::vector<double>{1, 2}).dtype(), f32);
  EXPECT_EQ(from_vector(std::vector<int>{1, 2}, Shape{2, 1}).shape(), Shape({2, 1}));
  EXPECT_EQ(from_vector(std::vector<bool>{true, false}).dtype(), boolean);
  EXPECT_EQ(from_vector(std::vector<int>{1, 2}, std::nullopt, f64).dtype(), f64);
  EXPECT_EQ(from_vector(std::vector<int64_t>{}).dtype(), i64);
  EXPECT_EQ(from_vector(std::vector<bool>{}).dtype(), boolean);
  EXPECT_EQ(from_vector(std::vector<float>{}).dtype(), f32);
  EXPECT_EQ(tensor(std::initializer_list<int>{}).dtype(), i64);
  EXPECT_NE(error_of([] {
              from_vector(std::vector<int>{1, 2}, Shape{3});
            }).find("2 values do not fill shape [3]"),
            std::string::npos);
}

TEST(Memory, FromVectorCopiesAndConvertsEveryType) {
  const auto converts = []<class T>(std::vector<T> values) {
    for (const DType dtype : {f32, f64, f16, i64, i32, i8, u8}) {
      const Tensor x = from_vector(values, Shape{3, 1}, dtype);
      EXPECT_EQ(x.dtype(), dtype);
      EXPECT_EQ(numbers(x), Numbers({3, 0, 120}));
    }
    const Tensor x = from_vector(values);
    EXPECT_EQ(x.dtype(), std::is_floating_point_v<T> ? f32 : i64);
    values[0] = 9;
    EXPECT_EQ(numbers(x), Numbers({3, 0, 120}));
  };
  converts(std::vector<float>{3, 0, 120}), converts(std::vector<double>{3, 0, 120});
  converts(std::vector<int64_t>{3, 0, 120}), converts(std::vector<int>{3, 0, 120});
  converts(std::vector<int8_t>{3, 0, 120}), converts(std::vector<uint8_t>{3, 0, 120});
  converts(std::vector<size_t>{3, 0, 120}), converts(std::vector<long long>{3, 0, 120});
  EXPECT_EQ(from_vector(std::vector<double>{0, 0.5, -2}, {}, boolean).to_vector<int>(), std::vector<int>({0, 1, 1}));
}

TEST(Memory, FromVectorRefusesWhatTheDtypeDoesNotHold) {
  const auto refuses = [](const auto& values, DType dtype, const std::string& why) {
    EXPECT_EQ(error_of([&] { from_vector(values, std::nullopt, dtype); }), "from_vector(): the value " + why);
  };
  refuses(std::vector<int>{1, 300, 400}, u8, "300 does not fit into u8, which holds 0 to 255");
  refuses(std::vector<int8_t>{1, -1}, u8, "-1 does not fit into u8, which holds 0 to 255");
  refuses(std::vector<uint8_t>{1, 200}, i8, "200 does not fit into i8, which holds -128 to 127");
  refuses(std::vector<float>{1.5f, std::numeric_limits<float>::quiet_NaN()}, i32,
          "nan does not fit into i32, which holds -2147483648 to 2147483647");
  refuses(std::vector<uint64_t>{1, uint64_t{1} << 63}, i64,
          "9223372036854775808 does not fit into i64, which holds -9223372036854775808 to 9223372036854775807");
}

TEST(Memory, TensorTakesAVector) {
  EXPECT_EQ(numbers(tensor(std::vector<float>{1, 2})), Numbers({1, 2}));
  EXPECT_EQ(tensor(std::vector<int>{1}).dtype(), i64);
  EXPECT_EQ(tensor(std::vector<int>{1}, f64).dtype(), f64);
}

TEST(Memory, WrapBorrowsAndReleasesOnce) {
  float values[4] = {1, 2, 3, 4};
  int released = 0;
  auto release = [](void* count) { ++*static_cast<int*>(count); };
  {
    Tensor view;
    {
      Tensor x = Tensor::wrap(values, {2, 2}, release, &released);
      EXPECT_EQ(x.data<float>(), values);
      x.add_(10.0);
      view = x[1];
    }
    EXPECT_EQ(released, 0) << "a view holds it";
    EXPECT_EQ(numbers(view), Numbers({13, 14}));
  }
  EXPECT_EQ(released, 1);
  EXPECT_EQ(values[0], 11.0f);
  EXPECT_THROW(Tensor::wrap(static_cast<float*>(nullptr), {2}), Error);
  EXPECT_EQ(Tensor::wrap(static_cast<float*>(nullptr), {0}).numel(), 0);
  EXPECT_THROW(Tensor::wrap(values, {int64_t{1} << 40, int64_t{1} << 40}), ShapeError);
}

TEST(Comparison, AllcloseAndEqual) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const Tensor x = tensor({1.0, 2.0}, f64);
  EXPECT_TRUE(equal(x, x.clone()));
  EXPECT_FALSE(equal(x, x + 1e-12));
  EXPECT_FALSE(equal(x, ones({3}, f64)));
  EXPECT_TRUE(equal(x.expand({2, 2}).t().t(), x.expand({2, 2}).clone()));
  EXPECT_TRUE(equal(zeros({0}), zeros({0})));
  EXPECT_TRUE(allclose(x, x + 1e-6));
  EXPECT_FALSE(allclose(x, x + 1e-4));
  EXPECT_TRUE(allclose(x, x + 1e-4, 0.0, 1e-3));
  EXPECT_TRUE(allclose(x, x * 1.001, 1e-2));
  EXPECT_FALSE(allclose(tensor({nan}), tensor({nan})));
  EXPECT_TRUE(allclose(tensor({nan, 1.0}), tensor({nan, 1.0}), 1e-5, 1e-8, true));
  EXPECT_FALSE(allclose(tensor({nan, 1.0}), tensor({1.0, nan}), 1e-5, 1e-8, true));
  EXPECT_TRUE(allclose(tensor({inf}), tensor({inf})));
  EXPECT_FALSE(allclose(tensor({inf}), tensor({-inf})));
  EXPECT_FALSE(allclose(tensor({inf}), tensor({1.0})));
  EXPECT_FALSE(allclose(tensor({1.0}), tensor({inf})));
}

TEST(Attempt, GivesAValueOrTheError) {
  const Tensor a = ones({2}), b = ones({3});
  const Result<Tensor> good = attempt([&] { return a + a; });
  ASSERT_TRUE(bool(good));
  EXPECT_EQ(numbers(good.value()), Numbers({2, 2}));
  const Result<Tensor> bad = attempt([&] { return a + b; });
  ASSERT_FALSE(bool(bad));
  EXPECT_EQ(std::string(bad.error().what()).find("add([2] f32, [3] f32)"), 0u) << bad.error().what();
  EXPECT_THROW(bad.value(), ShapeError);
  EXPECT_NE(dynamic_cast<const ShapeError*>(&bad.error()), nullptr);
  EXPECT_EQ(numbers(attempt([&] { return a + a; }).value()), Numbers({2, 2}));
}

TEST(Attempt, KeepsTheErrorAsItWas) {
  const Result<int> made = IndexError("too far", {"a", "b"});
  EXPECT_FALSE(bool(made));
  EXPECT_STREQ(made.error().what(), "too far");
  EXPECT_EQ(made.error().items, (std::vector<std::string>{"a", "b"}));
  EXPECT_THROW(made.value(), IndexError);
  Result<int> copy = 7;
  EXPECT_EQ(copy.value(), 7);
  copy = made;
  EXPECT_EQ(&copy.error(), &made.error());  // shared, and alive as long as any of them
  EXPECT_THROW(Result<void>(DtypeError("no")).value(), DtypeError);
}

TEST(Attempt, ASuccessHasNoError) {
  for (const auto& ask : {std::function<void()>([] { (void)Result<int>(1).error(); }),
                          std::function<void()>([] { (void)Result<void>().error(); })}) {
    try {
      ask();
      FAIL();
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "this result holds no error: it succeeded");
    }
  }
}

TEST(Attempt, OfAFunctionWithoutAResult) {
  Tensor a = ones({2});
  const Result<void> good = attempt([&] { a.add_(1.0); }), bad = attempt([&] { a.add_(ones({3})); });
  EXPECT_TRUE(bool(good));
  good.value();
  EXPECT_FALSE(bool(bad));
  EXPECT_THROW(bad.value(), ShapeError);
}

TEST(Attempt, CatchesNothingButWeftsErrors) {
  EXPECT_THROW(attempt([]() -> int { throw std::runtime_error("another"); }), std::runtime_error);
}

}  // namespace
}  // namespace weft
