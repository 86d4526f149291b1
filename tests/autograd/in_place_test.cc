// Writes in place: recorded where they can be, refused where they would go unseen, never silently wrong.
#include "tensor/dispatch/in_place.h"

#include "tensor/ops/binary.h"
#include "tests/autograd/checks.h"

namespace weft {
namespace {

using testing::leaf;
using testing::numbers;
using testing::Numbers;

class InPlace : public testing::NoLeaks {};

// ---- recorded ----

TEST_F(InPlace, AnOverwrittenValuePassesNoGradientOn) {
  const Tensor p = leaf({1, 2});
  Tensor y = p * 1.0;
  y.fill_(3.0);
  EXPECT_TRUE(y.requires_grad());
  y.sum().backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({0, 0}));
}

TEST_F(InPlace, NumbersDrawnUnrecordedIntoAnAliasAreValuesOfIts) {
  using Fill = void (*)(Tensor&);
  for (const Fill fill : {Fill([](Tensor& x) { x.uniform_(0, 1); }), Fill([](Tensor& x) { x.uniform_(-1, 1); }),
                          Fill([](Tensor& x) { x.normal_(0, 1); }), Fill([](Tensor& x) { x.normal_(1, 2); })}) {
    const Tensor w = leaf({1, 2});
    Tensor y = w * 1.0, values = y.detach();
    y.add_(w);
    {
      const NoGrad guard;
      fill(values);
    }
    sum(values * w).backward();
    EXPECT_EQ(numbers(w.grad()), numbers(values));
  }
}

TEST_F(InPlace, AProductIsRecordedForEveryHandle) {
  const Tensor p = leaf({1, 2});
  Tensor y = p * 1.0;
  const Tensor same = y;
  y *= 2.0;
  same.sum().backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({2, 2}));
}

TEST_F(InPlace, EveryWriteHasTheGradientOfItsOutOfPlaceForm) {
  using Write = void (*)(Tensor&, const Tensor&);
  const std::vector<std::pair<const char*, Write>> writes = {
      {"add_", [](Tensor& y, const Tensor& q) { y.add_(q); }},
      {"sub_", [](Tensor& y, const Tensor& q) { y.sub_(q); }},
      {"mul_ constant",
       [](Tensor& y, const Tensor&) {
         y.mul_(tensor({3.0, 4.0}, f64));
       }},
      {"div_ constant",
       [](Tensor& y, const Tensor&) {
         y.div_(tensor({3.0, 4.0}, f64));
       }},
      {"copy_", [](Tensor& y, const Tensor& q) { y.copy_(q); }},
      {"add_ scalar", [](Tensor& y, const Tensor&) { y.add_(2.0); }},
      {"sub_ scalar", [](Tensor& y, const Tensor&) { y.sub_(2.0); }},
      {"mul_ scalar", [](Tensor& y, const Tensor&) { y.mul_(3.0); }},
      {"div_ scalar", [](Tensor& y, const Tensor&) { y.div_(4.0); }},
      {"+=", [](Tensor& y, const Tensor& q) { y += q; }},
      {"-=", [](Tensor& y, const Tensor& q) { y -= q; }},
  };
  for (const auto& [name, write] : writes) {
    auto f = [write = write](const std::vector<Tensor>& in) {
      Tensor y = in[0] * 1.5;
      write(y, in[1]);
      return y * y;
    };
    const GradcheckResult result = gradcheck(f, {tensor({1.0, -2.0}, f64), tensor({0.5, 3.0}, f64)});
    EXPECT_TRUE(bool(result)) << name << ": " << result.report();
  }
}

TEST_F(InPlace, AProductWithAParameterKeepsTheOldValue) {
  // d(y q)/dq reads the y that was overwritten.
  const Tensor p = leaf({1, 2}), q = leaf({5, 7});
  Tensor y = p * 1.0;
  y.mul_(q);
  y.sum().backward();
  EXPECT_EQ(q.grad().to_vector<double>(), std::vector<double>({1, 2}));
  EXPECT_EQ(p.grad().to_vector<double>(), std::vector<double>({5, 7}));
}

TEST_F(InPlace, AnOpThatReadsItsOldInputIsCaughtWhereItIsWrittenDirectly) {
  // mul_() keeps a copy of the old value; what is dispatched directly is saved at the version before the write.
  const Tensor p = leaf({1, 2}), q = leaf({5, 7});
  Tensor y = p * 1.0;
  dispatch::apply_in_place(op::Mul{}, "scale_", y, q);
  const std::string text = testing::error_as<GradientError>([&] { y.sum().backward(); });
  EXPECT_SAYS(text, "`mul` needs its input 0 of shape [2] (f64)");
  EXPECT_SAYS(text, "`scale_` has written to it since (version 1, saved at 0); write to a clone()");
}

TEST_F(InPlace, ABroadcastOperandIsSummedBack) {
  const Tensor p = parameter(ones({2, 3}, f64)), q = leaf({1, 2, 3});
  Tensor y = p * 1.0;
  y += q;
  y.sum().backward();
  EXPECT_EQ(numbers(q.grad()), Numbers({2, 2, 2}));
}

TEST_F(InPlace, AParameterWrittenIntoAPlainTensorGivesItHistory) {
  const Tensor p = leaf({1, 2});
  Tensor sum = zeros({2}, f64);
  for (int i = 0; i < 3; ++i) sum += p;
  EXPECT_TRUE(sum.requires_grad());
  EXPECT_FALSE(sum.is_leaf());
  sum.sum().backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({3, 3}));
}

TEST_F(InPlace, ACopyIntoAnotherDtypeCastsTheGradientBack) {
  const Tensor p = leaf({1, 2});
  Tensor y = zeros({2}, f32);
  y.copy_(p);
  EXPECT_EQ(y.dtype(), f32);
  y.sum().backward();
  EXPECT_EQ(p.grad().dtype(), f64);
  EXPECT_EQ(numbers(p.grad()), Numbers({1, 1}));
}

TEST_F(InPlace, AWriteOfAWiderTensorIsComputedInItsDtypeAndCastsTheGradientsBack) {
  const Tensor p = parameter(tensor({1.0, 2.0}, f32)), q = leaf({1e40, 7}), number = parameter(tensor(7.0, f32));
  Tensor y = p * 1e-30;
  y.mul_(q);
  y.add_(tensor({1.0, 1.0}, f64));
  Tensor half = zeros({2}, f16);
  half.add_(number).sub_(p * 3.0);
  EXPECT_EQ(y.dtype(), f32);
  EXPECT_EQ(half.dtype(), f16);
  y.sum().backward();
  half.sum().backward();
  EXPECT_FLOAT_EQ(y[0].item<float>(), 1e10f);
  EXPECT_EQ(numbers(half), Numbers({4, 1}));
  EXPECT_EQ(p.grad().dtype(), f32);
  EXPECT_EQ(q.grad().dtype(), f64);
  EXPECT_EQ(number.grad().dtype(), f32);
}

TEST_F(InPlace, AParameterCopiedIntoIntegersIsCut) {
  const Tensor p = leaf({1, 2});
  Tensor y = zeros({2}, i64);
  y.copy_(p);
  EXPECT_FALSE(y.requires_grad());
  EXPECT_SAYS(error_of([&] { y.to(f64).sum().backward(); }), "`copy` has none and cut the path");
}

TEST_F(InPlace, AWriteAfterUseIsFineWhereTheRuleDoesNotReadTheValue) {
  const Tensor p = leaf({1, 2});
  Tensor y = p * 1.0;
  const Tensor z = y + 1.0;  // its rule reads nothing
  y.mul_(10.0);
  (z + y).sum().backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({11, 11}));
}

TEST_F(InPlace, AWriteWithAFunctionOfItselfLeavesNoCycle) {
  {
    const Tensor p = leaf({1, 2});
    Tensor x = p * 1.0;
    x.mul_(sin(x));
    x.add_(x);
    x.sub_(x * 0.5);
  }
  // The fixture finds what is left.
}

TEST_F(InPlace, AWriteWithAFunctionOfItselfIsCaught) {
  const Tensor p = leaf({1, 2});
  Tensor x = p * 1.0;
  x.mul_(sin(x));
  EXPECT_SAYS(testing::error_as<GradientError>([&] { x.sum().backward(); }), "`mul_` has written to it since");
}

TEST_F(InPlace, ATensorAddedToItselfDoubles) {
  const Tensor p = leaf({1, 2});
  Tensor x = p * 1.0;
  x.add_(x);
  EXPECT_EQ(numbers(x), Numbers({2, 4}));
  x.sum().backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({2, 2}));
}

TEST_F(InPlace, ASavedOutputThatIsWrittenIsCaught) {
  const Tensor p = leaf({1, 2});
  Tensor y = exp(p);  // its rule reads the result
  y.add_(1.0);
  const std::string text = testing::error_as<GradientError>([&] { y.sum().backward(); });
  EXPECT_SAYS(text, "`exp` needs its output 0 of shape [2] (f64)");
  EXPECT_SAYS(text, "`add_` has written to it since (version 1, saved at 0)");
}

TEST_F(InPlace, ASavedInputThatIsWrittenIsCaughtWithItsWriter) {
  Tensor kept = leaf({1, 2}) * 1.0;
  const Tensor product = kept * kept;
  kept.fill_(3.0);
  const std::string text = testing::error_as<GradientError>([&] { product.sum().backward(); });
  EXPECT_SAYS(text, "`mul` needs its input ");
  EXPECT_SAYS(text, "`fill_` has written");
}

TEST_F(InPlace, AWriterWithoutAKernelInPlaceIsNamedToo) {
  Tensor kept = leaf({1, 2, 3, 4}).view({2, 2}) * 1.0;
  const Tensor product = kept * kept;
  kept.tril_();
  EXPECT_SAYS(testing::error_as<GradientError>([&] { product.sum().backward(); }), "`tril_` has written");
}

TEST_F(InPlace, AnOverwriteBeforeTheUseIsFine) {
  const Tensor p = leaf({1, 2});
  Tensor y = p * 1.0;
  y.mul_(3.0);
  (y * y).sum().backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({18, 36}));
}

TEST_F(InPlace, WritesOneAfterTheOtherAreAllRecorded) {
  const Tensor p = leaf({1, 2});
  Tensor y = p * 1.0;
  y.mul_(3.0).add_(1.0).div_(2.0).sub_(p);
  y.sum().backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({0.5, 0.5}));
}

TEST_F(InPlace, AResultOfAWiderDtypeIsCastAndItsGradientToo) {
  using Write = Tensor (*)(Tensor, const Tensor&, const Tensor&);
  const std::vector<std::pair<Write, Write>> writes = {
      {[](Tensor x, const Tensor& a, const Tensor&) { return x.add_(a); },
       [](Tensor x, const Tensor& a, const Tensor&) { return x + a; }},
      {[](Tensor x, const Tensor& a, const Tensor&) { return x.mul_(a); },
       [](Tensor x, const Tensor& a, const Tensor&) { return x * a; }},
      {[](Tensor x, const Tensor& a, const Tensor&) { return x.add_(a, 0.5); },
       [](Tensor x, const Tensor& a, const Tensor&) { return add(x, a, 0.5); }},
      {[](Tensor x, const Tensor& a, const Tensor&) { return x.lerp_(a, 0.25); },
       [](Tensor x, const Tensor& a, const Tensor&) { return lerp(x, a, 0.25); }},
      {[](Tensor x, const Tensor& a, const Tensor& b) { return x.addcmul_(a, b, 0.5); },
       [](Tensor x, const Tensor& a, const Tensor& b) { return addcmul(x, a, b, 0.5); }},
      {[](Tensor x, const Tensor& a, const Tensor& b) { return x.addcdiv_(a, b, 0.5); },
       [](Tensor x, const Tensor& a, const Tensor& b) { return addcdiv(x, a, b, 0.5); }}};
  const Tensor x = leaf({1, 2}), a = leaf({3, -1}), b = leaf({2, 4});
  const auto gradients = [&](const Write& write) {
    const Tensor y = write((x * 2.0).to(f32), a, b).to(f32);
    return grad({(y * y).sum()}, {x, a, b}, {.allow_unused = true});
  };
  for (size_t i = 0; i < writes.size(); ++i) {
    const auto in_place = gradients(writes[i].first), expected = gradients(writes[i].second);
    for (size_t k = 0; k < 3; ++k) {
      ASSERT_EQ(in_place[k].defined(), expected[k].defined()) << i;
      if (!expected[k].defined()) continue;
      EXPECT_EQ(numbers(in_place[k]), numbers(expected[k])) << i;
    }
  }
}

TEST_F(InPlace, HooksOfTheOldValueStayWithIt) {
  const Tensor p = leaf({1, 2});
  Tensor y = p * 1.0;
  Numbers seen;
  y.register_hook([&](const Tensor& g) { seen = numbers(g); });
  y.mul_(4.0);
  y.sum().backward();
  EXPECT_EQ(seen, Numbers({4, 4}));
}

TEST_F(InPlace, SecondDerivativesGoThroughAWrite) {
  auto f = [](const std::vector<Tensor>& in) {
    Tensor y = in[0] * in[0];
    y.add_(in[0] * in[0] * in[0]);
    return y;
  };
  EXPECT_EQ(gradgradcheck(f, {tensor({1.0, -2.0}, f64)}).report(), "");
}

// ---- leaves ----

TEST_F(InPlace, ALeafIsNotWrittenWhileRecording) {
  Tensor p = leaf({1, 2});
  EXPECT_EQ(testing::error_as<GradientError>([&] { p.fill_(0.0); }),
            "fill_([2] f64): fill_ would write to a leaf that requires a gradient; do it under NoGrad");
  EXPECT_EQ(numbers(p), Numbers({1, 2}));
}

TEST_F(InPlace, AViewOfALeafIsNotWrittenWhileRecording) {
  const Tensor p = leaf({1, 2});
  Tensor view = p.view({2, 1})[0];
  EXPECT_SAYS(testing::error_as<GradientError>([&] { view += 1.0; }), "a view of a leaf that requires a gradient");
  EXPECT_EQ(numbers(p), Numbers({1, 2}));
}

TEST_F(InPlace, ALeafIsWrittenUnderNoGradAndStaysALeaf) {
  Tensor p = leaf({1, 2});
  {
    NoGrad guard;
    p.fill_(0.5);
    p[0].fill_(7.0);
  }
  EXPECT_TRUE(p.requires_grad());
  EXPECT_TRUE(p.is_leaf());
  (p * p).sum().backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({14, 1}));
}

TEST_F(InPlace, ViewsOfALeafStayGoodAfterAnOptimizerWrote) {
  Tensor p = leaf({1, 2});
  const Tensor view = p.view({2, 1}), deeper = view.t();
  {
    NoGrad guard;
    p.add_(10.0);
  }
  (deeper * deeper).sum().backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({22, 24}));
}

TEST_F(InPlace, BackwardThroughALeafThatWasWrittenSinceIsCaught) {
  Tensor p = leaf({1, 2});
  const Tensor loss = (p * p).sum();
  {
    NoGrad guard;
    p.mul_(2.0);
  }
  EXPECT_SAYS(testing::error_as<GradientError>([&] { loss.backward(); }), "`mul_` has written to it since");
}

TEST_F(InPlace, AFrozenLeafMayBeWritten) {
  Tensor p = leaf({1, 2});
  p.requires_grad_(false);
  p.fill_(4.0);
  p.requires_grad_(true);
  (p * 1.0).sum().backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({1, 1}));
}

TEST_F(InPlace, AWriteWhoseRecordingThrowsIsNoHistory) {
  const Tensor p = leaf({1, 2}), mask = tensor({true, false});
  Tensor y = p * 1.0, base = p * 1.0, part = base.view({2});
  {
    const autograd::SavedTensorHooks hooks([](const Tensor&) -> std::any { throw Error("not kept"); },
                                           [](const std::any&) { return Tensor(); });
    EXPECT_SAYS(error_of([&] { y.masked_fill_(mask, 5.0); }), "not kept");
    EXPECT_SAYS(error_of([&] { part.masked_fill_(mask, 5.0); }), "not kept");
  }
  EXPECT_EQ(numbers(y.detach()), Numbers({5, 2}));
  for (const Tensor& x : {y, base, part}) {
    EXPECT_TRUE(x.requires_grad());
    EXPECT_NE(testing::error_as<GradientError>([&] { (void)(x * 2.0); }), "");
  }
}

}  // namespace
}  // namespace weft
