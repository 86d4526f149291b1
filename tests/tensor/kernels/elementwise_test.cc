// Every element-wise kernel against its definition in double: all dtypes, odd lengths, every kind of strides, special
// values.
#include <gtest/gtest.h>

#include "tensor/core/error.h"
#include "tensor/ops/activation_backward.h"
#include "tensor/ops/binary.h"
#include "tensor/ops/compare.h"
#include "tensor/ops/unary.h"
#include "tests/reference/activation.h"
#include "tests/tensor/kernels/any_array.h"

namespace weft::testing {
namespace {

/// The kernel of a descriptor.
template <class Op> auto kernel(const Op& op) {
  return [op](const auto&... operands) { op.cpu(operands...); };
}
template <class Op> auto kernel() { return kernel(Op{}); }
/// The same of an op with a number.
template <class Op> auto with(const Scalar& value) {
  Op op;
  op.value = value;
  return kernel(op);
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const std::vector<Shape> kShapes = {
    {},           {0, 3},          {1},     {7}, {64}, {257}, {3, 5}, {5, 1}, {16, 1, 9},
    {2, 3, 4, 5}, {2, 1, 3, 1, 5}, {67, 70}};  // the last one is tiled where permuted

// Values that a dtype can hold: small ones, and for floating dtypes the special ones at the front.
class Values {
 public:
  Values(DType dtype, Random& random, double low, double high)
      : dtype_(dtype), random_(random), low_(low), high_(high) {}
  double operator()() {
    static constexpr double kSpecial[] = {0.0, -0.0, kInf, -kInf, kNaN, 1.0, -1.0};
    if (is_floating(dtype_) && pick(random_, 0, 9) == 0) return kSpecial[pick(random_, 0, 6)];
    const double x = low_ + (high_ - low_) * static_cast<double>(pick(random_, 0, 1000)) / 1000;
    return is_floating(dtype_) ? x : std::trunc(x);
  }

 private:
  DType dtype_;
  Random& random_;
  double low_, high_;
};

struct Check {
  const char* name;
  double low = -4, high = 4;
  double factor = 1;    // of the dtype's precision
  double absolute = 0;  // allowed besides (cancellation), in the dtype's precision
};

std::string where_text(const Check& check, DType dtype, const Shape& shape) {
  return text(check.name, " ", dtype, " ", shape);
}

// Runs kernel(inputs..., out) on all shapes and layouts; want(x...) is the definition.
template <int inputs, class Kernel, class Want>
void check_all(const Check& check, std::span<const DType> dtypes, Kernel&& run, Want&& want,
               std::optional<DType> result = std::nullopt) {
  Random random(7);
  for (const DType dtype : dtypes) {
    for (const Shape& shape : kShapes) {
      for (int round = 0; round < 8; ++round) {
        std::vector<AnyArray> in;
        for (int k = 0; k < inputs; ++k) {
          in.emplace_back(shape, dtype, round == 0 ? Layout::row_major : kAllLayouts[pick(random, 0, 4)], random);
          in.back().fill(Values(dtype, random, dtype == u8 || dtype == boolean ? 0 : check.low, check.high));
        }
        AnyArray out(shape, result.value_or(dtype),
                     round == 0 ? Layout::row_major : kDistinctLayouts[pick(random, 0, 3)], random);
        if constexpr (inputs == 1)
          run(in[0].operand(), out.operand());
        else
          run(in[0].operand(), in[1].operand(), out.operand());
        const double precision = precision_of(out.dtype);
        for_each_index(shape, [&](const IntList& index) {
          double expected;
          if constexpr (inputs == 1)
            expected = static_cast<double>(want(in[0].get(index)));
          else
            expected = static_cast<double>(want(in[0].get(index), in[1].get(index)));
          expected = rounded(expected, out.dtype);
          const double absolute = check.absolute * precision + (out.dtype == f16 ? 6e-8 : 0);  // subnormal f16
          ASSERT_TRUE(close(out.get(index), expected, check.factor * precision, absolute))
              << where_text(check, dtype, shape) << " at " << index.to_string() << " of " << in[0].get(index) << ": "
              << out.get(index) << ", not " << expected;
        });
      }
    }
  }
}

constexpr DType kSignedNumbers[] = {f32, f64, bf16, f16, i64, i32, i16, i8};
constexpr DType kNumberDTypes[] = {f32, f64, bf16, f16, i64, i32, i16, i8, u8};

double root(double x) { return std::sqrt(x); }

TEST(Unary, Arithmetic) {
  check_all<1>({"neg"}, kSignedNumbers, kernel<op::Neg>(), [](double x) { return -x; });
  check_all<1>({"abs"}, kSignedNumbers, kernel<op::Abs>(), [](double x) { return std::fabs(x); });
  check_all<1>({"sign"}, kNumberDTypes, kernel<op::Sign>(),
               [](double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); });
  check_all<1>({"square"}, kNumberDTypes, kernel<op::Square>(), [](double x) { return x * x; });
  check_all<1>({"relu"}, kNumberDTypes, kernel<op::Relu>(), reference::relu);
  check_all<1>({"clip"}, kNumberDTypes, kernel(op::Clip{1, 3}), [](double x) { return x < 1 ? 1 : x > 3 ? 3 : x; });
  check_all<1>({"clip below"}, kNumberDTypes, kernel(op::Clip{std::nullopt, 2}),
               [](double x) { return x > 2 ? 2 : x; });
  check_all<1>({"clip above"}, kSignedNumbers, kernel(op::Clip{-1000, std::nullopt}),
               [](double x) { return x < -1000 ? -1000 : x; });
}

TEST(Unary, Roots) {
  check_all<1>({"sqrt"}, kFloatingDtypes, kernel<op::Sqrt>(), root);
  check_all<1>({"rsqrt"}, kFloatingDtypes, kernel<op::Rsqrt>(), [](double x) { return 1 / root(x); });
  check_all<1>({"reciprocal"}, kFloatingDtypes, kernel<op::Reciprocal>(), [](double x) { return 1 / x; });
}

TEST(Unary, Transcendental) {
  check_all<1>({"exp"}, kFloatingDtypes, kernel<op::Exp>(), [](double x) { return std::exp(x); });
  check_all<1>({"log"}, kFloatingDtypes, kernel<op::Log>(), [](double x) { return std::log(x); });
  check_all<1>({"log1p"}, kFloatingDtypes, kernel<op::Log1p>(), [](double x) { return std::log1p(x); });
  check_all<1>({"sin"}, kFloatingDtypes, kernel<op::Sin>(), [](double x) { return std::sin(x); });
  check_all<1>({"cos"}, kFloatingDtypes, kernel<op::Cos>(), [](double x) { return std::cos(x); });
  check_all<1>({"tanh"}, kFloatingDtypes, kernel<op::Tanh>(), [](double x) { return std::tanh(x); });
  check_all<1>({"erf"}, kFloatingDtypes, kernel<op::Erf>(), [](double x) { return std::erf(x); });
  check_all<1>({"sigmoid"}, kFloatingDtypes, kernel<op::Sigmoid>(), reference::sigmoid);
  check_all<1>({"softplus"}, kFloatingDtypes, kernel<op::Softplus>(), reference::softplus);
}

// x * sigmoid(x) and its like are -inf * 0 at -inf; the references do the same.
TEST(Unary, Activations) {
  check_all<1>({"silu", -4, 4, 2}, kFloatingDtypes, kernel<op::Silu>(), reference::silu);
  check_all<1>({"gelu", -4, 4, 1, 4}, kFloatingDtypes, kernel(op::GeluOp{false}), reference::gelu);
  check_all<1>({"gelu tanh", -4, 4, 1, 4}, kFloatingDtypes, kernel(op::GeluOp{true}), reference::gelu_tanh);
  check_all<1>({"leaky_relu"}, kFloatingDtypes, kernel(op::LeakyRelu{0.25}),
               [](double x) { return x > 0 ? x : x * 0.25; });
}

// Values PyTorch 2 gives in f64 (in f32 its exact form is NaN at +inf as well, which is no value to copy).
template <class T> void check_gated_ends() {
  const T inf = std::numeric_limits<T>::infinity();
  const auto value = [](auto run, T x) {
    const View view;
    T out{};
    run(Operand{&x, &view, dtype_of<T>}, Operand{&out, &view, dtype_of<T>});
    return out;
  };
  const auto exact = kernel(op::GeluOp{false});
  const auto tanh = kernel(op::GeluOp{true});
  const auto check = [&](auto run) {
    EXPECT_TRUE(std::isnan(value(run, -inf)));
    EXPECT_EQ(value(run, inf), inf);
    for (const T x : {T(-0.0), T(-1e4), T(-1e30)}) {
      EXPECT_EQ(value(run, x), 0) << x;
      EXPECT_TRUE(std::signbit(value(run, x))) << x;
    }
    EXPECT_FALSE(std::signbit(value(run, T(0))));
  };
  check(exact);
  check(tanh);
  check(kernel<op::Silu>());
}
TEST(Unary, GatedActivationsAtTheirEnds) {
  check_gated_ends<float>();
  check_gated_ends<double>();
}

TEST(Unary, Predicates) {
  check_all<1>(
      {"logical_not"}, kAllDtypes, kernel<op::LogicalNot>(), [](double x) { return x == 0; }, boolean);
  check_all<1>(
      {"isnan"}, kAllDtypes, kernel<op::IsNan>(), [](double x) { return std::isnan(x); }, boolean);
  check_all<1>(
      {"isfinite"}, kAllDtypes, kernel<op::IsFinite>(), [](double x) { return std::isfinite(x); }, boolean);
}

TEST(Unary, FusedGradients) {
  check_all<2>({"relu_backward"}, kFloatingDtypes, kernel<op::ReluBackward>(),
               [](double g, double y) { return y <= 0 ? 0 : g; });
  check_all<2>({"gelu_backward", -4, 4, 3, 8}, kFloatingDtypes, kernel(op::GeluBackward{{}, false}),
               [](double g, double x) {
                 return g * (reference::normal_cdf(x) + (std::isinf(x) ? 0 : x * reference::normal_density(x)));
               });
  check_all<2>({"gelu_backward tanh", -4, 4, 3, 16}, kFloatingDtypes, kernel(op::GeluBackward{{}, true}),
               [](double g, double x) {
                 const double k = std::sqrt(2 / M_PI), t = std::tanh(k * (x + 0.044715 * x * x * x));
                 return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x));
               });
}

TEST(Binary, Arithmetic) {
  check_all<2>({"add", 0, 60}, kNumberDTypes, kernel<op::Add>(), [](double a, double b) { return a + b; });
  check_all<2>({"sub"}, kSignedNumbers, kernel<op::Sub>(), [](double a, double b) { return a - b; });
  check_all<2>({"mul"}, kSignedNumbers, kernel<op::Mul>(), [](double a, double b) { return a * b; });
  check_all<2>({"div"}, kFloatingDtypes, kernel<op::Div>(), [](double a, double b) { return a / b; });
  check_all<2>({"pow"}, kFloatingDtypes, kernel<op::Pow>(), [](double a, double b) { return std::pow(a, b); });
  check_all<2>({"pow", 0, 3.5}, kNumberDTypes, kernel<op::Pow>(), [](double a, double b) { return std::pow(a, b); });
  check_all<2>({"maximum"}, kAllDtypes, kernel<op::Maximum>(),
               [](double a, double b) { return std::isnan(a) || std::isnan(b) ? kNaN : std::max(a, b); });
  check_all<2>({"minimum"}, kAllDtypes, kernel<op::Minimum>(),
               [](double a, double b) { return std::isnan(a) || std::isnan(b) ? kNaN : std::min(a, b); });
}

TEST(Binary, ComparisonsAndLogic) {
  check_all<2>(
      {"eq"}, kAllDtypes, kernel<op::Eq>(), [](double a, double b) { return a == b; }, boolean);
  check_all<2>(
      {"ne"}, kAllDtypes, kernel<op::Ne>(), [](double a, double b) { return a != b; }, boolean);
  check_all<2>(
      {"lt"}, kAllDtypes, kernel<op::Lt>(), [](double a, double b) { return a < b; }, boolean);
  check_all<2>(
      {"le"}, kAllDtypes, kernel<op::Le>(), [](double a, double b) { return a <= b; }, boolean);
  check_all<2>(
      {"gt"}, kAllDtypes, kernel<op::Gt>(), [](double a, double b) { return a > b; }, boolean);
  check_all<2>(
      {"ge"}, kAllDtypes, kernel<op::Ge>(), [](double a, double b) { return a >= b; }, boolean);
  check_all<2>(
      {"and"}, kAllDtypes, kernel<op::LogicalAnd>(), [](double a, double b) { return a != 0 && b != 0; }, boolean);
  check_all<2>(
      {"or"}, kAllDtypes, kernel<op::LogicalOr>(), [](double a, double b) { return a != 0 || b != 0; }, boolean);
  check_all<2>(
      {"xor"}, kAllDtypes, kernel<op::LogicalXor>(), [](double a, double b) { return (a != 0) != (b != 0); }, boolean);
}

TEST(WithScalar, AgreesWithTheDefinition) {
  const auto check = [](const char* name, std::span<const DType> dtypes, auto op, Scalar value, auto want,
                        std::optional<DType> result = std::nullopt) {
    check_all<1>(
        {name}, dtypes, with<decltype(op)>(value), [&](double x) { return want(x, value.to_double()); }, result);
  };
  check("add", kNumberDTypes, op::AddScalar{}, 3, [](double x, double v) { return x + v; });
  check("rsub", kNumberDTypes, op::RsubScalar{}, 5, [](double x, double v) { return v - x; });
  check("mul", kNumberDTypes, op::MulScalar{}, 3, [](double x, double v) { return x * v; });
  check("div", kFloatingDtypes, op::DivScalar{}, 0.5, [](double x, double v) { return x / v; });
  check("rdiv", kFloatingDtypes, op::RdivScalar{}, 1.5, [](double x, double v) { return v / x; });
  for (const double exponent : {0.0, 1.0, 2.0, 3.0, 4.0, -1.0, -2.0, 1.5})
    check("pow", kFloatingDtypes, op::PowScalar{}, exponent, [](double x, double v) { return std::pow(x, v); });
  for (const double sign : {1.0, -1.0})
    check("pow root", kFloatingDtypes, op::PowScalar{}, 0.5 * sign,
          [=](double x, double) { return sign > 0 ? root(x) : 1 / root(x); });
  for (const int exponent : {0, 1, 2, 3})
    check("pow", kNumberDTypes, op::PowScalar{}, exponent, [](double x, double v) { return std::pow(x, v); });
  check("rpow", kFloatingDtypes, op::RpowScalar{}, 2.5, [](double x, double v) { return std::pow(v, x); });
  check(
      "eq", kAllDtypes, op::EqScalar{}, 1, [](double x, double v) { return x == v; }, boolean);
  check(
      "ne", kAllDtypes, op::NeScalar{}, 1, [](double x, double v) { return x != v; }, boolean);
  check(
      "lt", kAllDtypes, op::LtScalar{}, 1, [](double x, double v) { return x < v; }, boolean);
  check(
      "le", kAllDtypes, op::LeScalar{}, 1, [](double x, double v) { return x <= v; }, boolean);
  check(
      "gt", kAllDtypes, op::GtScalar{}, 1, [](double x, double v) { return x > v; }, boolean);
  check(
      "ge", kAllDtypes, op::GeScalar{}, 1, [](double x, double v) { return x >= v; }, boolean);
}

TEST(Where, ChoosesElementByElement) {
  Random random(11);
  for (const DType dtype : kAllDtypes) {
    for (const Shape& shape : kShapes) {
      AnyArray c(shape, boolean, kAllLayouts[pick(random, 0, 4)], random);
      AnyArray a(shape, dtype, kAllLayouts[pick(random, 0, 4)], random), b(shape, dtype, Layout::row_major, random);
      AnyArray out(shape, dtype, kDistinctLayouts[pick(random, 0, 3)], random);
      c.fill([&] { return static_cast<double>(pick(random, 0, 1)); });
      a.fill(Values(dtype, random, 0, 5));
      b.fill(Values(dtype, random, 0, 5));
      op::Where{}.cpu(c.operand(), a.operand(), b.operand(), out.operand());
      for_each_index(shape, [&](const IntList& index) {
        ASSERT_TRUE(close(out.get(index), c.get(index) != 0 ? a.get(index) : b.get(index), 0)) << text(dtype, shape);
      });
    }
  }
}

// 1 x 1 kernels on single values.
template <class T, class Kernel> T one(Kernel&& run, T a, T b) {
  const View view;
  T out{};
  run(Operand{&a, &view, dtype_of<T>}, Operand{&b, &view, dtype_of<T>}, Operand{&out, &view, dtype_of<T>});
  return out;
}

TEST(Integers, WrapAtTheirEnds) {
  EXPECT_EQ(one<int64_t>(kernel<op::Add>(), INT64_MAX, 1), INT64_MIN);
  EXPECT_EQ(one<int32_t>(kernel<op::Sub>(), INT32_MIN, 1), INT32_MAX);
  EXPECT_EQ(one<int32_t>(kernel<op::Mul>(), 1 << 30, 4), 0);
  EXPECT_EQ(one<int8_t>(kernel<op::Add>(), 127, 1), -128);
  EXPECT_EQ(one<uint8_t>(kernel<op::Sub>(), 0, 1), 255);
  EXPECT_EQ(one<int64_t>(kernel<op::Pow>(), 3, 39), 4052555153018976267);
  EXPECT_EQ(one<int32_t>(kernel<op::Pow>(), -1, -3), -1);
  EXPECT_EQ(one<int32_t>(kernel<op::Pow>(), 2, -1), 0);
  const View view;
  int64_t large = INT64_MAX - 1, low = INT64_MIN, out = 0;
  with<op::AddScalar>(1)(Operand{&large, &view, i64}, Operand{&out, &view, i64});
  EXPECT_EQ(out, INT64_MAX) << "integers do not pass through double";
  op::Neg{}.cpu({&low, &view, i64}, {&out, &view, i64});
  EXPECT_EQ(out, INT64_MIN);
}

TEST(Floats, SubnormalNumbersAreExactInputs) {
  const View view;
  float x = 1e-40f, out = 0;
  op::Log{}.cpu({&x, &view, f32}, {&out, &view, f32});
  EXPECT_FLOAT_EQ(out, -92.10340f);
  x = 1e30f;
  op::Sin{}.cpu({&x, &view, f32}, {&out, &view, f32});
  EXPECT_EQ(out, std::sin(1e30f)) << "beyond the fast reduction";
}

/// Kernels that work on the bits of 16-bit floats agree with those of their values, for every value.
template <class Half> void check_half_bits() {
  std::vector<Half> x(65536), y(65536);
  for (uint32_t i = 0; i < 65536; ++i) x[i].bits = static_cast<uint16_t>(i);
  const View view = View::contiguous({65536});
  const Operand in{x.data(), &view, dtype_of<Half>}, out{y.data(), &view, dtype_of<Half>};
  const auto check = [&](const auto& op, auto f) {
    op.cpu(in, out);
    for (size_t i = 0; i < 65536; ++i) {
      const float expected = f(static_cast<float>(x[i]));
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(static_cast<float>(y[i]))) << i;
      else
        EXPECT_EQ(y[i].bits, Half(expected).bits) << op.name << " of bits " << i;
    }
  };
  check(op::Neg{}, [](float v) { return -v; });
  check(op::Abs{}, [](float v) { return std::fabs(v); });
  check(op::Relu{}, [](float v) { return v < 0 ? 0.0f : v; });
}
TEST(Halves, FunctionsOfBitsAreThoseOfValues) {
  check_half_bits<BFloat16>();
  check_half_bits<Float16>();
}

TEST(Dispatch, RefusesWhatHasNoKernel) {
  const View view;
  bool yes = true;
  int32_t n = 1;
  EXPECT_THROW(op::Sub{}.cpu({&yes, &view, boolean}, {&yes, &view, boolean}, {&yes, &view, boolean}), DtypeError);
  EXPECT_THROW(op::Exp{}.cpu({&n, &view, i32}, {&n, &view, i32}), DtypeError);
}

}  // namespace
}  // namespace weft::testing
