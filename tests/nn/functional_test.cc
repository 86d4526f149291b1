// functional_call and per_sample_grad.
#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "nn/nn.h"
#include "tensor/batching/vmap.h"
#include "tensor/core/random.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

namespace weft::testing {
namespace {

struct Net : nn::Layer<Net> {
  nn::Linear first =
      register_module("first", nn::Linear(nn::LinearOptions{.in_features = 3, .out_features = 4, .dtype = f64}));
  nn::Linear second =
      register_module("second", nn::Linear(nn::LinearOptions{.in_features = 4, .out_features = 2, .dtype = f64}));
  Tensor forward(const Tensor& x) { return second(tanh(first(x))); }
};

struct Tied : nn::Layer<Tied> {
  Tensor a = register_parameter("a", ones({2}));
  Tensor b = register_parameter("b", a);
  Tensor forward(const Tensor& x) { return x * a * b; }
};

struct Broken : nn::Layer<Broken> {
  Tensor a = register_parameter("a", ones({2}));
  Tensor forward(const Tensor& x) { return x * a * ones({3}); }
};

TEST(FunctionalCall, ReplacesStateForOneCall) {
  manual_seed(1);
  Net net;
  const Tensor x = randn({5, 3}, f64), before = net(x);
  StateDict other = net.clone_state();
  for (auto& [name, value] : other) value = parameter(value * 2.0);
  const Tensor y = nn::functional_call(net, other, x);
  EXPECT_FALSE(allclose(y, before));
  EXPECT_TRUE(allclose(net(x), before, 0, 0));
  y.sum().backward();
  EXPECT_TRUE(other.at("first.weight").grad().defined());
  EXPECT_FALSE(net.get_parameter("first.weight").grad().defined());
  Net same;
  same.load_state_dict(other);
  EXPECT_TRUE(allclose(same(x), y, 0, 0));
  const Tensor part = nn::functional_call(net, {{"second.bias", zeros({2}, f64)}}, x);
  EXPECT_TRUE(allclose(part, before - net.second.get_parameter("bias")));
}

struct GivesItsWeight : nn::Module {
  Tensor weight = register_parameter("weight", ones({2}));
  std::vector<Tensor> forward(const Tensor& x) const { return {x * weight, weight}; }
  std::tuple<Tensor, std::optional<Tensor>, int> forward(const Tensor& x, int n) const { return {x, weight, n}; }
  StateDict forward(const Tensor& /*x*/, const std::string& name) const { return {{name, weight}}; }
};

// The result's own handles would show the module's values again after the call.
TEST(FunctionalCall, KeepsWhatAResultHoldsOfTheState) {
  GivesItsWeight module;
  const Tensor x = ones({2}), w = parameter(full({2}, 5.0));
  const StateDict state = {{"weight", w}};
  const std::vector<Tensor> list = nn::functional_call(module, state, x);
  EXPECT_TRUE(equal(list[0], w));
  EXPECT_TRUE(equal(list[1], w));
  list[1].sum().backward();
  EXPECT_TRUE(w.grad().defined());
  const auto [first, second, number] = nn::functional_call(module, state, x, 7);
  EXPECT_TRUE(equal(*second, w));
  EXPECT_EQ(number, 7);
  EXPECT_TRUE(equal(nn::functional_call(module, state, x, std::string("a")).at("a"), w));
  EXPECT_TRUE(equal(module.weight, x));
  const nn::WeightNorm<GivesItsWeight> normed = nn::weight_norm(GivesItsWeight());
  normed.get_parameter("parametrizations.weight.original0").detach().fill_(3.0);
  EXPECT_TRUE(equal(normed.forward(x)[1], full({2}, 3.0)));
}

struct Row : nn::Module {
  Tensor row = register_buffer("row", zeros({4}));
};

TEST(FunctionalCall, AViewOfReplacedStateIsNoneOfTheOriginal) {
  const Row module;
  Tensor view;
  {
    const nn::ReplacedState replaced(module, {{"row", ones({4})}});
    view = module.row.view({2, 2});
  }
  view.mul_(parameter(full({2, 2}, 3.0)));
  EXPECT_FALSE(module.row.requires_grad());
  EXPECT_EQ(view.to_vector<float>(), std::vector<float>(4, 3.0f));
  view.sum().backward();
}

TEST(FunctionalCall, AViewOfMovedStateHasItsMemoryToItself) {
  Tensor view, values;
  {
    Row module;
    view = module.row.slice(0, 0, 4);
    values = module.row.detach();
    module.to(f64);
    module.to(f32);
    view.add_(parameter(ones({4})));
    EXPECT_FALSE(module.row.requires_grad());
  }
  const NoGrad guard;
  EXPECT_EQ((std::move(view) + 1.0).to_vector<float>(), std::vector<float>(4, 2.0f));
  EXPECT_EQ(values.to_vector<float>(), std::vector<float>(4, 1.0f));
}

TEST(FunctionalCall, SharedParametersAndErrors) {
  Tied tied;
  const Tensor x = ones({2});
  EXPECT_TRUE(allclose(nn::functional_call(tied, {{"b", full({2}, 3.0f)}}, x), full({2}, 9.0f)));
  EXPECT_TRUE(allclose(nn::functional_call(tied, tied.clone_state(), x), x));
  EXPECT_EQ(error_of([&] {
              nn::functional_call(tied, {{"a", ones({2})}, {"b", ones({2})}}, x);
            }),
            "functional_call(): `a` and `b` are one parameter, but two tensors are given");
  EXPECT_EQ(error_of([&] {
              nn::functional_call(tied, {{"c", ones({2})}}, x);
            }),
            "functional_call(): Tied has no parameter or buffer `c`");
  EXPECT_EQ(error_of([&] {
              nn::functional_call(tied, {{"a", ones({3})}}, x);
            }),
            "functional_call(): `a` has shape [3] instead of [2]");
  Broken broken;
  EXPECT_NE(error_of([&] { nn::functional_call(broken, {{"a", zeros({2})}}, x); }), "");
  EXPECT_TRUE(allclose(broken.a, ones({2}))) << "restored where it throws";
  EXPECT_TRUE(broken.a.requires_grad());
}

TEST(FunctionalCall, OfACheckpointedModule) {
  manual_seed(4);
  Net net;
  const Tensor x = randn({5, 3}, f64);
  autograd::checkpoint(net, x).sum().backward();
  const Tensor g = net.get_parameter("first.weight").grad();
  net.zero_grad();
  net(x).sum().backward();
  EXPECT_TRUE(allclose(net.get_parameter("first.weight").grad(), g, 0, 0));
  // What runs again after the call reads the parameters of the call: leaves, or results of other ops.
  StateDict other = net.clone_state();
  const Tensor factor = parameter(full({}, 3, f64));
  struct Wrapper : nn::Layer<Wrapper> {
    Net inner = register_module("inner", Net());
    Tensor forward(const Tensor& in) { return autograd::checkpoint(inner, in); }
  } wrapper;
  const auto gradient = [&](bool of_leaves, bool checkpointed) {
    StateDict given;
    for (const auto& [name, value] : other)
      given[(checkpointed ? "inner." : "") + name] = of_leaves ? parameter(value) : value * factor;
    const Tensor y = checkpointed ? nn::functional_call(wrapper, given, x) : nn::functional_call(net, given, x);
    return grad(sum(y), of_leaves ? given.at(checkpointed ? "inner.first.weight" : "first.weight") : factor);
  };
  for (const bool of_leaves : {true, false})
    EXPECT_TRUE(allclose(gradient(of_leaves, true), gradient(of_leaves, false), 1e-12, 1e-12)) << of_leaves;
}

TEST(Checkpoint, OfLayersWithAState) {
  manual_seed(6);
  const auto make = [] { return nn::Sequential(nn::spectral_norm(nn::Linear(3, 4)), nn::BatchNorm1d(4)); };
  nn::Sequential plain = make(), again = nn::clone(plain, make);
  const Tensor x = randn({5, 3}), other = randn({5, 3});
  const Tensor y = sum(square(plain(x)));
  (void)plain(other);
  y.backward();
  const Tensor z = sum(square(autograd::checkpoint(again, x)));
  (void)again(other);  // moves the vectors of spectral_norm() on
  z.backward();
  for (const nn::NamedTensor& parameter : plain.named_parameters())
    EXPECT_TRUE(equal(parameter.tensor.grad(), again.get_parameter(parameter.name).grad())) << parameter.name;
  for (const auto& [name, value] : plain.state_dict()) EXPECT_TRUE(equal(value, again.state_dict().at(name))) << name;
}

TEST(Checkpoint, CountsAnInstanceNormsBatchOnce) {
  manual_seed(7);
  const auto make = [] {
    return nn::Sequential(nn::InstanceNorm1d({.num_features = 3, .track_running_stats = true}), nn::Tanh());
  };
  nn::Sequential plain = make(), again = make();
  const Tensor x = parameter(randn({4, 3, 5})), other = parameter(x.detach().clone());
  sum(square(plain(x))).backward();
  sum(square(autograd::checkpoint(again, other))).backward();
  EXPECT_TRUE(equal(x.grad(), other.grad()));
  EXPECT_FALSE(equal(plain.state_dict().at("0.running_mean"), zeros({3})));
  for (const auto& [name, value] : plain.state_dict()) EXPECT_TRUE(equal(value, again.state_dict().at(name))) << name;
}

TEST(Checkpoint, ShortensTheRowsOfATiedEmbeddingOnce) {
  manual_seed(8);
  const nn::Embedding plain({.num_embeddings = 6, .embedding_dim = 4, .max_norm = 0.7}), again = plain.clone();
  const auto loss = [](const nn::Embedding& rows, const Tensor& scale) {
    const Tensor scores = linear(rows(tensor({0, 3, 5})) * scale, rows.weight());
    return sum(square(linear(tanh(scores), transpose(rows.weight(), 0, 1))));
  };
  const Tensor scale = parameter(randn({4})), other = parameter(scale.detach().clone());
  loss(plain, scale).backward();
  autograd::checkpoint([&](const Tensor& x) { return loss(again, x); }, other).backward();
  EXPECT_TRUE(equal(plain.weight().detach(), again.weight().detach()));
  EXPECT_TRUE(equal(plain.weight().grad(), again.weight().grad()));
  EXPECT_TRUE(equal(scale.grad(), other.grad()));
}

TEST(Checkpoint, NoticesThatDropoutIsOff) {
  nn::Sequential net(nn::Dropout(0.5), nn::Linear(3, 2));
  const Tensor y = sum(autograd::checkpoint(net, randn({5, 3})));
  net.eval();
  EXPECT_EQ(
      error_of([&] { y.backward(); }),
      "backward of `linear`: a checkpointed function must do the same when it is run again: it drew random numbers 1 "
      "times before, and 0 now; was a module set to eval() between?");
}

TEST(PerSampleGrad, EqualsALoop) {
  manual_seed(2);
  Net net;
  const Tensor x = randn({4, 3}, f64), target = randn({4, 2}, f64);
  const auto loss = [&](const StateDict& p, const Tensor& row, const Tensor& t) {
    return nn::mse_loss(nn::functional_call(net, p, row), t);
  };
  const StateDict found = nn::per_sample_grad(net, loss, x, target);
  EXPECT_EQ(found.size(), 4u);
  for (int64_t i = 0; i < 4; ++i) {
    net.zero_grad();
    nn::mse_loss(net(x[i]), target[i]).backward();
    for (const nn::NamedTensor& parameter : net.named_parameters())
      EXPECT_TRUE(allclose(found.at(parameter.name)[i], parameter.tensor.grad(), 1e-9, 1e-12)) << parameter.name;
  }
}

TEST(PerSampleGrad, NamesItselfWhereTheLossIsUndefined) {
  Net net;
  const auto none = [](const StateDict&, const Tensor&) { return Tensor(); };
  EXPECT_EQ(error_of([&] {
              (void)nn::per_sample_grad(net, none, ones({4, 3}, f64));
            }),
            "per_sample_grad(): the loss of one sample is undefined");
}

// Backward in vmap, after the call, must read the weights of the call.
TEST(FunctionalCall, GivesItsWeightsToGradientsOfSamples) {
  manual_seed(5);
  Net net, other;
  const StateDict given = other.state_dict();
  const Tensor x = randn({4, 3}, f64);
  const auto gradient = [&](const Tensor& row) {
    const Tensor leaf = row.detach().requires_grad_();
    return grad(sum(square(nn::functional_call(net, given, leaf))), leaf);
  };
  const Tensor found = vmap(gradient)(x);
  for (int64_t i = 0; i < 4; ++i) EXPECT_TRUE(allclose(found[i], gradient(x[i]), 1e-9, 1e-12));
  const auto loss = [&](const StateDict& p, const Tensor& row) { return sum(nn::functional_call(net, p, row)); };
  const StateDict of_other = nn::per_sample_grad(other, loss, x);
  sum(other(x[2])).backward();
  for (const nn::NamedTensor& parameter : other.named_parameters())
    EXPECT_TRUE(allclose(of_other.at(parameter.name)[2], parameter.tensor.grad(), 1e-9, 1e-12)) << parameter.name;
}

struct SmallConv : nn::Layer<SmallConv> {
  nn::Conv2d conv = register_module(
      "conv", nn::Conv2d(nn::Conv2dOptions{.in_channels = 2, .out_channels = 3, .kernel_size = 3, .dtype = f64}));
  Tensor forward(const Tensor& x) { return max_pool2d(relu(conv(x)), {.kernel_size = 2}); }
};

TEST(PerSampleGrad, OfConvolutions) {
  manual_seed(3);
  SmallConv net;
  const Tensor x = randn({4, 2, 8, 8}, f64);
  const auto loss = [&](const StateDict& p, const Tensor& image) {
    return square(nn::functional_call(net, p, unsqueeze(image, 0))).sum();
  };
  const StateDict found = nn::per_sample_grad(net, loss, x);
  for (int64_t i = 0; i < 4; ++i) {
    net.zero_grad();
    square(net(x.slice(0, i, i + 1))).sum().backward();
    for (const nn::NamedTensor& parameter : net.named_parameters())
      EXPECT_TRUE(allclose(found.at(parameter.name)[i], parameter.tensor.grad(), 1e-9, 1e-12)) << parameter.name;
  }
}

Tensor loss_of(Net& net, const StateDict& p, const Tensor& x, const Tensor& y) {
  return nn::mse_loss(nn::functional_call(net, p, x), y);
}

TEST(ValueAndGrad, IsThatOfTheModule) {
  manual_seed(6);
  Net net;
  const Tensor x = randn({5, 3}, f64), y = randn({5, 2}, f64);
  StateDict state = net.clone_state();
  state["count"] = tensor({3});  // not differentiated
  const auto loss = [&](const StateDict& p, const Tensor& in, const Tensor& target) {
    EXPECT_EQ(p.at("count").item<int64_t>(), 3);
    StateDict own = p;
    own.erase("count");
    return loss_of(net, own, in, target);
  };
  const auto [value, gradients] = value_and_grad(loss, state, x, y);
  nn::mse_loss(net(x), y).backward();
  EXPECT_TRUE(allclose(value, nn::mse_loss(net(x), y), 1e-12));
  EXPECT_FALSE(value.requires_grad());
  ASSERT_EQ(gradients.size(), 4u);
  for (const auto& [name, parameter] : net.parameter_dict())
    EXPECT_TRUE(allclose(gradients.at(name), parameter.grad(), 1e-12)) << name;
  EXPECT_EQ(error_of([&] {
              (void)value_and_grad([](const StateDict& p) { return p.at("a"); }, {{"a", ones({2})}});
            }),
            "value_and_grad(): the function returned shape [2]; it must return one number");
}

TEST(Vmap, OfTensorsByName) {
  manual_seed(7);
  Net a, b;
  const Tensor x = randn({4, 3}, f64), y = randn({4, 2}, f64);
  const auto step = [&](const StateDict& p, const Tensor& in, const Tensor& target) {
    const auto loss = [&](const StateDict& q) { return loss_of(a, q, in, target); };
    return value_and_grad(loss, p).gradients;
  };
  // An ensemble: the same inputs for each model.
  const StateDict stacked = nn::stack_states({a.state_dict(), b.state_dict()});
  const StateDict all = vmap(step, {0, std::nullopt, std::nullopt})(stacked, x, y);
  // Gradients of samples: the same model for each input.
  const StateDict own = a.clone_state();
  const StateDict samples = vmap(step, {std::nullopt, 0, 0})(own, x, y);
  const StateDict of_a = step(own, x, y), of_b = step(b.clone_state(), x, y);
  for (const auto& [name, gradient] : of_a) {
    EXPECT_TRUE(allclose(all.at(name)[0], gradient, 1e-12)) << name;
    EXPECT_TRUE(allclose(all.at(name)[1], of_b.at(name), 1e-12)) << name;
    EXPECT_TRUE(allclose(samples.at(name).mean(0), gradient, 1e-12)) << name;
  }
  const auto shift = [](const StateDict& p) { return p.at("u") + p.at("v"); };
  EXPECT_TRUE(equal(vmap(shift, 1)(StateDict{{"u", ones({2, 3})}, {"v", zeros({2, 3})}}), ones({3, 2})));
}

TEST(StackStates, SaysWhatDiffers) {
  EXPECT_EQ(error_of([] { (void)nn::stack_states({}); }), "stack_states(): no states to stack");
  EXPECT_EQ(error_of([] {
              (void)nn::stack_states({{{"a", ones({2})}}, {{"b", ones({2})}}});
            }),
            "stack_states(): one of the states has no `a`");
  EXPECT_EQ(error_of([] {
              (void)nn::stack_states({{{"a", ones({2})}}, {{"a", ones({2})}, {"b", ones({2})}}});
            }),
            "stack_states(): one of the states has 2 names, the first has 1");
  EXPECT_EQ(error_of([] {
              (void)nn::stack_states({StateDict(), {{"a", ones({2})}}});
            }),
            "stack_states(): one of the states has 1 names, the first has 0");
}

}  // namespace
}  // namespace weft::testing
