// gradcheck and gradgradcheck: what they report, and that wrong gradients do not pass.
#include <algorithm>

#include "tests/autograd/checks.h"

namespace weft {
namespace {

using autograd::Context;
using autograd::Function;
using Tensors = std::vector<Tensor>;

class Gradcheck : public testing::NoLeaks {};

TEST_F(Gradcheck, PassesWhatIsRight) {
  auto layer = [](const Tensors& in) { return tanh(matmul(in[0], in[1].transpose(0, 1)) + in[2]); };
  const Tensors at = {randn({4, 3}, f64), randn({5, 3}, f64), randn({5}, f64)};
  EXPECT_TRUE(bool(gradcheck(layer, at)));
  EXPECT_TRUE(bool(gradgradcheck(layer, at)));
}

TEST_F(Gradcheck, LeavesItsInputsAsTheyAre) {
  const Tensor x = parameter(ones({2}, f64));
  EXPECT_TRUE(bool(gradcheck([](const Tensors& in) { return in[0] * in[0]; }, {x})));
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(testing::numbers(x), testing::Numbers({1, 1}));
}

TEST_F(Gradcheck, EveryFloatingInputIsALeafAndIntegersAreLeftOut) {
  auto f = [](const Tensors& in) {
    EXPECT_EQ(in[1].dtype(), i64);
    return index_select(in[0], 0, in[1]) * in[2];
  };
  EXPECT_EQ(gradcheck(f, {randn({4}, f64), tensor({3, 1, 3}), randn({3}, f64)}).report(), "");
  EXPECT_SAYS(testing::error_as<GradientError>(
                  [] { (void)gradcheck([](const Tensors& in) { return in[0]; }, {ones({2}, i64)}); }),
              "no floating input");
  const Tensor weight = parameter(ones({2}, f64));
  EXPECT_SAYS(testing::error_as<GradientError>(
                  [&] { (void)gradgradcheck([&](const Tensors& in) { return in[0] * weight; }, {ones({2}, i64)}); }),
              "gradgradcheck: no floating input");
}

TEST_F(Gradcheck, RefusesOptionsOutOfRange) {
  const auto f = [](const Tensors& in) { return in[0] * 2.0; };
  EXPECT_THROW((void)gradcheck(f, {ones({2}, f64)}, {.eps = 0}), Error);
  EXPECT_THROW((void)gradcheck(f, {ones({2}, f64)}, {.max_reported = -1}), Error);
}

TEST_F(Gradcheck, NeedsAFunction) {
  const CheckedFunction none;
  EXPECT_SAYS(testing::error_as<GradientError>([&] { (void)gradcheck(none, {ones({2}, f64)}); }), "is empty");
  EXPECT_SAYS(testing::error_as<GradientError>([&] { (void)gradgradcheck(none, {ones({2}, f64)}); }), "is empty");
}

struct HalfWrong : Function<HalfWrong> {
  static Tensor forward(Context&, const Tensor& x) { return x * 2.0; }
  static Tensors backward(Context&, const Tensor& g) { return {g * tensor({2.0, 3.0}, f64)}; }
};

TEST_F(Gradcheck, RefusesResultsWhoseShapeOrDtypeDependsOnValues) {
  const CheckedFunction positive = [](const Tensors& in) { return masked_select(in[0], in[0] > 0.0); };
  EXPECT_TRUE(gradcheck(positive, {tensor({-1.0, 1.0, 2.0}, f64)}));
  EXPECT_EQ(testing::error_as<ShapeError>([&] {
              (void)gradcheck(positive, {tensor({1e-7, 1.0, 2.0}, f64)});
            }),
            "gradcheck: output 0 is [3] f64, but [2] f64 at inputs a step beside");
  const auto is_positive = [](const Tensors& in) { return in[0][0].item() > 0; };
  const CheckedFunction turned = [&](const Tensors& in) { return in[0].unsqueeze(is_positive(in) ? 0 : 1) * 2.0; };
  EXPECT_SAYS(testing::error_as<ShapeError>([&] {
                (void)gradcheck(turned, {tensor({1e-7, 1.0}, f64)});
              }),
              "output 0 is [1, 2] f64, but [2, 1] f64 at");
  const CheckedFunction narrowed = [&](const Tensors& in) { return is_positive(in) ? in[0] * 2.0 : in[0].to(f32); };
  EXPECT_SAYS(testing::error_as<ShapeError>([&] {
                (void)gradcheck(narrowed, {tensor({1e-7, 1.0}, f64)});
              }),
              "output 0 is [2] f64, but [2] f32 at");
}

TEST_F(Gradcheck, SaysWhereAGradientIsWrong) {
  const GradcheckResult wrong = gradcheck([](const Tensors& in) { return HalfWrong::apply(in[0]); }, {ones({2}, f64)});
  EXPECT_FALSE(bool(wrong));
  EXPECT_EQ(wrong.report().find("d output0[1] / d input0[1]: backward gives 3, differences give 1.99999"), 0u)
      << wrong.report();
  EXPECT_EQ(wrong.report().find('\n'), std::string::npos) << "one line per difference";
}

TEST_F(Gradcheck, SaysWhereAGradientIsMissing) {
  const GradcheckResult missing =
      gradcheck([](const Tensors& in) { return in[0] * in[1].detach(); }, {ones({1}, f64), ones({1}, f64)});
  EXPECT_SAYS(missing.report(), "d input1[0]: backward gives 0");
  EXPECT_SAYS(missing.report(), "(no gradient reaches this input)");
  EXPECT_FALSE(bool(gradcheck([](const Tensors& in) { return in[0].detach() * 2.0; }, {ones({1}, f64)})));
}

/// Gives no gradient where the one it gets lies in another order.
struct OfOneOrder : Function<OfOneOrder> {
  static Tensor forward(Context&, const Tensor& x) { return x * 1.0; }
  static Tensors backward(Context&, const Tensor& g) { return {g.is_contiguous() ? g : Tensor()}; }
};

TEST_F(Gradcheck, SaysWhereALayoutLosesTheGradient) {
  const auto f = [](const Tensors& in) { return OfOneOrder::apply(in[0]); };
  EXPECT_SAYS(gradcheck(f, {ones({2, 3}, f64)}).report(), "that of input 0 is undefined");
}

TEST_F(Gradcheck, ShowsTheFirstDifferencesAndCountsTheOthers) {
  auto f = [](const Tensors& in) { return in[0] * in[0].detach(); };
  const std::string report = gradcheck(f, {ones({9}, f64)}).report();
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 5);
  EXPECT_SAYS(report, "\n... and 4 more differences");
  const std::string shorter = gradcheck(f, {ones({9}, f64)}, {.max_reported = 2}).report();
  EXPECT_SAYS(shorter, "\n... and 7 more differences");
}

struct Random : Function<Random> {
  static Tensor forward(Context&, const Tensor& x) { return x * 1.0; }
  static Tensors backward(Context&, const Tensor& g) { return {g * (1.0 + rand_like(g) * 1e-7)}; }
};

TEST_F(Gradcheck, FindsGradientsThatDifferFromRunToRun) {
  const GradcheckResult result = gradcheck([](const Tensors& in) { return Random::apply(in[0]); }, {ones({2}, f64)});
  EXPECT_SAYS(result.report(), "output 0: two backward runs give different gradients of input 0");
}

TEST_F(Gradcheck, NaNThatIsExpectedIsNoDifference) {
  auto f = [](const Tensors& in) { return sqrt(in[0]); };
  EXPECT_EQ(gradcheck(f, {tensor({-1.0}, f64)}).report(), "");
}

TEST_F(Gradcheck, ChecksEveryResult) {
  auto f = [](const Tensors& in) { return Tensors{in[0] * 2.0, in[0] * in[0].detach()}; };
  const GradcheckResult result = gradcheck_all(f, {ones({1}, f64)});
  EXPECT_EQ(result.report().find("d output1[0]"), 0u) << result.report();
}

TEST_F(Gradcheck, TolerancesAreRespected) {
  auto f = [](const Tensors& in) { return HalfWrong::apply(in[0]); };
  EXPECT_TRUE(bool(gradcheck(f, {ones({2}, f64)}, {.atol = 1.1})));
  EXPECT_TRUE(bool(gradcheck(f, {ones({2}, f64)}, {.rtol = 0.6})));
}

TEST_F(Gradcheck, RightFunctionsPassInEveryDtype) {
  auto layer = [](const Tensors& in) { return tanh(matmul(in[0], in[1].transpose(0, 1)) + in[2]); };
  auto soft = [](const Tensors& in) { return softmax(in[0] * in[1], -1) * exp(in[1]); };
  for (const DType dtype : {f32, bf16, f16}) {
    EXPECT_EQ(gradcheck(layer, {randn({4, 3}, dtype), randn({5, 3}, dtype), randn({5}, dtype)}).report(), "")
        << name_of(dtype);
    EXPECT_EQ(gradcheck(soft, {randn({2, 3}, dtype), randn({2, 3}, dtype)}).report(), "") << name_of(dtype);
  }
}

TEST_F(Gradcheck, ADifferenceInF32AdvisesF64) {
  auto f = [](const Tensors& in) { return in[0] * in[0].detach(); };
  EXPECT_SAYS(gradcheck(f, {ones({2}, f32)}).report(), "\n(an input is f32, whose rounding alone");
  EXPECT_EQ(gradcheck(f, {ones({2}, f64)}).report().find("rounding"), std::string::npos);
  auto right = [](const Tensors& in) { return tanh(in[0]); };
  EXPECT_NE(gradcheck(right, {ones({2}, f32)}, {.atol = 0.0, .rtol = 0.0}).report(), "") << "what is set is used";
}

struct ReadsMemoryAsItLies : Function<ReadsMemoryAsItLies> {
  static Tensor forward(Context&, const Tensor& x) { return x * 2.0; }
  static Tensors backward(Context&, const Tensor& g) { return {(g.is_contiguous() ? g : g.flip({0})) * 2.0}; }
};

TEST_F(Gradcheck, FindsGradientsThatReadTheirSeedAsIfItWereRowMajor) {
  auto f = [](const Tensors& in) { return ReadsMemoryAsItLies::apply(in[0]); };
  const std::string report = gradcheck(f, {randn({2, 3}, f64)}).report();
  EXPECT_EQ(report.find("output 0: from a gradient that is strided, that of input 0["), 0u) << report;
  EXPECT_SAYS(report, "from one that is row-major");
}

struct WantsDense : Function<WantsDense> {
  static Tensor forward(Context&, const Tensor& x) { return x * 2.0; }
  static Tensors backward(Context&, const Tensor& g) {
    return {g.layout().is_dense() || g.strides()[0] != 0 ? g * 2.0 : g * 3.0};
  }
};

TEST_F(Gradcheck, FindsGradientsThatAnExpandedSeedBreaks) {
  auto f = [](const Tensors& in) { return WantsDense::apply(in[0]); };
  EXPECT_EQ(gradcheck(f, {randn({4}, f64)}).report(),
            "output 0: from a gradient that is expanded, that of input 0[0] is 3, from one that is row-major 2");
}

struct WrongSecond : Function<WrongSecond> {
  static Tensor forward(Context& context, const Tensor& x) {
    context.save(x);
    return x * x;
  }
  static Tensors backward(Context& context, const Tensor& g) { return {g * context.saved(0).detach() * 2.0}; }
};

TEST_F(Gradcheck, TheSecondOrderFindsWhatTheFirstCannot) {
  auto f = [](const Tensors& in) { return WrongSecond::apply(in[0]); };
  EXPECT_TRUE(bool(gradcheck(f, {tensor({1.0, 2.0}, f64)})));
  EXPECT_FALSE(bool(gradgradcheck(f, {tensor({1.0, 2.0}, f64)})));
}

struct CutFromSeed : Function<CutFromSeed> {
  static Tensor forward(Context& context, const Tensor& x) {
    context.save(x);
    return x * x;
  }
  static Tensors backward(Context& context, const Tensor& g) { return {g.detach() * context.saved(0) * 2.0}; }
};

TEST_F(Gradcheck, TheSecondOrderFindsAGradientThatIsCutFromTheOneThatComesIn) {
  auto f = [](const Tensors& in) { return CutFromSeed::apply(in[0]); };
  EXPECT_TRUE(bool(gradcheck(f, {tensor({1.0, 2.0}, f64)})));
  const std::string report = gradgradcheck(f, {tensor({1.0, 2.0}, f64)}).report();
  EXPECT_SAYS(report, "d output0[0] / d input1[0]: backward gives 0, differences give 2");
}

TEST_F(Gradcheck, AFunctionMayTakeGradientsOfItsInputs) {
  auto f = [](const Tensors& in) { return square(grad(in[0].pow(3.0).sum(), in[0], {.create_graph = true})).sum(); };
  EXPECT_EQ(gradcheck(f, {tensor({1.0, -2.0}, f64)}).report(), "");
  EXPECT_EQ(gradgradcheck(f, {tensor({1.0, -2.0}, f64)}).report(), "");
}

TEST_F(Gradcheck, WorksUnderNoGrad) {
  NoGrad guard;
  EXPECT_TRUE(bool(gradcheck([](const Tensors& in) { return in[0] * in[0]; }, {ones({2}, f64)})));
  EXPECT_FALSE(is_recording());
}

TEST_F(Gradcheck, EmptyAndZeroDimensionalInputs) {
  auto f = [](const Tensors& in) { return in[0] * in[0]; };
  EXPECT_EQ(gradcheck(f, {zeros({0, 2}, f64)}).report(), "");
  EXPECT_EQ(gradcheck(f, {full({}, 3.0, f64)}).report(), "");
}

}  // namespace
}  // namespace weft
