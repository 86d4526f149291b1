// Layers: what they refuse, dropout, containers.
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/backward.h"
#include "autograd/grad_mode.h"
#include "autograd/leaf.h"
#include "nn/nn.h"
#include "tensor/core/random.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/split.h"
#include "tensor/functions/unary.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

/// The bytes that forward(x) needs at most, beside the model and x.
template <class M> int64_t peak_of(const M& model, const Tensor& x) {
  NoGrad guard;
  (void)model(x);
  reset_peak_memory();
  const int64_t before = memory_stats().live_bytes;
  (void)model(x);
  return memory_stats().peak_bytes - before;
}

TEST(Layer, TemporariesAreLetGoOrOverwritten) {
  const int64_t hidden = 256 * 4096 * 4;
  Sequential net(Linear(16, 4096), ReLU(), Linear(4096, 16));
  EXPECT_LT(peak_of(net, ones({256, 16})), hidden + hidden / 2);
  // An input that has other handles is not overwritten.
  const Tensor x = tensor({-1.0, 2.0});
  EXPECT_EQ(Sequential(ReLU())(x).to_vector<float>(), (std::vector<float>{0, 2}));
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{-1, 2}));
  Tensor kept;
  Sequential keeping([&](const Tensor& given) { return kept = given - 1.0; }, ReLU());
  EXPECT_EQ(keeping(x).to_vector<float>(), (std::vector<float>{0, 1}));
  EXPECT_EQ(kept.to_vector<float>(), (std::vector<float>{-2, 1}));
  TransformerEncoderLayer layer({.d_model = 16, .nhead = 1, .dim_feedforward = 4096});
  layer.eval();
  EXPECT_LT(peak_of(layer, ones({256, 1, 16})), hidden + hidden / 2);
}

TEST(Layer, RefusesWhatDoesNotFit) {
  EXPECT_SAYS(error_of<ShapeError>([] { Linear(3, 2)(zeros({2, 4})); }), "x has 4 features, weight [2, 3] takes 3");
  EXPECT_SAYS(
      error_of<ShapeError>([] { Conv2d({.in_channels = 3, .out_channels = 4, .kernel_size = 1, .groups = 2}); }),
      "3 and 4 channels do not divide into 2 groups");
  EXPECT_SAYS(error_of<ShapeError>([] {
                BatchNorm2d(3)(zeros({2, 4, 2, 2}));
              }),
              "BatchNorm2d([2, 4, 2, 2] f32): 4 channels");
  EXPECT_SAYS(error_of<ShapeError>([] { BatchNorm2d(3)(zeros({2, 3})); }), "(N, C, H, W)");
  EXPECT_SAYS(error_of<ShapeError>([] { BatchNorm1d(3)(zeros({2, 3, 4, 5})); }), "(N, C, L)");
  EXPECT_SAYS(error_of<ShapeError>([] { LayerNorm(3)(zeros({2, 4})); }), "the last axes must be [3]");
  EXPECT_SAYS(error_of<Error>([] { Dropout(1.5); }), "1.5");
  EXPECT_SAYS(error_of<IndexError>([] { Embedding({.num_embeddings = 3, .embedding_dim = 2, .padding_idx = 3}); }),
              "padding_idx 3 is out of range for 3 rows");
  EXPECT_SAYS(error_of<IndexError>([] { Embedding(3, 2)(tensor({3})); }), "3");
  EXPECT_THROW(Linear(-1, 2), ShapeError);
}

struct Mean {
  Tensor mean, rest;
};
struct OfTwo : Layer<OfTwo> {
  Linear map = register_module("map", Linear(3, 2));
  std::tuple<Tensor, Tensor> forward(const Tensor& x) { return {map(x), x}; }
  Mean forward(const Tensor& x, const Tensor& y) const { return {x + y, y}; }
};

TEST(Layer, ReturnsTuplesListsAndStructs) {
  OfTwo net;
  int seen = 0;
  Module::HookHandle hook = net.register_forward_hook([&](const Module&, const Tensor&, const Tensor& y) {
    ++seen;
    return y.defined() ? y * 2.0 : y;
  });
  const Tensor x = ones({1, 3});
  const auto [mapped, same] = net(x);
  EXPECT_TRUE(equal(mapped, net.map(x) * 2.0)) << "the first is what hooks see";
  EXPECT_TRUE(same.is_same(x));
  EXPECT_TRUE(equal(net(x, x).mean, x * 2.0));
  EXPECT_EQ(seen, 2);
  hook.remove();
  struct Parts : Layer<Parts> {
    std::vector<Tensor> forward(const Tensor& x) const { return unbind(x, 0); }
  };
  EXPECT_EQ(Parts()(ones({3, 2})).size(), 3u);
}

TEST(Layer, AListThatWasMovedFromIsNoEmptyOne) {
  struct Net : Module {
    ModuleList<Linear> layers;
    ParameterList scales;
    Net() {
      layers.push_back(Linear(2, 2));
      scales.push_back(ones({1}));
      (void)register_module("layers", std::move(layers));
      (void)register_module("scales", std::move(scales));
    }
  };
  Net net;
  EXPECT_EQ(net.parameters().size(), 3u);
  EXPECT_SAYS(error_of([&] { (void)net.layers.size(); }), "this module was moved from");
  EXPECT_SAYS(error_of([&] {
                for (Linear& layer : net.layers) layer(ones({1, 2}));
              }),
              "this module was moved from");
  EXPECT_SAYS(error_of([&] { (void)net.scales.begin(); }), "this module was moved from");
  EXPECT_EQ(ModuleList<Linear>().size(), 0u);
}

TEST(Layer, NamesTheOptionThatWasLeftOut) {
  EXPECT_SAYS(error_of<ShapeError>([] { Linear(LinearOptions{.in_features = 3}); }),
              "Linear(): out_features must be 1 or more, not 0 (was it left out?)");
  EXPECT_SAYS(error_of<ShapeError>([] { Linear(LinearOptions{.out_features = 3}); }), "in_features must be");
  EXPECT_SAYS(error_of<ShapeError>([] { Conv2d({.in_channels = 3, .kernel_size = 3}); }),
              "Conv2d(): out_channels must be 1 or more, not 0 (was it left out?)");
  EXPECT_SAYS(error_of<ShapeError>([] { Conv2d({.in_channels = 3, .out_channels = 3}); }), "kernel_size must be");
  EXPECT_SAYS(error_of<ShapeError>([] { Embedding(EmbeddingOptions{.num_embeddings = 3}); }), "embedding_dim must be");
  EXPECT_SAYS(error_of<ShapeError>([] { BatchNorm2d(BatchNormOptions{}); }), "num_features must be");
  EXPECT_SAYS(error_of<ShapeError>([] { LayerNorm(LayerNormOptions{}); }), "normalized_shape needs one axis or more");
  EXPECT_SAYS(error_of<ShapeError>([] { LayerNorm(0); }), "normalized_shape must be");
  EXPECT_SAYS(error_of<ShapeError>([] { MaxPool2d(Pool2dOptions{.stride = 2}); }), "MaxPool2d(): kernel_size must be");
  EXPECT_SAYS(error_of<ShapeError>([] { AvgPool2d(Pool2dOptions{}); }), "AvgPool2d(): kernel_size must be");
  EXPECT_SAYS(error_of<ShapeError>([] { MultiheadAttention(8, 0); }), "num_heads must be");
  EXPECT_SAYS(error_of<ShapeError>([] { MultiheadAttention({.num_heads = 2}); }), "embed_dim must be");
  EXPECT_SAYS(error_of<ShapeError>([] { TransformerEncoderLayer({.nhead = 2}); }), "d_model must be");
  EXPECT_SAYS(error_of<ShapeError>([] { TransformerEncoderLayer({.d_model = 8}); }), "nhead must be");
  EXPECT_SAYS(error_of<ShapeError>([] { BasicBlock(BasicBlockOptions{.in_channels = 8}); }),
              "BasicBlock(): out_channels");
}

TEST(Layer, RefusesOptionsOutOfRange) {
  const auto conv = [](auto change) {
    Conv2dOptions options{.in_channels = 2, .out_channels = 2, .kernel_size = 3};
    change(options);
    return error_of<ShapeError>([&] { Conv2d{options}; });
  };
  EXPECT_SAYS(conv([](auto& o) { o.padding = -1; }), "Conv2d(): padding must be 0 or more, not -1");
  EXPECT_SAYS(conv([](auto& o) { o.padding = {0, -2}; }), "padding must be 0 or more, not {0, -2}");
  EXPECT_SAYS(conv([](auto& o) { o.stride = 0; }), "stride must be");
  EXPECT_SAYS(conv([](auto& o) { o.dilation = 0; }), "dilation must be");
  EXPECT_SAYS(conv([](auto& o) { o.groups = 0; }), "groups must be");
  EXPECT_SAYS(error_of<ShapeError>([] { MaxPool2d({.kernel_size = 3, .padding = 2}); }), "half of kernel_size");
  EXPECT_SAYS(error_of<ShapeError>([] { AvgPool2d({.kernel_size = 3, .padding = -1}); }), "padding must be 0 or more");
  EXPECT_SAYS(error_of<Error>([] { FractionalMaxPool2d({.kernel_size = 2}); }), "one of output_size and output_ratio");
  EXPECT_SAYS(error_of<Error>([] {
                FractionalMaxPool3d({.kernel_size = 2, .output_ratio = {0.5, 1, 0.5}});
              }),
              "output_ratio 1 must lie between 0 and 1");
  EXPECT_SAYS(error_of<Error>([] {
                FractionalMaxPool2d({.kernel_size = 2, .output_ratio = {0.5, 0.5, 0.5}});
              }),
              "FractionalMaxPool2d(): 3 ratios for 2 axes; give one, or one for each");
  EXPECT_SAYS(error_of<Error>([] { BatchNorm1d({.num_features = 2, .eps = -1e-5}); }), "eps must be 0 or more");
  EXPECT_SAYS(error_of<Error>([] { BatchNorm1d({.num_features = 2, .momentum = 1.5}); }), "momentum must be in [0, 1]");
  EXPECT_SAYS(error_of<Error>([] { MultiheadAttention({.embed_dim = 4, .num_heads = 2, .dropout = -0.1}); }),
              "dropout must be in [0, 1], not -0.1");
  EXPECT_SAYS(error_of<Error>([] { TransformerEncoderLayer({.d_model = 4, .nhead = 2, .dropout = 2}); }),
              "TransformerEncoderLayer(): dropout must be");
}

TEST(Layer, ThatWasMovedFromSaysSo) {
  const Tensor x = ones({1, 2, 2});
  const auto expect = [&](auto layer) {
    const auto moved = std::move(layer);
    EXPECT_EQ(error_of([&] { (void)layer(x); }), "this module was moved from");  // NOLINT: what it does then
  };
  expect(Linear(2, 2));
  expect(LSTM(2, 2));
  expect(LayerNorm({2}));
  expect(weight_norm(Linear(2, 2)));
  auto normed = weight_norm(Linear(2, 2));
  const auto kept = std::move(normed);
  EXPECT_EQ(error_of([&] { (void)normed.forward(x); }), "this module was moved from");  // NOLINT: what it does then
  CrossEntropyLoss loss({.weight = ones({2})});
  const CrossEntropyLoss other = std::move(loss);
  EXPECT_EQ(error_of([&] { (void)loss(ones({1, 2}), zeros({1}, i64)); }), "this module was moved from");  // NOLINT
}

TEST(Layer, SpectralNormRefusesAnEpsThatIsNoNumber) {
  for (const double eps : {-1.0, std::nan("")}) EXPECT_THROW((void)spectral_norm(Linear(2, 2), {.eps = eps}), Error);
}

TEST(Layer, RopeOfIntegersIsRefused) { EXPECT_THROW((void)rope(ones({2, 2}, i64)), DtypeError); }

TEST(Layer, RefusesEmptyFunctions) {
  Linear layer(2, 2);
  EXPECT_EQ(error_of([&] {
              layer.register_forward_hook(std::function<void(const Module&, const Tensor&, const Tensor&)>());
            }),
            "register_forward_hook: the function is empty");
  EXPECT_EQ(error_of([&] { layer.register_forward_pre_hook(std::function<void(const Module&, const Tensor&)>()); }),
            "register_forward_pre_hook: the function is empty");
  EXPECT_EQ(error_of([&] { layer.apply(nullptr); }), "apply: the function is empty");
}

struct Body : Module {
  Sequential body = register_module("body", Sequential(Linear(4, 3), Sequential(BatchNorm1d(2), ReLU())));
  Embedding table = register_module("table", Embedding(3, 4));
  Tensor forward(const Tensor& x) { return body(x); }
};

TEST(Layer, ErrorsNameTheInnermostLayer) {
  Body net;
  EXPECT_EQ(
      error_of<ShapeError>([&] {
        net.forward(zeros({2, 3}));
      }),
      "in layer body.0 (Linear): linear([2, 3] f32, [3, 4] f32, [3] f32): x has 3 features, weight [3, 4] takes 4");
  const std::string norm = error_of<ShapeError>([&] { net.forward(zeros({2, 4})); });
  EXPECT_EQ(norm, "in layer body.1.0 (BatchNorm1d): BatchNorm1d([2, 3] f32): 3 channels, but this layer has 2");
  EXPECT_SAYS(error_of<IndexError>([&] { net.table(tensor({7})); }), "in layer table (Embedding): ");
  EXPECT_SAYS(error_of<ShapeError>([&] { Linear(4, 3)(zeros({2, 3})); }), "linear([2, 3] f32");
}

TEST(BatchNorm, AnEmptyBatchLeavesTheRunningStatistics) {
  BatchNorm2d norm(3);
  (void)norm(ones({2, 3, 4, 4}) * 2.0);
  const StateDict before = norm.clone_state();
  EXPECT_EQ(norm(zeros({0, 3, 4, 4})).shape(), (Shape{0, 3, 4, 4}));
  (void)norm.forward_relu(zeros({0, 3, 4, 4}));
  (void)norm.forward_relu_max_pool(zeros({0, 3, 4, 4}), {.kernel_size = 2});
  for (const auto& [name, tensor] : norm.state_dict()) EXPECT_TRUE(equal(tensor, before.at(name))) << name;
}

// 1 / sqrt(var + eps) in f32 does not tell them.
TEST(BatchNorm, RunningVariancesFarBelowEps) {
  const Tensor x = randn({64, 3, 20}) * 1e-4, exact = var(x.to(f64), {0, 2});
  const auto error = [](const Tensor& found, const Tensor& expected) {
    return max(abs(found.to(f64) / expected - 1.0)).item<double>();
  };
  BatchNorm1d batch({.num_features = 3, .eps = 0.1, .momentum = 1.0});
  (void)batch(x);
  EXPECT_LT(error(batch.running_var(), exact), 1e-5);
  EXPECT_LT(error(batch_norm_relu(x).var, var(x.to(f64), {0, 2}, 0)), 1e-5);
  InstanceNorm1d instance({.num_features = 3, .eps = 0.1, .momentum = 1.0, .track_running_stats = true});
  (void)instance(x);
  EXPECT_LT(error(instance.get_buffer("running_var"), mean(var(x.to(f64), 2), 0)), 1e-5);
}

TEST(Layer, LossesRefuseWhatDoesNotFit) {
  EXPECT_SAYS(error_of<ShapeError>([] {
                mse_loss(zeros({4, 1}), zeros({4}));
              }),
              "mse_loss([4, 1] f32, [4] f32): input and target must have one shape");
  EXPECT_THROW(huber_loss(zeros({2}), zeros({2}), {.delta = 0}), Error);
  EXPECT_THROW(nll_loss(zeros({2, 3}), zeros({2})), DtypeError);
  EXPECT_THROW(nll_loss(zeros({2, 3}), zeros({3}, i64)), ShapeError);
  EXPECT_THROW(nll_loss(zeros({2, 3}), tensor({0, 3})), IndexError);
  EXPECT_SAYS(error_of<IndexError>([] { cross_entropy(zeros({1, 3}), tensor({3})); }), "class 3");
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
  EXPECT_EQ(error_of<IndexError>([&] { net.at<ReLU>(-1); }), "index -1 is out of range for 5 modules");
  Sequential moved = std::move(net);
  EXPECT_EQ(moved(x).shape(), (Shape{5, 1}));
  EXPECT_EQ(error_of([&] { net(x); }), "this module was moved from");  // NOLINT: what it does then
  EXPECT_TRUE(Sequential()(x).is_same(x));
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

struct Flow : Module {
  virtual Tensor forward(const Tensor& x) = 0;
};
struct Scale : Flow {
  Tensor factor = register_parameter("factor", full({}, 2.0));
  Tensor forward(const Tensor& x) override { return x * factor; }
};
struct Affine : Flow {
  explicit Affine(int64_t width) : line(register_module("line", Linear(width, width))) {}
  Affine remake() const { return Affine(line.in_features()); }
  Linear line;
  Tensor forward(const Tensor& x) override { return line(x); }
};
struct Unclonable : Flow {
  explicit Unclonable(int) {}
  Tensor forward(const Tensor& x) override { return x; }
};

TEST(ModuleList, HoldsModulesOfSeveralClasses) {
  ModuleList<Flow> flows;
  flows.push_back(Scale());
  flows.push_back(Affine(4));
  const Tensor x = randn({3, 4});
  const auto run = [&](ModuleList<Flow>& list) {
    Tensor y = x;
    for (Flow& flow : list) y = flow.forward(y);
    return y;
  };
  EXPECT_EQ(flows.get_parameter("1.line.weight").shape(), (Shape{4, 4}));
  EXPECT_EQ(flows[0].type_name(), "Scale");
  ModuleList<Flow> copy = clone(flows);
  EXPECT_TRUE(equal(run(copy), run(flows)));
  copy[1].get_parameter("line.bias").detach() += 1.0;
  EXPECT_FALSE(equal(run(copy), run(flows)));
  flows.push_back(Unclonable(1));
  EXPECT_EQ(error_of([&] { clone(flows); }), "module 2 (Unclonable) has neither remake() nor a default constructor");
}

}  // namespace
}  // namespace weft::nn
