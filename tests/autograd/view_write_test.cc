// Recorded writes through views: the history of what they are views of, and of its other views, follows.
#include "tensor/functions_all.h"
#include "tests/autograd/checks.h"

namespace weft {
namespace {

using testing::leaf;
using testing::numbers;
using testing::Numbers;

class ViewWrite : public testing::NoLeaks {};

TEST_F(ViewWrite, OfAPlainTensorGivesItHistory) {
  const Tensor w = leaf({1, 2, 3, 4});
  const Tensor out = zeros({2, 4}, f64);
  out[0] = w * 2.0;
  EXPECT_TRUE(out.requires_grad());
  EXPECT_FALSE(out.is_leaf());
  out.select(0, 1).copy_(w * w);
  out.sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({4, 6, 8, 10}));
}

TEST_F(ViewWrite, PassesNothingOnToWhatWasOverwritten) {
  const Tensor p = leaf({1, 2, 3});
  const Tensor y = p * 2.0;
  y[1].fill_(7.0);
  EXPECT_EQ(numbers(y), Numbers({2, 7, 6}));
  y.sum().backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({2, 0, 2}));
}

TEST_F(ViewWrite, OfEveryKindHasTheGradientOfItsOutOfPlaceForm) {
  using Write = std::function<void(const Tensor& y, const Tensor& q)>;
  const std::vector<std::pair<const char*, Write>> writes = {
      {"copy_ to a row", [](const Tensor& y, const Tensor& q) { y[1].copy_(q); }},
      {"add_ to a column", [](const Tensor& y, const Tensor& q) { y.select(1, 0).add_(q.slice(0, 0, 2)); }},
      {"mul_ of a row", [](const Tensor& y, const Tensor& q) { y[0].mul_(q); }},
      {"div_ of a strided slice", [](const Tensor& y, const Tensor& q) { y.slice(1, 0, 3, 2).div_(q.slice(0, 0, 2)); }},
      {"a number added to a transposed part", [](const Tensor& y, const Tensor&) { y.t().slice(0, 1, 3).add_(1.5); }},
      {"a view of a view of a view",
       [](const Tensor& y, const Tensor& q) { y.t().flip({0})[1].slice(0, 1).copy_(q[2]); }},
      {"a reversed view", [](const Tensor& y, const Tensor& q) { y[1].flip({0}).mul_(q); }},
      {"a diagonal", [](const Tensor& y, const Tensor& q) { y.diagonal().sub_(q.slice(0, 0, 2)); }},
      {"a reshaped base",
       [](const Tensor& y, const Tensor& q) {
         y.view({3, 2})[1].copy_(q.slice(0, 1));
       }},
      {"two writes", [](const Tensor& y, const Tensor& q) { y[0].mul_(q), y.select(1, 1).copy_(q.slice(0, 1)); }},
      {"two writes to one part", [](const Tensor& y, const Tensor& q) { y[0].mul_(q), y[0].mul_(q); }},
      {"masked_fill_",
       [](const Tensor& y, const Tensor&) {
         y[0].masked_fill_(tensor({true, false, true}), 2.0);
       }},
      {"index_put_",
       [](const Tensor& y, const Tensor& q) {
         y[1].index_put_({tensor({2, 0})}, q.slice(0, 0, 2));
       }},
      {"index_put_ that accumulates",
       [](const Tensor& y, const Tensor& q) {
         Tensor(y).index_put_({Slice(), tensor({2, 2})}, q.slice(0, 0, 2), true);
       }},
      {"index_add_",
       [](const Tensor& y, const Tensor& q) {
         y.t().index_add_(0, tensor({1}), q.view({1, 3}).slice(1, 1));
       }},
      {"scatter_",
       [](const Tensor& y, const Tensor& q) {
         y[0].scatter_(0, tensor({1, 1}), q.slice(0, 1));
       }},
      {"a write of itself", [](const Tensor& y, const Tensor&) { y[0].copy_(y[1]), y[1].add_(y[1]); }},
      {"a write between parts of one base", [](const Tensor& y, const Tensor&) { y[0].mul_(y[1].clone()); }},
  };
  for (const auto& [name, write] : writes) {
    const auto f = [write = write](const std::vector<Tensor>& in) {
      const Tensor y = in[0] * 1.5;
      write(y, in[1]);
      return y * y;
    };
    const std::vector<Tensor> inputs = {tensor({{1.0, -2.0, 0.5}, {0.7, 1.2, -1.1}}, f64),
                                        tensor({0.5, 3.0, 2.0}, f64)};
    EXPECT_EQ(gradcheck(f, inputs).report(), "") << name;
    EXPECT_EQ(gradgradcheck(f, inputs).report(), "") << name;
  }
}

TEST_F(ViewWrite, ReachesABaseInAnotherMemoryOrder) {
  const auto f = [](const std::vector<Tensor>& in) {
    Tensor y = (in[0].permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2}) * 1.0);
    EXPECT_FALSE(y.is_contiguous());
    y.select(1, 1).mul_(in[1]);
    return y * y;
  };
  const std::vector<Tensor> inputs = {linspace(-1.0, 1.0, 12, f64).view({1, 3, 2, 2}),
                                      tensor({{0.5, 2.0}, {3.0, 1.0}}, f64)};
  EXPECT_EQ(gradcheck(f, inputs).report(), "");
  EXPECT_EQ(gradgradcheck(f, inputs).report(), "");
}

TEST_F(ViewWrite, ToTheBaseReachesItsViews) {
  const Tensor p = leaf({1, 2});
  Tensor base = p * 1.0;
  const Tensor view = base[1];
  base.mul_(3.0);
  EXPECT_EQ(numbers(view + 1.0), Numbers({7}));
  (view * view).backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({0, 36}));
}

TEST_F(ViewWrite, ToOneViewReachesTheOthers) {
  const Tensor p = leaf({1, 2}), q = leaf({3});
  const Tensor base = p * 1.0;
  Tensor first = base.slice(0, 0, 1);
  const Tensor all = base.view({2, 1}), second = base[1];
  first.mul_(q);
  (all.sum() + second).backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({3, 2}));
  EXPECT_EQ(numbers(q.grad()), Numbers({1}));
}

TEST_F(ViewWrite, OfAPlainTensorReachesViewsTakenBefore) {
  const Tensor p = leaf({1, 2});
  const Tensor plain = zeros({2, 2}, f64);
  const Tensor before = plain.select(1, 0);
  plain[0].copy_(p);
  EXPECT_TRUE(before.requires_grad());
  (before * 5.0).sum().backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({5, 0}));
}

TEST_F(ViewWrite, GoesOnFromTheWrittenViewItself) {
  const Tensor p = leaf({1, 2});
  const Tensor plain = zeros({2, 2}, f64);
  Tensor row = plain[0];
  row.copy_(p);
  row.mul_(3.0);
  (row.sum() + plain.sum()).backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({6, 6}));
}

TEST_F(ViewWrite, TrainsInALoopOverTimeSteps) {
  const Tensor w = leaf({0.5, -0.3});
  const auto loss = [](const Tensor& weight, bool in_place) {
    Tensor h = ones({3, 2}, f64);
    const Tensor out = zeros({3, 5, 2}, f64);
    std::vector<Tensor> steps;
    for (int64_t t = 0; t < 5; ++t) {
      h = tanh(h * weight + 0.1);
      if (in_place)
        out.select(1, t).copy_(h);
      else
        steps.push_back(h);
    }
    const Tensor all = in_place ? out : stack(steps, 1);
    return (all * all * linspace(0.0, 1.0, 10, f64).view({5, 2})).sum();
  };
  loss(w, true).backward();
  const Tensor found = w.grad().clone();
  const Tensor again = parameter(w.detach());
  loss(again, false).backward();
  EXPECT_TRUE(allclose(found, again.grad(), 1e-12, 1e-12));
}

TEST_F(ViewWrite, ReadsBackWhatEarlierStepsWrote) {
  const Tensor w = leaf({2});
  const Tensor out = ones({4, 1}, f64);
  for (int64_t t = 1; t < 4; ++t) out[t].copy_(out[t - 1].clone() * w);
  EXPECT_EQ(numbers(out), Numbers({1, 2, 4, 8}));
  out.sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({1 + 4 + 12}));
}

TEST_F(ViewWrite, CostsInBackwardWhatWasWritten) {
  // The gradient of the base is one buffer, however many writes there were.
  const int64_t rows = 64, columns = 1024;
  const Tensor w = parameter(ones({columns}, f64));
  const Tensor out = zeros({rows, columns}, f64);
  for (int64_t t = 0; t < rows; ++t) out[t].copy_(w * static_cast<double>(t));
  const Tensor loss = (out * 2.0).sum();
  reset_peak_memory();
  const int64_t before = memory_stats().live_bytes;
  loss.backward();
  const int64_t whole = rows * columns * 8;
  EXPECT_LT(memory_stats().peak_bytes - before, 4 * whole);
  EXPECT_EQ(w.grad()[0].item<double>(), 2.0 * rows * (rows - 1) / 2);
}

TEST_F(ViewWrite, LeavesNoCycle) {
  {
    const Tensor p = leaf({1, 2});
    Tensor y = p * 1.0;
    Tensor view = y[0];
    view.mul_(sin(y[1].clone()));
    y.mul_(2.0);
    view.add_(1.0);
  }
  // The fixture finds what is left.
}

TEST_F(ViewWrite, OfAConstantLeavesAPlainTensorPlain) {
  const Tensor plain = zeros({2, 2}, f64);
  plain[0].fill_(1.0);
  EXPECT_FALSE(plain.requires_grad());
  EXPECT_EQ(numbers(plain * 1.0), Numbers({1, 1, 0, 0}));
}

TEST_F(ViewWrite, OfASavedValueIsCaught) {
  const Tensor p = leaf({1, 2});
  const Tensor y = p * 1.0;
  const Tensor square = y * y;
  y[0].fill_(5.0);
  EXPECT_SAYS(testing::error_as<GradientError>([&] { square.sum().backward(); }),
              "`mul` needs its input 1 of shape [2]");
}

TEST_F(ViewWrite, OfALeafIsRefused) {
  Tensor p = zeros({2}, f64);
  Tensor view = p[0];
  p.requires_grad_(true);
  const Tensor q = leaf({1, 2});
  EXPECT_SAYS(testing::error_as<GradientError>([&] { view.copy_(q[0]); }), "a view of a leaf that requires a gradient");
  EXPECT_SAYS(testing::error_as<GradientError>([&] { view.fill_(1.0); }), "a view of a leaf that requires a gradient");
  EXPECT_EQ(numbers(p), Numbers({0, 0}));
  EXPECT_SAYS(testing::error_as<GradientError>([&] { p[1].copy_(q[0]); }), "a view of a leaf that requires a gradient");
}

TEST_F(ViewWrite, UnderNoGradIsSeenByTheBase) {
  const Tensor p = leaf({1, 2});
  const Tensor y = p * 1.0;
  Tensor view = y[0];
  {
    NoGrad guard;
    view.fill_(3.0);
  }
  EXPECT_SAYS(testing::error_as<GradientError>([&] { y.sum(); }),
              "`fill_` has since changed its memory unrecorded, under NoGrad");
  EXPECT_SAYS(testing::error_as<GradientError>([&] { view + 1.0; }),
              "`fill_` has since changed its memory unrecorded, under NoGrad");
}

TEST_F(ViewWrite, ToAPaddedViewsBaseMakesThePaddedViewAnError) {
  const Tensor p = leaf({1, 2});
  Tensor y = p * 1.0;
  const Tensor padded = y.pad({{1, 1}});
  y.mul_(2.0);
  EXPECT_SAYS(testing::error_as<GradientError>([&] { padded.sum(); }),
              "`mul_` has since written through another tensor, which this view cannot follow (its padding");
}

TEST_F(ViewWrite, AWiderSourceIsCastBack) {
  const Tensor p = leaf({1, 2});
  const Tensor y = zeros({2, 2}, f32);
  y[1].copy_(p);
  y.sum().backward();
  EXPECT_EQ(p.grad().dtype(), f64);
  EXPECT_EQ(numbers(p.grad()), Numbers({1, 1}));
}

TEST_F(ViewWrite, HooksOfTheBaseSeeItsNewGradient) {
  const Tensor p = leaf({1, 2});
  Tensor y = p * 1.0;
  y[0].mul_(4.0);
  Numbers seen;
  y.register_hook([&](const Tensor& g) { seen = numbers(g); });
  (y * 2.0).sum().backward();
  EXPECT_EQ(seen, Numbers({2, 2}));
  EXPECT_EQ(numbers(p.grad()), Numbers({8, 2}));
}

TEST_F(ViewWrite, BackwardTwiceWithARetainedGraph) {
  const Tensor p = leaf({1, 2});
  const Tensor y = p * 1.0;
  y[0].mul_(4.0);
  const Tensor loss = (y * y).sum();
  loss.backward({.retain_graph = true});
  loss.backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({64, 8}));
}

TEST_F(ViewWrite, AViewThatIsBehindKeepsItsHistoryUnderNoGrad) {
  const Tensor p = leaf({1, 2});
  Tensor y = p * 1.0, plain = zeros({2}, f64);
  const Tensor v = y.select(0, 0), of_plain = plain.select(0, 1);
  y.mul_(3.0);
  plain.add_(p);
  const NoGrad guard;
  v.backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({3, 0}));
  EXPECT_TRUE(of_plain.requires_grad());
  of_plain.backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({3, 1}));
}

TEST_F(ViewWrite, AViewOfWhatWasWrittenIsNoLeafToBe) {
  const Tensor p = leaf({1, 2});
  Tensor y = zeros({2}, f64);
  Tensor v = y.view({2}), w = y.view({2});
  y.add_(p);
  v.requires_grad_(true);
  v.sum().backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({1, 1}));
  EXPECT_SAYS(testing::error_as<GradientError>([&] { w.requires_grad_(false); }), "not a leaf");
}

}  // namespace
}  // namespace weft
