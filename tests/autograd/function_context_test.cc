// autograd::Function: undefined results, recorded views, a backward that runs again, what the context keeps and knows.
#include <any>

#include "autograd/saved_hooks.h"
#include "tests/autograd/checks.h"

namespace weft {
namespace {

using autograd::Context;
using autograd::Function;
using testing::leaf;
using Tensors = std::vector<Tensor>;

class FunctionContextTest : public testing::NoLeaks {};

struct Absent : Function<Absent> {
  static Tensors forward(Context&, const Tensor& x, const Tensor& y) { return {Tensor(), x * 2.0, y, Tensor()}; }
  static Tensors backward(Context&, const Tensors& g) { return {g[1] * 2.0, Tensor()}; }
};
TEST_F(FunctionContextTest, ResultsMayBeUndefined) {
  const Tensor x = leaf({1, 2, 3});
  const auto applied = [](const Tensor& to) {
    Tensors y = Absent::apply(to, Tensor());
    EXPECT_TRUE(!y[0].defined() && y[1].defined() && !y[2].defined() && !y[3].defined());
    return y[1];
  };
  applied(x).sum().backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{2, 2, 2}));
  EXPECT_FALSE(applied(x.detach()).requires_grad());
  EXPECT_FALSE(applied(argsort(x, 0).to(f64)).requires_grad());  // its path was cut before
  const NoGrad off;
  EXPECT_FALSE(applied(x).requires_grad());
}

struct RecordedView : Function<RecordedView> {
  static Tensor forward(Context&, const Tensor& x) {
    const EnableGrad on;
    return x.view({3});
  }
  static Tensor backward(Context&, const Tensor& g) { return g * -1.0; }
};
TEST_F(FunctionContextTest, AWriteToTheBaseDoesNotReplaceItsGradient) {
  const Tensor x = leaf({1, 2, 3});
  Tensor z = x * 1.0;
  const Tensor y = RecordedView::apply(z);
  EXPECT_EQ(grad(y.sum(), x, {.retain_graph = true}).to_vector<double>(), (std::vector<double>{-1, -1, -1}));
  z.add_(1.0);
  EXPECT_THROW(y.sum().backward(), GradientError);
}

/// exp(x), a view that was recorded, and saved.
struct SavedView : Function<SavedView> {
  static Tensor forward(Context& context, const Tensor& x) {
    const EnableGrad recording;
    const Tensor y = exp(x.detach()).view(x.shape());
    context.save(y);
    return y;
  }
  static Tensor backward(Context& context, const Tensor& g) { return g * context.saved(0); }
};

TEST_F(FunctionContextTest, AResultThatIsARecordedViewIsSavedWithItsHistory) {
  const Tensor x = leaf({1, 2});
  EXPECT_TRUE(gradgradcheck([](const Tensors& in) { return SavedView::apply(in[0] * 1.0); }, {x.detach()}));
  const Tensor g = grad(SavedView::apply(x).sum(), x, {.create_graph = true});
  EXPECT_TRUE(allclose(grad((g * x).sum(), x), exp(x.detach()) * (x.detach() + 1.0)));
}

struct RunsAgain : Function<RunsAgain> {
  static Tensor forward(Context& context, const Tensor& x) {
    Tensor y = x * x * x;
    context.save(y, x);
    context["runs"] = 0;
    return y;
  }
  static Tensor backward(Context& context, const Tensor& g) {
    const Tensor& x = context.saved(1);
    if (std::any_cast<int&>(context["runs"])++ == 0) {
      const EnableGrad on;
      EXPECT_EQ(grad(context.saved(0).sum(), x, {.retain_graph = true}).sum().item(), 42);
    }
    return 3.0 * x * x * g;
  }
};
TEST_F(FunctionContextTest, BackwardMayRunItsOwnNode) {
  const Tensor x = leaf({1, 2, 3});
  RunsAgain::apply(x).sum().backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{3, 12, 27}));
}

/// Saves what is needed alone, and counts how often that is.
struct Product : Function<Product> {
  static Tensor forward(Context& context, const Tensor& x, const Tensor& y, int* needed) {
    for (const size_t i : {0, 1}) *needed += context.needs_gradient(i) ? 1 : 0;
    context.save(context.needs_gradient(0) ? y : Tensor(), context.needs_gradient(1) ? x : Tensor());
    return x * y;
  }
  static Tensors backward(Context& context, const Tensor& g) {
    return {context.needs_gradient(0) ? g * context.saved(0) : Tensor(),
            context.needs_gradient(1) ? g * context.saved(1) : Tensor()};
  }
};

}  // namespace

template <> inline constexpr bool autograd::holds_no_tensors<int*> = true;

namespace {

TEST_F(FunctionContextTest, ForwardKnowsWhichInputsNeedAGradient) {
  const Tensor x = leaf({1, 2, 3}), y = full({3}, 5.0, f64);
  int needed = 0;
  EXPECT_EQ(grad(Product::apply(x, y, &needed).sum(), x).to_vector<double>(), (std::vector<double>{5, 5, 5}));
  EXPECT_EQ(needed, 1);
  EXPECT_EQ(grad(Product::apply(y, x, &needed).sum(), x).to_vector<double>(), (std::vector<double>{5, 5, 5}));
  EXPECT_EQ(needed, 2);
  const NoGrad off;
  Product::apply(x, y, &needed);
  EXPECT_EQ(needed, 2);
}

TEST_F(FunctionContextTest, SavesNothingWhereNothingIsRecorded) {
  int packed = 0, needed = 0;
  const autograd::SavedTensorHooks hooks(
      [&](const Tensor& t) -> std::any {
        ++packed;
        return t;
      },
      [](const std::any& kept) { return std::any_cast<Tensor>(kept); });
  Tensor z = leaf({1, 2, 3}) * 1.0;
  packed = 0;
  {
    const NoGrad off;
    z.mul_(2.0);  // its history is that of older values, which does not matter here
    EXPECT_EQ(Product::apply(z, z, &needed).to_vector<double>(), (std::vector<double>{4, 16, 36}));
  }
  const Tensor constant = ones({3}, f64);
  Product::apply(constant, constant, &needed);
  EXPECT_EQ(packed, 0);
}

}  // namespace
}  // namespace weft
