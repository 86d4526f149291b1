// Printing: the exact text for all ranks, dtypes, views and options.
#include "tensor/functions/print.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/attribute_text.h"
#include "tensor/dispatch/observer.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"
#include "tensor/tensor.h"
#include "tests/comma_locale.h"
#include "tests/error_of.h"

namespace weft {
namespace {

class Print : public testing::Test {
  const PrintOptions before_ = print_options();

 protected:
  void TearDown() override { set_print_options(before_); }
};

TEST_F(Print, AMatrixAsTheSeedPromises) {
  EXPECT_EQ(tensor({{1.0, 2.0}, {3.0, 4.0}}).to_string(),
            "Tensor([[1.0000, 2.0000],\n"
            "        [3.0000, 4.0000]], dtype=f32)");
}

TEST_F(Print, AScalarAndAVector) {
  EXPECT_EQ(full({}, 2.5).to_string(), "Tensor(2.5000, dtype=f32)");
  EXPECT_EQ(tensor({1.0, 2.0, 3.0}).to_string(), "Tensor([1.0000, 2.0000, 3.0000], dtype=f32)");
}

TEST_F(Print, RanksAboveTwoAreSeparatedByEmptyLines) {
  EXPECT_EQ(arange(8).view({2, 2, 2}).to_string(),
            "Tensor([[[0, 1],\n"
            "         [2, 3]],\n"
            "\n"
            "        [[4, 5],\n"
            "         [6, 7]]], dtype=i64)");
  EXPECT_EQ(arange(4).view({2, 1, 2, 1}).to_string(),
            "Tensor([[[[0],\n"
            "          [1]]],\n"
            "\n"
            "\n"
            "        [[[2],\n"
            "          [3]]]], dtype=i64)");
}

TEST_F(Print, ElementsAreAlignedWithTheirSigns) {
  EXPECT_EQ(tensor({{1.0, -20.0}, {-300.5, 4.0}}, f64).to_string(),
            "Tensor([[   1.0000,  -20.0000],\n"
            "        [-300.5000,    4.0000]], dtype=f64)");
  EXPECT_EQ(tensor({-0.0, 0.0}).to_string(), "Tensor([-0.0000,  0.0000], dtype=f32)");
}

TEST_F(Print, IntegersAndBools) {
  EXPECT_EQ(tensor({1, -10, 100}).to_string(), "Tensor([  1, -10, 100], dtype=i64)");
  EXPECT_EQ(tensor({true, false}).to_string(), "Tensor([ true, false], dtype=bool)");
  EXPECT_EQ(full({2}, 200, u8).to_string(), "Tensor([200, 200], dtype=u8)");
  EXPECT_EQ(full({}, INT64_MIN).to_string(), "Tensor(-9223372036854775808, dtype=i64)");
  EXPECT_EQ(full({}, INT64_MAX).to_string(), "Tensor(9223372036854775807, dtype=i64)");
}

TEST_F(Print, NaNAndInfinity) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(tensor({nan, inf, -inf, 1.0}).to_string(), "Tensor([   nan,    inf,   -inf, 1.0000], dtype=f32)");
}

TEST_F(Print, HalfPrecision) {
  EXPECT_EQ(tensor({1.5, 2.0}, bf16).to_string(), "Tensor([1.5000, 2.0000], dtype=bf16)");
  EXPECT_EQ(tensor({1.5, 2.0}, f16).to_string(), "Tensor([1.5000, 2.0000], dtype=f16)");
}

TEST_F(Print, NothingHasAShape) {
  EXPECT_EQ(zeros({0}).to_string(), "Tensor([], shape=[0], dtype=f32)");
  EXPECT_EQ(zeros({2, 0, 3}, i64).to_string(), "Tensor([], shape=[2, 0, 3], dtype=i64)");
  EXPECT_EQ(zeros({1000000000, 0}).to_string(), "Tensor([], shape=[1000000000, 0], dtype=f32)");
  EXPECT_EQ(Tensor().to_string(), "Tensor(undefined)");
}

TEST_F(Print, ViewsOfEveryKindInLogicalOrder) {
  const Tensor x = arange(6).view({2, 3});
  EXPECT_EQ(x.t().to_string(), "Tensor([[0, 3],\n        [1, 4],\n        [2, 5]], dtype=i64)");
  EXPECT_EQ(x[1].slice(0, std::nullopt, std::nullopt, -1).to_string(), "Tensor([5, 4, 3], dtype=i64)");
  EXPECT_EQ(x[0].expand({2, 3}).to_string(), "Tensor([[0, 1, 2],\n        [0, 1, 2]], dtype=i64)");
  EXPECT_EQ(x[1].pad({{1, 2}}).to_string(), "Tensor([0, 3, 4, 5, 0, 0], dtype=i64)");
  EXPECT_EQ(x.pad({{1, 0}, {0, 1}}).to_string(),
            "Tensor([[0, 0, 0, 0],\n        [0, 1, 2, 0],\n        [3, 4, 5, 0]], dtype=i64)");
}

TEST_F(Print, ALongRowBreaksAtTheLineWidth) {
  set_print_options({.line_width = 24});
  EXPECT_EQ(arange(12).to_string(),
            "Tensor([ 0,  1,  2,  3,\n"
            "         4,  5,  6,  7,\n"
            "         8,  9, 10, 11], dtype=i64)");
}

TEST_F(Print, ManyElementsAreShortenedAndTheShapeIsShown) {
  EXPECT_EQ(arange(1000).to_string().find("shape="), std::string::npos) << "the threshold itself is not shortened";
  EXPECT_EQ(arange(1001).to_string(), "Tensor([   0,    1,    2, ...,  998,  999, 1000], shape=[1001], dtype=i64)");
  EXPECT_EQ(arange(3000).view({1000, 3}).to_string(),
            "Tensor([[   0,    1,    2],\n"
            "        [   3,    4,    5],\n"
            "        [   6,    7,    8],\n"
            "        ...,\n"
            "        [2991, 2992, 2993],\n"
            "        [2994, 2995, 2996],\n"
            "        [2997, 2998, 2999]], shape=[1000, 3], dtype=i64)");
  set_print_options({.threshold = 5, .edge_items = std::numeric_limits<int64_t>::max()});
  EXPECT_EQ(arange(6).to_string(), "Tensor([0, 1, 2, 3, 4, 5], shape=[6], dtype=i64)");
  set_print_options({.threshold = 5, .edge_items = 1});
  EXPECT_EQ(arange(6).to_string(), "Tensor([0, ..., 5], shape=[6], dtype=i64)");
}

TEST_F(Print, AHugeTensorCostsOnlyWhatIsShown) {
  const Tensor wide = zeros({1}).expand({1000000, 1000000});
  EXPECT_NE(wide.to_string().find("shape=[1000000, 1000000]"), std::string::npos);
}

TEST_F(Print, PrecisionAndScientific) {
  set_print_options({.precision = 2});
  EXPECT_EQ(tensor({1.005, 2.5}, f64).to_string(), "Tensor([1.00, 2.50], dtype=f64)");
  set_print_options({.precision = 0});
  EXPECT_EQ(tensor({1.0, 12.0}).to_string(), "Tensor([ 1, 12], dtype=f32)");
  set_print_options({.precision = 3, .scientific = true});
  EXPECT_EQ(tensor({12345.678, -0.00012}, f64).to_string(), "Tensor([ 1.235e+04, -1.200e-04], dtype=f64)");
  EXPECT_EQ(tensor({1, 2}).to_string(), "Tensor([1, 2], dtype=i64)");
}

TEST_F(Print, AStreamGetsTheSameText) {
  std::ostringstream out;
  out << tensor({1, 2});
  EXPECT_EQ(out.str(), "Tensor([1, 2], dtype=i64)");
}

TEST_F(Print, OptionsOutOfRangeAreErrorsAndChangeNothing) {
  for (const PrintOptions& bad :
       {PrintOptions{.precision = -1}, PrintOptions{.precision = 61}, PrintOptions{.threshold = -1},
        PrintOptions{.edge_items = 0}, PrintOptions{.line_width = 0}}) {
    EXPECT_THROW(set_print_options(bad), Error);
    EXPECT_EQ(print_options().precision, 4);
  }
  try {
    set_print_options({.precision = -1});
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "set_print_options(): precision -1 must lie in [0, 60]");
  }
}

TEST_F(Print, IsSeenByNoObserver) {
  struct Count final : Observer {
    int ops = 0;
    void begin(const ObserverEvent&) override { ++ops; }
  } count;
  const Tensor x = tensor({1.0, 2.0});
  ObserverScope scope(count);
  EXPECT_NE(x.to_string(), "");
  EXPECT_EQ(count.ops, 0);
}

TEST_F(Print, LargestNumberWithAllDigitsAndPointsInALocaleOfCommas) {
  set_print_options({.precision = 60});
  const Tensor most = full({}, std::numeric_limits<double>::max(), f64), half = tensor({0.5, 0.25, -0.0}, f64);
  const std::string scientific = most.to_string();
  EXPECT_EQ(scientific.size(), std::string("Tensor(1.e+308, dtype=f64)").size() + 60) << scientific;
  set_print_options({});
  EXPECT_EQ(half.to_string(), "Tensor([ 0.5000,  0.2500, -0.0000], dtype=f64)");
  const test::CommaLocale locale;
  if (!locale) GTEST_SKIP() << "no locale with a comma is installed";
  EXPECT_EQ(half.to_string(), "Tensor([ 0.5000,  0.2500, -0.0000], dtype=f64)");
  EXPECT_EQ(full({}, 2e8).to_string(), "Tensor(2.0000e+08, dtype=f32)");
  EXPECT_EQ(detail::attribute_text(0.5), "0.5");
  EXPECT_NE(error_of([] { zeros({int64_t{1} << 40}); }).find("4.0 TB"), std::string::npos);
}

TEST_F(Print, NumbersThatDifferByOrdersOfMagnitudeAreScientific) {
  EXPECT_EQ(tensor({1e-5}).to_string(), "Tensor([1.0000e-05], dtype=f32)");
  EXPECT_EQ(tensor({0.0, 1e-5}).to_string(), "Tensor([0.0000e+00, 1.0000e-05], dtype=f32)");
  EXPECT_EQ(tensor({1.0, 2000.0}).to_string(), "Tensor([1.0000e+00, 2.0000e+03], dtype=f32)");
  EXPECT_EQ(full({}, 2e8).to_string(), "Tensor(2.0000e+08, dtype=f32)");
  EXPECT_EQ(tensor({1.5, std::numeric_limits<double>::infinity()}).to_string(), "Tensor([1.5000,    inf], dtype=f32)");
  EXPECT_EQ(tensor({0.001, 0.5}, f64).to_string(), "Tensor([0.0010, 0.5000], dtype=f64)");
  EXPECT_EQ(tensor({1, 2000}).to_string(), "Tensor([   1, 2000], dtype=i64)");
}

}  // namespace
}  // namespace weft
