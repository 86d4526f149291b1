// Layers: what they refuse, dropout, containers.
#include <gtest/gtest.h>

#include "autograd/backward.h"
#include "autograd/leaf.h"
#include "nn/nn.h"
#include "tensor/core/random.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"

namespace weft::nn {
namespace {

template <class E, class F>
std::string message(F f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "accepted";
}
#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Layer, RefusesWhatDoesNotFit) {
  EXPECT_SAYS(message<ShapeError>([] { Linear(3, 2)(zeros({2, 4})); }), "x has 4 features, weight [2, 3] takes 3");
  EXPECT_SAYS(message<ShapeError>([] { Conv2d({.in_channels = 3, .out_channels = 4, .kernel_size = 1, .groups = 2}); }),
              "3 and 4 channels do not divide into 2 groups");
  EXPECT_SAYS(message<ShapeError>([] {
                BatchNorm2d(3)(zeros({2, 4, 2, 2}));
              }),
              "BatchNorm2d([2, 4, 2, 2] f32): 4 channels");
  EXPECT_SAYS(message<ShapeError>([] { BatchNorm2d(3)(zeros({2, 3})); }), "(N, C, H, W)");
  EXPECT_SAYS(message<ShapeError>([] { BatchNorm1d(3)(zeros({2, 3, 4, 5})); }), "(N, C, L)");
  EXPECT_SAYS(message<ShapeError>([] { LayerNorm(3)(zeros({2, 4})); }), "the last axes must be [3]");
  EXPECT_SAYS(message<Error>([] { Dropout(1.5); }), "1.5");
  EXPECT_SAYS(message<IndexError>([] { Embedding({.num_embeddings = 3, .embedding_dim = 2, .padding_idx = 3}); }),
              "padding_idx 3 is out of range for 3 rows");
  EXPECT_SAYS(message<IndexError>([] { Embedding(3, 2)(tensor({3})); }), "3");
  EXPECT_THROW(Linear(-1, 2), ShapeError);
}

TEST(Layer, LossesRefuseWhatDoesNotFit) {
  EXPECT_SAYS(message<ShapeError>([] {
                mse_loss(zeros({4, 1}), zeros({4}));
              }),
              "mse_loss([4, 1] f32, [4] f32): input and target must have one shape");
  EXPECT_THROW(huber_loss(zeros({2}), zeros({2}), {.delta = 0}), Error);
  EXPECT_THROW(nll_loss(zeros({2, 3}), zeros({2})), DtypeError);
  EXPECT_THROW(nll_loss(zeros({2, 3}), zeros({3}, i64)), ShapeError);
  EXPECT_THROW(nll_loss(zeros({2, 3}), tensor({0, 3})), IndexError);
  EXPECT_SAYS(message<IndexError>([] { cross_entropy(zeros({1, 3}), tensor({3})); }), "class 3");
}

TEST(Layer, DropoutKeepsTheMean) {
  manual_seed(3);
  const Dropout layer(0.25);
  const Tensor y = layer(ones({100, 100}));
  const double zero = (y == 0.0).sum().item<double>() / 1e4;
  EXPECT_NEAR(zero, 0.25, 0.02);
  EXPECT_NEAR(y.mean().item<double>(), 1, 0.03);
  EXPECT_TRUE(equal(y, y));
  EXPECT_FALSE(equal(y, layer(ones({100, 100}))));
}

struct Twice : Module {  // no Layer, no parameters
  Tensor forward(const Tensor& x) { return x * 2.0; }
};

TEST(Sequential, RunsAnyModules) {
  Sequential net(Linear(3, 4), ReLU(), Twice(), Linear(4, 2));
  EXPECT_EQ(net.size(), 4u);
  const Tensor x = ones({5, 3});
  Linear& first = net.at<Linear>(0);
  EXPECT_TRUE(equal(net(x), net.at<Linear>(3)(relu(first(x)) * 2.0)));
  EXPECT_TRUE(net.get_parameter("0.weight").is_same(first.weight()));
  EXPECT_EQ(first.weight().name(), "0.weight");
  net.push_back("last", Sequential(Linear(2, 1)));
  EXPECT_EQ(net.get_parameter("last.0.bias").shape(), Shape{1});
  EXPECT_THROW(net.at<ReLU>(0), Error);
  EXPECT_THROW(net.at<ReLU>(9), IndexError);
  Sequential moved = std::move(net);
  EXPECT_EQ(moved(x).shape(), (Shape{5, 1}));
}

struct Stack : Module {
  ModuleList<Linear> layers = register_module("layers", ModuleList<Linear>());
  Stack() {
    for (int i = 0; i < 3; ++i) layers.push_back(Linear(4, 4));
  }
  Tensor forward(Tensor x) {
    for (Linear& layer : layers) x = layer(x);
    return x;
  }
};

// A batch norm and the relu behind it run as one op: the same values and gradients as one after the other.
TEST(Sequential, BatchNormAndReluAreOneOp) {
  manual_seed(3);
  const Tensor x = randn({4, 5, 6, 7}, f64), g = randn({4, 5, 6, 7}, f64);
  Sequential net(BatchNorm2d({.num_features = 5, .dtype = f64}), ReLU());
  BatchNorm2d& norm = net.at<BatchNorm2d>(0);
  init::uniform(norm.weight(), 0.5, 1.5);
  init::uniform(norm.bias(), -0.5, 0.5);
  for (const bool training : {true, false}) {
    net.train(training);
    const Tensor a = parameter(x.clone()), b = parameter(x.clone());
    const Tensor apart = relu(norm(a)), fused = net(b);
    EXPECT_TRUE(allclose(apart, fused, 0, 0));
    const std::vector<Tensor> expected = grad({(apart * g).sum()}, {a, norm.weight(), norm.bias()});
    const std::vector<Tensor> got = grad({(fused * g).sum()}, {b, norm.weight(), norm.bias()});
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(allclose(got[i], expected[i], 1e-12, 1e-12)) << i;
  }
}

TEST(Sequential, BatchNormReluAndMaxPoolAreOneOp) {
  manual_seed(4);
  const Tensor x = randn({4, 6, 8, 5}, f64).permute({0, 3, 1, 2}), g = randn({4, 5, 3, 4}, f64);
  Sequential net(BatchNorm2d({.num_features = 5, .dtype = f64}), ReLU(), MaxPool2d(2));
  BatchNorm2d& norm = net.at<BatchNorm2d>(0);
  init::uniform(norm.weight(), -1.5, 1.5);
  init::uniform(norm.bias(), -0.5, 0.5);
  for (const bool training : {true, false}) {
    net.train(training);
    const Tensor a = parameter(x.clone()), b = parameter(x.clone());
    const Tensor apart = max_pool2d(relu(norm(a)), {.kernel_size = 2}), fused = net(b);
    EXPECT_TRUE(allclose(apart, fused, 0, 0));
    const std::vector<Tensor> expected = grad({(apart * g).sum()}, {a, norm.weight(), norm.bias()});
    const std::vector<Tensor> got = grad({(fused * g).sum()}, {b, norm.weight(), norm.bias()});
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(allclose(got[i], expected[i], 1e-12, 1e-12)) << i;
  }
}

TEST(ModuleList, HoldsModules) {
  Stack stack;
  EXPECT_EQ(stack.layers.size(), 3u);
  EXPECT_EQ(stack.parameter_count(), 3 * 20);
  EXPECT_EQ(stack.layers[2].weight().name(), "layers.2.weight");
  EXPECT_EQ(stack.forward(ones({1, 4})).shape(), (Shape{1, 4}));
  EXPECT_THROW(stack.layers[3], IndexError);
}

}  // namespace
}  // namespace weft::nn
