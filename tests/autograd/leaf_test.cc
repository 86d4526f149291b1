// Leaves: what they own, how their gradients lie in memory, freezing.
#include "tensor/dispatch/observer.h"
#include "tests/autograd/checks.h"

namespace weft {
namespace {

using testing::leaf;
using testing::numbers;
using testing::Numbers;

class LeafTest : public testing::NoLeaks {};

TEST_F(LeafTest, EveryLeafOwnsItsGradient) {
  const Tensor a = leaf({1, 2}), b = leaf({1, 2}), c = leaf({1, 2});
  (a + b + c).sum().backward();
  EXPECT_FALSE(a.grad().shares_storage(b.grad()));
  EXPECT_FALSE(b.grad().shares_storage(c.grad()));
  NoGrad guard;
  a.grad().fill_(9.0);
  EXPECT_EQ(numbers(b.grad()), Numbers({1, 1}));
}

/// Asks for a gradient at each addition, and may reset it.
struct Asking : Observer {
  Asking(const Tensor& x, bool resets) : leaf(x), resets(resets) {}
  void end(const ObserverEvent& event) override {
    if (event.name != "add") return;
    shape = leaf.grad().shape();
    if (resets) leaf.zero_grad();
  }
  Tensor leaf;
  bool resets;
  Shape shape;
};

TEST_F(LeafTest, AnObserverMayAskForTheGradientThatIsAddedTo) {
  for (const bool resets : {false, true}) {
    const Tensor x = leaf({1, 2});
    const Tensor y = x.view({2});
    y.backward(ones({2}, f64));
    Asking observer(x, resets);
    {
      const ObserverScope scope(observer);
      y.backward(ones({2}, f64));
    }
    EXPECT_EQ(observer.shape, Shape({2}));
    if (resets)
      EXPECT_FALSE(x.grad().defined());
    else
      EXPECT_EQ(numbers(x.grad()), Numbers({2, 2}));
  }
}

TEST_F(LeafTest, EveryLeafOwnsItsGradientUnderCreateGraph) {
  Tensor a = leaf({1, 2}), b = leaf({1, 2});
  const Tensor y = a + b;
  (y * y).sum().backward({.create_graph = true});
  EXPECT_FALSE(a.grad().shares_storage(b.grad()));
  EXPECT_TRUE(a.grad().requires_grad());
  a.zero_grad();
  b.zero_grad();
}

TEST_F(LeafTest, PartsOfOneGradientAreNotKeptAsParts) {
  const Tensor a = leaf({1, 2}), b = leaf({3});
  const Tensor weights = tensor({10.0, 20.0, 30.0}, f64);
  (cat({a, b}) * weights).sum().backward();
  EXPECT_EQ(numbers(a.grad()), Numbers({10, 20}));
  EXPECT_EQ(numbers(b.grad()), Numbers({30}));
  EXPECT_FALSE(a.grad().shares_storage(b.grad()));
  EXPECT_EQ(internal::storage(a.grad()).bytes(), 16u) << "no more memory than its own";
  EXPECT_EQ(internal::storage(b.grad()).bytes(), 8u);
}

TEST_F(LeafTest, AnExpandedGradientIsMadeDense) {
  const Tensor a = parameter(ones({2, 3}, f64));
  a.sum().backward();  // the gradient is one number, seen six times
  EXPECT_TRUE(a.grad().is_contiguous());
  EXPECT_EQ(internal::storage(a.grad()).bytes(), 48u);
}

TEST_F(LeafTest, AGradientTakesItsLeafsMemoryOrder) {
  Tensor channels_last = parameter(rand({2, 3, 4, 5}, f64).permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2}));
  ASSERT_FALSE(channels_last.is_contiguous());
  (channels_last * rand({2, 3, 4, 5}, f64)).sum().backward();
  EXPECT_EQ(channels_last.grad().strides(), channels_last.strides());
  channels_last.sum().backward();
  EXPECT_EQ(channels_last.grad().strides(), channels_last.strides());

  const Tensor transposed = parameter(rand({3, 4}, f64).t());
  (transposed * rand({4, 3}, f64)).sum().backward();
  EXPECT_EQ(transposed.grad().strides(), transposed.strides());

  const Tensor row_major = parameter(rand({4, 3}, f64));
  (row_major.t().contiguous() * rand({3, 4}, f64)).sum().backward();
  EXPECT_TRUE(row_major.grad().is_contiguous());
}

TEST_F(LeafTest, AGradientOfANonDenseLeafIsDense) {
  const Tensor strided = parameter(rand({4, 6}, f64).slice(1, 0, std::nullopt, 2));
  (strided * 2.0).sum().backward();
  EXPECT_TRUE(strided.grad().is_contiguous());
  EXPECT_EQ(numbers(strided.grad()), Numbers(12, 2.0));
}

TEST_F(LeafTest, OwnershipAndOrderHoldUnderCreateGraphToo) {
  Tensor transposed = parameter(rand({3, 4}, f64).t());
  (transposed * transposed.contiguous()).sum().backward({.create_graph = true});
  EXPECT_EQ(transposed.grad().strides(), transposed.strides());
  transposed.zero_grad();
}

TEST_F(LeafTest, ParameterLeavesItsArgumentAsItWas) {
  const Tensor plain = ones({2}, f64);
  const Tensor w = parameter(plain);
  EXPECT_FALSE(plain.requires_grad());
  EXPECT_TRUE(w.shares_storage(plain));
  const Tensor again = parameter(w * 2.0);
  EXPECT_TRUE(again.is_leaf());
  again.sum().backward();
  EXPECT_FALSE(w.grad().defined());
}

TEST_F(LeafTest, OnlyFloatingTensorsAreParameters) {
  EXPECT_EQ(testing::error_as<DtypeError>([] { parameter(ones({2}, i64)); }),
            "parameter([2] i64): i64 cannot collect a gradient; it takes f32, f64, bf16 or f16");
  Tensor flags = ones({2}, boolean);
  EXPECT_NE(testing::error_as<DtypeError>([&] { flags.requires_grad_(); }), "");
  for (DType dtype : {f32, f64, bf16, f16}) {
    const Tensor w = parameter(ones({2}, dtype));
    (w * 2.0).sum().backward();
    EXPECT_EQ(w.grad().dtype(), dtype);
    EXPECT_EQ(numbers(w.grad()), Numbers({2, 2}));
  }
}

TEST_F(LeafTest, AFrozenLeafTakesNoGradientAndRecordsNothing) {
  Tensor w = leaf({1, 2}), v = leaf({3, 4});
  w.requires_grad_(false);
  EXPECT_FALSE((w * 2.0).requires_grad());
  (w * v).sum().backward();
  EXPECT_FALSE(w.grad().defined());
  EXPECT_EQ(numbers(v.grad()), Numbers({1, 2}));
  w.requires_grad_(true);
  (w * v).sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({3, 4}));
}

TEST_F(LeafTest, FreezingBetweenForwardAndBackwardIsSeen) {
  Tensor w = leaf({1, 2}), v = leaf({3, 4});
  const Tensor loss = (w * v).sum();
  w.requires_grad_(false);
  loss.backward();
  EXPECT_FALSE(w.grad().defined());
  EXPECT_EQ(numbers(v.grad()), Numbers({1, 2}));
}

TEST_F(LeafTest, OnlyLeavesAreFrozen) {
  Tensor y = leaf({1, 2}) * 2.0;
  EXPECT_SAYS(testing::error_as<GradientError>([&] { y.requires_grad_(false); }), "the result of `mul`, not a leaf");
  y.requires_grad_(true);  // it does already
}

TEST_F(LeafTest, AResultHasNoGradAndSaysWhatToUse) {
  Tensor y = leaf({1, 2}) * 2.0;
  EXPECT_FALSE(y.is_leaf());
  EXPECT_SAYS(testing::error_as<GradientError>([&] { (void)y.grad(); }),
              "grad([2] f64): this tensor is the result of `mul`, not a leaf");
  EXPECT_SAYS(testing::error_as<GradientError>([&] { y.set_grad(y); }),
              "use retain_grad() before backward, or grad(outputs, inputs)");
  EXPECT_NE(testing::error_as<GradientError>([&] { y.zero_grad(); }), "");
  EXPECT_NE(testing::error_as<GradientError>([&] { y.set_name("y"); }), "");
  EXPECT_FALSE(y.detach().grad().defined());
}

TEST_F(LeafTest, SetGradCopiesAndChecks) {
  Tensor w = leaf({1, 2});
  const Tensor mine = tensor({5.0, 6.0}, f64);
  w.set_grad(mine);
  w.sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({6, 7}));
  EXPECT_EQ(numbers(mine), Numbers({5, 6}));
  w.set_grad(ones({}, f64).expand({2}));  // overlaps itself: the copy does not
  w.sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({2, 2}));
  EXPECT_SAYS(testing::error_as<GradientError>([&] { w.set_grad(ones({3}, f64)); }), "must be [2] f64, not [3] f64");
  EXPECT_SAYS(testing::error_as<GradientError>([&] { w.set_grad(ones({2}, f32)); }), "must be [2] f64, not [2] f32");
  w.set_grad(Tensor());
  EXPECT_FALSE(w.grad().defined());
  Tensor plain = ones({2});
  EXPECT_NE(testing::error_as<GradientError>([&] { plain.set_grad(plain); }), "");
}

TEST_F(LeafTest, NamesAreUsedInMessages) {
  Tensor w = leaf({1, 2});
  EXPECT_EQ(w.name(), "leaf");
  w.set_name("fc.weight");
  EXPECT_EQ(w.name(), "fc.weight");
  EXPECT_EQ((w * 2.0).name(), "mul");
  EXPECT_EQ(ones({1}).name(), "");
}

struct Lends : autograd::Function<Lends> {
  static inline std::vector<double> memory = {1, 2};
  static Tensor forward(autograd::Context&, const Tensor& x) { return x * 1.0; }
  static std::vector<Tensor> backward(autograd::Context&, const Tensor&) { return {Tensor::wrap(memory.data(), {2})}; }
};

TEST_F(LeafTest, MemoryThatAUserLendsIsNotWritten) {
  const Tensor w = leaf({1, 2});
  for (int i = 0; i < 2; ++i) Lends::apply(w).sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({2, 4}));
  const Tensor v = leaf({1, 2});
  const Tensor y = v * 1.0;
  (y * 5.0 + Lends::apply(y)).sum().backward();
  EXPECT_EQ(numbers(v.grad()), Numbers({6, 7}));
  Tensor hooked = v * 1.0;
  hooked.register_hook([](const Tensor& g) { Tensor(g).mul_(10.0); });
  Lends::apply(hooked).sum().backward();
  EXPECT_EQ(numbers(v.grad()), Numbers({16, 27}));
  EXPECT_EQ(Lends::memory, std::vector<double>({1, 2}));
}

}  // namespace
}  // namespace weft
