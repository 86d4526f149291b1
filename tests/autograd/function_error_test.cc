// Errors of autograd::Function: gradients and results that do not fit, what backward throws, what the context does not
// hold or take.
#include "tests/autograd/checks.h"

namespace weft {
namespace {

using autograd::Context;
using autograd::Function;
using testing::leaf;
using Tensors = std::vector<Tensor>;

class FunctionErrorTest : public testing::NoLeaks {};

struct TooMany : Function<TooMany> {
  static Tensor forward(Context&, const Tensor& x) { return x * 1.0; }
  static Tensors backward(Context&, const Tensor& g) { return {g, g}; }
};
struct WrongShape : Function<WrongShape> {
  static Tensor forward(Context&, const Tensor& x) { return x * 1.0; }
  static Tensors backward(Context&, const Tensor& g) { return {g.sum()}; }
};
struct WrongDtype : Function<WrongDtype> {
  static Tensor forward(Context&, const Tensor& x) { return x * 1.0; }
  static Tensors backward(Context&, const Tensor& g) { return {g.to(f32)}; }
};
struct SavedOutOfRange : Function<SavedOutOfRange> {
  static Tensor forward(Context& context, const Tensor& x) {
    context.save(x);
    return x * 1.0;
  }
  static Tensors backward(Context& context, const Tensor& g) { return {g * context.saved(1)}; }
};

TEST_F(FunctionErrorTest, WrongGradientsAreErrorsThatNameTheFunction) {
  const Tensor x = leaf({1, 2});
  const Tensor seed = ones({2}, f64);
  EXPECT_SAYS(testing::error_as<GradientError>([&] { TooMany::apply(x).backward(seed); }),
              "TooMany` returned 2 gradients, not 1, one for each tensor argument");
  const std::string shape = testing::error_as<GradientError>([&] { WrongShape::apply(x).backward(seed); });
  EXPECT_SAYS(shape, "WrongShape` gave input 0 a gradient of [] f64 where [2] f64 is right");
  EXPECT_SAYS(testing::error_as<GradientError>([&] { WrongDtype::apply(x).backward(seed); }),
              "[2] f32 where [2] f64 is right");
  EXPECT_SAYS(testing::error_as<IndexError>([&] { SavedOutOfRange::apply(x).backward(seed); }),
              "saved(1): 1 tensors were saved");
  EXPECT_FALSE(x.grad().defined());
}

struct Throws : Function<Throws> {
  static Tensor forward(Context& context, const Tensor& x) {
    const Tensor y = exp(x);
    context.save(x, y);
    return y;
  }
  static Tensors backward(Context&, const Tensor&) { throw Error("not today"); }
};

TEST_F(FunctionErrorTest, AnErrorInBackwardLeavesNoCycle) {
  const Tensor x = leaf({1});
  EXPECT_SAYS(error_of([&] { Throws::apply(x).backward(); }), "not today");
}

struct Broken : Function<Broken> {
  static Tensor forward(Context&, const Tensor& x) { return x * 2.0; }
  static Tensors backward(Context&, const Tensor& g) { return {g + ones({2}, f64)}; }
};

TEST_F(FunctionErrorTest, AnErrorInBackwardNamesTheFunction) {
  const Tensor x = leaf({1, 2, 3});
  const std::string text = testing::error_as<ShapeError>([&] { Broken::apply(x).sum().backward(); });
  EXPECT_EQ(text.find("backward of `weft::"), 0u) << text;
  EXPECT_SAYS(text, "Broken`: shapes [3] and [2] do not broadcast");
  EXPECT_EQ(text.find('\n'), std::string::npos);
  // What is thrown later in the same call, and after it, is named as usual.
  EXPECT_SAYS(error_of([&] { TooMany::apply(x).backward(ones({3}, f64)); }), "backward([3] f64): the backward of");
  EXPECT_EQ(error_of([&] { (void)(x + ones({2}, f64)); }).find("add("), 0u);
}

TEST_F(FunctionErrorTest, AskingTheContextForWhatItDoesNotHoldIsAnError) {
  autograd::Context context;
  context["n"] = 3;
  EXPECT_EQ(context.get<int>("n"), 3);
  EXPECT_EQ(error_of([&] { (void)context.get<int>("m"); }), "the context holds no `m`");
  EXPECT_EQ(error_of([&] { (void)context.get<double>("n"); }), "`n` in the context is a int");
}

struct TakesOne : Function<TakesOne> {
  static Tensors forward(Context&, const Tensor& x, int64_t results) {
    return Tensors(static_cast<size_t>(results), x * 2.0);
  }
  static Tensor backward(Context&, const Tensor& g) { return g * 2.0; }
};
struct TakesTwo : Function<TakesTwo> {
  static Tensor forward(Context&, const Tensor& x) { return x * 2.0; }
  static Tensor backward(Context&, const Tensor& a, const Tensor&) { return a * 2.0; }
};

TEST_F(FunctionErrorTest, BackwardTakesAsManyGradientsAsThereAreResults) {
  const Tensor x = leaf({1, 2, 3});
  EXPECT_SAYS(error_of([&] { TakesOne::apply(x, 2); }),
              "TakesOne: backward takes 1 gradient, forward returned 2 results");
  EXPECT_SAYS(error_of([&] { TakesTwo::apply(x); }), "TakesTwo: backward takes 2 gradients, forward returned 1 result");
  TakesOne::apply(x, 1)[0].sum().backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{2, 2, 2}));
}

struct Many : Function<Many> {
  static Tensors forward(Context&, const Tensor& x, int64_t results) {
    return Tensors(static_cast<size_t>(results), x);
  }
  static Tensor backward(Context&, const Tensors& g) { return g.back(); }
};
TEST_F(FunctionErrorTest, MoreResultsThanCanBeToldApartAreRefused) {
  EXPECT_SAYS(error_of([] { Many::apply(leaf({1}), 65537); }), "forward returned 65537 results; there may be 65536");
}

struct SavesLate : Function<SavesLate> {
  static Tensor forward(Context& context, const Tensor& x) {
    context.save(x);
    return x * x;
  }
  static Tensor backward(Context& context, const Tensor& g) {
    context.save(context.saved(0));
    return 2.0 * g;
  }
};
TEST_F(FunctionErrorTest, BackwardCannotSave) {
  EXPECT_SAYS(error_of([] { SavesLate::apply(leaf({1, 2})).sum().backward(); }), "save() is called outside of forward");
}
}  // namespace
}  // namespace weft
