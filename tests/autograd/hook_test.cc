// Hooks: they see a gradient once it is complete, and may replace it.
#include <malloc.h>

#include <atomic>
#include <thread>

#include "autograd/gradient_buffer.h"
#include "tests/autograd/checks.h"
#include "tests/error_of.h"

namespace weft {
namespace {

using testing::leaf;
using testing::numbers;
using testing::Numbers;

class Hook : public testing::NoLeaks {};

TEST_F(Hook, ReplacesTheGradientOfALeaf) {
  Tensor w = leaf({1, 2});
  w.register_hook([](const Tensor& g) { return g * 10.0; });
  w.sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({10, 10}));
}

TEST_F(Hook, ReplacesTheGradientOfAResult) {
  const Tensor w = leaf({1, 2});
  Tensor y = w * 3.0;
  y.register_hook([](const Tensor& g) { return g * 10.0; });
  y.sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({30, 30}));
}

TEST_F(Hook, KeepsItsState) {
  Tensor w = leaf({1, 2});
  w.register_hook([step = 0](const Tensor& g) mutable { return ++step <= 2 ? g * 0.0 : g; });
  int seen = 0;
  w.register_post_accumulate_grad_hook([&seen, calls = 0](const Tensor&) mutable { seen = ++calls; });
  for (int i = 0; i < 4; ++i) w.sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({2, 2}));
  EXPECT_EQ(seen, 4);
}

// The second gradient is added to the pending one of both rows: its padding is not memory.
TEST_F(Hook, MayReplaceTheGradientOfAViewByAPaddedOne) {
  const Tensor w = parameter(zeros({2, 7}));
  const Tensor rows[] = {w[0], w[1]};
  for (const Tensor& row : rows) row.register_hook([](const Tensor& g) { return g.slice(0, 0, 5).pad({{0, 2}}); });
  (rows[0] + rows[1]).sum().backward();
  EXPECT_EQ(numbers(w.grad()), Numbers({1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0}));
}

// view() copies the padding; writes in place refuse such a copy, for which the engine has its own.
TEST_F(Hook, MayReplaceAGradientByACopyOfAPaddedOne) {
  const auto shifted = [](const Tensor& g) { return g.flatten().slice(0, 0, 5).pad({{1, 0}}).view({2, 3}); };
  const Tensor w = parameter(zeros({2, 3}));
  w.register_hook(shifted);
  w.register_hook([](const Tensor& g) { Tensor(g).mul_(2.0); });
  for (int i = 0; i < 2; ++i) w.sum().backward();
  EXPECT_EQ(numbers(w.grad().mul_(0.5)), Numbers({0, 2, 2, 2, 2, 2}));
  const Tensor y = parameter(ones({2, 3})) * 3.0;
  Tensor sum = y * 1.0, other = y * 1.0;
  for (const Tensor& x : {sum, other}) x.register_hook(shifted);
  EXPECT_EQ(numbers(grad((sum + other).sum(), y)), Numbers({0, 2, 2, 2, 2, 2}));
}

TEST_F(Hook, MayWriteToAGradientThatRepeatsOneValue) {
  Tensor w = parameter(ones({2, 3}, f64));
  w.register_hook([](const Tensor& g) {
    Tensor h = g;
    h.clip_(0, 0.25);
    return Tensor();
  });
  w.sum(1).sum().backward();
  EXPECT_EQ(numbers(w.grad().flatten()), Numbers({0.25, 0.25, 0.25, 0.25, 0.25, 0.25}));
}

TEST_F(Hook, ObservesWithoutReplacing) {
  Tensor w = leaf({1, 2});
  Numbers seen;
  w.register_hook([&](const Tensor& g) { seen = numbers(g); });
  w.register_hook([](const Tensor&) { return Tensor(); });  // undefined: no replacement
  (w * 2.0).sum().backward();
  EXPECT_EQ(seen, Numbers({2, 2}));
  EXPECT_EQ(numbers(w.grad()), Numbers({2, 2}));
}

TEST_F(Hook, RunOnceOnTheCompleteGradientAndInOrder) {
  Tensor w = leaf({1});
  std::vector<int> order;
  w.register_hook([&](const Tensor& g) {
    order.push_back(1);
    EXPECT_EQ(numbers(g), Numbers({6}));
    return g + 1.0;
  });
  w.register_hook([&](const Tensor& g) {
    order.push_back(2);
    EXPECT_EQ(numbers(g), Numbers({7}));
  });
  (w + w * 2.0 + w * 3.0).sum().backward();
  EXPECT_EQ(order, std::vector<int>({1, 2}));
  EXPECT_EQ(numbers(w.grad()), Numbers({7}));
}

TEST_F(Hook, SeesEachRunNotTheAccumulatedGradient) {
  Tensor w = leaf({1});
  std::vector<Numbers> seen;
  w.register_hook([&](const Tensor& g) { seen.push_back(numbers(g)); });
  w.sum().backward();
  (w * 5.0).sum().backward();
  EXPECT_EQ(seen, std::vector<Numbers>({{1}, {5}}));
  EXPECT_EQ(numbers(w.grad()), Numbers({6}));
}

TEST_F(Hook, IsTakenOffByItsHandleOnly) {
  Tensor w = leaf({1});
  int calls = 0;
  {
    const HookHandle dropped = w.register_hook([&](const Tensor&) { calls += 100; });
  }
  HookHandle handle = w.register_hook([&](const Tensor&) { calls += 1; });
  w.sum().backward();
  EXPECT_EQ(calls, 101);
  handle.remove();
  handle.remove();  // twice does no harm
  w.sum().backward();
  EXPECT_EQ(calls, 201);
}

TEST_F(Hook, ThoseThatStayRunInTheirOrder) {
  const Tensor w = leaf({1});
  std::vector<int> ran;
  std::vector<HookHandle> handles;
  const auto add = [&](int number) {
    handles.push_back(w.register_hook([&ran, number](const Tensor&) { ran.push_back(number); }));
  };
  for (int i = 0; i < 6; ++i) add(i);
  for (const size_t i : {3u, 0u, 5u, 3u}) handles[i].remove();
  add(6);
  w.sum().backward();
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 4, 6}));
}

TEST_F(Hook, MayTakeItselfOffWhileItRuns) {
  Tensor w = leaf({1});
  std::optional<HookHandle> handle;
  int calls = 0;
  handle = w.register_hook([&](const Tensor&) {
    ++calls;
    handle->remove();
  });
  w.sum().backward();
  w.sum().backward();
  EXPECT_EQ(calls, 1);
}

// Freed memory is overwritten, so that a list that is read while it changes is noticed.
TEST_F(Hook, OfASharedLeafComeAndGoWhileOtherThreadsRunBackward) {
  mallopt(M_PERTURB, 0xa5);  // sanitizers refuse it, and need it not
  const Tensor w = parameter(ones({4}));
  constexpr int kRuns = 100000;
  std::atomic<int> runs{0};
  const auto run = [&] {
    while (++runs < kRuns) w.sum().backward();
  };
  std::thread first(run), second(run);
  while (runs < kRuns) {
    HookHandle handles[] = {w.register_hook([](const Tensor&) {}), w.register_hook([](const Tensor&) {}),
                            w.register_hook([](const Tensor&) {})};
    for (HookHandle& handle : handles) handle.remove();
  }
  first.join(), second.join();
  EXPECT_EQ(w.grad()[0].item<float>(), static_cast<float>(kRuns - 1));
  mallopt(M_PERTURB, 0);
}

TEST_F(Hook, MayOwnAHandleThatTakesItOff) {
  struct Guard {
    std::optional<HookHandle> handle;
    ~Guard() { handle->remove(); }
  };
  const Tensor w = leaf({1});
  auto guard = std::make_shared<Guard>();
  guard->handle = w.register_hook([guard](const Tensor&) {});
  HookHandle handle = *guard->handle;
  const std::weak_ptr<Guard> ended = std::exchange(guard, nullptr);
  handle.remove();
  EXPECT_TRUE(ended.expired());
}

TEST_F(Hook, AWrongShapeOrDtypeIsAnErrorThatNamesTheTensor) {
  Tensor w = leaf({1, 2});
  w.set_name("first.weight");
  HookHandle shape = w.register_hook([](const Tensor&) { return ones({3}, f64); });
  EXPECT_SAYS(testing::error_as<GradientError>([&] { w.sum().backward(); }),
              "a hook of `first.weight`: it returned [3] f64 for a gradient of [2] f64");
  shape.remove();
  w.register_hook([](const Tensor& g) { return g.to(f32); });
  EXPECT_SAYS(testing::error_as<GradientError>([&] { w.sum().backward(); }), "returned [2] f32");
  EXPECT_FALSE(w.grad().defined());
}

TEST_F(Hook, WhatOneAsksForAtTheEndMayAskForMore) {
  const Tensor x = leaf({1, 2});
  std::vector<int> order;
  x.register_hook([&](const Tensor&) {
    autograd::after_backward([list = &order, number = 1] {
      for (const int later : {2, 3, 4}) autograd::after_backward([list, later] { list->push_back(later); });
      list->push_back(number);
    });
    return Tensor();
  });
  x.sum().backward();
  EXPECT_EQ(order, std::vector<int>({1, 2, 3, 4}));
}

/// Calls a function at its end.
struct AtEnd {
  explicit AtEnd(std::function<void()> f) : call(std::move(f)) {}
  AtEnd(const AtEnd&) = delete;
  ~AtEnd() { call(); }
  std::function<void()> call;
};
void add_hook_that_ends_with(const Tensor& x, std::function<void()> f) {
  x.register_hook([end = std::make_shared<AtEnd>(std::move(f))](const Tensor&) { return Tensor(); });
}

TEST_F(Hook, ThatEndsWithAGradientMayAskForIt) {
  const Tensor x = leaf({1, 2});
  x.pow(3).sum().backward({.create_graph = true});
  Numbers seen;
  add_hook_that_ends_with(x.grad(), [&] { seen = numbers(x.grad().detach()); });
  (x * 2.0).sum().backward();
  EXPECT_EQ(seen, Numbers({5, 14}));
}

TEST_F(Hook, ThatEndsWithTheHistoryOfAViewMayAskForOthers) {
  Tensor x = leaf({1, 2}) * 1.0;
  const Tensor first = x.view({2}), second = x.view({2});
  bool asked = false;
  add_hook_that_ends_with(first, [&] { asked = second.requires_grad(); });
  x.add_(1.0);
  EXPECT_TRUE(first.requires_grad());
  EXPECT_TRUE(asked);
}

TEST_F(Hook, NeedsHistory) {
  Tensor plain = ones({2});
  EXPECT_SAYS(testing::error_as<GradientError>([&] { plain.register_hook([](const Tensor&) {}); }),
              "does not require a gradient");
}

TEST_F(Hook, MustNotBeEmpty) {
  const Tensor w = leaf({1, 2});
  EXPECT_EQ(error_of([&] { w.register_hook(std::function<Tensor(const Tensor&)>()); }),
            "register_hook([2] f64): the hook is empty");
  EXPECT_EQ(error_of([&] { w.register_hook(std::function<void(const Tensor&)>()); }),
            "register_hook: the function is empty");
  EXPECT_EQ(error_of([&] { w.register_post_accumulate_grad_hook(nullptr); }),
            "register_post_accumulate_grad_hook([2] f64): the hook is empty");
  EXPECT_EQ(error_of([] { autograd::SavedTensorHooks(nullptr, nullptr); }),
            "SavedTensorHooks: it takes a pack and an unpack function, none of them empty");
}

struct TwoResults : autograd::Function<TwoResults> {
  static std::vector<Tensor> forward(autograd::Context&, const Tensor& x) { return {x * 1.0, x * 10.0}; }
  static std::vector<Tensor> backward(autograd::Context&, const Tensor& a, const Tensor& b) { return {a + b * 10.0}; }
};

TEST_F(Hook, BelongsToOneOutputOfAnOp) {
  const Tensor w = leaf({1, 2});
  std::vector<Tensor> results = TwoResults::apply(w);
  Numbers seen;
  results[1].register_hook([&](const Tensor& g) {
    seen = numbers(g);
    return g * 2.0;
  });
  (results[0] * 3.0 + results[1] * 5.0).sum().backward();
  EXPECT_EQ(seen, Numbers({5, 5}));
  EXPECT_EQ(numbers(w.grad()), Numbers({103, 103}));
}

TEST_F(Hook, AReplacementIsNotTakenOverFromItsOwner) {
  Tensor w = leaf({1, 2});
  const Tensor mine = tensor({7.0, 8.0}, f64);
  w.register_hook([&](const Tensor&) { return mine; });
  w.sum().backward();
  w.sum().backward();
  EXPECT_EQ(numbers(mine), Numbers({7, 8}));
  EXPECT_EQ(numbers(w.grad()), Numbers({14, 16}));
}

TEST_F(Hook, AKeptGradientDoesNotChangeLater) {
  Tensor w = leaf({1, 2});
  Tensor y = w * 1.0;
  Tensor kept;
  y.register_hook([&](const Tensor& g) { kept = g; });
  (y + y.view({2, 1}).view({2})).sum().backward();
  (w * 5.0).sum().backward();
  EXPECT_EQ(numbers(kept), Numbers({2, 2}));
  EXPECT_EQ(numbers(w.grad()), Numbers({7, 7}));
}

TEST_F(Hook, AWriteToTheArgumentChangesThisGradientOnly) {
  Tensor a = leaf({1, 2}), b = leaf({3, 4});
  const Tensor seed = ones({2}, f64);
  Tensor y = a + b;  // one gradient arrives at both
  y.register_hook([](const Tensor& g) { Tensor(g).mul_(2.0); });
  a.register_hook([](const Tensor& g) { Tensor(g).mul_(10.0); });
  y.backward(seed);
  EXPECT_EQ(numbers(seed), Numbers({1, 1}));
  EXPECT_EQ(numbers(a.grad()), Numbers({20, 20}));
  EXPECT_EQ(numbers(b.grad()), Numbers({2, 2}));
}

TEST_F(Hook, AWriteDoesNotReachWhatAnEarlierHookKeptOrReturned) {
  Tensor w = leaf({1, 2});
  Tensor kept;
  const Tensor mine = tensor({7.0, 8.0}, f64);
  w.register_hook([&](const Tensor& g) { kept = g; });
  w.register_hook([](const Tensor& g) { Tensor(g).mul_(10.0); });
  w.register_hook([&](const Tensor&) { return mine; });
  w.register_hook([](const Tensor& g) { Tensor(g).mul_(10.0); });
  (w * 3.0).sum().backward();
  EXPECT_EQ(numbers(kept), Numbers({3, 3}));
  EXPECT_EQ(numbers(mine), Numbers({7, 8}));
  EXPECT_EQ(numbers(w.grad()), Numbers({70, 80}));
}

TEST_F(Hook, AnErrorInItNamesTheTensor) {
  Tensor w = leaf({1, 2});
  w.set_name("body.0.weight");
  w.register_hook([](const Tensor& g) { return g + ones({3}, f64); });
  const std::string text = error_of([&] { w.sum().backward(); });
  EXPECT_EQ(text, "a hook of `body.0.weight`: shapes [2] and [3] do not broadcast: 2 and 3 on axis -1");
}

TEST_F(Hook, IsPartOfTheGraphUnderCreateGraph) {
  Tensor x = parameter(full({}, 3.0, f64));
  Tensor y = x * x;
  y.register_hook([](const Tensor& g) { return g * g * 5.0; });
  const Tensor seed = parameter(full({}, 2.0, f64));
  const Tensor d = grad({y}, {x}, {.create_graph = true, .seeds = {seed}})[0];  // 5 s^2 * 2x
  EXPECT_EQ(d.item<double>(), 120.0);
  EXPECT_EQ(grad({d}, {seed})[0].item<double>(), 120.0);  // 10 s * 2x
}

}  // namespace
}  // namespace weft
