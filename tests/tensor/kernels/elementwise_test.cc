// Every element-wise kernel against its definition in double: all dtypes, odd lengths, every kind of strides, special values.
#include <gtest/gtest.h>

#include "tensor/core/error.h"
#include "tensor/kernels/cpu/pointwise/binary.h"
#include "tensor/kernels/cpu/pointwise/compare.h"
#include "tensor/kernels/cpu/pointwise/scalar.h"
#include "tensor/kernels/cpu/pointwise/unary.h"
#include "tensor/kernels/cpu/pointwise/where.h"
#include "tests/tensor/kernels/any_array.h"

namespace weft::testing {
namespace {

namespace cpu = kernels::cpu;
using cpu::Operand;

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
void check_all(const Check& check, std::span<const DType> dtypes, Kernel&& kernel, Want&& want,
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
          kernel(in[0].operand(), out.operand());
        else
          kernel(in[0].operand(), in[1].operand(), out.operand());
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
constexpr DType kNumbers[] = {f32, f64, bf16, f16, i64, i32, i16, i8, u8};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double phi(double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); }
double gelu_tanh(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
double root(double x) { return std::sqrt(x); }

TEST(Unary, arithmetic) {
  check_all<1>({"neg"}, kSignedNumbers, cpu::neg, [](double x) { return -x; });
  check_all<1>({"abs"}, kSignedNumbers, cpu::abs, [](double x) { return std::fabs(x); });
  check_all<1>({"sign"}, kNumbers, cpu::sign, [](double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); });
  check_all<1>({"square"}, kNumbers, cpu::square, [](double x) { return x * x; });
  check_all<1>({"relu"}, kNumbers, cpu::relu, [](double x) { return x < 0 ? 0 : x; });
  check_all<1>(
      {"clip"}, kNumbers, [](const Operand& x, const Operand& out) { cpu::clip(x, 1, 3, out); },
      [](double x) {
    return x < 1 ? 1 : x > 3 ? 3 : x;
      });
  check_all<1>(
      {"clip below"}, kNumbers, [](const Operand& x, const Operand& out) { cpu::clip(x, std::nullopt, 2, out); },
      [](double x) { return x > 2 ? 2 : x; });
  check_all<1>(
      {"clip above"}, kSignedNumbers,
      [](const Operand& x, const Operand& out) { cpu::clip(x, -1000, std::nullopt, out); },
      [](double x) { return x < -1000 ? -1000 : x; });
}

TEST(Unary, roots_and_rounding) {
  check_all<1>({"sqrt"}, kFloatingDtypes, cpu::sqrt, root);
  check_all<1>({"rsqrt"}, kFloatingDtypes, cpu::rsqrt, [](double x) { return 1 / root(x); });
  check_all<1>({"reciprocal"}, kFloatingDtypes, cpu::reciprocal, [](double x) { return 1 / x; });
  check_all<1>({"floor"}, kFloatingDtypes, cpu::floor, [](double x) { return std::floor(x); });
  check_all<1>({"ceil"}, kFloatingDtypes, cpu::ceil, [](double x) { return std::ceil(x); });
  check_all<1>({"trunc"}, kFloatingDtypes, cpu::trunc, [](double x) { return std::trunc(x); });
  check_all<1>({"round"}, kFloatingDtypes, cpu::round, [](double x) { return std::nearbyint(x); });
}

TEST(Unary, transcendental) {
  check_all<1>({"exp"}, kFloatingDtypes, cpu::exp, [](double x) { return std::exp(x); });
  check_all<1>({"log"}, kFloatingDtypes, cpu::log, [](double x) { return std::log(x); });
  check_all<1>({"log1p"}, kFloatingDtypes, cpu::log1p, [](double x) { return std::log1p(x); });
  check_all<1>({"sin"}, kFloatingDtypes, cpu::sin, [](double x) { return std::sin(x); });
  check_all<1>({"cos"}, kFloatingDtypes, cpu::cos, [](double x) { return std::cos(x); });
  check_all<1>({"tanh"}, kFloatingDtypes, cpu::tanh, [](double x) { return std::tanh(x); });
  check_all<1>({"erf"}, kFloatingDtypes, cpu::erf, [](double x) { return std::erf(x); });
  check_all<1>({"sigmoid"}, kFloatingDtypes, cpu::sigmoid, sigmoid);
  check_all<1>({"softplus"}, kFloatingDtypes, cpu::softplus,
               [](double x) { return x > 30 ? x : std::log1p(std::exp(x)); });
}

// x * sigmoid(x) and its like are -inf * 0 at -inf; the references do the same.
TEST(Unary, activations) {
  check_all<1>({"silu", -4, 4, 2}, kFloatingDtypes, cpu::silu, [](double x) { return x * sigmoid(x); });
  check_all<1>(
      {"gelu", -4, 4, 1, 4}, kFloatingDtypes, [](const Operand& x, const Operand& out) { cpu::gelu(x, false, out); },
      [](double x) { return x * phi(x); });
  check_all<1>(
      {"gelu tanh", -4, 4, 1, 4}, kFloatingDtypes,
      [](const Operand& x, const Operand& out) { cpu::gelu(x, true, out); }, gelu_tanh);
  check_all<1>(
      {"leaky_relu"}, kFloatingDtypes, [](const Operand& x, const Operand& out) { cpu::leaky_relu(x, 0.25, out); },
      [](double x) { return x > 0 ? x : x * 0.25; });
}

// Values PyTorch 2 gives in f64 (in f32 its exact form is NaN at +inf as well, which is no value to copy).
template <class T>
void check_gated_ends() {
  const T inf = std::numeric_limits<T>::infinity();
  const auto value = [](auto kernel, T x) {
    const View view;
    T out{};
    kernel(Operand{&x, &view, dtype_of<T>}, Operand{&out, &view, dtype_of<T>});
    return out;
  };
  const auto exact = [](const Operand& x, const Operand& out) { cpu::gelu(x, false, out); };
  const auto tanh = [](const Operand& x, const Operand& out) { cpu::gelu(x, true, out); };
  const auto check = [&](auto kernel) {
    EXPECT_TRUE(std::isnan(value(kernel, -inf)));
    EXPECT_EQ(value(kernel, inf), inf);
    for (const T x : {T(-0.0), T(-1e4), T(-1e30)}) {
      EXPECT_EQ(value(kernel, x), 0) << x;
      EXPECT_TRUE(std::signbit(value(kernel, x))) << x;
    }
    EXPECT_FALSE(std::signbit(value(kernel, T(0))));
  };
  check(exact);
  check(tanh);
  check([](const Operand& x, const Operand& out) { cpu::silu(x, out); });
}
TEST(Unary, gated_activations_at_their_ends) {
  check_gated_ends<float>();
  check_gated_ends<double>();
}

TEST(Unary, predicates) {
  check_all<1>(
      {"logical_not"}, kAllDtypes, cpu::logical_not, [](double x) { return x == 0; }, boolean);
  check_all<1>(
      {"isnan"}, kAllDtypes, cpu::isnan, [](double x) { return std::isnan(x); }, boolean);
  check_all<1>(
      {"isinf"}, kAllDtypes, cpu::isinf, [](double x) { return std::isinf(x); }, boolean);
  check_all<1>(
      {"isfinite"}, kAllDtypes, cpu::isfinite, [](double x) { return std::isfinite(x); }, boolean);
}

TEST(Unary, fused_gradients) {
  check_all<2>({"relu_backward"}, kFloatingDtypes, cpu::relu_backward,
               [](double g, double y) { return y <= 0 ? 0 : g; });
  check_all<2>(
      {"leaky_relu_backward"}, kFloatingDtypes,
      [](const Operand& g, const Operand& x, const Operand& out) { cpu::leaky_relu_backward(g, x, 0.25, out); },
      [](double g, double x) { return x > 0 ? g : g * 0.25; });
  check_all<2>({"sigmoid_backward", -4, 4, 3}, kFloatingDtypes, cpu::sigmoid_backward,
               [](double g, double y) { return g * y * (1 - y); });
  check_all<2>({"tanh_backward", -4, 4, 3, 4}, kFloatingDtypes, cpu::tanh_backward,
               [](double g, double y) { return g * (1 - y * y); });
  check_all<2>({"silu_backward", -4, 4, 3, 8}, kFloatingDtypes, cpu::silu_backward, [](double g, double x) {
    const double s = sigmoid(x);
    return g * s * (1 + x * (1 - s));
  });
  const auto density = [](double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI); };
  check_all<2>(
      {"gelu_backward", -4, 4, 3, 8}, kFloatingDtypes,
      [](const Operand& g, const Operand& x, const Operand& out) { cpu::gelu_backward(g, x, false, out); },
      [&](double g, double x) { return g * (phi(x) + (std::isinf(x) ? 0 : x * density(x))); });
  check_all<2>(
      {"gelu_backward tanh", -4, 4, 3, 16}, kFloatingDtypes,
      [](const Operand& g, const Operand& x, const Operand& out) { cpu::gelu_backward(g, x, true, out); },
      [](double g, double x) {
    const double k = std::sqrt(2 / M_PI), t = std::tanh(k * (x + 0.044715 * x * x * x));
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x));
      });
}

TEST(Binary, arithmetic) {
  check_all<2>({"add", 0, 60}, kNumbers, cpu::add, [](double a, double b) { return a + b; });
  check_all<2>({"sub"}, kSignedNumbers, cpu::sub, [](double a, double b) { return a - b; });
  check_all<2>({"mul"}, kSignedNumbers, cpu::mul, [](double a, double b) { return a * b; });
  check_all<2>({"div"}, kFloatingDtypes, cpu::div, [](double a, double b) { return a / b; });
  check_all<2>({"pow"}, kFloatingDtypes, cpu::pow, [](double a, double b) { return std::pow(a, b); });
  check_all<2>({"pow", 0, 3.5}, kNumbers, cpu::pow, [](double a, double b) { return std::pow(a, b); });
  check_all<2>({"maximum"}, kAllDtypes, cpu::maximum,
               [](double a, double b) { return std::isnan(a) || std::isnan(b) ? kNaN : std::max(a, b); });
  check_all<2>({"minimum"}, kAllDtypes, cpu::minimum,
               [](double a, double b) { return std::isnan(a) || std::isnan(b) ? kNaN : std::min(a, b); });
}

TEST(Binary, comparisons_and_logic) {
  check_all<2>(
      {"eq"}, kAllDtypes, cpu::eq, [](double a, double b) { return a == b; }, boolean);
  check_all<2>(
      {"ne"}, kAllDtypes, cpu::ne, [](double a, double b) { return a != b; }, boolean);
  check_all<2>(
      {"lt"}, kAllDtypes, cpu::lt, [](double a, double b) { return a < b; }, boolean);
  check_all<2>(
      {"le"}, kAllDtypes, cpu::le, [](double a, double b) { return a <= b; }, boolean);
  check_all<2>(
      {"gt"}, kAllDtypes, cpu::gt, [](double a, double b) { return a > b; }, boolean);
  check_all<2>(
      {"ge"}, kAllDtypes, cpu::ge, [](double a, double b) { return a >= b; }, boolean);
  check_all<2>(
      {"and"}, kAllDtypes, cpu::logical_and, [](double a, double b) { return a != 0 && b != 0; }, boolean);
  check_all<2>(
      {"or"}, kAllDtypes, cpu::logical_or, [](double a, double b) { return a != 0 || b != 0; }, boolean);
  check_all<2>(
      {"xor"}, kAllDtypes, cpu::logical_xor, [](double a, double b) { return (a != 0) != (b != 0); }, boolean);
}

using ScalarKernel = void (*)(const Operand&, const Scalar&, const Operand&);

TEST(WithScalar, agrees_with_the_definition) {
  const auto check = [](const char* name, std::span<const DType> dtypes, ScalarKernel kernel, Scalar value, auto want,
                        std::optional<DType> result = std::nullopt) {
    check_all<1>(
        {name}, dtypes, [&](const Operand& x, const Operand& out) { kernel(x, value, out); },
        [&](double x) { return want(x, value.to_double()); }, result);
  };
  check("add", kNumbers, cpu::add_scalar, 3, [](double x, double v) { return x + v; });
  check("rsub", kNumbers, cpu::rsub_scalar, 5, [](double x, double v) { return v - x; });
  check("mul", kNumbers, cpu::mul_scalar, 3, [](double x, double v) { return x * v; });
  check("div", kFloatingDtypes, cpu::div_scalar, 0.5, [](double x, double v) { return x / v; });
  check("rdiv", kFloatingDtypes, cpu::rdiv_scalar, 1.5, [](double x, double v) { return v / x; });
  for (const double exponent : {0.0, 1.0, 2.0, 3.0, 4.0, -1.0, -2.0, 1.5})
    check("pow", kFloatingDtypes, cpu::pow_scalar, exponent, [](double x, double v) { return std::pow(x, v); });
  for (const double sign : {1.0, -1.0})
    check("pow root", kFloatingDtypes, cpu::pow_scalar, 0.5 * sign,
          [=](double x, double) { return sign > 0 ? root(x) : 1 / root(x); });
  for (const int exponent : {0, 1, 2, 3})
    check("pow", kNumbers, cpu::pow_scalar, exponent, [](double x, double v) { return std::pow(x, v); });
  check("rpow", kFloatingDtypes, cpu::rpow_scalar, 2.5, [](double x, double v) { return std::pow(v, x); });
  check(
      "eq", kAllDtypes, cpu::eq_scalar, 1, [](double x, double v) { return x == v; }, boolean);
  check(
      "ne", kAllDtypes, cpu::ne_scalar, 1, [](double x, double v) { return x != v; }, boolean);
  check(
      "lt", kAllDtypes, cpu::lt_scalar, 1, [](double x, double v) { return x < v; }, boolean);
  check(
      "le", kAllDtypes, cpu::le_scalar, 1, [](double x, double v) { return x <= v; }, boolean);
  check(
      "gt", kAllDtypes, cpu::gt_scalar, 1, [](double x, double v) { return x > v; }, boolean);
  check(
      "ge", kAllDtypes, cpu::ge_scalar, 1, [](double x, double v) { return x >= v; }, boolean);
}

TEST(Where, chooses_element_by_element) {
  Random random(11);
  for (const DType dtype : kAllDtypes) {
    for (const Shape& shape : kShapes) {
      AnyArray c(shape, boolean, kAllLayouts[pick(random, 0, 4)], random);
      AnyArray a(shape, dtype, kAllLayouts[pick(random, 0, 4)], random), b(shape, dtype, Layout::row_major, random);
      AnyArray out(shape, dtype, kDistinctLayouts[pick(random, 0, 3)], random);
      c.fill([&] { return static_cast<double>(pick(random, 0, 1)); });
      a.fill(Values(dtype, random, 0, 5));
      b.fill(Values(dtype, random, 0, 5));
      cpu::where(c.operand(), a.operand(), b.operand(), out.operand());
      for_each_index(shape, [&](const IntList& index) {
        ASSERT_TRUE(close(out.get(index), c.get(index) != 0 ? a.get(index) : b.get(index), 0)) << text(dtype, shape);
      });
    }
  }
}

// 1 x 1 kernels on single values.
template <class T, class Kernel>
T one(Kernel&& kernel, T a, T b) {
  const View view;
  T out{};
  kernel(Operand{&a, &view, dtype_of<T>}, Operand{&b, &view, dtype_of<T>}, Operand{&out, &view, dtype_of<T>});
  return out;
}

TEST(Integers, wrap_at_their_ends) {
  EXPECT_EQ(one<int64_t>(cpu::add, INT64_MAX, 1), INT64_MIN);
  EXPECT_EQ(one<int32_t>(cpu::sub, INT32_MIN, 1), INT32_MAX);
  EXPECT_EQ(one<int32_t>(cpu::mul, 1 << 30, 4), 0);
  EXPECT_EQ(one<int8_t>(cpu::add, 127, 1), -128);
  EXPECT_EQ(one<uint8_t>(cpu::sub, 0, 1), 255);
  EXPECT_EQ(one<int64_t>(cpu::pow, 3, 39), 4052555153018976267);
  EXPECT_EQ(one<int32_t>(cpu::pow, -1, -3), -1);
  EXPECT_EQ(one<int32_t>(cpu::pow, 2, -1), 0);
  const View view;
  int64_t large = INT64_MAX - 1, low = INT64_MIN, out = 0;
  cpu::add_scalar({&large, &view, i64}, 1, {&out, &view, i64});
  EXPECT_EQ(out, INT64_MAX) << "integers do not pass through double";
  cpu::neg({&low, &view, i64}, {&out, &view, i64});
  EXPECT_EQ(out, INT64_MIN);
}

TEST(Floats, subnormal_numbers_are_exact_inputs) {
  const View view;
  float x = 1e-40f, out = 0;
  cpu::log({&x, &view, f32}, {&out, &view, f32});
  EXPECT_FLOAT_EQ(out, -92.10340f);
  x = 1e30f;
  cpu::sin({&x, &view, f32}, {&out, &view, f32});
  EXPECT_EQ(out, std::sin(1e30f)) << "beyond the fast reduction";
}

TEST(Dispatch, refuses_what_has_no_kernel) {
  const View view;
  bool yes = true;
  int32_t n = 1;
  EXPECT_THROW(cpu::add({&yes, &view, boolean}, {&yes, &view, boolean}, {&yes, &view, boolean}), DtypeError);
  EXPECT_THROW(cpu::exp({&n, &view, i32}, {&n, &view, i32}), DtypeError);
}

}  // namespace
}  // namespace weft::testing
