// What state_dict() gives and load_state_dict() takes, and what it says where they do not fit.
#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/random.h"
#include "tensor/functions/view.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

struct Net : Module {
  Linear first = register_module("first", Linear(3, 2));
  BatchNorm1d norm = register_module("norm", BatchNorm1d(2));
  Tensor mask = register_buffer("mask", ones({2}), {.saved = false});
};

Error load_error(Module& module, const StateDict& state) {
  try {
    module.load_state_dict(state);
  } catch (const Error& error) {
    return error;
  }
  return Error("accepted");
}

TEST(StateDict, SharesMemoryAndClones) {
  Net net;
  const StateDict state = net.state_dict(), copy = net.clone_state();
  ASSERT_EQ(state.size(), 7u);  // two of the linear layer, five of the norm, not the mask
  EXPECT_TRUE(state.at("first.weight").shares_storage(net.first.weight()));
  EXPECT_FALSE(state.at("first.weight").requires_grad());
  EXPECT_FALSE(copy.at("first.weight").shares_storage(net.first.weight()));
  EXPECT_TRUE(equal(copy.at("first.weight"), net.first.weight()));
}

TEST(StateDict, LoadsIntoTheSameMemory) {
  Net net, other;
  const void* memory = internal::raw(net.first.weight());
  net.load_state_dict(other.state_dict());
  EXPECT_EQ(internal::raw(net.first.weight()), memory);
  EXPECT_TRUE(equal(net.first.weight(), other.first.weight()));
  EXPECT_TRUE(net.first.weight().requires_grad());
  net.to(f64);
  net.load_state_dict(other.state_dict());
  EXPECT_TRUE(equal(net.first.weight(), other.first.weight().to(f64)));
}

TEST(StateDict, LoadsItsOwnMemory) {
  struct Pair : Module {
    Tensor a = register_parameter("a", tensor({1.0, 2.0}));
    Tensor b = register_parameter("b", tensor({3.0, 4.0}));
  } pair;
  pair.load_state_dict({{"a", pair.b.detach()}, {"b", pair.a.detach()}});
  EXPECT_EQ(pair.a.to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(pair.b.to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(StateDict, SaysWhatDoesNotFit) {
  Linear layer(3, 2);
  EXPECT_NE(std::string(load_error(layer, {{"weight", zeros({2, 3})}}).what()).find("1 key does not fit: missing bias"),
            std::string::npos);
  const Error error = load_error(layer, {{"weight", zeros({3, 2})}, {"bias", zeros({2})}, {"extra", zeros({})}});
  EXPECT_NE(std::string(error.what())
                .find("2 keys do not fit: unexpected extra; weight has shape [3, 2] instead of "
                      "[2, 3]"),
            std::string::npos)
      << error.what();
  EXPECT_NE(std::string(error.what()).find("load_state_dict"), std::string::npos);
  Net net;
  StateDict tracked = net.clone_state();
  tracked["norm.num_batches_tracked"] = zeros({});
  EXPECT_NE(std::string(load_error(net, tracked).what()).find("norm.num_batches_tracked is f32 instead of i64"),
            std::string::npos);
}

TEST(StateDict, ShortensALongList) {
  Net net;
  const Error error = load_error(net, {});
  EXPECT_EQ(error.items.size(), 7u);
  EXPECT_NE(std::string(error.what()).find("7 keys do not fit"), std::string::npos);
  EXPECT_NE(std::string(error.what()).find("; and 2 more"), std::string::npos) << error.what();
}

TEST(StateDict, LoadsAllOrNothing) {
  Net net;
  const StateDict before = net.clone_state();
  StateDict bad = Net().clone_state();
  bad["norm.weight"] = zeros({3});
  EXPECT_THROW(net.load_state_dict(bad), Error);
  for (const auto& [name, tensor] : net.state_dict()) EXPECT_TRUE(equal(tensor, before.at(name))) << name;
}

struct HoldsAView : Module {
  Tensor first = register_buffer("a", zeros({2}));
  explicit HoldsAView(const Tensor& view) { (void)register_buffer("b", view); }
};

TEST(StateDict, RefusesToWriteViewsBeforeItWritesAnything) {
  for (const Tensor& view : {zeros({1}).expand({3}), pad(zeros({1}), {{1, 1}})}) {
    HoldsAView module(view);
    const StateDict given = {{"a", ones({2})}, {"b", ones({3})}};
    EXPECT_SAYS(load_error(module, given).what(), "b is registered as an expanded or padded view");
    EXPECT_TRUE(equal(module.first, zeros({2})));
    module.load_state_dict(given, {.assign = true});
    EXPECT_TRUE(equal(module.get_buffer("b"), ones({3})));
  }
}

TEST(StateDict, LoadsAPart) {
  Net net;
  const LoadResult result = net.load_state_dict({{"first.bias", ones({2})}, {"extra", zeros({})}}, {.strict = false});
  EXPECT_EQ(result.missing.size(), 6u);
  EXPECT_EQ(result.unexpected, std::vector<std::string>{"extra"});
  EXPECT_EQ(net.first.bias().to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST(StateDict, LoadsBelowAPrefix) {
  Linear layer(3, 2);
  const StateDict file = {{"body.weight", ones({2, 3})}, {"body.bias", zeros({2})}, {"head.weight", zeros({4, 2})}};
  EXPECT_SAYS(load_error(layer, file).what(), "All keys are there below `body.`: `{.prefix = \"body.\"}` loads them");
  const std::string inner = error_of([&] {
    layer.load_state_dict({{"m.body.weight", ones({2, 3})}, {"m.body.bias", zeros({2})}}, {.prefix = "m."});
  });
  EXPECT_SAYS(inner, "`{.prefix = \"m.body.\"}` loads them");
  const Error other = load_error(layer, {{"body.weight", ones({3, 3})}, {"body.bias", zeros({2})}});
  EXPECT_EQ(std::string(other.what()).find("prefix"), std::string::npos) << "they do not fit";
  EXPECT_TRUE(layer.load_state_dict(file, {.prefix = "body."}).unexpected.empty());
  EXPECT_EQ(layer.weight().to_vector<float>(), std::vector<float>(6, 1));
  EXPECT_SAYS(error_of([&] { layer.load_state_dict(file, {.prefix = "tail."}); }), "no key begins with `tail.`");
}

TEST(StateDict, AssignsWithoutACopy) {
  Linear layer(3, 2);
  BatchNorm2d norm(2);
  const Tensor known = layer.bias();  // as an optimizer has it
  const Tensor weight = ones({2, 3}, bf16), bias = zeros({2});
  layer.load_state_dict({{"weight", weight}, {"bias", bias}}, {.assign = true});
  EXPECT_TRUE(layer.weight().shares_storage(weight));
  EXPECT_EQ(layer.weight().dtype(), bf16);
  EXPECT_TRUE(layer.bias().requires_grad());
  EXPECT_TRUE(known.shares_storage(bias));
  EXPECT_SAYS(error_of([&] {
                layer.load_state_dict({{"weight", ones({2, 3}, i64)}, {"bias", bias}}, {.assign = true});
              }),
              "weight is i64 instead of bf16");

  const Tensor both = full({2}, 3.0);
  StateDict state = norm.clone_state();
  state["weight"] = both;
  state["bias"] = both;
  state["running_var"] = full({2, 3}, 5.0).t()[0];
  norm.load_state_dict(state, {.assign = true});
  EXPECT_FALSE(norm.weight().shares_storage(norm.bias()));
  EXPECT_EQ(norm.running_var().to_vector<float>(), std::vector<float>(2, 5));
}

TEST(Cast, OfWhatBelongsToAGraphIsAnErrorBeforeAnythingChanges) {
  struct Model : Module {
    Linear layer = register_module("layer", Linear(2, 2));
    Tensor mean = register_buffer("mean", layer.weight() * 2.0);
  } model;
  EXPECT_SAYS(error_of([&] { model.to(f64); }), "to(): `mean` is the result of a recorded op");
  EXPECT_EQ(model.layer.weight().dtype(), f32);
  model.to(f32);  // changes nothing
  const Tensor before = model.layer.weight().detach();
  EXPECT_SAYS(error_of([&] { model.load_state_dict(model.clone_state(), {.assign = true}); }),
              "load_state_dict(): `mean` is the result of a recorded op");
  EXPECT_TRUE(model.layer.weight().shares_storage(before));
}

TEST(Cast, InAHookWhileAGradientWaitsIsAnError) {
  nn::Linear net(3, 2);
  for (const Tensor& parameter : net.parameters())
    parameter.register_post_accumulate_grad_hook([&](const Tensor&) { net.to(f64); });
  // weight and bias get theirs from one op: the second has another dtype by then
  EXPECT_THROW(net(ones({4, 3})).sum().backward(), GradientError);
  for (const Tensor& parameter : net.parameters()) {
    const Tensor gradient = parameter.grad();
    EXPECT_TRUE(!gradient.defined() || gradient.dtype() == f64);
  }
}

TEST(StateDict, TheCountOfABatchNormMayBeMissing) {
  BatchNorm2d norm(2);
  (void)norm(randn({2, 2, 3, 3}));
  StateDict state = norm.clone_state();
  state.erase("num_batches_tracked");
  state["weight"] = full({2}, 3.0);
  EXPECT_TRUE(norm.load_state_dict(state).missing.empty());
  EXPECT_EQ(norm.weight().to_vector<float>()[0], 3);
  EXPECT_EQ(norm.get_buffer("num_batches_tracked").item<int64_t>(), 1);
  state.erase("running_var");
  EXPECT_THROW(norm.load_state_dict(state), Error);
}

}  // namespace
}  // namespace weft::nn
