// Gradients inside of vmap and of checkpoint, and gradients of those: each against a loop or the plain call.
#include <any>
#include <cmath>
#include <memory>

#include "autograd/checkpoint.h"
#include "autograd/function.h"
#include "autograd/saved_hooks.h"
#include "tensor/autocast.h"
#include "tensor/batching/vmap.h"
#include "tensor/dispatch/observer.h"
#include "tests/autograd/checks.h"

namespace weft::testing {
namespace {

class Nested : public NoLeaks {};

using Unary = std::function<Tensor(const Tensor&)>;
bool close(const Tensor& a, const Tensor& b) { return allclose(a.detach(), b.detach(), 1e-9, 1e-9); }

/// Ops whose results are computed again instead of saved (recomputation.h).
const std::vector<std::pair<const char*, Unary>> kRecomputed = {
    {"silu", [](const Tensor& x) { return silu(x); }},
    {"gelu", [](const Tensor& x) { return gelu(x); }},
    {"leaky_relu", [](const Tensor& x) { return leaky_relu(x, 0.3); }},
    {"elu", [](const Tensor& x) { return elu(x); }},
    {"mish", [](const Tensor& x) { return mish(x); }},
    {"hardswish", [](const Tensor& x) { return hardswish(x); }},
    {"layer_norm", [](const Tensor& x) { return layer_norm(x, {x.size(-1)}); }}};

TEST_F(Nested, GradientsOfGradientsInsideVmap) {
  for (const auto& [name, f] : kRecomputed) {
    const Tensor x = parameter(randn({3, 4}, f64)), w = parameter(randn({4, 4}, f64));
    const auto slope = [&, &f = f](const Tensor& row) {
      return vjp([&](const Tensor& q) { return (matmul(f(q), w) * f(q)).sum(); }, row).gradient;
    };
    const Tensor mapped = vmap(slope)(x);
    Tensor loop = stack({slope(x[0]), slope(x[1]), slope(x[2])});
    EXPECT_TRUE(close(mapped, loop)) << name;
    const Tensor weights = randn({3, 4}, f64);
    const auto found = grad({(mapped * weights).sum()}, {x, w}), expected = grad({(loop * weights).sum()}, {x, w});
    EXPECT_TRUE(close(found[0], expected[0])) << name;
    EXPECT_TRUE(close(found[1], expected[1])) << name;
  }
}

TEST_F(Nested, GradientsOfGradientsInsideVmapUnderAutocast) {
  const Tensor x = parameter(randn({3, 4})), w = parameter(randn({4, 4}));
  const auto slope = [&](const Tensor& row) {
    return vjp([&](const Tensor& q) { return tanh(matmul(q, w)).sum(); }, row).gradient;
  };
  const Autocast autocast(bf16);
  const Tensor mapped = vmap(slope)(x), loop = stack({slope(x[0]), slope(x[1]), slope(x[2])});
  const Tensor found = grad(square(mapped).sum(), w), expected = grad(square(loop).sum(), w);
  // Each is a sum of three products of values that were rounded to bf16's 2^-9 a few times.
  EXPECT_LT(norm(found - expected).item(), 8 * std::exp2(-9) * norm(expected).item());
}

TEST_F(Nested, HooksOnWhatIsSavedInsideVmap) {
  const Tensor x = parameter(randn({4}, f64));
  const auto slope = [](const Tensor& t) {
    return vjp([](const Tensor& q) { return (sin(q) * q * q).sum(); }, t).gradient;
  };
  const autograd::SavedTensorHooks hooks([](const Tensor& t) -> std::any { return t.clone(); },
                                         [](const std::any& kept) { return std::any_cast<Tensor>(kept); });
  const Tensor mapped = grad((vmap(slope)(x) * x).sum(), x);
  EXPECT_TRUE(close(mapped, grad((slope(x) * x).sum(), x)));
}

TEST_F(Nested, CheckpointsInCheckpointsOfResults) {
  const Tensor x = parameter(randn({5}, f64));
  const Unary inner = [](const Tensor& u) { return sin(u) * u; };
  const std::vector<Unary> outer = {
      [&](const Tensor& t) { return autograd::checkpoint(inner, t); },
      [&](const Tensor& t) {
        return autograd::checkpoint(inner, t.view({5, 1})).view({5}) * cos(t);
      },
      [&](const Tensor& t) { return autograd::checkpoint(inner, autograd::checkpoint(inner, t)); },
      [&](const Tensor& t) {
        const Tensor b = autograd::checkpoint(inner, t) * cos(t);
        return vjp([](const Tensor& q) { return (q * q).sum(); }, b).gradient;
      },
      [&](const Tensor& t) {
        const Tensor b = autograd::checkpoint(inner, t) * cos(t);
        return grad(square(b).sum(), b, {.create_graph = true, .retain_graph = true}) * b;
      }};
  for (size_t i = 0; i < outer.size(); ++i)
    for (const bool leaf : {false, true}) {
      const Tensor z = leaf ? x : x * 1.5;
      const Tensor plain = outer[i](z), kept = autograd::checkpoint(outer[i], z);
      EXPECT_TRUE(close(kept, plain)) << i << leaf;
      EXPECT_TRUE(close(grad(kept.sum(), x, {.retain_graph = true}), grad(plain.sum(), x, {.retain_graph = true})))
          << i << leaf;
    }
}

/// x is not used, and the result is a view of w.
struct SecondOf : autograd::Function<SecondOf> {
  static Tensor forward(autograd::Context&, const Tensor&, const Tensor& w) { return w.detach(); }
  static std::vector<Tensor> backward(autograd::Context&, const Tensor& g) { return {g * 0.0, g}; }
};

TEST_F(Nested, CheckpointsOfFunctionsWhoseSecondInputIsTheLeaf) {
  const Tensor constant = ones({2}, f64), w = parameter(full({2}, 3.0, f64)), z = parameter(full({2}, 2.0, f64));
  const Unary square_of = [](const Tensor& u) { return u * u; };
  for (const Unary& outer : std::vector<Unary>{
           [&](const Tensor& t) { return square_of(SecondOf::apply(constant, w)) * t; },
           [&](const Tensor& t) { return autograd::checkpoint(square_of, SecondOf::apply(constant, w)) * t; },
           [&](const Tensor& t) { return autograd::checkpoint(square_of, SecondOf::apply(t, w)) * t; }}) {
    const Tensor kept = autograd::checkpoint(outer, z * 2.0);
    EXPECT_TRUE(close(grad(kept.sum(), w, {.retain_graph = true}), full({2}, 24.0, f64)));
    EXPECT_TRUE(close(grad(kept.sum(), z), full({2}, 18.0, f64)));
  }
}

TEST_F(Nested, TransformsInsideCheckpoints) {
  const Tensor x = parameter(randn({3, 2}, f64)), v = randn({2}, f64);
  const Unary f = [](const Tensor& t) { return (silu(t) * t).sum(); };
  const std::vector<std::pair<const char*, Unary>> transforms = {
      {"vjp", [&](const Tensor& t) { return vjp(f, t).gradient; }},
      {"jvp", [&](const Tensor& t) { return jvp(f, t, v).tangent; }},
      {"jacobian", [&](const Tensor& t) { return jacobian(f, t); }},
      {"hessian", [&](const Tensor& t) { return hessian(f, t); }}};
  for (const auto& [name, transform] : transforms) {
    int runs = 0;
    const Unary each = [&, &transform = transform](const Tensor& t) { return ++runs, vmap(transform)(t) * 2.0; };
    const Tensor z = x * 1.5, kept = autograd::checkpoint(each, z);
    EXPECT_EQ(runs, 1) << name << " needs no second run in forward";
    const Tensor plain = each(z);
    EXPECT_TRUE(close(kept, plain)) << name;
    EXPECT_TRUE(close(grad(kept.sum(), x, {.retain_graph = true}), grad(plain.sum(), x, {.retain_graph = true})))
        << name;
  }
}

TEST_F(Nested, EmptyResultsInsideVmapKeepTheirHistory) {
  const Tensor x = parameter(ones({3, 4}, f64));
  const Tensor y = vmap([](const Tensor& row) { return row.slice(0, 4, 4); })(x);
  EXPECT_EQ(y.shape(), (Shape{3, 0}));
  EXPECT_EQ(grad(y.sum(), x).sum().item(), 0);
}

TEST_F(Nested, AScopeOfAnObserverThatEndsWithinAnUnobservedOpIsOver) {
  struct Counter final : Observer {
    void begin(const ObserverEvent&) override { ++begun; }
    void end(const ObserverEvent&) override { ++ended; }
    int begun = 0, ended = 0;
  } first, second;
  auto scope = std::make_unique<ObserverScope>(first);
  std::unique_ptr<ObserverScope> other;
  const auto pack = [&](const Tensor& x) -> std::any {  // runs within the op of the sample, which alone is observed
    scope.reset();
    if (!other) other = std::make_unique<ObserverScope>(second);
    return x;
  };
  const autograd::SavedTensorHooks hooks(pack, [](const std::any& x) { return std::any_cast<Tensor>(x); });
  (void)vmap([](const Tensor& x) { return exp(x); })(parameter(ones({3, 2})));
  EXPECT_EQ(first.ended, first.begun - 1);
  (void)exp(ones({2}));
  EXPECT_GT(second.begun, 0);
}

}  // namespace
}  // namespace weft::testing
