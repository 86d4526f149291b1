// Results written over temporaries: where it happens, and that no value which something else can see ever
// changes.
#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "tensor/dispatch/observer.h"
#include "tensor/functions_all.h"
#include "tensor/memory/allocator.h"

namespace weft {
namespace {

/// Whether `call` on a temporary gave its memory to the result.
template <class Make, class Call> bool takes_memory(const Make& make, const Call& call) {
  Tensor x = make();
  const Storage* before = &internal::storage(x);
  const Tensor y = call(std::move(x));
  return &internal::storage(y) == before;
}
Tensor fresh() { return rand({64}) * 2.0; }

TEST(Temporaries, EveryElementWiseFormTakesTheMemory) {
  const Tensor other = rand({64});
  EXPECT_TRUE(takes_memory(fresh, [](Tensor&& x) { return exp(std::move(x)); }));
  EXPECT_TRUE(takes_memory(fresh, [](Tensor&& x) { return std::move(x).tanh(); }));
  EXPECT_TRUE(takes_memory(fresh, [](Tensor&& x) { return -std::move(x); }));
  EXPECT_TRUE(takes_memory(fresh, [](Tensor&& x) { return std::move(x) + 1.0; }));
  EXPECT_TRUE(takes_memory(fresh, [](Tensor&& x) { return 1.0 - std::move(x); }));
  EXPECT_TRUE(takes_memory(fresh, [](Tensor&& x) { return 2.0 / std::move(x); }));
  EXPECT_TRUE(takes_memory(fresh, [&](Tensor&& x) { return std::move(x) * other; }));
  EXPECT_TRUE(takes_memory(fresh, [&](Tensor&& x) { return other - std::move(x); }));
  EXPECT_TRUE(takes_memory(fresh, [](Tensor&& x) { return std::move(x) / fresh(); }));
  EXPECT_TRUE(takes_memory(fresh, [&](Tensor&& x) { return maximum(other, std::move(x)); }));
  EXPECT_TRUE(takes_memory(fresh, [](Tensor&& x) { return pow(std::move(x), 3.0); }));
  EXPECT_TRUE(takes_memory(fresh, [](Tensor&& x) { return clip(std::move(x), 0.5, 1.0); }));
  EXPECT_TRUE(takes_memory(fresh, [](Tensor&& x) { return clip(std::move(x), std::nullopt, 1); }));
  const Tensor mask = other > 0.5;
  EXPECT_TRUE(takes_memory(fresh, [&](Tensor&& x) { return masked_fill(std::move(x), mask, 3); }));
}

TEST(Temporaries, ClipAndMaskedFillGiveTheSame) {
  const Tensor x = rand({64}), mask = rand({64}) > 0.5, whole = randint(0, 9, {64}), wide = rand({3, 64}) > 0.5;
  const Tensor y = x * 2.0;
  EXPECT_TRUE(equal(clip(x * 2.0, 0.5, 1.0), clip(y, 0.5, 1.0)));
  EXPECT_TRUE(equal(clip(whole * 2, 2.5, 7), clip((whole * 2).to(f32), 2.5, 7))) << "a bound may change the dtype";
  EXPECT_TRUE(equal(masked_fill(x * 2.0, mask, -1.0), masked_fill(y, mask, -1.0)));
  EXPECT_TRUE(equal(masked_fill(x * 2.0, wide, -1.0), masked_fill(y, wide, -1.0)));
  const auto gradient = [&](const auto& f) {
    const Tensor leaf = parameter(x.clone());
    square(f(leaf)).sum().backward();
    return leaf.grad();
  };
  EXPECT_TRUE(equal(gradient([](const Tensor& v) { return clip(v * 2.0, 0.5, 1.0); }), gradient([](const Tensor& v) {
                      const Tensor kept = v * 2.0;
                      return clip(kept, 0.5, 1.0);
                    })));
  EXPECT_TRUE(
      equal(gradient([&](const Tensor& v) { return masked_fill(exp(v), mask, 2.0); }), gradient([&](const Tensor& v) {
              const Tensor kept = exp(v);
              return masked_fill(kept, mask, 2.0);
            })));
}

TEST(Temporaries, ValuesAreThoseOfNewTensors) {
  const Tensor x = rand({33, 5});
  const Tensor a = x * 2.0, b = a + 1.0, c = b / x, d = x - c, expected = exp(d);
  EXPECT_EQ(exp(x - (x * 2.0 + 1.0) / x).to_vector<float>(), expected.to_vector<float>());
}

TEST(Temporaries, AnotherHandleOrViewKeepsItsValue) {
  Tensor x = fresh();
  const std::vector<float> values = x.to_vector<float>();
  const Tensor handle = x;
  (void)(std::move(x) + 1.0);
  EXPECT_EQ(handle.to_vector<float>(), values);
  Tensor y = fresh();
  const std::vector<float> half = y.slice(0, 0, 32).to_vector<float>();
  const Tensor view = y.slice(0, 0, 32);
  (void)(std::move(y) + 1.0);
  EXPECT_EQ(view.to_vector<float>(), half);
  Tensor base = fresh(), part = base.slice(0, 0, 64);
  const std::vector<float> whole = base.to_vector<float>();
  (void)(std::move(part) + 1.0);
  EXPECT_EQ(base.to_vector<float>(), whole);
}

TEST(Temporaries, AUsedUpNameIsUndefined) {
  Tensor x = fresh();
  const Tensor y = std::move(x) + 1.0;
  EXPECT_FALSE(x.defined());  // NOLINT(bugprone-use-after-move): what is left of it
}

TEST(Temporaries, OtherDtypesShapesAndOrdersAllocate) {
  EXPECT_FALSE(takes_memory([] { return tensor({1, 2, 3}) * 1; }, [](Tensor&& x) { return std::move(x) / 2; }));
  EXPECT_FALSE(takes_memory([] { return rand({1, 4}) + 0.0; }, [](Tensor&& x) { return std::move(x) + rand({3, 4}); }));
  const Tensor columns = rand({4, 3}).t();
  EXPECT_FALSE(takes_memory([] { return rand({3, 4}) + 0.0; }, [&](Tensor&& x) { return columns + std::move(x); }));
}

TEST(Temporaries, BorrowedMemoryIsNeverWritten) {
  std::vector<float> mine(8, 1.0f);
  const Tensor y = Tensor::wrap(mine.data(), {8}) + 1.0;
  EXPECT_EQ(mine, std::vector<float>(8, 1.0f));
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(8, 2.0f));
}

TEST(Temporaries, WhatBackwardKeepsIsNeverWritten) {
  const Tensor w = parameter(rand({16}, f64) + 0.5), v = parameter(rand({16}, f64) + 0.5);
  // Each inner result is kept: by its maker (exp, sqrt), by the op over it (square, log), or for the other factor
  // (mul).
  const auto unnamed = [&] {
    return (square(exp(w * 2.0) - 1.0) * log(sqrt(w + 1.0) * 3.0) + (w * v) * (v - w) / (v + 2.0)).sum();
  };
  const auto named = [&] {
    const Tensor a = w * 2.0, b = exp(a), c = b - 1.0, d = square(c), e = w + 1.0, f = sqrt(e), g = f * 3.0, h = log(g);
    const Tensor i = d * h, j = w * v, k = v - w, l = j * k, m = v + 2.0, n = l / m, o = i + n;
    return o.sum();
  };
  const std::vector<Tensor> one = grad({unnamed()}, {w, v}), other = grad({named()}, {w, v});
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(allclose(one[i], other[i], 1e-13));  // summed in another order
}

TEST(Temporaries, SecondOrderIsTheSame) {
  const Tensor w = parameter(rand({8}, f64) + 0.5);
  const auto second = [&](const Tensor& loss) {
    const Tensor first = grad({loss}, {w}, {.create_graph = true})[0];
    return grad({square(first).sum()}, {w})[0].to_vector<double>();
  };
  const Tensor a = w * w, b = sigmoid(a), c = b * w;
  EXPECT_EQ(second((sigmoid(w * w) * w).sum()), second(c.sum()));
}

TEST(Temporaries, HooksSeeTheirGradientAndLeavesStay) {
  const Tensor w = parameter(ones({4}));
  std::vector<float> seen;
  Tensor y = w * 3.0;
  y.register_hook([&](const Tensor& g) { seen = g.to_vector<float>(); });
  (std::move(y) + 1.0).sum().backward();
  EXPECT_EQ(seen, std::vector<float>(4, 1.0f));
  Tensor leaf = parameter(ones({4}));
  const Tensor out = std::move(leaf) + 1.0;
  out.sum().backward();
  EXPECT_TRUE(out.requires_grad());
}

TEST(Temporaries, AnErrorLeavesTheTensorAsItWas) {
  Tensor x = fresh();
  const std::vector<float> values = x.to_vector<float>();
  EXPECT_THROW(std::move(x) + rand({3}), ShapeError);
  ASSERT_TRUE(x.defined());  // NOLINT(bugprone-use-after-move): what is left of it
  EXPECT_EQ(x.to_vector<float>(), values);
}

TEST(Temporaries, ObserversSeeInputsThatStillHoldTheirValues) {
  struct Values final : Observer {
    void end(const ObserverEvent& event) override { inputs.push_back(event.inputs[0]->to_vector<float>()); }
    std::vector<std::vector<float>> inputs;
  } values;
  const Tensor x = ones({2});
  const ObserverScope scope(values);
  (void)((x + 1.0) * 3.0);
  EXPECT_EQ(values.inputs, (std::vector<std::vector<float>>{{1, 1}, {2, 2}}));
}

TEST(Temporaries, RulesWriteOverAGradientThatTheyAloneHold) {
  const Tensor w = parameter(rand({1 << 20}));
  const Tensor loss = (dropout(relu(exp(w * 2.0)), 0.5) / 3.0 - 1.0).neg().sum();
  reset_peak_memory();
  const int64_t before = memory_stats().peak_bytes;
  loss.backward();
  EXPECT_LT(memory_stats().peak_bytes - before, (4 << 20) * 3 / 2);
}

/// x + y, whose gradient is one tensor for both.
struct Sum : autograd::Function<Sum> {
  static Tensor forward(autograd::Context& /*context*/, const Tensor& x, const Tensor& y) { return x + y; }
  static std::vector<Tensor> backward(autograd::Context& /*context*/, const Tensor& g) { return {g, g}; }
};

TEST(Temporaries, AGradientThatSomethingSeesKeepsItsValue) {
  const Tensor w = parameter(rand({64, 80})), a = w * 2.0, b = exp(a), c = -b, d = relu(b), e = Sum::apply(c, d);
  const Tensor f = e.reshape({80, 64}), y = f * 3.0, seed = rand({80, 64});
  std::vector<Tensor> seen = {seed};
  std::vector<std::vector<float>> values = {seed.to_vector<float>()};
  const auto see = [&](const Tensor& g) { seen.push_back(g), values.push_back(g.to_vector<float>()); };
  for (const Tensor& x : {b, d, f}) x.register_hook(see);
  for (const bool create_graph : {false, true})
    for (const Tensor& g :
         grad({y}, {a, c, e, f, y, y}, {.create_graph = create_graph, .retain_graph = true, .seeds = {seed}}))
      see(g);
  y.backward(seed);
  EXPECT_EQ(seen.size(), 1 + 3 * 3 + 2 * 6u);
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i].to_vector<float>(), values[i]) << i;
}

TEST(Temporaries, SixOpsNeedOneBuffer) {
  const Tensor x = rand({1 << 20});
  reset_peak_memory();
  const int64_t before = memory_stats().peak_bytes;
  const Tensor y = ((x * 2.0 + 1.0) * 0.5 - 0.25) * 1.5 + 0.1;
  EXPECT_LT(memory_stats().peak_bytes - before, 2 * (4 << 20));
}

}  // namespace
}  // namespace weft
