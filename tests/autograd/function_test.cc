// autograd::Function: gradients of the user's own.
#include <cmath>
#include <optional>
#include <tuple>

#include "tensor/batching/vmap.h"
#include "tests/autograd/checks.h"

namespace weft {
namespace {

using autograd::Context;
using autograd::Function;
using testing::leaf;
using testing::node;
using testing::numbers;
using testing::Numbers;
using Tensors = std::vector<Tensor>;

class FunctionTest : public testing::NoLeaks {};

struct Cube : Function<Cube> {
  static Tensor forward(Context& context, const Tensor& x) {
    EXPECT_FALSE(is_recording());
    context.save(x);
    return x * x * x;
  }
  static Tensor backward(Context& context, const Tensor& g) { return 3.0 * context.saved(0) * context.saved(0) * g; }
};

TEST_F(FunctionTest, HasItsOwnGradient) {
  const Tensor x = leaf({1, 2});
  Cube::apply(x).sum().backward();
  EXPECT_EQ(numbers(x.grad()), Numbers({3, 12}));
}

TEST_F(FunctionTest, CanBeDifferentiatedAgain) {
  auto f = [](const Tensors& in) { return Cube::apply(in[0] * 2.0); };
  EXPECT_EQ(gradcheck(f, {tensor({1.0, -2.0}, f64)}).report(), "");
  EXPECT_EQ(gradgradcheck(f, {tensor({1.0, -2.0}, f64)}).report(), "");
}

TEST_F(FunctionTest, IsNamedAfterItsType) {
  const Tensor y = Cube::apply(leaf({1}));
  EXPECT_SAYS(y.name(), "Cube");
  EXPECT_SAYS(print_graph(y), "Cube <- %0");
  EXPECT_EQ(node(y).saved_bytes(), 8);
}

TEST_F(FunctionTest, RecordsNothingWhereNothingNeedsAGradient) {
  EXPECT_FALSE(Cube::apply(tensor({1.0}, f64)).requires_grad());
  const Tensor x = leaf({1});
  NoGrad guard;
  EXPECT_FALSE(Cube::apply(x).requires_grad());
}

TEST_F(FunctionTest, ASecondBackwardIsAnError) {
  const Tensor y = Cube::apply(leaf({1}));
  y.backward();
  EXPECT_SAYS(testing::error_as<GradientError>([&] { y.backward(); }), "Cube` a second time");
}

struct Needs : Function<Needs> {
  static Tensor forward(Context&, const Tensor& a, const Tensor& b) { return a + b; }
  static Tensors backward(Context& context, const Tensor& g) {
    EXPECT_FALSE(context.needs_gradient(0));
    EXPECT_TRUE(context.needs_gradient(1));
    EXPECT_FALSE(context.needs_gradient(2));
    return {Tensor(), g};
  }
};

TEST_F(FunctionTest, OneThatSavesNothingRunsAsOftenAsWanted) {
  const Tensor a = ones({1}, f64), b = leaf({1});
  const Tensor y = Needs::apply(a, b);
  y.backward();
  y.backward();
  EXPECT_EQ(numbers(b.grad()), Numbers({2}));
}

TEST_F(FunctionTest, ASavedInputThatWasWrittenIsCaught) {
  Tensor x = leaf({1, 2}) * 1.0;
  const Tensor y = Cube::apply(x);
  x.mul_(2.0);
  const std::string text = testing::error_as<GradientError>([&] { y.sum().backward(); });
  EXPECT_SAYS(text, "Cube` needs its saved tensor 0 of shape [2] (f64)");
  EXPECT_SAYS(text, "`mul_` has written to it since");
}

struct WritesWhatItSaved : Function<WritesWhatItSaved> {
  static Tensor forward(Context& context, const Tensor& x) {
    Tensor y = x * 2.0;
    context.save(y);
    y.add_(1.0);
    return y;
  }
  static Tensors backward(Context& context, const Tensor& g) { return {context.saved(0) * g}; }
};

TEST_F(FunctionTest, AWriteAfterSaveInForwardIsCaught) {
  const Tensor y = WritesWhatItSaved::apply(leaf({1}));
  EXPECT_SAYS(testing::error_as<GradientError>([&] { y.backward(); }), "`add_` has written to it since");
}

// (a, b, n, scale) -> a^n, scale * b
struct Several : Function<Several> {
  static Tensors forward(Context& context, const Tensor& a, int n, const Tensor& b, double scale) {
    context["n"] = n;
    context["scale"] = scale;
    context.save(a, Tensor());
    return {pow(a, n), b * scale};
  }
  static Tensors backward(Context& context, const Tensor& ga, const Tensor& gb) {
    const int n = context.get<int>("n");
    const double scale = context.get<double>("scale");
    EXPECT_FALSE(context.saved(1).defined());
    Tensors out(2);
    if (ga.defined()) out[0] = ga * pow(context.saved(0), n - 1) * static_cast<double>(n);
    if (gb.defined()) out[1] = gb * scale;
    return out;
  }
};

TEST_F(FunctionTest, SeveralTensorsArgumentsAndResults) {
  auto f = [](const Tensors& in) {
    const Tensors y = Several::apply(in[0], 3, in[1], 5.0);
    return y[0] * y[1];
  };
  const Tensors at = {tensor({1.0, -2.0}, f64), tensor({0.5, 3.0}, f64)};
  EXPECT_EQ(gradcheck(f, at).report(), "");
  EXPECT_EQ(gradgradcheck(f, at).report(), "");
}

TEST_F(FunctionTest, AResultThatIsNotUsedGivesAnUndefinedGradient) {
  const Tensor a = leaf({2}), b = leaf({7});
  Several::apply(a, 2, b, 5.0)[1].backward();
  EXPECT_FALSE(a.grad().defined());
  EXPECT_EQ(numbers(b.grad()), Numbers({5}));
}

TEST_F(FunctionTest, KnowsWhichInputsNeedAGradient) {
  const Tensor b = leaf({1});
  Needs::apply(ones({1}, f64), b).backward();
  EXPECT_EQ(numbers(b.grad()), Numbers({1}));
}

struct SavesItsResult : Function<SavesItsResult> {
  static Tensor forward(Context& context, const Tensor& x) {
    const Tensor y = exp(x);
    context.save(y);
    return y;
  }
  static Tensors backward(Context& context, const Tensor& g) { return {g * context.saved(0)}; }
};

TEST_F(FunctionTest, ASavedResultHasItsHistoryAndLeavesNoCycle) {
  auto f = [](const Tensors& in) { return SavesItsResult::apply(in[0]); };
  EXPECT_EQ(gradgradcheck(f, {tensor({1.0, -2.0}, f64)}).report(), "");
  const Tensor dropped = SavesItsResult::apply(leaf({1}));
}

struct Identity : Function<Identity> {
  static Tensor forward(Context&, const Tensor& x) { return x; }
  static Tensors backward(Context&, const Tensor& g) { return {g * 10.0}; }
};

TEST_F(FunctionTest, AnInputReturnedAsResultIsATensorOfItsOwn) {
  const Tensor x = leaf({1, 2});
  Tensor y = Identity::apply(x);
  EXPECT_FALSE(y.is_same(x));
  EXPECT_TRUE(x.is_leaf());
  y.sum().backward();
  EXPECT_EQ(numbers(x.grad()), Numbers({10, 10}));
}

struct WithCaptured : Function<WithCaptured> {
  static inline Tensor captured = {};
  static Tensors forward(Context&, const Tensor& x) { return {x * 2.0, captured}; }
  static Tensor backward(Context&, const Tensors& g) { return g[0] * 2.0; }
};

TEST_F(FunctionTest, AParameterReturnedFromElsewhereStaysOne) {
  const Tensor x = leaf({1}), parameter = leaf({3});
  WithCaptured::captured = parameter;
  const Tensors y = WithCaptured::apply(x);
  WithCaptured::captured = Tensor();
  EXPECT_TRUE(y[1].shares_storage(parameter));
  (y[0] * parameter).sum().backward();
  EXPECT_TRUE(parameter.is_leaf());
  EXPECT_EQ(numbers(parameter.grad()), Numbers({2}));
  EXPECT_EQ(numbers(x.grad()), Numbers({6}));
}

TEST_F(FunctionTest, AnAliasOfALeafIsNotWrittenWhileRecording) {
  const Tensor x = leaf({1, 2});
  Tensor y = Identity::apply(x);
  EXPECT_SAYS(testing::error_as<GradientError>([&] { y.mul_(2.0); }), "a view of a leaf");
  EXPECT_EQ(numbers(x), Numbers({1, 2}));
}

struct Twice : Function<Twice> {
  static Tensors forward(Context&, const Tensor& x) {
    const Tensor y = x * 1.0;
    return {y, y};
  }
  static Tensors backward(Context&, const Tensor& g0, const Tensor& g1) { return {g0 * 2.0 + g1 * 3.0}; }
};

TEST_F(FunctionTest, OneTensorReturnedTwiceIsTwoResults) {
  const Tensor x = leaf({1});
  const Tensors y = Twice::apply(x);
  (y[0] + y[1] * 10.0).sum().backward();
  EXPECT_EQ(numbers(x.grad()), Numbers({32}));
}

struct ThroughAVector : Function<ThroughAVector> {
  static Tensors forward(Context&, const Tensor& x) { return {x * 1.0, x * 2.0, x * 3.0, x * 4.0}; }
  static Tensors backward(Context&, const Tensors& g) {
    EXPECT_EQ(g.size(), 4u);
    return {g[3] * 4.0};
  }
};

TEST_F(FunctionTest, BackwardMayTakeAVector) {
  const Tensor x = leaf({1});
  ThroughAVector::apply(x)[3].backward();
  EXPECT_EQ(numbers(x.grad()), Numbers({4}));
}

// scale * (x + sum of list), where x may be absent
struct SumOfList : Function<SumOfList> {
  static Tensor forward(Context& context, const std::vector<Tensor>& list, std::optional<Tensor> x,
                        const std::string& text, const std::tuple<double, Tensor>& scale) {
    EXPECT_EQ(text, "plain");
    Tensor y = list[0];
    for (size_t i = 1; i < list.size(); ++i) y = y + list[i];
    if (x) y = y + *x;
    context["count"] = list.size();
    context["factor"] = std::get<0>(scale);
    context.save(y, std::get<1>(scale));
    return y * std::get<1>(scale) * std::get<0>(scale);
  }
  static Tensors backward(Context& context, const Tensor& g) {
    const auto count = context.get<size_t>("count");
    const Tensor all = g * context.get<double>("factor");
    Tensors out(count, all * context.saved(1));
    out.push_back(context.needs_gradient(count) ? all * context.saved(1) : Tensor());
    out.push_back(all * context.saved(0));
    return out;
  }
};

TEST_F(FunctionTest, TensorsInsideOfOtherArgumentsGetTheirGradients) {
  const Tensor a = leaf({1, 2}), b = leaf({3, 4}), c = leaf({5, 6}), s = leaf({10, 20});
  const std::tuple<double, Tensor> scale{2.0, s};
  SumOfList::apply(Tensors{a, b}, std::optional<Tensor>(c), std::string("plain"), scale).sum().backward();
  for (const Tensor& x : {a, b, c}) EXPECT_EQ(numbers(x.grad()), Numbers({20, 40}));
  EXPECT_EQ(numbers(s.grad()), Numbers({18, 24}));
}

TEST_F(FunctionTest, AnAbsentOptionalTensorCountsAsAnArgument) {
  const Tensor a = leaf({1, 2}), s = leaf({10, 20});
  const std::tuple<double, Tensor> scale{2.0, s};
  SumOfList::apply(Tensors{a}, std::optional<Tensor>(), std::string("plain"), scale).sum().backward();
  EXPECT_EQ(numbers(a.grad()), Numbers({20, 40}));
  EXPECT_EQ(numbers(s.grad()), Numbers({2, 4}));
}

struct Setting {
  int64_t axis;
  std::string name;
};

TEST_F(FunctionTest, WhatMayHideTensorsIsNoPlainArgument) {
  struct Options {
    int64_t axis;
    std::optional<double> scale;
  };
  struct Hides {
    Tensor weight;
  };
  EXPECT_TRUE(autograd::holds_no_tensors<Options>);
  EXPECT_TRUE(autograd::holds_no_tensors<DType>);
  EXPECT_TRUE(autograd::holds_no_tensors<double*>);
  EXPECT_FALSE(autograd::holds_no_tensors<Hides>);
  EXPECT_FALSE(autograd::holds_no_tensors<const Tensor*>);
  EXPECT_FALSE(autograd::holds_no_tensors<Setting>) << "has to be specialized";
}

struct PlainArguments : Function<PlainArguments> {
  static Tensor forward(Context&, const Tensor& x, const char* text, const Shape& shape, const std::vector<bool>& flags,
                        double (*f)(double)) {
    EXPECT_EQ(std::string(text).size() + shape.size() + flags.size(), 6u);
    return x * f(4.0);
  }
  static Tensors backward(Context&, const Tensor& g) { return {g * 2.0}; }
};

TEST_F(FunctionTest, PlainArgumentsOfManyKinds) {
  const Tensor x = leaf({1});
  PlainArguments::apply(x, "abc", Shape{1, 2}, std::vector<bool>{true}, static_cast<double (*)(double)>(&std::sqrt))
      .backward();
  EXPECT_EQ(numbers(x.grad()), Numbers({2}));
}

struct Integers : Function<Integers> {
  static Tensors forward(Context&, const Tensor& x) { return {x * 2.0, x.to(i64)}; }
  static Tensors backward(Context&, const Tensor& g, const Tensor&) { return {g * 2.0}; }
};

TEST_F(FunctionTest, IntegerResultsHaveNoHistory) {
  const Tensor x = leaf({1.5});
  const Tensors y = Integers::apply(x);
  EXPECT_FALSE(y[1].requires_grad());
  y[0].backward();
  EXPECT_EQ(numbers(x.grad()), Numbers({2}));
}

TEST_F(FunctionTest, AnInputWhoseHistoryIsNotThatOfItsValuesIsRefused) {
  const Tensor p = leaf({1, 2});
  const Tensor y = p * 2.0;
  y.detach().mul_(p.detach() * 3.0);
  const Tensor one = ones({2}, f64);
  EXPECT_SAYS(testing::error_as<GradientError>([&] { (void)Needs::apply(one, y); }), "does not give its values");
  NoGrad guard;
  EXPECT_EQ(numbers(Needs::apply(one, y)), Numbers({7, 25}));
}

TEST_F(FunctionTest, AViewThatIsBehindIsBroughtUpToDate) {
  const Tensor p = leaf({1, 2});
  Tensor y = p * 1.0;
  const Tensor v = y.view({2});
  y.mul_(p);
  Cube::apply(v).sum().backward();
  EXPECT_EQ(numbers(p.grad()), Numbers({6, 192}));  // (p^2)^3
}

/// 2 x + w, of which each argument is optional.
struct TwicePlus : Function<TwicePlus> {
  static Tensor forward(Context&, const Tensor& x, const Tensor& w) { return w.defined() ? x * 2.0 + w : x * 2.0; }
  static Tensors backward(Context& context, const Tensor& g) {
    return {g * 2.0, context.needs_gradient(1) ? g * 1.0 : Tensor()};
  }
};

TEST_F(FunctionTest, InsideVmapItsGradientsAreInside) {
  const Tensor batch = ones({2, 3}, f64), w = leaf({1, 2, 3});
  const auto inside = [&](const Tensor& x) {
    const Tensor h = x * w;
    return grad({TwicePlus::apply(h, w).sum()}, {w})[0];
  };
  EXPECT_EQ(numbers(vmap(inside)(batch).detach()), Numbers({3, 3, 3, 3, 3, 3}));
  const auto cubes = [](const Tensor& x) {
    return vjp([](const Tensor& t) { return Cube::apply(t).sum(); }, x).gradient;
  };
  EXPECT_EQ(numbers(vmap(cubes)(batch)), Numbers({3, 3, 3, 3, 3, 3}));
}

struct Flipped : Function<Flipped> {
  static Tensor forward(Context&, const Tensor& x) { return x.flip({0}); }
  static Tensors backward(Context&, const Tensor& g) { return {g.flip({0})}; }
};

TEST_F(FunctionTest, InsideVmapAResultThatIsAViewKeepsItsValues) {
  const Tensor p = parameter(tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}, f64));
  const auto overlapping = [](const Tensor& x) { return Flipped::apply(x.unfold(0, 2, 1)); };
  EXPECT_EQ(numbers(vmap(overlapping)(p).detach()), Numbers({2, 3, 1, 2, 5, 6, 4, 5}));
  const auto written = [](const Tensor& x) {
    Tensor h = x * 1.0;
    const Tensor y = Flipped::apply(h);
    h.mul_(2.0);
    return y.detach();
  };
  EXPECT_EQ(numbers(vmap(written)(p)), Numbers({6, 4, 2, 12, 10, 8}));
}

TEST_F(FunctionTest, InsideVmapAGradientFromOutsideIsRefused) {
  const Tensor p = parameter(ones({2, 3}, f64)), w = leaf({1, 2, 3}), batch = ones({2, 3}, f64);
  const auto refused = [](const Tensor& y) {
    const std::string text = testing::error_as<GradientError>([&] { y.sum().backward(); });
    EXPECT_SAYS(text, "TwicePlus`: it ran inside vmap, and its gradient is asked for outside");
  };
  const auto twice = [](const Tensor& x) { return TwicePlus::apply(x, Tensor()) + x; };
  refused(vmap(twice)(p));
  refused(vmap([&](const Tensor& x) { return TwicePlus::apply(x, w); })(batch));
  refused(vmap(vmap(twice))(parameter(ones({2, 2, 2}, f64))));
  // The outermost level alone has a history.
  const auto inner = vmap([&](const Tensor& a, const Tensor& b) { return TwicePlus::apply(a, b); }, {std::nullopt, 0});
  refused(vmap([&](const Tensor& x) { return inner(x, batch); })(p));
}

}  // namespace
}  // namespace weft
