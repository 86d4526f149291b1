// Arithmetic of mixed dtypes: what is promoted, what wraps, what is written in place; and temporaries whose memory is
// used again.
#include <gtest/gtest.h>

#include <limits>

#include "tensor/functions/binary.h"
#include "tensor/functions/blend.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/special.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft {
namespace {

using Numbers = std::vector<double>;
Numbers numbers(const Tensor& x) { return x.to_vector<double>(); }
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- dtypes ----

TEST(Arithmetic, IntegersWithoutAxesAreDividedInF32) {
  const Tensor bytes = full({1}, 200, u8), wide = tensor(1000);
  EXPECT_EQ((bytes / wide).dtype(), f32);
  EXPECT_FLOAT_EQ((bytes / wide).item<float>(), 0.2f);
  EXPECT_FLOAT_EQ((wide / bytes).item<float>(), 5.0f);
  EXPECT_FLOAT_EQ((bytes / 1000).item<float>(), 0.2f);
}

TEST(Arithmetic, ANumberInATensorDoesNotWidenHalvesButIsComputedWithInF32) {
  const Tensor large = tensor(70000.f);  // beyond f16
  for (const DType dtype : {f16, bf16}) {
    const Tensor half = full({3}, 0.5, dtype);
    for (const Tensor& product : {half * large, large * half, half * tensor(70000.0, f64)}) {
      EXPECT_EQ(product.dtype(), dtype);
      EXPECT_EQ(numbers(product), numbers(half * 70000.0));
    }
  }
  EXPECT_EQ(numbers(full({1}, 60000.0, f16) - large), Numbers({-10000}));
  EXPECT_EQ(numbers(large / full({1}, 10.0, f16)), Numbers({7000}));
  EXPECT_EQ(numbers(full({1}, 0.5, f16).mul_(large)), Numbers({35008}));
  EXPECT_EQ((full({}, 0.5, f16) * large).dtype(), f32);
}

TEST(Arithmetic, ASumWithAMultipleIsRoundedOnceAndKeepsItsDtype) {
  const Tensor x = full({1}, 256.0, bf16), one = ones({1}, bf16);  // 257 lies halfway between 256 and 258
  EXPECT_EQ(numbers(add(x, one, 1.001)), Numbers({258}));
  EXPECT_EQ(numbers(sub(x, one, -1.001)), Numbers({258}));
  EXPECT_EQ(numbers(x.clone().add_(one, 1.001)), Numbers({258}));
  EXPECT_EQ(add(ones({2}, f16), ones({2}, i64), 0.5).dtype(), f16);
  EXPECT_EQ(add(ones({2}, i32), ones({2}, i64), 2).dtype(), i64);
}

TEST(Arithmetic, ASmallValueKeepsTheProductOfLargeOperandsInRange) {
  for (const DType dtype : {f32, f64, bf16}) {
    const double power = dtype == f64 ? 0x1p600 : 0x1p100;  // whose square is infinite
    const Tensor zero = zeros({37}, dtype), large = full({37}, power, dtype);
    for (const Tensor& product :
         {addcmul(zero, large, large, 1 / power), zero.clone().addcmul_(large, large, 1 / power),
          addcdiv(zero, large, 1.0 / large, 1 / power), zero.clone().addcdiv_(large, 1.0 / large, 1 / power)})
      EXPECT_EQ(numbers(product), numbers(large)) << name_of(dtype);
    EXPECT_EQ(numbers(addcmul(zero, large, large, 0)), numbers(zero)) << name_of(dtype);
  }
  const Tensor bytes = full({2}, 100, i8);  // a floating value makes f32 of them before they are multiplied
  EXPECT_EQ(numbers(addcmul(bytes, bytes, bytes, 0.5)), Numbers({5100, 5100}));
}

TEST(Arithmetic, FunctionsOfSeveralOpsComputeInTheDtypeOfAllTheirInputs) {
  const Tensor x = full({2}, 1.0, f64), half = tensor({1.0, 1.0078125}, bf16);  // whose square is no bf16
  EXPECT_EQ(numbers(addcmul(x, half, half)), Numbers({2, 1 + 1.0078125 * 1.0078125}));
  EXPECT_EQ(numbers(addcdiv(x, half, half + 2.0)), numbers(x + half.to(f64) / (half + 2.0).to(f64)));
  EXPECT_EQ(numbers(lerp(x, x * 2.0, half - 0.75)), numbers(lerp(x, x * 2.0, (half - 0.75).to(f64))));
  EXPECT_EQ(numbers(lerp(half, half * 2.0 - 3.0, x * 0.25)),
            numbers(lerp(half.to(f64), (half * 2.0 - 3.0).to(f64), x * 0.25)));
  EXPECT_EQ(numbers(logaddexp2(x, half)), numbers(logaddexp2(x, half.to(f64))));
  EXPECT_EQ(logaddexp2(tensor(1.0, f64), tensor({1})).dtype(), f64);
  EXPECT_EQ(logaddexp2(tensor({1}), half).dtype(), bf16);
  EXPECT_EQ(logaddexp2(tensor({1}), tensor({2})).dtype(), f32);
  EXPECT_EQ(clip(tensor(2.0, f64), tensor({1}), tensor({3.0})).dtype(), f32);
  EXPECT_NEAR(sinc(tensor({1.0}, f16)).item<double>(), 0, 1e-7) << "an angle of 16 bits is off by 1e-3";
}

TEST(Arithmetic, ZerosKeepTheirSignAndNormsHaveNone) {
  const Tensor zeros_of_both = tensor({-0.0, 0.0, -0.0});
  for (const DType dtype : {f32, f64, bf16, f16}) {
    const Tensor x = zeros_of_both.to(dtype);
    EXPECT_TRUE(equal(signbit(sin(x)), signbit(x))) << dtype;
    for (const double p : {0.5, 1.0, 2.0, 3.0, kInfinity, -kInfinity})
      for (const Axes& axes : {Axes{}, Axes{0}})
        EXPECT_FALSE(signbit(norm(x[0].unsqueeze(0), p, axes)).any().item<bool>()) << dtype << p;
  }
}

TEST(Arithmetic, SubtractingAnIntegerFromFloatingNumbersIsExact) {
  for (const DType dtype : {f32, f64, bf16, f16}) {
    const Tensor zero = tensor({-0.0}, dtype);
    EXPECT_TRUE(signbit(zero - 0).item<bool>()) << dtype;
    EXPECT_TRUE(signbit(zero.clone().sub_(0)).item<bool>()) << dtype;
    EXPECT_TRUE(signbit(zero.clone() - 0).item<bool>()) << dtype << ", of a temporary";
  }
  EXPECT_EQ(numbers(tensor({1.0f}) - INT64_MIN), Numbers({0x1p63}));
  EXPECT_EQ(numbers(tensor({1.0}, f64).sub_(INT64_MIN)), Numbers({0x1p63}));
}

TEST(Arithmetic, IntegersThatDoNotFitWrapAsInPyTorch) {
  const Tensor bytes = full({2}, 250, u8);
  EXPECT_EQ(numbers(bytes + 300), Numbers({38, 38}));
  EXPECT_EQ(numbers(bytes + tensor(300)), Numbers({38, 38}));
  EXPECT_EQ(numbers(bytes - 251), Numbers({255, 255}));
}

TEST(Arithmetic, AnExponentThatDoesNotFitDoesNotWrap) {
  for (const DType dtype : {u8, i8}) {
    const Tensor x = tensor({1, 2, 3}).to(dtype);
    EXPECT_EQ(numbers(pow(x, 256)), Numbers({1, 0, 1})) << dtype;
    EXPECT_EQ(numbers(pow(x, 128)), Numbers({1, 0, 1})) << dtype;
    EXPECT_EQ(numbers(pow(x, 257)), Numbers({1, 0, 3})) << dtype;
  }
  EXPECT_EQ(numbers(pow(tensor({2, 3}).to(i16), 1 << 16)), Numbers({0, 1}));
  EXPECT_EQ(numbers(pow(tensor({2, -1}).to(i32), (int64_t{1} << 32) + 1)), Numbers({0, -1}));
}

TEST(Arithmetic, ComparisonsWithIntegersThatDoNotFitAreExact) {
  const Tensor bytes = full({1}, 44, u8);  // 300 modulo 256
  EXPECT_FALSE((bytes == 300).item<bool>());
  EXPECT_TRUE((bytes != 300).item<bool>());
  EXPECT_TRUE((bytes < 300).item<bool>());
  EXPECT_TRUE((bytes > -1).item<bool>());
  EXPECT_TRUE((300 > bytes).item<bool>());
  EXPECT_FALSE((full({1}, -1, i8) == 255).item<bool>());
  EXPECT_TRUE((full({1}, INT32_MAX, i32) < int64_t{1} << 40).item<bool>());
  EXPECT_TRUE((bytes == 44).item<bool>());
}

// ---- in place ----

TEST(Arithmetic, ASumWithAMultipleOfBoolIsBool) {
  const Tensor a = tensor({true, false, true, false}), b = tensor({true, true, false, false});
  for (const int64_t alpha : {1, 3, -1}) {
    const Tensor sum = add(a, b, alpha);
    EXPECT_EQ(sum.dtype(), boolean) << alpha;
    EXPECT_EQ(numbers(sum), Numbers({1, 1, 1, 0})) << alpha;
    EXPECT_EQ(numbers(a.clone().add_(b, alpha)), Numbers({1, 1, 1, 0})) << alpha;
    EXPECT_THROW(sub(a, b, alpha), DtypeError) << alpha;  // as without alpha
    EXPECT_THROW(a.clone().sub_(b, alpha), DtypeError) << alpha;
  }
  EXPECT_EQ(numbers(add(a, b, 0)), numbers(a));
  EXPECT_EQ(add(a, tensor({1, 2, 3, 4}), 2).dtype(), i64);
  EXPECT_EQ(numbers(add(tensor({1, 2, 3, 4}), b, 2)), Numbers({3, 4, 3, 4}));
}

TEST(Arithmetic, AddcmulOfBoolIsBool) {
  const Tensor x = tensor({true, false, false, false}), a = tensor({true, true, false, true});
  for (const int64_t value : {1, 2}) {
    const Tensor sum = addcmul(x, a, a, value);
    EXPECT_EQ(sum.dtype(), boolean) << value;
    EXPECT_EQ(numbers(sum), Numbers({1, 1, 0, 1})) << value;
    EXPECT_EQ(numbers(x.clone().addcmul_(a, a, value)), Numbers({1, 1, 0, 1})) << value;
  }
  const Tensor integers = tensor({1, 2, 3, 4});
  EXPECT_EQ(numbers(addcmul(integers, integers, a, 2)), Numbers({3, 6, 3, 12}));
  EXPECT_EQ(numbers(integers.clone().addcmul_(integers, a, 2)), Numbers({3, 6, 3, 12}));
  EXPECT_EQ(numbers(addcmul(integers, integers, a, 0.5)), Numbers({1.5, 3, 3, 6}));
}

TEST(ArithmeticInPlace, IsComputedInThePromotedDtype) {
  Tensor half = full({1}, 60000.0, f16);
  EXPECT_EQ(numbers(half.sub_(tensor({70000.f}))), Numbers({-10000}));
  EXPECT_EQ(half.dtype(), f16);
  Tensor small = full({1}, 1e-30);
  EXPECT_FLOAT_EQ(small.mul_(full({1}, 1e40, f64)).item<float>(), 1e10f);
  EXPECT_EQ(small.dtype(), f32);
  Tensor byte = full({1}, 200, u8);
  EXPECT_EQ(numbers(byte.sub_(full({1}, 300, i64))), Numbers({156}));  // -100 modulo 256
  Tensor row = full({2, 2}, 60000.0, f16);
  EXPECT_EQ(numbers(row.t().sub_(tensor({70000.f, 60000.f}))), Numbers({-10000, 0, -10000, 0}));
}

TEST(ArithmeticInPlace, ATensorWithoutAxesIsCastToWhatItIsWrittenTo) {
  Tensor x = ones({2});
  x.add_(tensor(1.5, f64)).mul_(tensor(2)).div_(tensor(5.0, f64));
  EXPECT_EQ(x.dtype(), f32);
  EXPECT_EQ(numbers(x), Numbers({1, 1}));
}

TEST(ArithmeticInPlace, AnOverlappingPartOfAnotherDtypeIsReadFirst) {
  Tensor x = full({3}, 2.0, f16);
  x.mul_(x.to(f32));
  EXPECT_EQ(numbers(x), Numbers({4, 4, 4}));
}

TEST(ArithmeticInPlace, AResultOfAHigherKindIsRefused) {
  EXPECT_THROW(ones({2}, i64).add_(ones({2}, f16)), DtypeError);
  EXPECT_THROW(ones({2}, boolean).add_(ones({2}, i64)), DtypeError);
  EXPECT_THROW(ones({2}, f16).add_(ones({3, 2})), ShapeError);
  EXPECT_THROW(ones({2}, f16).add_(ones({3})), ShapeError);
}

// ---- temporaries ----

TEST(Temporaries, LendTheirMemoryToTheResult) {
  Tensor x = ones({4}), y = full({4}, 2.0);
  const void* x_memory = x.data<float>();
  const void* y_memory = y.data<float>();
  Tensor z = std::move(x) + y;
  EXPECT_EQ(z.data<float>(), x_memory);
  EXPECT_FALSE(x.defined());  // NOLINT(bugprone-use-after-move): what is left of it
  z = 2.0 - std::move(z);
  EXPECT_EQ(z.data<float>(), x_memory);
  z = z.detach() / std::move(y);
  EXPECT_EQ(z.data<float>(), y_memory);
  EXPECT_EQ(numbers(z), Numbers({-0.5, -0.5, -0.5, -0.5}));
  z = pow(maximum(minimum(std::move(z), ones({4})) * 4.0, ones({4}) * -3.0) + 1.0, 2);
  EXPECT_EQ(z.data<float>(), y_memory);
  EXPECT_EQ(numbers(z), Numbers({1, 1, 1, 1}));
  z = std::move(z) + std::move(z);
  EXPECT_EQ(numbers(z), Numbers({2, 2, 2, 2}));
}

TEST(Temporaries, KeepTheirMemoryWhereSomethingElseHoldsItOrItDoesNotFit) {
  Tensor x = ones({4});
  const Tensor same = x, view = x.view({2, 2});
  const Tensor sum = std::move(x) + 1.0;
  EXPECT_EQ(numbers(same), Numbers({1, 1, 1, 1}));
  EXPECT_EQ(numbers(sum), Numbers({2, 2, 2, 2}));
  Tensor narrow = ones({4}, f16), column = ones({4, 1}), whole = ones({4}, i64);
  EXPECT_EQ((std::move(narrow) + ones({4})).dtype(), f32);
  EXPECT_EQ((std::move(column) + ones({4})).shape(), Shape({4, 4}));
  EXPECT_EQ((std::move(whole) * 0.5).dtype(), f32);
  // NOLINTNEXTLINE(bugprone-use-after-move): what is left of them
  EXPECT_TRUE(narrow.defined() && column.defined() && whole.defined());
  EXPECT_EQ(numbers(narrow), Numbers({1, 1, 1, 1}));
}

TEST(Temporaries, StayDefinedWhereTheCallFails) {
  Tensor x = ones({4});
  EXPECT_THROW(std::move(x) + ones({3}), ShapeError);
  EXPECT_EQ(numbers(x), Numbers({1, 1, 1, 1}));  // NOLINT(bugprone-use-after-move): what is left of it
}

TEST(Temporaries, NumbersMayStandOnEitherSide) {
  const Tensor t = full({1}, 4);
  for (const Tensor& x : {t + 1, 1 + t, t.clone() + 1, 1 + t.clone(), add(t, 1), add(1, t)})
    EXPECT_EQ(x.item<int>(), 5);
  for (const Tensor& x : {1 - t, 1 - t.clone(), sub(1, t)}) EXPECT_EQ(x.item<int>(), -3);
  for (const Tensor& x : {t - 1, t.clone() - 1, sub(t, 1)}) EXPECT_EQ(x.item<int>(), 3);
  for (const Tensor& x : {t * 2.0, 2.0 * t, t.clone() * 2.0, 2.0 * t.clone(), mul(2.0, t)})
    EXPECT_EQ(x.item<double>(), 8);
  for (const Tensor& x : {2 / t, 2 / t.clone(), div(2, t)}) EXPECT_EQ(x.item<double>(), 0.5);
  for (const Tensor& x : {pow(2, t), pow(2, t.clone()), pow(t, 2), pow(t.clone(), 2)}) EXPECT_EQ(x.item<int>(), 16);
  EXPECT_TRUE((2.0 == t / 2).item<bool>());
}

// ---- constructors ----

TEST(Constructors, RefuseIntegersThatTheDtypeDoesNotHold) {
  EXPECT_THROW(full({2}, 300, u8), Error);
  EXPECT_THROW(full({2}, -1, u8), Error);
  EXPECT_THROW(full_like(ones({2}, i8), 128), Error);
  EXPECT_THROW(ones({2}, u8).fill_(-1), Error);
  EXPECT_THROW(randint(0, 300, {2}, u8), Error);
  EXPECT_THROW(randint(-1, 3, {2}, u8), Error);
  EXPECT_EQ(randint(0, 256, {2}, u8).dtype(), u8);
  EXPECT_EQ(numbers(full({1}, 255, u8)), Numbers({255}));
  EXPECT_EQ(numbers(full({1}, -128, i8)), Numbers({-128}));
  EXPECT_EQ(numbers(full({1}, 300, boolean)), Numbers({1}));
  try {
    full({2}, 300, u8);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "full(): the value 300 does not fit into u8, which holds 0 to 255");
  }
}

TEST(Constructors, LinspaceAcrossMoreThanF64Holds) {
  EXPECT_EQ(linspace(-1e308, 1e308, 3, f64).to_vector<double>(), std::vector<double>({-1e308, 0, 1e308}));
}

TEST(Constructors, RefuseSizesThatOverflow) {
  EXPECT_THROW(linspace(0, 1, INT64_MAX), ShapeError);
  EXPECT_THROW(linspace(0, 1, INT64_MAX / 4, f64), ShapeError);
  EXPECT_THROW(eye(int64_t{1} << 40), ShapeError);
  EXPECT_THROW(eye(int64_t{1} << 31, int64_t{1} << 31), ShapeError);
  EXPECT_THROW(arange(INT64_MIN, INT64_MAX), ShapeError);
  EXPECT_THROW(arange(0.0, 1e300), ShapeError);
  EXPECT_THROW(arange(0.0, std::numeric_limits<double>::quiet_NaN()), ShapeError);
}

TEST(Constructors, CountIntegersExactly) {
  constexpr int64_t kLarge = int64_t{1} << 60;  // neighbors are the same double
  EXPECT_EQ(arange(kLarge, kLarge + 3).to_vector<int64_t>(), (std::vector<int64_t>{kLarge, kLarge + 1, kLarge + 2}));
  EXPECT_EQ(arange(INT64_MAX, INT64_MIN, INT64_MIN).numel(), 2);
  EXPECT_EQ(numbers(arange(5, 0, -2)), Numbers({5, 3, 1}));
  EXPECT_EQ(numbers(arange(0, 5, 2)), Numbers({0, 2, 4}));
  EXPECT_EQ(numbers(arange(0, 6, 2)), Numbers({0, 2, 4}));
  EXPECT_EQ(arange(0, 5, -1).numel(), 0);
  EXPECT_EQ(numbers(arange(uint64_t{3}, uint64_t{5})), Numbers({3, 4}));
  EXPECT_THROW(arange(size_t{0} - 1), Error) << "2^64 - 1 numbers, not none";
}

TEST(Constructors, LikeATensorKeepItsMemoryOrder) {
  const Tensor x = ones({2, 3}).t();
  for (const Tensor& like : {zeros_like(x), ones_like(x), full_like(x, 7, u8), empty_like(x)})
    EXPECT_EQ(like.strides(), x.strides());
  EXPECT_EQ(numbers(full_like(x, 7, u8)), Numbers({7, 7, 7, 7, 7, 7}));
  EXPECT_TRUE(zeros_like(x.slice(0, 0, 3, 2)).is_contiguous());
}

TEST(Constructors, OnADeviceThatIsNotThereAreErrors) {
  EXPECT_THROW(zeros({2}, f32, Device::extension(7)), Error);
  EXPECT_THROW(arange(0, 3, 1, std::nullopt, Device::extension(7)), Error);
}

// ---- numbers beyond a dtype ----

TEST(Arithmetic, AnUnsignedNumberAbove2To63IsLargerThanEveryInteger) {
  const Tensor x = tensor({int64_t{5}, INT64_MAX});
  for (const uint64_t above : {uint64_t{1} << 63, UINT64_MAX}) {
    EXPECT_EQ(numbers(x < above), Numbers({1, 1}));
    EXPECT_EQ(numbers(x >= above), Numbers({0, 0}));
    EXPECT_EQ(numbers(x == above), Numbers({0, 0}));
    EXPECT_EQ(numbers(tensor({true}) < above), Numbers({1}));
    EXPECT_EQ(clip(x, std::nullopt, above).to_vector<int64_t>(), std::vector<int64_t>({5, INT64_MAX}));
    EXPECT_THROW(clip(x, above), Error);
    EXPECT_THROW(x + above, Error);
    EXPECT_THROW(x - above, Error);
    EXPECT_THROW(x * above, Error);
    EXPECT_THROW(x.clone().sub_(above), Error);
    EXPECT_EQ((ones({}) - above).item<float>(), -static_cast<float>(above));
    EXPECT_EQ((ones({}, i64) / above).item<float>(), 1 / static_cast<float>(above));
    EXPECT_EQ((above / ones({}, i64)).item<float>(), static_cast<float>(above));
  }
}

TEST(Arithmetic, IntegersAreCloseToTheLastDigit) {
  const int64_t large = int64_t{1} << 53;
  EXPECT_FALSE(isclose(tensor({large}), tensor({large + 1}), {.rtol = 0, .atol = 0}).item<bool>());
  EXPECT_TRUE(isclose(tensor({large}), tensor({large + 1}), {.rtol = 0, .atol = 1}).item<bool>());
  EXPECT_FALSE(isclose(tensor({INT64_MIN}), tensor({INT64_MAX}), {.rtol = 0, .atol = 1}).item<bool>());
  EXPECT_TRUE(allclose(tensor({kInfinity, 1.0}), tensor({kInfinity, 1.0})));
}

// ---- 16 bits are rounded once ----

TEST(Arithmetic, QuotientsOf16BitsAreTruncatedBeforeTheyAreRounded) {
  EXPECT_EQ(div(full({1}, 512, bf16), full({1}, 171, bf16), "trunc").item(), 2);
  EXPECT_EQ(div(full({1}, 512, bf16), 171, "trunc").item(), 2);
}

TEST(Arithmetic, DecimalsAreRoundedWhereTheirPowerOverflows) {
  EXPECT_EQ(numbers(round(tensor({100.0, 0.5}, f16), 3)), Numbers({100, 0.5}));
  EXPECT_EQ(numbers(round(tensor({1.5, 0.0, -kInfinity}, f64), 400)), Numbers({1.5, 0, -kInfinity}));
  EXPECT_EQ(numbers(round(tensor({1.5, 0.0, kInfinity}), -400)), Numbers({0, 0, kInfinity}));
  EXPECT_EQ(numbers(round(tensor({1.5, -kInfinity}), INT64_MIN)), Numbers({0, -kInfinity}));
  EXPECT_EQ(numbers(round(tensor({1234.0, 1e30}), -2)), Numbers({1200, numbers(round(tensor({1e30}), -2))[0]}));
}

TEST(Arithmetic, LerpAndLogaddexp2Of16BitsAreRoundedOnce) {
  const Tensor a = tensor({1.0, 300.0}), b = tensor({2.5, -77.0}), part = tensor({0.3, 0.7});
  for (const DType dtype : {f16, bf16}) {
    const Tensor x = a.to(dtype), y = b.to(dtype), w = part.to(dtype);
    EXPECT_TRUE(equal(lerp(x, y, w), lerp(x.to(f32), y.to(f32), w.to(f32)).to(dtype)));
    EXPECT_TRUE(equal(logaddexp2(x, y), logaddexp2(x.to(f32), y.to(f32)).to(dtype)));
  }
}

// ---- by the names of NumPy and PyTorch ----

TEST(Arithmetic, DivisorsAndMultiples) {
  EXPECT_EQ(numbers(gcd(tensor({0, -4, 6, 12}), tensor({0, 6, -9, 0}))), Numbers({0, 2, 3, 12}));
  EXPECT_EQ(numbers(lcm(tensor({0, -4, 6, 12}), tensor({0, 6, -9, 0}))), Numbers({0, 12, 18, 0}));
  EXPECT_EQ(numbers(gcd(tensor({{4}, {6}}), tensor({6, 9}))), Numbers({2, 1, 6, 3}));
  EXPECT_EQ(gcd(ones({2}, i8), ones({2}, u8)).dtype(), i16);
  EXPECT_THROW(gcd(ones({2}), ones({2})), DtypeError);
}

TEST(Arithmetic, FloatPowerAndLdexp) {
  EXPECT_EQ(float_power(tensor({2, -3}), 2).dtype(), f64);
  EXPECT_EQ(numbers(float_power(tensor({2, -4}), tensor({-1, 2}))), Numbers({0.5, 16}));
  EXPECT_EQ(numbers(ldexp(tensor({1.0, 2.0}), tensor({3, -1}))), Numbers({8, 1}));
  EXPECT_EQ(ldexp(tensor({1, 2}), tensor({3, -1})).dtype(), f32);
  EXPECT_EQ(ldexp(ones({1}, f64), tensor({1000})).item(), 0x1p1000);
}

}  // namespace
}  // namespace weft
