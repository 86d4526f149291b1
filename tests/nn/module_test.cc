// Modules: registration, names, modes, sharing, moving, casting.
#include "nn/module/module.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "autograd/leaf.h"
#include "nn/nn.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

using Names = std::vector<std::string>;

struct Block : Module {
  Conv2d conv;
  BatchNorm2d norm;
  Block(int64_t in, int64_t out)
      : conv(register_module("conv", Conv2d({.in_channels = in, .out_channels = out, .kernel_size = 3}))),
        norm(register_module("norm", BatchNorm2d(out))) {}
  Tensor forward(const Tensor& x) { return relu(norm(conv(x))); }
};

struct Net : Module {
  Block first = register_module("first", Block(1, 2));
  Dropout dropout = register_module("dropout", Dropout(0.5));
  Linear head = register_module("head", Linear(8, 3));
  Tensor scale = register_parameter("scale", ones({1}));
  Tensor forward(const Tensor& x) { return head(dropout(first.forward(x).flatten(1))) * scale; }
};

// Opens what a derived class may do.
struct Open : Module {
  using Module::register_buffer;
  using Module::register_module;
  using Module::register_parameter;
};

Names names_of(const std::vector<NamedTensor>& tensors) {
  Names out;
  for (const NamedTensor& entry : tensors) out.push_back(entry.name);
  return out;
}

struct Filled : nn::Module {
  Tensor weight = ones({2});
  Filled() { register_parameter("weight", weight); }
};

TEST(Module, ATensorWithoutHistoryIsItselfTheParameter) {
  const Filled filled;
  EXPECT_TRUE(filled.parameters()[0].is_same(filled.weight));
  EXPECT_TRUE(filled.weight.requires_grad());
  EXPECT_EQ(filled.weight.name(), "weight");
  // A result of recorded ops becomes a leaf of its own.
  struct Open : nn::Module {
    using nn::Module::register_parameter;
  } open;
  const Tensor computed = filled.weight * 2.0, leaf = open.register_parameter("w", computed);
  EXPECT_FALSE(leaf.is_same(computed));
  EXPECT_TRUE(leaf.is_leaf());
}

struct Ten : nn::Layer<Ten> {
  int factor = 10;
  Tensor forward(const Tensor& x) const { return x * factor; }
};
struct Copied : nn::Layer<Ten> {
  Tensor forward(const Tensor& x) const { return x; }
};

TEST(Module, ALayerOfAnotherClassIsAnError) {
  EXPECT_EQ(Ten()(ones({1})).item(), 10);
  const Copied copied;
  EXPECT_NE(error_of([&] { copied(ones({1})); }).find("Copied derives from Layer<Ten>, and is none"),
            std::string::npos);
}

TEST(Module, ListsWhatItHolds) {
  Net net;
  EXPECT_EQ(names_of(net.named_parameters()),
            (Names{"scale", "first.conv.weight", "first.conv.bias", "first.norm.weight", "first.norm.bias",
                   "head.weight", "head.bias"}));
  EXPECT_EQ(names_of(net.buffers()),
            (Names{"first.norm.running_mean", "first.norm.running_var", "first.norm.num_batches_tracked"}));
  EXPECT_EQ(net.parameter_count(), 1 + 2 * 9 + 2 + 2 + 2 + 8 * 3 + 3);
  EXPECT_EQ(net.type_name(), "Net");
  Names modules;
  for (const NamedModule& entry : net.modules()) modules.push_back(entry.name + ":" + entry.module.type_name());
  EXPECT_EQ(modules, (Names{":Net", "first:Block", "first.conv:Conv2d", "first.norm:BatchNorm2d", "dropout:Dropout",
                            "head:Linear"}));
  EXPECT_TRUE(net.get_parameter("first.conv.weight").is_same(net.first.conv.weight()));
  EXPECT_TRUE(net.get_buffer("first.norm.running_var").is_same(net.first.norm.running_var()));
  EXPECT_EQ(error_of([&] { net.get_parameter("head.bais"); }), "Net has no parameter `head.bais`");
}

TEST(Module, LeavesCarryTheirFullNames) {
  Net net;
  EXPECT_EQ(net.first.conv.weight().name(), "first.conv.weight");
  EXPECT_EQ(net.scale.name(), "scale");
  EXPECT_EQ(Linear(2, 2).weight().name(), "weight");
  Open inner, outer;
  Open held = outer.register_module("inner", std::move(inner));
  EXPECT_EQ(held.register_parameter("late", ones({1})).name(), "inner.late");
}

TEST(Module, AMemberThatIsBuiltAlreadyIsRegisteredAsItIs) {
  struct Member : Layer<Member> {
    Linear head{3, 2};
    Linear tail{2, 1};
    Member() {
      register_module("head", head);
      register_module("tail", tail);
    }
    Tensor forward(const Tensor& x) { return tail(head(x)); }
    void take_again() { register_module("again", head); }
  };
  Member net;
  EXPECT_EQ(names_of(net.named_parameters()), (Names{"head.weight", "head.bias", "tail.weight", "tail.bias"}));
  EXPECT_EQ(net.tail.weight().name(), "tail.weight");
  net.to(f64);
  EXPECT_EQ(net.head.weight().dtype(), f64);
  net(ones({1, 3}, f64)).sum().backward();
  EXPECT_TRUE(net.get_parameter("head.weight").grad().defined());
  EXPECT_EQ(error_of([&] { net.take_again(); }),
            "register_module(): the module for `again` belongs to another one already");
}

TEST(Module, AReferenceToABaseIsTheWholeModule) {
  Open outer;
  WeightNorm<Linear> normed = weight_norm(Linear(2, 2));
  Linear& as_base = normed;
  outer.register_module("normed", as_base);
  Linear plain(2, 2);
  Module& as_module = plain;
  outer.register_module("plain", as_module);
  EXPECT_EQ(outer.modules().back().module.type_name(), "Linear");
  EXPECT_EQ(plain.weight().name(), "plain.weight");
}

struct Forgetful : Layer<Forgetful> {
  Linear known = register_module("known", Linear(2, 2));
  Linear forgotten{2, 2};
  Dropout dropout{0.5};
  ReLU relu;                                                           // is the same in training, and has no parameters
  std::shared_ptr<Linear> elsewhere = std::make_shared<Linear>(2, 2);  // of another model, as far as can be seen
  Tensor forward(const Tensor& x) { return (*elsewhere)(relu(dropout(forgotten(known(x))))); }
};

TEST(Module, WarnsOnceOfMembersThatAreNotRegistered) {
  Forgetful net;
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) net(ones({1, 2}));
  const std::string warnings = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(warnings.find("Forgetful: its member of type Linear is not registered"), std::string::npos) << warnings;
  EXPECT_NE(warnings.find("Forgetful: its member of type Dropout is not registered"), std::string::npos) << warnings;
  EXPECT_EQ(std::count(warnings.begin(), warnings.end(), '\n'), 2) << warnings;
}

TEST(Module, RefusesBadRegistrations) {
  Open module;
  module.register_parameter("a", ones({1}));
  EXPECT_NE(error_of([&] { module.register_buffer("a", ones({1})); }).find("the name `a` is taken"), std::string::npos);
  EXPECT_NE(error_of([&] { module.register_parameter("b.c", ones({1})); }).find("`b.c`"), std::string::npos);
  EXPECT_NE(error_of([&] { module.register_parameter("", ones({1})); }).find("needs a name"), std::string::npos);
  EXPECT_THROW(module.register_parameter("i", ones({2}, i64)), DtypeError);
  EXPECT_FALSE(module.register_parameter("absent", Tensor()).defined());
  EXPECT_EQ(names_of(module.named_parameters()), Names{"a"});
  Open child;
  child = module.register_module("child", std::move(child));
  Open other;
  EXPECT_NE(error_of([&] { (void)other.register_module("stolen", std::move(child)); }).find("belongs to another"),
            std::string::npos);
  Open self;
  EXPECT_NE(
      error_of([&] { (void)self.register_module("self", std::move(self.modules()[0].module)); }).find("holds this one"),
      std::string::npos);
}

TEST(Module, FindsNamesAmongMany) {
  Open net;
  const auto number = [](const char* kind, int i) { return kind + std::to_string(i); };
  for (int i = 0; i < 40; ++i) {
    net.register_parameter(number("p", i), full({1}, 1.0 * i));
    net.register_buffer(number("b", i), full({1}, i));
    Open child;
    child.register_parameter("w", full({1}, 100.0 + i));
    (void)net.register_module(number("m", i), std::move(child));
  }
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(net.get_parameter(number("p", i)).item(), i);
    EXPECT_EQ(net.get_buffer(number("b", i)).item(), i);
    EXPECT_EQ(net.get_parameter(number("m", i) + ".w").item(), 100 + i);
    for (const char* kind : {"p", "b", "m"})
      EXPECT_THROW(net.register_buffer(number(kind, i), ones({1})), Error) << kind << i;
  }
  for (const char* name : {"p40", "m3.v", "m40.w", "m3", "m3.", ".w", "", "m3.w.x", "b3"})
    EXPECT_EQ(error_of([&] { net.get_parameter(name); }), text("Open has no parameter `", name, "`"));
  EXPECT_EQ(error_of([&] { net.get_buffer("p3"); }), "Open has no buffer `p3`");
}

TEST(Module, ANameAmongManyIsFoundAfterOneLeft) {
  struct Wide : Layer<Wide> {
    explicit Wide(int count = 20) {
      for (int i = 0; i < count; ++i) register_parameter("w" + std::to_string(i), full({1, 2}, 1.0 * i));
    }
    Tensor forward(const Tensor& x) const { return x; }
    void add(const std::string& name) { register_parameter(name, ones({1})); }
  };
  Wide wide;
  (void)detail::Parametrization(wide, "w3", "Kind");
  EXPECT_THROW((void)wide.get_parameter("w3"), Error);
  EXPECT_THROW((void)wide.get_buffer("w3"), Error);
  for (const int i : {0, 2, 4, 19}) EXPECT_EQ(wide.get_parameter("w" + std::to_string(i)).sum().item(), 2 * i);
  wide.add("late");
  EXPECT_THROW(wide.add("w3"), Error);
  EXPECT_THROW(wide.add("w4"), Error);
  EXPECT_EQ(wide.get_parameter("w19").sum().item(), 38);
  EXPECT_EQ(wide.get_parameter("late").item(), 1);
}

TEST(Module, ADictionaryFindsNamesAmongMany) {
  ModuleDict<Linear> layers;
  for (int i = 0; i < 40; ++i) layers.insert("layer" + std::to_string(i), Linear(1, i + 1));
  for (int i = 0; i < 40; ++i) EXPECT_EQ(layers["layer" + std::to_string(i)].weight().size(0), i + 1);
  EXPECT_FALSE(layers.contains("layer40"));
  EXPECT_THROW(layers.insert("layer7", Linear(1, 1)), Error);
  EXPECT_EQ(layers["layer7"].weight().size(0), 8);
  EXPECT_EQ(layers.size(), 40u);
  const ModuleDict<Linear> moved = std::move(layers);
  EXPECT_TRUE(moved.contains("layer39"));
}

TEST(Module, SharedLeavesAreFoundWhicheverModuleComesFirst) {
  const auto holding = [](Tensor weight) {
    Open module;
    module.register_parameter("weight", weight);
    return module;
  };
  Open net;
  net.register_parameter("own", ones({2}));
  const Tensor weight = parameter(ones({3})), single = parameter(ones({4}));
  (void)net.register_module("first", holding(weight));
  Open deep;
  (void)deep.register_module("inner", holding(weight));
  EXPECT_EQ(weight.name(), "inner.weight");
  (void)net.register_module("second", std::move(deep));
  (void)net.register_module("third", holding(single));
  EXPECT_EQ(weight.name(), "first.weight");
  EXPECT_EQ(names_of(net.named_parameters()), (Names{"own", "first.weight", "third.weight"}));
  // Another model, built after the first: the leaf has the name that it got last.
  Open other;
  (void)other.register_module("fourth", holding(single));
  EXPECT_EQ(single.name(), "fourth.weight");
  net.register_parameter("again", single);  // it is in this model already
  EXPECT_EQ(single.name(), "fourth.weight");
}

TEST(Module, AParameterUnderTwoNamesIsOne) {
  Open module;
  Tensor weight = module.register_parameter("first", ones({3}));
  module.register_parameter("second", weight);
  EXPECT_EQ(module.parameter_count(), 3);
  EXPECT_EQ(module.state_dict().size(), 2u);
  EXPECT_EQ(weight.name(), "first");
  Tensor frozen = parameter(ones({2}));
  frozen.requires_grad_(false);
  EXPECT_TRUE(module.register_parameter("frozen", frozen).is_same(frozen));
  EXPECT_FALSE(frozen.requires_grad());
}

TEST(Module, ABufferUnderTwoNamesIsListedOnce) {
  Open module;
  const Tensor mean = module.register_buffer("first", ones({3}));
  module.register_buffer("second", mean);
  EXPECT_EQ(module.buffers().size(), 1u);
  EXPECT_EQ(module.state_dict().size(), 2u);
}

TEST(Module, ModeIsShared) {
  Net net;
  EXPECT_TRUE(net.dropout.is_training());
  net.eval();
  EXPECT_FALSE(net.dropout.is_training());
  EXPECT_FALSE(net.first.norm.is_training());
  const Tensor x = ones({2, 8});
  EXPECT_TRUE(equal(net.dropout(x), x));
  net.train();
  net.dropout.eval();
  EXPECT_TRUE(net.is_training());
  EXPECT_FALSE(net.modules()[4].module.is_training());
}

TEST(Module, MovesAndStaysTheSame) {
  Net net;
  const Tensor weight = net.head.weight();
  Net moved = std::move(net);
  EXPECT_TRUE(moved.get_parameter("head.weight").is_same(weight));
  EXPECT_TRUE(moved.head.weight().is_same(weight));
  moved.eval();
  EXPECT_FALSE(moved.dropout.is_training());
  EXPECT_EQ(error_of([&] { (void)net.parameters(); }), "this module was moved from");  // NOLINT: what it does then
  Net assigned;
  assigned = std::move(moved);
  EXPECT_TRUE(assigned.head.weight().is_same(weight));
  static_assert(!std::is_copy_constructible_v<Net> && std::is_nothrow_move_constructible_v<Module>);
}

TEST(Module, CastsInPlace) {
  Net net;
  Tensor weight = net.head.weight();
  const std::vector<float> values = weight.to_vector<float>();
  sum(net.forward(ones({2, 1, 4, 4}))).backward();
  net.to(f64);
  EXPECT_EQ(weight.dtype(), f64);
  EXPECT_EQ(weight.grad().dtype(), f64);
  EXPECT_EQ(weight.to_vector<float>(), values);
  EXPECT_TRUE(weight.requires_grad() && weight.is_leaf());
  EXPECT_EQ(net.first.norm.running_mean().dtype(), f64);
  EXPECT_EQ(net.get_buffer("first.norm.num_batches_tracked").dtype(), i64);
  net.zero_grad();
  EXPECT_FALSE(weight.grad().defined());
  sum(net.forward(ones({2, 1, 4, 4}, f64))).backward();
  EXPECT_EQ(weight.grad().dtype(), f64);
  EXPECT_THROW(net.to(i64), DtypeError);
}

TEST(Module, AppliesToChildrenFirst) {
  Net net;
  Names order;
  net.apply([&](Module& module) {
    order.push_back(module.type_name());
    if (module.type_name() == "Linear") init::constant(module.get_parameter("bias"), 7);
  });
  EXPECT_EQ(order, (Names{"Conv2d", "BatchNorm2d", "Block", "Dropout", "Linear", "Net"}));
  EXPECT_EQ(net.head.bias().to_vector<float>(), (std::vector<float>{7, 7, 7}));
}

TEST(Module, Freezes) {
  Net net;
  net.first.requires_grad_(false);
  sum(net.forward(ones({2, 1, 4, 4}))).backward();
  EXPECT_FALSE(net.first.conv.weight().grad().defined());
  EXPECT_TRUE(net.head.weight().grad().defined());
}

TEST(Module, AnAssignedLayerTakesItsPlace) {
  Net net;
  const size_t count = net.parameters().size();
  const Tensor old = net.head.weight();
  net.head = Linear(LinearOptions{.in_features = net.head.weight().size(1), .out_features = 7, .bias = false});
  EXPECT_EQ(net.parameters().size(), count - 1);
  EXPECT_TRUE(net.get_parameter("head.weight").is_same(net.head.weight()));
  EXPECT_EQ(net.head.weight().name(), "head.weight");
  EXPECT_EQ(net.state_dict().at("head.weight").size(0), 7);
  net.eval();
  EXPECT_FALSE(net.head.is_training());
  const auto in_layer_head = [&] { (void)net.head(ones({1, 100})); };
  EXPECT_NE(error_of(in_layer_head).find("in layer head (Linear)"), std::string::npos) << error_of(in_layer_head);
  // A block with layers of its own; and what is swapped is no new layer.
  net.first = Block(1, 2);
  EXPECT_TRUE(net.get_parameter("first.conv.weight").is_same(net.first.conv.weight()));
  EXPECT_EQ(net.first.conv.weight().name(), "first.conv.weight");
  Sequential pair(Linear(2, 2), Linear(2, 2));
  pair.at<Linear>(1) = Linear(2, 5);
  EXPECT_EQ(pair.get_parameter("1.weight").shape(), (Shape{5, 2}));
  EXPECT_EQ(pair(ones({1, 2})).shape(), (Shape{1, 5}));
  // A layer of another module would be lost there. A whole module may be assigned while handles hold its old layers.
  Net donor;
  EXPECT_EQ(
      error_of([&] { net.head = std::move(donor.head); }),
      "`head` cannot become the layer `head` of a module, which would lose it; assign a new layer or its clone()");
  EXPECT_TRUE(net.get_parameter("head.weight").is_same(net.head.weight()));
  const auto handles = net.modules();
  net = std::move(donor);
  EXPECT_TRUE(net.get_parameter("head.weight").is_same(net.head.weight()));
  std::swap(pair.at<Linear>(0), pair.at<Linear>(1));
  EXPECT_EQ(pair.get_parameter("0.weight").shape(), (Shape{2, 2}));
  EXPECT_EQ(pair.parameters().size(), 4u);
}

}  // namespace
}  // namespace weft::nn
