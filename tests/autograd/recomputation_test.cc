// Outputs that are computed again in backward instead of being kept: what that saves, and that results do not change
// otherwise.
#include <functional>

#include "tensor/autocast.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/ops/unary.h"
#include "tests/autograd/checks.h"

namespace weft {
namespace {

using testing::node;

class Recomputation : public testing::NoLeaks {};

Tensor leaf(const Shape& shape) { return parameter(randn(shape, f64)); }

/// Keeps a copy of what it is given, so that nothing is computed again: the identity.
Tensor kept(const Tensor& x) { return x.clone(); }

void expect_same(const Tensor& a, const Tensor& b) { EXPECT_TRUE((a == b).all().item<bool>()); }

struct Gradients {
  Tensor x, w;
};

/// The gradients of a product that reads f(x) for the gradient of w.
Gradients gradients_of(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, const Tensor& w) {
  const Tensor loss = square(matmul(f(x), w)).sum();
  const std::vector<Tensor> g = grad({loss}, {x, w});
  return {g[0], g[1]};
}

TEST_F(Recomputation, AProductKeepsNoOutputOfGelu) {
  const Tensor x = leaf({8, 10}), w = leaf({10, 5});
  const int64_t weight = 10 * 5 * 8, activation = 8 * 10 * 8;
  EXPECT_EQ(node(matmul(gelu(x), w)).saved_bytes(), weight);
  EXPECT_EQ(node(matmul(silu(x), w)).saved_bytes(), weight);
  EXPECT_EQ(node(matmul(leaky_relu(x), w)).saved_bytes(), weight);
  EXPECT_EQ(node(matmul(layer_norm(x, {10}), w)).saved_bytes(), weight);
  EXPECT_EQ(node(matmul(gelu(x).t().t().unsqueeze(0)[0], w)).saved_bytes(), weight) << "behind views";
  EXPECT_EQ(node(matmul(kept(gelu(x)), w)).saved_bytes(), weight + activation);
  EXPECT_EQ(node(matmul(exp(x), w)).saved_bytes(), weight + activation) << "exp keeps its own output";
  EXPECT_EQ(node(matmul(gelu(x.detach()), w)).saved_bytes(), activation) << "gelu's input is not kept";
}

TEST_F(Recomputation, WhatWasWrittenByAddressIsKept) {
  const Tensor x = leaf({3, 4}), w = leaf({4, 2}), y = gelu(x);
  double* const values = y.data<double>();
  for (int i = 0; i < 12; ++i) values[i] = 1;
  expect_same(grad(matmul(y, w).sum(), w), full({4, 2}, 3, f64));
}

TEST_F(Recomputation, AProductKeepsNoCopyOfAParameterIn16Bits) {
  const Tensor x = parameter(randn({8, 10}, f16)), w = parameter(randn({10, 5}));
  const Autocast scope(f16);
  const int64_t weight = 10 * 5 * 2, activation = 8 * 10 * 2;
  const auto product = [&](const Tensor& v) { return matmul(x, v); };
  EXPECT_EQ(node(product(cast(w, f16))).saved_bytes(), activation);
  EXPECT_EQ(node(product(cast(w.view({5, 10}).view({10, 5}), f16))).saved_bytes(), activation) << "its memory as well";
  EXPECT_EQ(node(product(cast(w * 2.0, f16))).saved_bytes(), activation + weight) << "w * 2 would be kept instead";
  const auto gradients = [&](const Tensor& v) { return grad({square(product(v)).sum()}, {x, w}); };
  const std::vector<Tensor> once = gradients(kept(cast(w, f16))), again = gradients(cast(w, f16));
  for (size_t i = 0; i < 2; ++i) expect_same(once[i], again[i]);
  const Tensor loss = product(cast(w, f16)).sum();
  {
    NoGrad guard;
    Tensor(w).mul_(2);
  }
  EXPECT_SAYS(testing::error_as<GradientError>([&] { loss.backward(); }),
              "`cast` needs its input 0 of shape [10, 5] (f32)");
}

TEST_F(Recomputation, ACopyThatTheUserMadeIsKept) {
  const Tensor x = randn({8, 10}, f16), w = parameter(randn({10, 5}));
  const Tensor copy = cast(w, f16), loss = matmul(x, copy).sum();
  {
    NoGrad guard;
    Tensor(w).mul_(2);
  }
  loss.backward();
  matmul(x, copy).sum().backward();  // the copy serves the next step as well
  const Tensor expected = 2.0 * sum(x.to(f32), 0).unsqueeze(1).expand({10, 5});
  EXPECT_TRUE(allclose(w.grad(), expected, 0x1p-10, 0x1p-10));  // each of the two is rounded to f16
}

// The projected input, of all gates, which only a second derivative reads.
TEST_F(Recomputation, ARecurrentLayerKeepsNoProjectedInput) {
  const Tensor x = randn({3, 5, 4}, f64), w = leaf({18, 4}), states = leaf({18, 6}), bias = leaf({18});
  const int64_t gates = 3 * 5 * 4 * 6 * 8, y = 3 * 5 * 6 * 8, weight = 18 * 6 * 8;
  const auto run = [&](const Tensor& projected) { return recurrent(Recurrence::gru, projected, states).output; };
  const auto first = [&](const Tensor& projected) {
    return grad({square(run(projected)).sum()}, {w, states, bias}, {.create_graph = true});
  };
  EXPECT_EQ(node(run(linear(x, w, bias))).saved_bytes(), gates + y + weight);
  EXPECT_EQ(node(run(kept(linear(x, w, bias)))).saved_bytes(), gates + y + weight + 3 * 5 * 18 * 8);
  EXPECT_EQ(node(run(linear(x * 1.0, w.detach(), bias))).saved_bytes(), gates + y + weight + 3 * 5 * 18 * 8)
      << "x would be kept instead";
  EXPECT_EQ(node(matmul(linear(x[0], w, bias), leaf({18, 2}))).saved_bytes(), (5 * 18 + 18 * 2) * 8)
      << "a product is not computed again for a product";
  const std::vector<Tensor> once = first(linear(x, w, bias)), usual = first(kept(linear(x, w, bias)));
  const auto second = [&](const std::vector<Tensor>& g) { return grad({square(g[0]).sum()}, {w, states, bias}); };
  const std::vector<Tensor> twice = second(once), usual_twice = second(usual);
  for (size_t i = 0; i < 3; ++i) expect_same(once[i], usual[i]), expect_same(twice[i], usual_twice[i]);
}

TEST_F(Recomputation, TheMemoryIsFreeBeforeBackward) {
  const Tensor x = leaf({100, 100}), w = leaf({100, 1});
  const int64_t before = memory_stats().live_bytes;
  const Tensor y = matmul(gelu(x * 2.0), w);
  EXPECT_LT(memory_stats().live_bytes - before, 2 * 80000) << "x * 2 is kept, gelu of it is not";
}

// What is computed again for one factor is released before the gradient of the other is made.
TEST_F(Recomputation, TakesNoMemoryBesideBothGradients) {
  for (const bool first : {false, true}) {
    const Tensor x = parameter(randn({512, 512})), v = parameter(randn({512, 512})), seed = rand({512, 512});
    const Tensor activated = silu(x), y = first ? activated * v : v * activated;
    reset_peak_memory();
    const int64_t before = memory_stats().live_bytes;
    const std::vector<Tensor> gradients = grad({y}, {activated, v}, {.seeds = {seed}});
    EXPECT_LT(memory_stats().peak_bytes - before, 512 * 512 * 4 * 9 / 4) << first;
  }
}

TEST_F(Recomputation, GradientsAreTheSameToTheBit) {
  const Tensor x = leaf({7, 6}), w = leaf({6, 3}), scale = leaf({6}), shift = leaf({6});
  using F = std::function<Tensor(const Tensor&)>;
  const std::vector<F> functions = {
      [](const Tensor& v) { return gelu(v); },
      [](const Tensor& v) { return gelu(v, Gelu::tanh); },
      [](const Tensor& v) { return silu(v); },
      [](const Tensor& v) { return leaky_relu(v, 0.1); },
      [&](const Tensor& v) { return layer_norm(v, {6}, scale, shift); },
      [](const Tensor& v) { return layer_norm(v, {6}); },
      [](const Tensor& v) { return gelu(v.t()).t(); },
      [](const Tensor& v) { return gelu(v).flip({1}); },
      [](const Tensor& v) { return gelu(v).slice(0, 1, 6, 2); },
      [](const Tensor& v) {
        return gelu(v)[2].expand({4, 6});
      },
      [](const Tensor& v) { return silu(gelu(layer_norm(silu(v), {6}))); },
  };
  for (const F& f : functions) {
    const Gradients recomputed = gradients_of(f, x, w);
    const Gradients usual = gradients_of([&](const Tensor& v) { return kept(f(v)); }, x, w);
    expect_same(recomputed.x, usual.x);
    expect_same(recomputed.w, usual.w);
  }
}

TEST_F(Recomputation, SecondOrderPassesThroughIt) {
  const auto f = [](const std::vector<Tensor>& in) {
    return square(matmul(gelu(layer_norm(in[0], {4})), in[1])).sum();
  };
  const std::vector<Tensor> inputs = {leaf({3, 4}), leaf({4, 2})};
  EXPECT_TRUE(gradcheck(f, inputs)) << gradcheck(f, inputs).report();
  EXPECT_TRUE(gradgradcheck(f, inputs)) << gradgradcheck(f, inputs).report();
}

TEST_F(Recomputation, AWriteToTheOutputSinceIsNoMatter) {
  const Tensor x = leaf({4, 3}), w = leaf({3, 2});
  const Gradients usual = gradients_of([](const Tensor& v) { return kept(gelu(v)); }, x, w);
  Tensor y = gelu(x);
  const Tensor loss = square(matmul(y, w)).sum();
  y.mul_(3.0);
  expect_same(grad({loss}, {w})[0], usual.w);
}

TEST_F(Recomputation, AnOutputThatWasWrittenIsKeptAsItIs) {
  const Tensor x = leaf({4, 3}), w = leaf({3, 2});
  const Gradients usual = gradients_of([](const Tensor& v) { return gelu(v) * 3.0; }, x, w);
  const Gradients written = gradients_of(
      [](const Tensor& v) {
        Tensor y = gelu(v);
        y.mul_(3.0);
        return y;
      },
      x, w);
  expect_same(usual.x, written.x);
  expect_same(usual.w, written.w);
}

TEST_F(Recomputation, AnOpInPlaceKeepsItsOutputAsItsInputIsGone) {
  const Tensor x = leaf({4, 3}), w = leaf({3, 2});
  Tensor y = x * 1.0;
  dispatch::apply_in_place(op::LeakyRelu{0.1}, "leaky_relu_", y);
  const Tensor product = matmul(y, w);
  EXPECT_EQ(node(product).saved_bytes(), (12 + 6) * 8);
  expect_same(grad({product.sum()}, {w})[0], matmul(leaky_relu(x.detach(), 0.1).t(), ones({4, 2}, f64)));
}

TEST_F(Recomputation, AWriteToTheInputSinceIsNoticed) {
  const Tensor x = leaf({4, 3}), w = leaf({3, 2});
  Tensor v = x * 1.0;
  const Tensor loss = matmul(gelu(v), w).sum();
  v.add_(1.0);
  const std::string text = testing::error_as<GradientError>([&] { loss.backward(); });
  EXPECT_SAYS(text, "`gelu` needs its input 0 of shape [4, 3] (f64)");
  EXPECT_SAYS(text, "`add_` has written to it since");
}

TEST_F(Recomputation, HoldsWhenAnotherBackwardHasFreedTheOp) {
  const Tensor x = leaf({4, 3}), w = leaf({3, 2});
  const Tensor y = gelu(x);
  const Tensor product = matmul(y, w);
  y.sum().backward();
  EXPECT_TRUE(node(y).freed());
  expect_same(grad({product.sum()}, {w})[0], matmul(y.detach().t(), ones({4, 2}, f64)));
}

TEST_F(Recomputation, TheLastOneReleasesWhatAFreedOpKept) {
  const Tensor x = leaf({100, 100}), w = leaf({100, 1});
  Tensor product;
  {
    const Tensor y = gelu(x * 1.0);
    product = matmul(y, w);
    y.sum().backward();
  }
  const int64_t before = memory_stats().live_bytes;
  product = Tensor();
  EXPECT_LE(memory_stats().live_bytes, before - 80000);
}

TEST_F(Recomputation, ServesEveryBackwardOfARetainedGraph) {
  const Tensor x = leaf({4, 3}), w = leaf({3, 2});
  const Tensor loss = square(matmul(gelu(x), w)).sum();
  loss.backward({.retain_graph = true});
  const Tensor first = w.grad().clone();
  Tensor(w).zero_grad();
  loss.backward();
  expect_same(first, w.grad());
}

TEST_F(Recomputation, AChainKeepsEverySecondTensor) {
  const Tensor x = leaf({1000});
  const int64_t before = memory_stats().live_bytes;
  Tensor y = x;
  for (int i = 0; i < 100; ++i) y = silu(y);
  const int64_t tensors = (memory_stats().live_bytes - before) / 8000;
  EXPECT_GE(tensors, 50);
  EXPECT_LE(tensors, 60) << "no more than half, and the blocks' rounding";
}

TEST_F(Recomputation, LayersUnderNoGradKeepNothing) {
  const Tensor x = leaf({4, 3}), w = leaf({3, 2});
  NoGrad guard;
  EXPECT_FALSE(matmul(gelu(x), w).requires_grad());
}

}  // namespace
}  // namespace weft
