// Where the path to a parameter is cut, backward says by what.
#include "tests/autograd/checks.h"

namespace weft {
namespace {

using testing::numbers;

class Cut : public testing::NoLeaks {
 protected:
  static std::string text(const Tensor& loss) {
    return testing::error_as<GradientError>([&] { loss.backward(); });
  }
  static std::string by(const std::string& op) {
    return "no gradient reaches a parameter: `" + op + "` has none and cut the path";
  }
};

TEST_F(Cut, TheOpThatCutIsNamed) {
  const Tensor w = parameter(tensor({1.0, 3.0, 2.0}, f64));
  EXPECT_SAYS(text(w.argmax()), by("argmax"));
  EXPECT_SAYS(text((w > 2.0).sum()), by("gt"));
  EXPECT_SAYS(text(eq(w, w).sum()), by("eq"));
  EXPECT_SAYS(text(w.to(i64).sum()), by("cast"));
  EXPECT_SAYS(text(w.detach().sum()), by("detach"));
  EXPECT_SAYS(text(w.isnan().sum()), by("isnan"));
  EXPECT_SAYS(text(w.max_with_indices(0).indices), by("max_with_indices"));
}

TEST_F(Cut, TheMarkTravelsThroughFurtherOpsViewsAndCasts) {
  const Tensor w = parameter(tensor({1.0, 3.0, 2.0}, f64));
  const Tensor accuracy = (w > 2.0).to(f64).view({3, 1}).mean() * 100.0 + 1.0;
  EXPECT_SAYS(text(accuracy), by("gt"));
  EXPECT_SAYS(text(exp(w.detach()).slice(0, 0, 1).sum()), by("detach"));
}

TEST_F(Cut, TheFirstCutOnThePathIsNamed) {
  const Tensor w = parameter(tensor({1.0, 3.0, 2.0}, f64));
  EXPECT_SAYS(text((w.detach() > 2.0).to(f64).sum()), by("detach"));
}

TEST_F(Cut, AnotherPathToAParameterIsEnough) {
  const Tensor w = parameter(tensor({1.0, 3.0}, f64));
  const Tensor loss = (w.detach() * w).sum();
  loss.backward();
  EXPECT_EQ(numbers(w.grad()), testing::Numbers({1, 3}));
}

TEST_F(Cut, AMarkIsNoReasonToHoldTheGraph) {
  Tensor kept;
  const int64_t before = memory_stats().live_bytes;
  {
    const Tensor w = parameter(ones({1000}, f64));
    kept = exp(w * 2.0).argmax();
  }
  EXPECT_LT(memory_stats().live_bytes - before, 1000);
}

TEST_F(Cut, WhatNeverSawAParameterIsNotCalledCut) {
  EXPECT_SAYS(text((ones({2}) > 0.0).sum()), "nothing it was computed from requires a gradient");
  const Tensor frozen = parameter(ones({})).requires_grad_(false);
  EXPECT_SAYS(text(frozen * 2.0), "nothing it was computed from requires a gradient");
}

struct Double : autograd::Function<Double> {
  static Tensor forward(autograd::Context&, const Tensor& x) { return x * 2.0; }
  static std::vector<Tensor> backward(autograd::Context&, const Tensor& g) { return {g * 2.0}; }
};

TEST_F(Cut, TheMarkTravelsThroughAFunctionOfTheUser) {
  const Tensor w = parameter(ones({}, f64));
  EXPECT_SAYS(text(Double::apply(w.detach())), by("detach"));
}

TEST_F(Cut, GradSaysItToo) {
  const Tensor w = parameter(ones({}, f64));
  EXPECT_SAYS(testing::error_as<GradientError>([&] { grad({w.detach() * 2.0}, {w}); }), by("detach"));
}

}  // namespace
}  // namespace weft
