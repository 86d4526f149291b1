// Activation layers and functions of rows against PyTorch, in f64. tests/golden/activation.py makes the values.
#include <gtest/gtest.h>

#include "autograd/leaf.h"
#include "nn/nn.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tests/nn/activation_values.h"
#include "tests/wave.h"

namespace weft::nn {
namespace {

using testing::digest;
using testing::expect_numbers;
using testing::wave;

const std::vector<Shape> kShapes = {{6}, {5, 4}, {2, 4, 3}, {2, 4, 3, 2}};

void expect_golden(const std::string& name, const Tensor& tensor) {
  ASSERT_TRUE(tensor.defined()) << name;
  EXPECT_EQ(tensor.dtype(), f64) << name;
  ASSERT_EQ(kActivationGolden.count(name), 1u) << name;
  expect_numbers(digest(tensor), kActivationGolden.at(name), 1e-10, name);
}

void check(const std::string& name, const Tensor& y, const std::vector<NamedTensor>& inputs) {
  expect_golden(name + ".y", y);
  sum(y * wave(y.shape(), 0.9)).backward();
  for (const NamedTensor& input : inputs) expect_golden(name + "." + input.name + ".grad", input.tensor.grad());
}

/// The layer on every shape; `number` counts the choices of options.
template <class M>
void check_layer(const std::string& name, int number, M module, const std::vector<Shape>& shapes = kShapes) {
  module.to(f64);
  module.eval();
  for (const Shape& shape : shapes) {
    module.zero_grad();
    const Tensor x = parameter(wave(shape, 0.3, 4));
    std::vector<NamedTensor> inputs = module.named_parameters();
    inputs.push_back({"x", x});
    check(text(name, ".", number, ".", shape.rank()), module(x), inputs);
  }
}

TEST(ActivationGolden, First) {
  check_layer("relu", 0, ReLU());
  check_layer("leaky_relu", 0, LeakyReLU());
  check_layer("leaky_relu", 1, LeakyReLU(0.3));
  check_layer("gelu", 0, GELU());
  check_layer("gelu", 1, GELU(Gelu::tanh));
  check_layer("silu", 0, SiLU());
  check_layer("sigmoid", 0, Sigmoid());
  check_layer("tanh", 0, Tanh());
}

TEST(ActivationGolden, Smooth) {
  check_layer("elu", 0, ELU());
  check_layer("elu", 1, ELU(0.3));
  check_layer("selu", 0, SELU());
  check_layer("celu", 0, CELU());
  check_layer("celu", 1, CELU(2.5));
  check_layer("mish", 0, Mish());
  check_layer("logsigmoid", 0, LogSigmoid());
  check_layer("softsign", 0, Softsign());
  check_layer("tanhshrink", 0, Tanhshrink());
  check_layer("softplus", 0, Softplus());
  check_layer("softplus", 1, Softplus(2));
  check_layer("softplus", 2, Softplus(0.5, 1));
}

TEST(ActivationGolden, Piecewise) {
  check_layer("hardswish", 0, Hardswish());
  check_layer("hardsigmoid", 0, Hardsigmoid());
  check_layer("hardtanh", 0, Hardtanh());
  check_layer("hardtanh", 1, Hardtanh(-0.5, 2.5));
  check_layer("relu6", 0, ReLU6());
  check_layer("softshrink", 0, Softshrink());
  check_layer("softshrink", 1, Softshrink(1.25));
  check_layer("hardshrink", 0, Hardshrink());
  check_layer("hardshrink", 1, Hardshrink(1.25));
  check_layer("threshold", 0, Threshold(0.4, -7));
  check_layer("threshold", 1, Threshold(-1, 0));
  check_layer("rrelu", 0, RReLU());
  check_layer("rrelu", 1, RReLU(0.1, 0.9));
}

TEST(ActivationGolden, Rows) {
  check_layer("glu", 0, GLU(), {{6}, {5, 4}, {2, 3, 4}, {2, 4, 3, 2}});
  check_layer("glu_first", 0, GLU(0), {{6}, {4, 3}, {2, 4, 3}, {2, 4, 3, 2}});
  for (int k = 0; k < 2; ++k) {
    check_layer("softmin", k, Softmin(k - 1));
    check_layer("softmax", k, Softmax(k - 1));
    check_layer("log_softmax", k, LogSoftmax(k - 1));
  }
}

TEST(ActivationGolden, Slopes) {
  check_layer("prelu", 0, PReLU());
  check_layer("prelu_channels", 0, PReLU(4, 0.1, f64), {kShapes.begin() + 1, kShapes.end()});
}

TEST(ActivationGolden, Functions) {
  for (size_t k = 0; k < kShapes.size(); ++k) {
    const auto both = [&](const std::string& name, const auto& f) {
      const Tensor x = parameter(wave(kShapes[k], 0.3, 2)), y = parameter(wave(kShapes[k], 1.1, 2));
      std::vector<NamedTensor> inputs = {{"x", x}};
      if (name.starts_with("pair")) inputs.push_back({"y", y});
      check(text(name, ".", k), f(x, y), inputs);
    };
    using T = const Tensor&;
    both("normalize", [](T x, T) { return normalize(x, 2, -1); });
    both("normalize_first", [](T x, T) { return normalize(x, 3, 0); });
    both("pair.cosine_similarity", [](T x, T y) { return cosine_similarity(x, y, -1); });
    both("pair.cosine_similarity_first", [](T x, T y) { return cosine_similarity(x, y, 0); });
    both("pair.pairwise_distance", [](T x, T y) { return pairwise_distance(x, y); });
    both("pair.pairwise_distance_all", [](T x, T y) { return pairwise_distance(x, y, 3, 1e-3, keepdim); });
  }
}

TEST(Activation, OneSlopeOfF64WidensAsManyDo) {
  for (const int64_t slopes : {1, 2}) {
    const Tensor y = PReLU(slopes, 0.1, f64)(full({3, 2}, -1.0, f32));
    EXPECT_TRUE(equal(y, full({3, 2}, -0.1, f64))) << slopes;
  }
}

TEST(Activation, RandomSlopesInTrainingOnly) {
  RReLU layer(0.25, 0.5);
  const Tensor x = full({1000}, -1.0);
  const Tensor slopes = -layer(x);
  EXPECT_TRUE(all(logical_and(slopes >= 0.25, slopes <= 0.5)).item<bool>());
  EXPECT_FALSE(equal(slopes, -layer(x)));
  layer.eval();
  EXPECT_TRUE(equal(layer(x), x * 0.375));
}

TEST(Activation, RefusesWhatDoesNotFit) {
  EXPECT_THROW(PReLU(0), ShapeError);
  EXPECT_THROW(PReLU(3)(ones({2, 4})), ShapeError);
  EXPECT_THROW(GLU()(ones({2, 3})), ShapeError);
  EXPECT_THROW(Softplus(0), Error);
  EXPECT_THROW(CELU(0)(ones({2})), Error);
}

}  // namespace
}  // namespace weft::nn
