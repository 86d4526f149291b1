// retain_grad(): gradients of results of ops; backward() to a few leaves; a hook on the gradients of several tensors.
#include <atomic>
#include <thread>

#include "tensor/batching/vmap.h"
#include "tests/autograd/checks.h"
#include "tests/error_of.h"

namespace weft {
namespace {

using testing::error_as;
using testing::leaf;
using testing::numbers;
using testing::Numbers;

class RetainGrad : public testing::NoLeaks {};

TEST_F(RetainGrad, KeepsTheGradientOfAResult) {
  const Tensor w = leaf({1, 2});
  const Tensor y = w * 3.0, z = square(y);
  y.retain_grad();
  EXPECT_FALSE(y.grad().defined());
  z.sum().backward();
  EXPECT_EQ(numbers(y.grad()), Numbers({6, 12}));
  EXPECT_EQ(numbers(w.grad()), Numbers({18, 36}));
  EXPECT_FALSE(y.grad().requires_grad());
  EXPECT_SAYS(error_as<GradientError>([&] { (void)z.grad(); }), "the result of `square`, not a leaf");
}

TEST_F(RetainGrad, AddsUpUntilItIsCleared) {
  const Tensor w = leaf({1, 2}), y = w * 3.0;
  y.retain_grad();
  y.retain_grad();  // once is enough, and nothing is lost
  const Tensor z = y * 2.0;
  z.sum().backward({.retain_graph = true});
  const Tensor first = y.grad();
  z.sum().backward({.retain_graph = true});
  EXPECT_EQ(numbers(y.grad()), Numbers({4, 4}));
  EXPECT_EQ(numbers(first), Numbers({2, 2})) << "what was given is not written to";
  y.zero_grad();
  EXPECT_FALSE(y.grad().defined());
  z.sum().backward();
  EXPECT_EQ(numbers(y.grad()), Numbers({2, 2}));
  y.set_grad(tensor({5.0, 6.0}, f64));
  EXPECT_EQ(numbers(y.grad()), Numbers({5, 6}));
  EXPECT_EQ(error_as<GradientError>([&] { y.set_grad(ones({3}, f64)); }),
            "set_grad([2] f64): the gradient of a result of `mul` must be [2] f64, not [3] f64");
}

TEST_F(RetainGrad, SeesWhatHooksMadeOfIt) {
  const Tensor w = leaf({1, 2}), y = w * 3.0;
  y.retain_grad();
  y.register_hook([](const Tensor& g) { return g * 10.0; });
  y.sum().backward();
  EXPECT_EQ(numbers(y.grad()), Numbers({10, 10}));
  EXPECT_EQ(numbers(w.grad()), Numbers({30, 30}));
}

TEST_F(RetainGrad, OwnsItsMemory) {
  const Tensor w = leaf({1, 2}), y = w * 3.0;
  y.retain_grad();
  Tensor seed = tensor({1.0, 2.0}, f64);
  y.backward(seed);
  seed.fill_(7);
  EXPECT_EQ(numbers(y.grad()), Numbers({1, 2}));
  y.grad().fill_(9);
  EXPECT_EQ(numbers(w.grad()), Numbers({3, 6}));
}

TEST_F(RetainGrad, HoldsForViewsSlicesAndOpsWithSeveralResults) {
  const Tensor w = leaf({3, 1, 2});
  const auto [values, indices] = sort(w);
  const Tensor top = values.slice(0, 1), turned = top.view({2, 1});
  for (const Tensor& x : {values, top, turned}) x.retain_grad();
  (turned * tensor({{2.0}, {5.0}}, f64)).sum().backward();
  EXPECT_EQ(numbers(values.grad()), Numbers({0, 2, 5}));
  EXPECT_EQ(numbers(top.grad()), Numbers({2, 5}));
  EXPECT_EQ(turned.grad().shape(), Shape({2, 1}));
  EXPECT_EQ(numbers(w.grad()), Numbers({5, 0, 2}));
}

TEST_F(RetainGrad, HasHistoryWithCreateGraph) {
  const Tensor w = leaf({2}), y = w * 3.0;
  y.retain_grad();
  (y * square(y)).sum().backward({.create_graph = true});
  EXPECT_EQ(numbers(y.grad()), Numbers({108}));                       // 3 y^2
  EXPECT_EQ(numbers(grad(y.grad().sum(), w)), Numbers({6 * 6 * 3}));  // 6 y dy/dw
  y.zero_grad();
  w.zero_grad();
}

TEST_F(RetainGrad, OfALeafChangesNothingAndOfAConstantIsRefused) {
  const Tensor w = leaf({1});
  w.retain_grad();
  (w * 2.0).sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({2}));
  EXPECT_EQ(error_as<GradientError>([] { ones({2}).retain_grad(); }),
            "retain_grad([2] f32): the tensor does not require a gradient (see parameter())");
}

TEST_F(RetainGrad, EndsWithAWriteInPlace) {
  const Tensor w = leaf({1, 2});
  Tensor y = w * 3.0;
  y.retain_grad();
  y.mul_(2.0);
  EXPECT_SAYS(error_as<GradientError>([&] { (void)y.grad(); }), "the result of `mul`, not a leaf");
  y.retain_grad();
  y.sum().backward();
  EXPECT_EQ(numbers(y.grad()), Numbers({1, 1}));
}

TEST_F(RetainGrad, WorksInsideOfVmap) {
  const Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}}, f64);
  const Tensor g = vmap([](const Tensor& row) {
    const Tensor w = parameter(row), y = square(w);
    y.retain_grad();
    (y * w.detach()).sum().backward();
    return y.grad();
  })(x);
  EXPECT_EQ(numbers(g), numbers(x));
}

class BackwardInputs : public testing::NoLeaks {};

TEST_F(BackwardInputs, GetTheirGradientsAndNoOthers) {
  const Tensor a = leaf({1, 2}), b = leaf({3, 4}), unused = leaf({5});
  const Tensor loss = (a * b).sum();
  loss.backward({.retain_graph = true, .inputs = {b, unused}});
  EXPECT_FALSE(a.grad().defined());
  EXPECT_FALSE(unused.grad().defined());
  EXPECT_EQ(numbers(b.grad()), Numbers({1, 2}));
  backward({loss}, {}, {.inputs = {b}});
  EXPECT_EQ(numbers(b.grad()), Numbers({2, 4})) << "added, as PyTorch does";
  EXPECT_FALSE(a.grad().defined());
}

TEST_F(BackwardInputs, LeaveOutWhatLeadsToOthersOnly) {
  const Tensor a = leaf({1, 2}), b = leaf({3, 4});
  int runs = 0, accumulated = 0;
  const Tensor y = exp(a);
  y.register_hook([&](const Tensor&) { ++runs; });
  a.register_post_accumulate_grad_hook([&](const Tensor&) { ++accumulated; });
  b.register_post_accumulate_grad_hook([&](const Tensor&) { accumulated += 10; });
  (y * b).sum().backward(ones({}, f64), {.inputs = {b}});
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(accumulated, 10);
}

TEST_F(BackwardInputs, MayHaveAGraphOfTheirOwn) {
  const Tensor a = leaf({2}), b = leaf({3});
  (a * square(b)).sum().backward({.create_graph = true, .inputs = {b}});
  EXPECT_EQ(numbers(grad(b.grad().sum(), a)), Numbers({6}));
  b.zero_grad();
}

TEST_F(BackwardInputs, AreLeavesThatRequireAGradient) {
  const Tensor a = leaf({2}), y = a * 3.0;
  EXPECT_EQ(error_as<GradientError>([&] { y.backward({.inputs = {ones({2})}}); }),
            "backward([1] f64): input 0 ([2] f32) does not require a gradient");
  EXPECT_EQ(error_as<GradientError>([&] {
              y.backward({.inputs = {a, y}});
            }),
            "backward([1] f64): input 1 of shape [1] is the result of `mul`, not a leaf; use grad(outputs, "
            "inputs)");
  EXPECT_FALSE(a.grad().defined());
}

class MultiGradHook : public testing::NoLeaks {};

TEST_F(MultiGradHook, IsCalledOnceWithAllGradients) {
  const Tensor a = leaf({1, 2}), b = leaf({3, 4}), unused = leaf({5});
  const Tensor y = a * b;
  int calls = 0;
  std::vector<Tensor> seen;
  auto hook = register_multi_grad_hook({a, y, unused}, [&](const std::vector<Tensor>& g) {
    ++calls;
    seen = g;
  });
  y.sum().backward({.retain_graph = true});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(numbers(seen[0]), Numbers({3, 4}));
  EXPECT_EQ(numbers(seen[1]), Numbers({1, 1}));
  EXPECT_FALSE(seen[2].defined());
  (void)grad(unused * 2.0, unused);
  EXPECT_EQ(calls, 2);
  EXPECT_FALSE(seen[0].defined());
  hook.remove();
  y.sum().backward();
  EXPECT_EQ(calls, 2);
}

TEST_F(MultiGradHook, ForgetsARunThatFailed) {
  const Tensor a = leaf({1}), b = leaf({2});
  bool fails = true;
  int calls = 0;
  std::vector<Tensor> seen;
  register_multi_grad_hook({a, b}, [&](const std::vector<Tensor>& g) {
    ++calls;
    seen = g;
  });
  const Tensor y = a * b, z = y * a;
  y.register_hook([&](const Tensor&) {
    if (fails) throw Error("no");
  });
  EXPECT_THROW(z.sum().backward({.retain_graph = true}), Error);
  EXPECT_THROW((z + b).sum().backward({.retain_graph = true}), Error);
  EXPECT_EQ(calls, 0);
  fails = false;
  z.sum().backward();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(numbers(seen[0]), Numbers({4}));
  EXPECT_EQ(numbers(seen[1]), Numbers({1}));
}

TEST_F(MultiGradHook, KeepsTheRunsOfThreadsApart) {
  const Tensor w = leaf({1, 2});
  std::atomic<int> calls = 0, wrong = 0;
  register_multi_grad_hook({w}, [&](const std::vector<Tensor>& g) {
    ++calls;
    if (g[0].sum().item() != 4) ++wrong;
  });
  const auto train = [&] {
    for (int i = 0; i < 50; ++i) (w * 2.0).sum().backward();
  };
  std::thread first(train), second(train);
  first.join(), second.join();
  EXPECT_EQ(calls, 100);
  EXPECT_EQ(wrong, 0);
}

TEST_F(MultiGradHook, RefusesTensorsWithoutAGradient) {
  const Tensor w = leaf({1});
  EXPECT_EQ(error_as<GradientError>([&] {
              register_multi_grad_hook({w, ones({2})}, [](const auto&) {});
            }),
            "register_multi_grad_hook([1] f64, [2] f32): tensor 1 does not require a gradient");
}

}  // namespace
}  // namespace weft
