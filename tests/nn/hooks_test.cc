// Hooks of calls, printing, functions in Sequential, containers, and the forms of dropout.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <memory>
#include <sstream>
#include <thread>

#include "autograd/grad_mode.h"
#include "nn/nn.h"
#include "tensor/core/random.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

TEST(Print, ShowsTheTreeOfModules) {
  Sequential net(Linear(4, 3), Sequential(BatchNorm1d(3), ReLU()), Dropout(0.25));
  std::ostringstream out;
  out << net;
  EXPECT_EQ(out.str(),
            "Sequential(\n"
            "  (0): Linear(in_features=4, out_features=3, bias=true)\n"
            "  (1): Sequential(\n"
            "    (0): BatchNorm1d(3, eps=1e-05)\n"
            "    (1): ReLU()\n"
            "  )\n"
            "  (2): Dropout(p=0.25)\n"
            ")");
  EXPECT_EQ(LSTM(8, 16).to_string(), "LSTM(8, 16)");
  EXPECT_EQ(RMSNorm(16).to_string(), "RMSNorm([16])");
  EXPECT_EQ(GroupNorm(2, 4).to_string(), "GroupNorm(2, 4, eps=1e-05)");
}

TEST(Hooks, RunInOrderThoseThatArePrependedFirst) {
  Linear layer(2, 2);
  std::string order;
  const auto before = [&](char name) { return [&order, name](const Module&, const Tensor&) { order += name; }; };
  const auto after = [&](char name) {
    return [&order, name](const Module&, const Tensor&, const Tensor&) { order += name; };
  };
  layer.register_forward_pre_hook(before('b'));
  layer.register_forward_pre_hook(before('a'), {.prepend = true});
  layer.register_forward_pre_hook(before('c'));
  layer.register_forward_hook(after('y'));
  auto first = layer.register_forward_hook(after('x'), {.prepend = true});
  layer.register_forward_hook(after('w'), {.prepend = true});
  layer(ones({1, 2}));
  EXPECT_EQ(order, "abcwxy");
  first.remove();
  layer(ones({1, 2}));
  EXPECT_EQ(order, "abcwxyabcwy");
}

TEST(Hooks, SeeCallsAndMayChangeThem) {
  Linear layer(3, 2);
  const Tensor x = randn({4, 3}), plain = layer(x);
  std::vector<std::string> seen;
  auto watch = layer.register_forward_hook([&](const Module& module, const Tensor& in, const Tensor& out) {
    seen.push_back(module.type_name() + text(in.shape(), out.shape()));
  });
  EXPECT_TRUE(equal(layer(x), plain));
  EXPECT_EQ(seen, std::vector<std::string>{"Linear[4, 3][4, 2]"});
  auto twice = layer.register_forward_hook([](const Module&, const Tensor&, const Tensor& y) { return y * 2.0; });
  auto zero = layer.register_forward_pre_hook([](const Module&, const Tensor& in) { return zeros_like(in); });
  EXPECT_TRUE(allclose(layer(x), broadcast(layer.bias() * 2.0, {4, 2})));
  zero.remove();
  EXPECT_TRUE(allclose(layer(x), plain * 2.0));
  twice.remove();
  twice.remove();
  EXPECT_TRUE(equal(layer(x), plain));
  EXPECT_EQ(seen.size(), 4u);
  watch.remove();
  EXPECT_TRUE(equal(layer(x), plain));
  EXPECT_EQ(seen.size(), 4u);
}

TEST(Hooks, KeepTheirState) {
  Linear layer(3, 2);
  std::vector<int> before, after;
  layer.register_forward_pre_hook(
      [&before, calls = 0](const Module&, const Tensor&) mutable { before.push_back(++calls); });
  layer.register_forward_hook(
      [&after, calls = 0](const Module&, const Tensor&, const Tensor&) mutable { after.push_back(++calls); });
  for (int i = 0; i < 3; ++i) layer(randn({4, 3}));
  EXPECT_EQ(before, std::vector<int>({1, 2, 3}));
  EXPECT_EQ(after, std::vector<int>({1, 2, 3}));
}

TEST(Hooks, OfAModuleBelowAreCalledAndEndWithIt) {
  int calls = 0;
  {
    Sequential net(Linear(3, 3), BatchNorm1d(3), ReLU());
    for (NamedModule& entry : net.modules())
      entry.module.register_forward_hook([&](const Module&, const Tensor&, const Tensor&) { ++calls; });
    EXPECT_EQ(detail::forward_hooks(), 4);
    (void)net(randn({2, 3}));
    EXPECT_EQ(calls, 4);  // batch norm and relu apart
  }
  EXPECT_EQ(detail::forward_hooks(), 0);
}

TEST(Hooks, MayOwnTheirModuleAndTakeOffOthers) {
  const auto identity = [](const Module&, const Tensor&, const Tensor& y) { return y; };
  auto layer = std::make_shared<Linear>(2, 2);
  layer->register_forward_hook(identity);
  auto owning = layer->register_forward_hook([layer](const Module&, const Tensor&, const Tensor& y) { return y; });
  layer.reset();
  owning.remove();  // the last owner of the module ends with the hook
  EXPECT_EQ(detail::forward_hooks(), 0);
  owning.remove();

  struct Guard {
    Module::HookHandle handle;
    ~Guard() { handle.remove(); }
  };
  Linear other(2, 2);
  auto guard = std::shared_ptr<Guard>(new Guard{other.register_forward_hook(identity)});
  auto holder = other.register_forward_hook(
      [kept = std::move(guard)](const Module&, const Tensor&, const Tensor& y) { return y; });
  auto moved = std::move(holder);
  holder.remove();  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move): it has no hook any more
  EXPECT_EQ(detail::forward_hooks(), 2);
  moved.remove();
  EXPECT_EQ(detail::forward_hooks(), 0);
}

TEST(Sequential, RunsAPart) {
  manual_seed(4);
  Sequential net(Conv2d(2, 3, 3), BatchNorm2d(3), ReLU(), MaxPool2d(2), Flatten(), Linear(12, 2));
  const Tensor x = randn({2, 2, 6, 6});
  for (const bool training : {true, false}) {
    net.train(training);
    const NoGrad guard;
    const Tensor whole = net(x);
    for (size_t cut = 0; cut <= net.size(); ++cut)
      EXPECT_TRUE(allclose(net.forward(net.forward(x, 0, cut), cut, net.size()), whole, 1e-5)) << cut;
    EXPECT_TRUE((net.forward(x, 0, 2) < 0).any().item<bool>()) << "the ReLU is beyond the part";
  }
  EXPECT_EQ(error_of([&] { (void)net.forward(x, 2, 1); }), "Sequential: modules 2 to 1 of 6");
  EXPECT_EQ(error_of([&] { (void)net.forward(x, 0, 7); }), "Sequential: modules 0 to 7 of 6");
}

TEST(Sequential, TakesFunctions) {
  Sequential net(
      Linear(3, 4), [](const Tensor& x) { return x * 2.0; }, Identity(), Unflatten(1, {2, -1}), Flatten());
  net.push_back([](const Tensor& x) { return x + 1.0; });
  net.push_back("last", [](const Tensor& x) { return x - 1.0; });
  const Tensor x = randn({5, 3});
  EXPECT_TRUE(allclose(net(x), net.at<Linear>(0)(x) * 2.0, 1e-5, 1e-6));
  EXPECT_EQ(net.size(), 7u);
}

struct Heads : Module {
  ModuleDict<Linear> heads = register_module("heads", ModuleDict<Linear>());
  ParameterList scales = register_module("scales", ParameterList());
  Heads() {
    heads.insert("left", Linear(2, 1));
    heads.insert("right", Linear(2, 3));
    scales.push_back(ones({2}));
  }
};

TEST(Containers, HoldModulesAndParametersByName) {
  Heads net;
  EXPECT_EQ(net.heads.size(), 2u);
  EXPECT_TRUE(net.heads.contains("left"));
  EXPECT_FALSE(net.heads.contains("middle"));
  EXPECT_EQ(net.heads["right"](ones({1, 2})).shape(), (Shape{1, 3}));
  EXPECT_EQ(error_of([&] { (void)net.heads["middle"]; }), "there is no module `middle`");
  EXPECT_EQ(net.get_parameter("heads.left.weight").shape(), (Shape{1, 2}));
  EXPECT_TRUE(net.get_parameter("scales.0").is_same(net.scales[0]));
  EXPECT_THROW(net.scales[1], IndexError);
  EXPECT_EQ(net.parameter_count(), 3 + 9 + 2);
  ModuleList<Linear> layers;
  layers.push_back(Linear(2, 3));
  const auto& list = layers;  // as in a forward() that is const
  const auto& heads = net.heads;
  EXPECT_EQ(list[0](ones({1, 2})).shape(), heads["right"](ones({1, 2})).shape());
  EXPECT_THROW((void)list[1], IndexError);
  EXPECT_THROW((void)heads["middle"], Error);
}

TEST(Dropouts, DropWholeChannels) {
  manual_seed(3);
  Dropout2d layer(0.25);
  const Tensor y = layer(ones({50, 40, 3, 2}));
  EXPECT_TRUE(equal(y, broadcast_like(y.narrow(2, 0, 1).narrow(3, 0, 1), y)));
  EXPECT_NEAR((y == 0.0).to(f32).mean().item<double>(), 0.25, 0.03);
  EXPECT_NEAR(y.max().item<double>(), 1 / 0.75, 1e-6);
  layer.eval();
  EXPECT_TRUE(equal(layer(ones({2, 3, 4, 4})), ones({2, 3, 4, 4})));
  EXPECT_EQ(Dropout1d()(ones({3, 4})).shape(), (Shape{3, 4}));
  EXPECT_EQ(Dropout3d()(ones({2, 3, 1, 2, 2})).shape(), (Shape{2, 3, 1, 2, 2}));
  EXPECT_EQ(error_of([] { Dropout1d()(ones({4})); }),
            "Dropout1d([4] f32): the input must have 3 axes, (N, C, ...), or 2 without N");
  EXPECT_EQ(error_of([] { Dropout2d(1.5); }), "Dropout2d(): p must be in [0, 1], not 1.5");
}

TEST(Dropouts, FunctionsDrawWhatTheLayersDraw) {
  const Tensor line = randn({3, 4, 5}), image = randn({3, 4, 2, 5}), volume = randn({3, 4, 2, 1, 5});
  const auto seeded = [](const auto& call) { return manual_seed(8), call(); };
  const auto same = [&](const auto& layer, const auto& function, const Tensor& x) {
    EXPECT_TRUE(equal(seeded([&] { return layer(x); }), seeded([&] { return function(x); })));
  };
  const auto p = 0.3;
  same(
      Dropout1d(p), [=](const Tensor& x) { return dropout1d(x, p); }, line);
  same(
      Dropout2d(p), [=](const Tensor& x) { return dropout2d(x, p); }, image);
  same(
      Dropout3d(p), [=](const Tensor& x) { return dropout3d(x, p); }, volume);
  same(
      AlphaDropout(p), [=](const Tensor& x) { return alpha_dropout(x, p); }, line);
  same(
      FeatureAlphaDropout(p), [=](const Tensor& x) { return feature_alpha_dropout(x, p); }, image);
  EXPECT_EQ(error_of([&] { dropout2d(line[0][0]); }),
            "dropout2d([5] f32): the input must have 4 axes, (N, C, ...), or 3 without N");
  EXPECT_EQ(error_of([&] { alpha_dropout(ones({2}), 2); }), "alpha_dropout([2] f32): p = 2 must lie between 0 and 1");
}

TEST(Dropouts, AlphaDropoutKeepsMeanAndVariance) {
  manual_seed(5);
  const Tensor x = randn({300, 400});
  for (const double p : {0.1, 0.5}) {
    const Tensor y = AlphaDropout(p)(x);
    EXPECT_NEAR(y.mean().item<double>(), 0, 0.02);
    EXPECT_NEAR(y.std().item<double>(), 1, 0.02);
  }
  const Tensor y = FeatureAlphaDropout(0.4)(randn({300, 200, 4}));
  EXPECT_NEAR(y.std().item<double>(), 1, 0.03);
  EXPECT_EQ(AlphaDropout(1)(x).max().item<double>(), 0);
  AlphaDropout off(0.5);
  off.eval();
  EXPECT_TRUE(equal(off(x), x));
}

TEST(Recurrent, DropsBetweenLayersInTrainingOnlyAndRefusesWhatDoesNotFit) {
  manual_seed(6);
  LSTM lstm({.input_size = 3, .hidden_size = 4, .num_layers = 2, .dropout = 0.5});
  const Tensor x = randn({2, 5, 3});
  EXPECT_FALSE(equal(lstm(x).output, lstm(x).output));
  lstm.eval();
  EXPECT_TRUE(equal(lstm(x).output, lstm(x).output));
  EXPECT_EQ(lstm(x[0]).output.shape(), (Shape{5, 4}));
  EXPECT_EQ(lstm(x[0]).h.shape(), (Shape{2, 4}));
  EXPECT_EQ(error_of([&] { lstm(ones({2, 5, 4})); }), "LSTM([2, 5, 4] f32): x has 4 features, this layer takes 3");
  EXPECT_EQ(error_of([&] {
              lstm(x, {zeros({1, 2, 4}), {}});
            }),
            "LSTM([2, 5, 3] f32): the first states must be [2, 2, 4], not [1, 2, 4]");
  EXPECT_EQ(error_of([&] {
              lstm(x[0], {zeros({1, 4}), {}});
            }),
            "LSTM([5, 3] f32): the first states must be [2, 4], not [1, 4]");
  EXPECT_EQ(error_of([&] {
              lstm(x, {}, tensor({6, 1}));
            }),
            "LSTM([2, 5, 3] f32): length 6 is out of range for 5 steps");
  EXPECT_EQ(error_of([] { GRU(3, 0); }), "GRU(): hidden_size must be 1 or more, not 0 (was it left out?)");
  EXPECT_EQ(error_of([] { GRUCell(3, 2, {.nonlinearity = RNN::Nonlinearity::relu}); }),
            "GRUCell(): nonlinearity is for RNNCell only");
  EXPECT_EQ(error_of([] { GRUCell(3, 2)(ones({1, 2, 3})); }), "GRUCell([1, 2, 3] f32): x must be (N, 3) or without N");
}

TEST(Hooks, OfABatchNormSeeWhatIsInFrontOfTheReLU) {
  manual_seed(9);
  BasicBlock block(4, 4);
  BatchNorm2d norm(4);
  const Tensor x = randn({2, 4, 8, 8});
  Tensor seen;
  const auto watch = [&](const Module&, const Tensor&, const Tensor& y) { seen = y; };
  for (NamedModule& entry : block.modules())
    if (entry.name == "bn1") entry.module.register_forward_hook(watch);
  for (const bool training : {true, false}) {
    block.train(training);
    (void)block(x);
    EXPECT_LT(seen.min().item<double>(), 0);
  }
  norm.register_forward_hook(watch);
  EXPECT_EQ(norm.forward_relu(x).min().item<double>(), 0);
  EXPECT_LT(seen.min().item<double>(), 0);
  seen = {};
  EXPECT_EQ(norm.forward_relu_max_pool(x, {.kernel_size = 2}).shape(), (Shape{2, 4, 4, 4}));
  EXPECT_EQ(seen.shape(), x.shape());
}

struct Shifted : BatchNorm2d {
  using BatchNorm2d::BatchNorm2d;
  Tensor forward(const Tensor& x) const { return BatchNorm2d::forward(x) + 100.0; }
};

TEST(Sequential, AClassDerivedFromABatchNormKeepsItsForward) {
  manual_seed(10);
  NoGrad guard;
  Sequential relu_behind(Conv2d(2, 2, 3), Shifted(2), ReLU()), pool_behind(Shifted(2), ReLU(), MaxPool2d(2));
  for (const bool training : {true, false}) {
    relu_behind.train(training), pool_behind.train(training);
    const Tensor x = randn({4, 2, 6, 6});
    EXPECT_GT(relu_behind(x).min().item<double>(), 50);
    EXPECT_GT(pool_behind(x).min().item<double>(), 50);
  }
  static_assert(FusibleNorm<BatchNorm1d> && FusibleNorm<BatchNorm2d> && FusibleNorm<BatchNorm3d>);
  static_assert(!FusibleNorm<Shifted>);
}

// Freed memory is overwritten, so that a list that is read while it changes is noticed.
TEST(Hooks, ComeAndGoWhileOtherThreadsCallTheModule) {
  mallopt(M_PERTURB, 0xa5);  // sanitizers refuse it, and need it not
  Linear layer(2, 2);
  const Tensor x = ones({1, 2});
  constexpr int kCalls = 500000;
  std::atomic<int> calls{0};
  const auto call = [&] {
    NoGrad guard;
    while (++calls < kCalls) (void)layer(x);
  };
  std::thread first(call), second(call);
  const auto nothing = [](const Module&, const Tensor&, const Tensor&) {};
  while (calls < kCalls) {
    Module::HookHandle handles[] = {layer.register_forward_hook(nothing), layer.register_forward_hook(nothing),
                                    layer.register_forward_hook(nothing)};
    for (Module::HookHandle& handle : handles) handle.remove();
  }
  first.join(), second.join();
  mallopt(M_PERTURB, 0);
}

}  // namespace
}  // namespace weft::nn
