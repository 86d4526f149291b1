// clone(): own memory, the same structure, modes and sharing; what it refuses.
#include "nn/module/clone.h"

#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tensor/core/random.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

void expect_same_state(const Module& a, const Module& b) {
  const std::vector<NamedTensor> left = a.named_parameters(), right = b.named_parameters();
  ASSERT_EQ(left.size(), right.size());
  for (size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i].name, right[i].name);
    EXPECT_TRUE(equal(left[i].tensor, right[i].tensor)) << left[i].name;
    EXPECT_EQ(left[i].tensor.strides(), right[i].tensor.strides()) << left[i].name;
    EXPECT_FALSE(left[i].tensor.shares_storage(right[i].tensor)) << left[i].name;
  }
  for (size_t i = 0; i < a.buffers().size(); ++i) {
    EXPECT_TRUE(equal(a.buffers()[i].tensor, b.buffers()[i].tensor));
    EXPECT_FALSE(a.buffers()[i].tensor.shares_storage(b.buffers()[i].tensor));
  }
}

struct Block : Layer<Block> {
  Sequential body = register_module("body", Sequential(Conv2d(2, 3, 3), BatchNorm2d(3), ReLU(), Dropout(0.5)));
  Linear head = register_module("head", Linear(3, 2));
  Tensor forward(const Tensor& x) const { return head(body(x).mean({2, 3})); }
};

TEST(Clone, OfNestedModulesHasItsOwnMemory) {
  Block net;
  (void)net(randn({4, 2, 5, 5}));  // moves the running statistics
  net.head.weight().requires_grad_(false);
  net.body.eval();
  net.to(f64);
  Block copy = net.clone();
  expect_same_state(net, copy);
  EXPECT_EQ(copy.get_parameter("head.weight").dtype(), f64);
  EXPECT_FALSE(copy.head.weight().requires_grad());
  EXPECT_TRUE(copy.head.bias().requires_grad());
  EXPECT_TRUE(copy.is_training());
  EXPECT_FALSE(copy.body.is_training());
  EXPECT_EQ(copy.to_string(), net.to_string());
  const Tensor x = randn({3, 2, 5, 5}, f64);
  EXPECT_TRUE(equal(copy(x), net(x)));
}

TEST(Clone, TrainsApart) {
  Linear layer(3, 2);
  sum(layer(ones({1, 3}))).backward();
  Linear copy = clone(layer);
  EXPECT_TRUE(copy.weight().is_leaf());
  EXPECT_FALSE(copy.weight().grad().defined());
  sum(copy(ones({1, 3}))).backward();
  const Tensor before = layer.weight().detach().clone();
  copy.weight().detach().fill_(7);
  EXPECT_TRUE(equal(layer.weight(), before));
  EXPECT_TRUE(equal(copy.get_parameter("weight"), full({2, 3}, 7.0)));
  EXPECT_TRUE(equal(layer.weight().grad(), ones({2, 3})));
}

struct Tied : Layer<Tied> {
  Tensor a, b;
  explicit Tied(bool tied) {
    a = register_parameter("a", ones({2}));
    b = register_parameter("b", tied ? a : zeros({2}));
  }
  Tensor forward(const Tensor& x) const { return x * a * b; }
};

TEST(Clone, KeepsWhatIsShared) {
  const Tied net(true);
  Tied copy = clone(net, [] { return Tied(true); });
  EXPECT_TRUE(copy.a.is_same(copy.b));
  EXPECT_FALSE(copy.a.is_same(net.a));
  EXPECT_EQ(copy.parameters().size(), 1u);
  sum(copy(ones({2}))).backward();
  EXPECT_EQ(copy.a.grad().to_vector<double>(), (std::vector<double>{2, 2}));
  const std::string apart = "clone(): `b` is shared with another parameter in one of the two modules only";
  EXPECT_EQ(error_of([&] { clone(net, [] { return Tied(false); }); }), apart);
  EXPECT_EQ(error_of([] { clone(Tied(false), [] { return Tied(true); }); }), apart);
}

struct Stack : Layer<Stack> {
  int64_t width;
  ModuleList<Linear> layers = register_module("layers", ModuleList<Linear>());
  ModuleDict<Linear> heads = register_module("heads", ModuleDict<Linear>());
  ParameterList scales = register_module("scales", ParameterList());
  Stack(int64_t the_width, int64_t depth) : width(the_width) {
    for (int64_t i = 0; i < depth; ++i) layers.push_back(Linear(width, width));
    heads.insert("out", Linear(width, 1));
    scales.push_back(randn({width}));
  }
  Stack remake() const { return Stack(width, static_cast<int64_t>(layers.size())); }
  Tensor forward(const Tensor& x) {
    Tensor y = x;
    for (Linear& layer : layers) y = tanh(layer(y));
    return heads["out"](y * scales[0]);
  }
};

TEST(Clone, OfContainers) {
  Stack net(4, 2);
  Stack copy = net.clone();
  expect_same_state(net, copy);
  const Tensor x = randn({3, 4});
  EXPECT_TRUE(equal(copy(x), net(x)));
  Sequential all(Stack(3, 1), [](const Tensor& y) { return y * 2.0; });
  all.push_back("last", Linear(1, 2));
  const Sequential other = all.clone();
  expect_same_state(all, other);
  EXPECT_TRUE(equal(other(x.narrow(1, 0, 3)), all(x.narrow(1, 0, 3))));
  expect_same_state(net.layers, clone(net.layers));
  expect_same_state(net.heads, clone(net.heads));
  expect_same_state(net.scales, clone(net.scales));
}

TEST(Clone, DrawsNoRandomNumbers) {
  const Linear layer(5, 5);
  const RandomState before = random_state();
  (void)layer.clone();
  EXPECT_EQ(random_state(), before);
}

struct NoWay : Layer<NoWay> {
  explicit NoWay(int) {}
  Tensor forward(const Tensor& x) const { return x; }
};
static_assert(!Clonable<NoWay> && Clonable<Stack> && Clonable<Sequential>);

// Its constructor reads the weight, which must be like one that was drawn.
struct Inverted : Layer<Inverted> {
  Linear layer = register_module("layer", Linear(400, 400, {.bias = false}));
  Tensor inverse = register_buffer("inverse", inv(layer.weight().detach().to(f64)));
  double deviation = layer.weight().detach().std().item<double>();
  Tensor forward(const Tensor& x) const { return layer(x); }
};

TEST(Clone, AdvancesAnotherGeneratorAsConstructionDoes) {
  Generator own(3), again(3);
  const auto make = [](Generator& generator) {
    Linear layer(300, 300);
    init::normal(layer.weight(), 0, 1, generator);
    return layer;
  };
  const Linear layer = make(own);
  (void)clone(layer, [&] { return make(own); });
  (void)make(again), (void)make(again);
  EXPECT_EQ(own.state(), again.state());
}

TEST(Clone, OfALayerWhoseConstructorReadsItsWeight) {
  const Inverted net;
  const Inverted copy = net.clone();
  expect_same_state(net, copy);
  EXPECT_NEAR(copy.deviation, net.deviation, 0.05 * net.deviation);
  const Linear after(400, 400);  // outside of clone(), every number is drawn
  const Tensor weight = flatten(after.weight().detach());
  EXPECT_FALSE(equal(narrow(weight, 0, 0, 100), narrow(weight, 0, 65537, 100)));
}

TEST(Clone, RefusesAnotherStructure) {
  const Sequential net(Linear(2, 3), ReLU());
  const auto from = [&](const auto&... layers) {
    return error_of([&] { clone(net, [&] { return Sequential(clone(layers)...); }); });
  };
  EXPECT_EQ(from(Linear(2, 4), ReLU()),
            "clone(): `0` is Linear(in_features=2, out_features=4, bias=true) instead of "
            "Linear(in_features=2, out_features=3, bias=true)");
  EXPECT_EQ(from(Linear(2, 3), Tanh()), "clone(): `1` is Tanh() instead of ReLU()");
  EXPECT_EQ(from(Linear(2, 3)), "clone(): the new module has 1 modules in it instead of 2");
  EXPECT_EQ(error_of([] {
              clone(ParameterList(), [] {
                ParameterList list;
                list.push_back(ones({2}));
                return list;
              });
            }),
            "clone(): the new module is ParameterList with 0[2] instead of no tensors");
  EXPECT_EQ(error_of([] { (void)Sequential(NoWay(1)).clone(); }),
            "step `0` (NoWay) has neither remake() nor a default constructor");
}

}  // namespace
}  // namespace weft::nn
