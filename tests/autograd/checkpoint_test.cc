// checkpoint, hooks on what is saved, and the report of what a graph keeps.
#include "autograd/checkpoint.h"

#include <memory>

#include "tensor/batching/vmap.h"
#include "tests/autograd/checks.h"

namespace weft::testing {
namespace {

class Checkpoint : public NoLeaks {};

Tensor deep(const Tensor& x) { return exp(sin(tanh(x) * x)); }
bool same(const Tensor& a, const Tensor& b) { return a.defined() && allclose(a.detach(), b.detach(), 0, 0); }

TEST_F(Checkpoint, GivesTheSameGradientsAndKeepsLess) {
  Tensor x = parameter(randn({100})), y = parameter(x.detach().clone()), w = parameter(randn({100}));
  const auto block = [&](const Tensor& t) { return deep(t * w) + deep(t); };
  const Tensor plain = block(y).sum(), checkpointed = autograd::checkpoint(block, x).sum();
  EXPECT_TRUE(same(plain, checkpointed));
  EXPECT_EQ(autograd::memory_report(checkpointed).bytes, 0);
  EXPECT_GT(autograd::memory_report(plain).bytes, 100 * 4 * 5);
  plain.backward();
  const Tensor expected = w.grad().clone();
  w.zero_grad();
  checkpointed.backward();
  EXPECT_TRUE(same(x.grad(), y.grad()));
  EXPECT_TRUE(same(w.grad(), expected)) << "captured parameters get their gradients";
}

TEST_F(Checkpoint, WorksWithGradAndCanBeDifferentiatedTwice) {
  Tensor x = parameter(randn({5}, f64)), w = parameter(randn({5}, f64));
  const auto f = [&](const Tensor& t) { return deep(t * w); };
  const auto twice = [&](bool checkpointed) {
    const Tensor y = checkpointed ? autograd::checkpoint(f, x) : f(x);
    const Tensor g = grad({y.sum()}, {x}, {.create_graph = true})[0];
    return grad({(g * g).sum()}, {x, w});
  };
  EXPECT_TRUE(same(twice(true)[0], twice(false)[0]));
  EXPECT_TRUE(same(twice(true)[1], twice(false)[1]));
}

TEST_F(Checkpoint, Nests) {
  Tensor x = parameter(randn({6})), y = parameter(x.detach().clone());
  const auto inner = [](const Tensor& t) { return autograd::checkpoint(deep, deep(t)) * t; };
  autograd::checkpoint([&](const Tensor& t) { return autograd::checkpoint(inner, deep(t)) + t; }, x * 2.0)
      .sum()
      .backward();
  const auto plain = [](const Tensor& t) { return deep(deep(t)) * t; };
  const Tensor doubled = y * 2.0;
  (plain(deep(doubled)) + doubled).sum().backward();
  EXPECT_TRUE(same(x.grad(), y.grad()));
}

TEST_F(Checkpoint, DrawsTheSameNumbersAgain) {
  Tensor x = parameter(ones({50}));
  Tensor y = autograd::checkpoint([](const Tensor& t) { return dropout(exp(dropout(t, 0.5)), 0.3); }, x);
  const RandomState before = random_state();
  y.sum().backward();
  EXPECT_EQ(random_state(), before) << "the generator does not feel a recomputation";
  manual_seed(0);
  Tensor z = parameter(ones({50}));
  dropout(exp(dropout(z, 0.5)), 0.3).sum().backward();
  EXPECT_TRUE(same(x.grad(), z.grad()));
}

TEST_F(Checkpoint, TakesSeveralInputsAndGivesSeveralOutputs) {
  Tensor a = parameter(randn({3, 4})), b = parameter(randn({4})), mask = ones({3, 4}, boolean);
  const auto f = [](const Tensor& p, const Tensor& q, const Tensor& m) {
    return std::vector<Tensor>{deep(p * q), where(m, exp(p), q)};
  };
  const auto run = [&](bool checkpointed) {
    const std::vector<Tensor> out = checkpointed ? autograd::checkpoint(f, a, b, mask) : f(a, b, mask);
    return grad({(out[0] * out[1]).sum()}, {a, b});
  };
  EXPECT_TRUE(same(run(true)[0], run(false)[0]));
  EXPECT_TRUE(same(run(true)[1], run(false)[1]));
}

TEST_F(Checkpoint, RunsOnceAgainForAllThatItsNodesNeed) {
  Tensor x = parameter(randn({4}));
  int runs = 0;
  const Tensor y = autograd::checkpoint([&](const Tensor& t) { return ++runs, deep(deep(t)); }, x).sum();
  EXPECT_EQ(runs, 1);
  y.backward({.retain_graph = true});
  EXPECT_EQ(runs, 2);
  y.backward();
  EXPECT_EQ(runs, 2);
  EXPECT_NE(error_of([&] { y.backward(); }).find("second time"), std::string::npos);
  const NoGrad guard;
  (void)autograd::checkpoint([&](const Tensor& t) { return ++runs, t * 2.0; }, x);
  EXPECT_EQ(runs, 3);
}

TEST_F(Checkpoint, NoticesWhatCannotBeRight) {
  Tensor x = parameter(randn({4})), w = parameter(randn({4}));
  int runs = 0;
  const Tensor y = autograd::checkpoint([&](const Tensor& t) { return ++runs == 1 ? exp(t) : exp(sin(t)); }, x).sum();
  EXPECT_NE(error_of([&] { y.backward(); }).find("must do the same when it is run again"), std::string::npos);
  const Tensor z = autograd::checkpoint([&](const Tensor& t) { return exp(t * w); }, x).sum();
  {
    const NoGrad guard;
    w.add_(1.0);
  }
  EXPECT_NE(error_of([&] { z.backward(); }).find("has written to it since"), std::string::npos);
}

TEST_F(Checkpoint, ARunThatFailsLeavesNothingForTheNextBackward) {
  const Tensor x = parameter(randn({4})), right = parameter(x.detach().clone());
  (exp(right) * sin(right)).sum().backward();
  enum class Other { more, throws, shape } other{};
  int runs = 0;
  const auto f = [&](const Tensor& t) {
    if (++runs % 2 != 0) return exp(t) * sin(t);
    const Tensor y = exp(t * 2.0) * sin(t);
    if (other == Other::throws) throw std::runtime_error("it ends early");
    if (other == Other::shape) return exp(t.slice(0, 0, 2)) * sin(t.slice(0, 0, 2));
    return other == Other::more ? exp(y) : y;
  };
  for (const Other kind : {Other::more, Other::throws, Other::shape}) {
    other = kind;
    x.zero_grad();
    runs = 0;
    const Tensor y = autograd::checkpoint(f, x).sum();
    EXPECT_ANY_THROW(y.backward());
    x.zero_grad();
    y.backward();  // runs it again, as it was
    EXPECT_EQ(runs, 3);
    EXPECT_EQ(x.grad().to_vector<double>(), right.grad().to_vector<double>());
  }
}

TEST_F(Checkpoint, SaysWhatAnotherRunDidOtherwise) {
  const Tensor x = parameter(ones({3})), p = parameter(ones({3})), q = parameter(ones({3}));
  const auto difference = [&](const auto& f) {
    int runs = 0;
    const Tensor y = autograd::checkpoint([&](const Tensor& t) { return f(t, runs++ == 0); }, x).sum();
    return error_of([&] { y.backward(); });
  };
  const std::string same = "a checkpointed function must do the same when it is run again: ";
  EXPECT_EQ(difference([&](const Tensor& t, bool first) { return sin(t) * (first ? p : q); }),
            "backward of `mul`: " + same + "it reads another parameter than the first time");
  EXPECT_EQ(difference([&](const Tensor& t, bool first) {
              return square(first ? sin(t) : cat({sin(t), t}));
            }),
            "backward of `square`: " + same + "tensor 1 that it keeps was [3] f32 and is now [6] f32");
  EXPECT_EQ(difference([&](const Tensor& t, bool first) {
              const Tensor drawn = t * rand({3});
              return square(first ? drawn : drawn * rand({3}));
            }),
            "backward of `square`: what is run again draws random numbers more often than the 1 times before");
}

TEST_F(Checkpoint, HooksSeeAllThatIsSaved) {
  Tensor x = parameter(randn({40})), y = parameter(x.detach().clone());
  int packed = 0, unpacked = 0;
  Tensor z;
  {
    autograd::SavedTensorHooks hooks(
        [&](const Tensor& t) -> std::any { return ++packed, t.to(bf16); },
        [&](const std::any& kept) { return ++unpacked, std::any_cast<Tensor>(kept).to(f32); });
    z = exp(gelu(x) * x).sum();
  }
  exp(gelu(y) * y).sum().backward();
  z.backward();
  EXPECT_EQ(packed, unpacked);
  EXPECT_GE(packed, 4);
  // A packed value is off by up to e = 2^-8 of itself. The gradient is exp's result times (gelu'(x) x + gelu(x)): e
  // from the result, e from the factors of the sum, and less than e from gelu', which was taken at the packed x. Below
  // 0, where the sum cancels, its terms are so small that e in all covers their errors.
  EXPECT_TRUE(allclose(x.grad(), y.grad(), 3 * 0x1p-8, 0x1p-8));
  autograd::SavedTensorHooks wrong([](const Tensor&) -> std::any { return 1; },
                                   [](const std::any&) { return ones({2}); });
  EXPECT_NE(error_of([&] { exp(x).sum().backward(); }).find("unpack returned [2] f32 for a saved tensor of [40] f32"),
            std::string::npos);
}

TEST_F(Checkpoint, ScopesOfHooksMayEndInAnyOrder) {
  int first = 0, second = 0;
  const auto counting = [](int& count) {
    return std::make_unique<autograd::SavedTensorHooks>(
        [&count](const Tensor& t) -> std::any { return ++count, t; },
        [](const std::any& kept) { return std::any_cast<Tensor>(kept); });
  };
  const Tensor x = parameter(ones({2}));
  auto outer = counting(first), inner = counting(second);
  outer.reset();
  (void)exp(x);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
  inner.reset();
  exp(x).sum().backward();  // no scope is left
  EXPECT_EQ(first + second, 1);
  // One that ends while a function is checkpointed.
  auto outside = counting(first);
  const auto f = [&](const Tensor& t) {
    outside.reset();
    return exp(t) * 2.0;
  };
  autograd::checkpoint(f, x).sum().backward();
  (void)exp(x);
  EXPECT_EQ(first, 0);
  // One that a hook ends.
  std::unique_ptr<autograd::SavedTensorHooks> own;
  own = std::make_unique<autograd::SavedTensorHooks>([&](const Tensor& t) -> std::any { return own.reset(), t; },
                                                     [](const std::any& kept) { return std::any_cast<Tensor>(kept); });
  EXPECT_EQ(numbers(grad(square(square(x)).sum(), x)), Numbers({4, 4}));
  EXPECT_EQ(own, nullptr);
}

TEST_F(Checkpoint, AHookThatWritesToWhatItIsGivenIsCaught) {
  const Tensor x = parameter(ones({2}));
  const autograd::SavedTensorHooks hooks(
      [](const Tensor& t) -> std::any {
        Tensor same = t;
        return same.mul_(10.0);
      },
      [](const std::any& kept) { return std::any_cast<Tensor>(kept); });
  EXPECT_SAYS(error_of([&] { (void)square(x); }),
              "SavedTensorHooks: pack wrote to the tensor that it was given, [2] f32, which others use too");
}

TEST_F(Checkpoint, AHookLeavesALeafThatIsTheInputAlone) {
  const Tensor x = parameter(randn({3, 4}));
  const auto square = [](const Tensor& t) { return t * t; };
  const autograd::SavedTensorHooks hooks([](const Tensor& t) -> std::any { return t.clone(); },
                                         [](const std::any& kept) { return std::any_cast<Tensor>(kept); });
  sum(autograd::checkpoint(square, x)).backward();
  EXPECT_TRUE(allclose(x.grad(), x * 2.0));
}

TEST_F(Checkpoint, ReportsWhatAGraphKeeps) {
  Tensor x = parameter(randn({256}));
  const Tensor y = exp(x * 2.0), z = sin(y) * y;
  const autograd::MemoryReport report = autograd::memory_report(z.sum());
  EXPECT_EQ(report.bytes, 2 * 256 * 4) << report.to_string();  // y, and sin(y)
  EXPECT_EQ(report.ops[0].op, "mul");
  EXPECT_NE(report.to_string().find("total"), std::string::npos);
}

TEST_F(Checkpoint, AWriteLaterInTheSameRunIsNoticed) {
  Tensor x = parameter(zeros({1}));
  const auto f = [](const Tensor& t) {
    Tensor h = exp(t);
    h.mul_(2.0);
    return h;
  };
  const Tensor y = autograd::checkpoint(f, x);
  EXPECT_NE(error_of([&] { y.backward(); }).find("`mul_` has written to it since"), std::string::npos);
  EXPECT_FALSE(x.grad().defined());
}

TEST_F(Checkpoint, TakesAParameterThatWasUpdatedAsAnArgument) {
  Tensor w = parameter(ones({3}, f64)), x = ones({3}, f64);
  for (int step = 0; step < 3; ++step) {
    w.zero_grad();
    autograd::checkpoint([](const Tensor& a, const Tensor& b) { return exp(a * b); }, x, w).sum().backward();
    EXPECT_TRUE(same(w.grad(), exp(w)));
    w.detach().sub_(w.grad() * 0.1);  // as optimizers do: w itself is not told
  }
}

TEST_F(Checkpoint, ASeedSetInTheFunctionStaysThere) {
  Tensor x = parameter(ones({50}));
  const auto f = [](const Tensor& t) { return manual_seed(7), exp(dropout(t, 0.5)); };
  const Tensor y = autograd::checkpoint(f, x);
  manual_seed(3);
  const RandomState before = random_state();
  y.sum().backward();
  EXPECT_EQ(random_state(), before);
  Tensor z = parameter(ones({50}));
  f(z).sum().backward();
  EXPECT_TRUE(same(x.grad(), z.grad()));
}

TEST_F(Checkpoint, InsideVmapItsGradientsAreInside) {
  const Tensor p = parameter(randn({2, 3}, f64)), batch = p.detach();
  const auto inside = [](const Tensor& x) {
    return vjp([](const Tensor& t) { return autograd::checkpoint(deep, t).sum(); }, x).gradient;
  };
  EXPECT_TRUE(allclose(vmap(inside)(batch), vjp([](const Tensor& t) { return deep(t).sum(); }, batch).gradient));
  const Tensor y = vmap([](const Tensor& x) { return autograd::checkpoint(deep, x); })(p);
  EXPECT_NE(error_of([&] {
              y.sum().backward();
            }).find("checkpoint: the function ran inside a vmap that has ended and cannot be run again"),
            std::string::npos);
}

}  // namespace
}  // namespace weft::testing
