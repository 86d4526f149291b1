// weight_norm() and spectral_norm() of modules: what they register, train and refuse. Values are in
// norm_golden_test.cc.
#include "nn/layers/parametrize.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "nn/nn.h"
#include "tensor/autocast.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

std::vector<std::string> names(const StateDict& state) {
  std::vector<std::string> out;
  for (const auto& [name, tensor] : state) out.push_back(name);
  return out;
}

TEST(Parametrize, HasTheNamesOfPyTorch) {
  const auto layer = weight_norm(Linear(4, 3));
  EXPECT_EQ(names(layer.state_dict()), (std::vector<std::string>{"bias", "parametrizations.weight.original0",
                                                                 "parametrizations.weight.original1"}));
  const auto spectral = spectral_norm(Linear(4, 3, false));
  EXPECT_EQ(names(spectral.state_dict()),
            (std::vector<std::string>{"parametrizations.weight.0._u", "parametrizations.weight.0._v",
                                      "parametrizations.weight.original"}));
  EXPECT_EQ(layer.parameters().size(), 3u);
  EXPECT_EQ(layer.parameter_count(), 3 + 3 + 12);
  EXPECT_TRUE(layer.buffers().empty()) << "the computed weight is none, which Ema and others would take for state";
  EXPECT_EQ(spectral.buffers().size(), 2u);
  EXPECT_EQ(layer.to_string(),
            "WeightNorm<Linear>(\n"
            "  in_features=4, out_features=3, bias=true\n"
            "  (parametrizations): ModuleDict(\n"
            "    (weight): ParametrizationList(\n"
            "      (0): _WeightNorm()\n"
            "    )\n"
            "  )\n"
            ")");
}

TEST(Parametrize, StartsAsTheLayerWas) {
  Linear plain(4, 3);
  const Tensor x = randn({2, 4}), before = plain(x), weight = plain.weight().detach().clone();
  const auto layer = weight_norm(std::move(plain));
  EXPECT_TRUE(allclose(layer(x), before));
  EXPECT_TRUE(allclose(layer.computed(), weight));
  EXPECT_EQ(
      weight_norm(Conv2d(2, 3, 3), {.axis = std::nullopt}).get_parameter("parametrizations.weight.original0").shape(),
      Shape());
}

TEST(Parametrize, LeavesALayerThatSharedTheWeightTrained) {
  Linear plain(3, 4, false), alone(3, 4, false);
  const Tensor weight = alone.weight();
  const Embedding rows = Embedding::from_pretrained(plain.weight(), false);
  const Tensor before = rows.weight().detach().clone();
  const auto normed = weight_norm(std::move(plain)), single = weight_norm(std::move(alone));
  EXPECT_FALSE(weight.requires_grad()) << "no layer has it";
  EXPECT_TRUE(rows.weight().requires_grad());
  (normed(ones({3})).sum() + rows(tensor({1})).sum()).backward();
  EXPECT_TRUE(equal(rows.weight().grad(), tensor({{0.0}, {1.0}, {0.0}, {0.0}}).to(f32).expand({4, 3})));
  EXPECT_TRUE(normed.get_parameter("parametrizations.weight.original1").grad().defined());
  EXPECT_TRUE(equal(rows.weight(), before));
}

TEST(Parametrize, AFrozenWeightStaysFrozen) {
  Linear plain(3, 4);
  plain.get_parameter("weight").requires_grad_(false);
  plain.eval();
  const auto layer = weight_norm(std::move(plain));
  for (const auto& [name, parameter] : layer.named_parameters()) EXPECT_EQ(parameter.requires_grad(), name == "bias");
  for (const NamedModule& part : layer.modules()) EXPECT_FALSE(part.module.is_training()) << part.name;
  Linear frozen(3, 4);
  frozen.requires_grad_(false);
  const auto spectral = clone(spectral_norm(std::move(frozen)));
  EXPECT_FALSE(spectral(ones({2, 3})).requires_grad());
}

TEST(Parametrize, TheWeightIsTheComputedOne) {
  auto normed = weight_norm(Linear(4, 3));
  init::constant(normed.get_parameter("parametrizations.weight.original0"), 2);
  EXPECT_TRUE(equal(normed.weight(), normed.computed()));
  EXPECT_NEAR(norm(normed.weight()[0]).item<double>(), 2, 1e-5);
  EXPECT_TRUE(normed.weight().requires_grad() && !normed.weight().is_leaf());
  EXPECT_EQ(error_of([&] { normed.get_buffer("weight"); }), "WeightNorm<Linear> has no buffer `weight`");
  const auto spectral = spectral_norm(Linear(4, 3));
  const Tensor u = spectral.get_buffer("parametrizations.weight.0._u").clone();
  EXPECT_TRUE(equal(spectral.weight(), spectral.weight()));
  EXPECT_TRUE(equal(u, spectral.get_buffer("parametrizations.weight.0._u"))) << "only calls move the vectors on";
  Sequential net(Linear(2, 4), std::move(normed));
  EXPECT_EQ(error_of([&] {
              functional_call(net, {{"1.weight", ones({3, 4})}}, ones({2}));
            }),
            "functional_call(): `1.weight` is computed in each call; replace what it is computed from, "
            "1.parametrizations.weight.*");
}

TEST(Parametrize, ThreadsTakeTurns) {
  Sequential net(weight_norm(Linear(64, 64)), ReLU(), spectral_norm(Linear(64, 8)));
  net.eval();
  const Tensor x = randn({4, 64}), y = net(x).detach();
  std::atomic<int> wrong = 0;
  const auto serve = [&] {
    NoGrad guard;
    for (int i = 0; i < 3000; ++i) wrong += allclose(net(x), y, 1e-5, 1e-6) ? 0 : 1;
  };
  std::thread other(serve);
  serve();
  other.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Parametrize, TheLargestSingularValueIsOne) {
  auto layer = spectral_norm(Linear(6, 5), {.n_power_iterations = 100});
  (void)layer(randn({1, 6}));
  layer.eval();
  const Tensor u = layer.get_buffer("parametrizations.weight.0._u").clone();
  EXPECT_NEAR(svdvals(layer.computed()).max().item<double>(), 1, 1e-4);
  (void)layer(randn({1, 6}));
  EXPECT_TRUE(equal(u, layer.get_buffer("parametrizations.weight.0._u")));  // still in evaluation
}

TEST(Parametrize, TrainsWhatTheWeightIsComputedFrom) {
  Sequential net(weight_norm(Linear(3, 4)), Tanh(), spectral_norm(Linear(4, 1)));
  const Tensor x = randn({16, 3}), y = x.sum(1, keepdim) * 0.2;
  double first = 0, last = 0;
  for (int i = 0; i < 50; ++i) {
    net.zero_grad();
    const Tensor loss = mse_loss(net(x), y);
    loss.backward();
    for (const Tensor& p : net.parameters()) p.detach().sub_(p.grad() * 0.1);
    last = loss.item<double>();
    if (i == 0) first = last;
  }
  EXPECT_LT(last, first / 2);
}

TEST(Parametrize, ClonesCastsAndLoads) {
  auto layer = weight_norm(weight_norm(Conv1d(2, 3, 2)), {.name = "bias"});
  layer.to(f64);
  const auto copy = layer.clone();
  const Tensor x = randn({1, 2, 5}, f64);
  EXPECT_TRUE(equal(copy(x), layer(x)));
  EXPECT_FALSE(copy.parameters()[0].shares_storage(layer.parameters()[0]));
  auto other = weight_norm(weight_norm(Conv1d(2, 3, 2)), {.name = "bias"});
  other.to(f64);
  other.load_state_dict(layer.state_dict());
  EXPECT_TRUE(equal(other(x), layer(x)));
}

TEST(Parametrize, TakesLayersOfSeveralInputsAndResults) {
  const Tensor x = randn({2, 3, 4});
  const auto lstm = weight_norm(LSTM(4, 5), {.name = "weight_hh_l0"});
  const LSTMOutput y = lstm(x);
  sum(y.output).backward();
  EXPECT_TRUE(lstm.get_parameter("parametrizations.weight_hh_l0.original0").grad().defined());
  const auto bilinear = spectral_norm(Bilinear(4, 4, 2));
  EXPECT_EQ(bilinear(x, x).shape(), (Shape{2, 3, 2}));
}

TEST(Parametrize, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_of([] { weight_norm(Linear(2, 3), {.name = "weights"}); }),
            "weight_norm(): WeightNorm<Linear> has no parameter `weights` of its own");
  EXPECT_EQ(error_of([] { weight_norm(weight_norm(Linear(2, 3))); }),
            "weight_norm(): WeightNorm<WeightNorm<Linear> > has no parameter `weight` of its own");
  EXPECT_EQ(error_of([] { weight_norm(Linear(2, 3), {.axis = 2}); }),
            "weight_norm(): axis 2 is out of range for 2 axes");
  auto large = spectral_norm(Linear(8, 8, false));
  large.eval();
  const Tensor scaled = large(eye(8));
  {
    const Autocast autocast(f16);
    EXPECT_TRUE(equal(large(eye(8)), scaled.to(f16))) << "the norm is computed in f32";
  }
  EXPECT_EQ(error_of([] { spectral_norm(Linear(2, 3), {.n_power_iterations = 0}); }),
            "spectral_norm(): n_power_iterations must be 1 or more, not 0");
  EXPECT_EQ(error_of([] { spectral_norm(Linear(2, 3), {.axis = -3}); }),
            "spectral_norm(): axis -3 is out of range for 2 axes");
  EXPECT_EQ(error_of([] { spectral_norm(Linear(2, 3), {.eps = -1}); }),
            "spectral_norm(): eps must be 0 or more, not -1");
  static_assert(!Parametrizable<BatchNorm2d> && Parametrizable<LayerNorm>);
}

// As a Linear, the layer would be used with its old weight.
struct Holder : Module {
  WeightNorm<Linear> body = register_module("body", weight_norm(Linear(2, 2)));
  SpectralNorm<Linear> head;
  Sequential tail = register_module("tail", Sequential(weight_norm(Linear(2, 2))));
  Holder() : head(register_module("head", spectral_norm(Linear(2, 2)))) {}
  template <class As, class M> static constexpr bool registers_as() {
    return std::is_convertible_v<decltype(std::declval<Holder>().register_module("", std::declval<M>())), As>;
  }
};

struct Normed : WeightNorm<Linear> {
  using WeightNorm<Linear>::WeightNorm;
};

template <class List, class M>
concept Takes = requires(List& list, M layer) {
  list.push_back(std::move(layer));
};

TEST(Parametrize, IsHeldAsWhatItIs) {
  static_assert(Takes<ModuleList<WeightNorm<Linear>>, WeightNorm<Linear>>);
  static_assert(Takes<ModuleList<Module>, WeightNorm<Linear>>);
  static_assert(!Takes<ModuleList<Linear>, WeightNorm<Linear>>, "which would be called as a Linear");
  static_assert(Takes<ModuleList<WeightNorm<Linear>>, Normed>);
  static_assert(!Takes<ModuleList<WeightNorm<Linear>>, WeightNorm<WeightNorm<Linear>>>);
  Holder holder;
  EXPECT_EQ(holder.body(ones({1, 2})).shape(), (Shape{1, 2}));
  EXPECT_EQ(holder.parameters().size(), 8u);
  static_assert(Holder::registers_as<WeightNorm<Linear>, WeightNorm<Linear>>());
  static_assert(Holder::registers_as<Linear, Linear>());
  static_assert(!Holder::registers_as<Linear, WeightNorm<Linear>>());
  static_assert(!Holder::registers_as<Linear, SpectralNorm<Linear>>());
  Linear sliced = weight_norm(Linear(2, 2));
  EXPECT_EQ(error_of([&] { Sequential net(std::move(sliced)); }),
            "register_module(): the module for `0` is a Linear sliced out of a layer with a computed weight; hold it "
            "as what weight_norm() gives");
  struct Net : Module {
    Linear body = register_module("body", Linear(2, 2));
  } net;
  EXPECT_EQ(error_of([&] { net.body = weight_norm(Linear(2, 2)); }),
            "the module for `body` is a Linear sliced out of a layer with a computed weight; hold it as what "
            "weight_norm() gives");
  EXPECT_EQ(net.parameters().size(), 2u);
}

}  // namespace
}  // namespace weft::nn
