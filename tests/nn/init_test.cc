// Initial values: bounds and moments of every initialization, and the layers' defaults.
#include "nn/init.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nn/nn.h"
#include "tensor/core/random.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

double largest(const Tensor& x) { return max(abs(x)).item<double>(); }
double deviation(const Tensor& x) { return x.std().item<double>(); }

// Uniform in +-bound: within it, close to it, with its deviation.
void expect_uniform(const Tensor& x, double bound) {
  EXPECT_LE(largest(x), bound * (1 + 1e-6));
  EXPECT_GE(largest(x), bound * 0.99);
  EXPECT_NEAR(deviation(x), bound / std::sqrt(3.0), bound * 0.02);
  EXPECT_NEAR(x.mean().item<double>(), 0, bound * 0.03);
}

void expect_normal(const Tensor& x, double std) {
  EXPECT_NEAR(deviation(x), std, std * 0.03);
  EXPECT_NEAR(x.mean().item<double>(), 0, std * 0.04);
  EXPECT_GE(largest(x), 3 * std);
}

class Init : public ::testing::Test {
 protected:
  Init() { manual_seed(5); }
  Tensor weight = zeros({80, 30, 3, 2});  // fan_in 180, fan_out 480
};

TEST_F(Init, Fans) {
  EXPECT_EQ(init::fan(weight, init::Fan::in), 180);
  EXPECT_EQ(init::fan(weight, init::Fan::out), 480);
  EXPECT_THROW(init::fan(zeros({3}), init::Fan::in), ShapeError);
  EXPECT_EQ(error_of([] { init::xavier_normal(zeros({3})); }),
            "xavier_normal([3] f32): a fan needs a weight with two or more axes");
  EXPECT_EQ(error_of([] { init::kaiming_uniform(zeros({3})); }),
            "kaiming_uniform([3] f32): a fan needs a weight with two or more axes");
  for (const Shape& shape : {Shape{3, 0}, Shape{0, 3}, Shape{0, 0}}) {  // a fan of 0 is no reason to refuse them
    const Tensor none = zeros(shape);
    EXPECT_NO_THROW(init::kaiming_uniform(none));
    EXPECT_NO_THROW(init::kaiming_normal(none));
    EXPECT_NO_THROW(init::xavier_uniform(none));
    EXPECT_NO_THROW(init::xavier_normal(none));
  }
}

TEST_F(Init, Gains) {
  using init::Nonlinearity;
  EXPECT_EQ(init::gain(Nonlinearity::linear), 1);
  EXPECT_EQ(init::gain(Nonlinearity::sigmoid), 1);
  EXPECT_DOUBLE_EQ(init::gain(Nonlinearity::tanh), 5.0 / 3);
  EXPECT_DOUBLE_EQ(init::gain(Nonlinearity::relu), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(init::gain(Nonlinearity::leaky_relu, 0.2), std::sqrt(2 / 1.04));
  EXPECT_EQ(init::gain(Nonlinearity::selu), 0.75);
}

TEST_F(Init, Distributions) {
  init::uniform(weight, -0.5, 0.5);
  expect_uniform(weight, 0.5);
  init::normal(weight, 0, 2);
  expect_normal(weight, 2);
  init::ones(weight);
  EXPECT_TRUE(equal(weight, ones_like(weight)));
  init::zeros(weight);
  EXPECT_TRUE(equal(weight, zeros_like(weight)));
  init::constant(weight, 3);
  EXPECT_TRUE(equal(weight, full({80, 30, 3, 2}, 3.0)));
}

TEST_F(Init, TruncatedNormal) {
  // The variance of a standard normal cut off at -1 and 1.
  init::trunc_normal(weight, 2, 0.5, 1.5, 2.5);
  EXPECT_GE(weight.min().item<double>(), 1.5);
  EXPECT_LE(weight.max().item<double>(), 2.5);
  EXPECT_NEAR(weight.mean().item<double>(), 2, 0.01);
  EXPECT_NEAR(weight.var().item<double>(), 0.25 * 0.2911, 0.005);
  init::trunc_normal(weight, 0, 1, 1, 8);  // one side
  EXPECT_NEAR(weight.mean().item<double>(), 1.5251, 0.02);
  EXPECT_THROW(init::trunc_normal(weight, 0, 1, 2, 2), Error);
  EXPECT_THROW(init::trunc_normal(weight, 0, 0), Error);
}

TEST_F(Init, TruncatedNormalOfATail) {
  Tensor x = zeros({40000}, f64), mirrored = zeros({40000}, f64);
  const auto beyond = [](double value) { return std::erfc(value / std::sqrt(2.0)); };
  for (const double a : {5.5, 8.3, 12.0, 36.0})
    for (const double width : {0.5 / a, 2.0}) {
      const double b = a + width, middle = a + width / (1 + width * a);
      init::trunc_normal(x, 0, 1, a, b);
      EXPECT_TRUE(x.min().item<double>() >= a && x.max().item<double>() <= b) << a;
      EXPECT_NEAR((x < middle).to(f64).mean().item<double>(), (beyond(a) - beyond(middle)) / (beyond(a) - beyond(b)),
                  0.01)
          << a << ' ' << b;
    }
  init::trunc_normal(x, 0, 1, 1e4, INFINITY);  // almost an exponential distribution
  EXPECT_NEAR((x.mean().item<double>() - 1e4) * 1e4, 1, 0.03);
  init::trunc_normal(x, 0, 1, 1e200, 2e200);
  EXPECT_EQ(x.max().item<double>(), 1e200);
  Generator one(7), same(7);
  init::trunc_normal(x, 3, 0.5, 6, 7, one);
  init::trunc_normal(mirrored, 3, 0.5, -1, 0, same);
  EXPECT_TRUE(allclose(x - 3.0, 3.0 - mirrored, 1e-12, 0));
}

TEST_F(Init, TruncatedNormalIsTheSameInPartsAndInAnyOrder) {
  Generator a(7), b(7), c(7);
  Tensor whole = zeros({801, 203}), turned = zeros({203, 801}).transpose(0, 1);  // the parts are of 16384 per thread
  init::trunc_normal(whole, 0.5, 2, -1, 3, a);
  init::trunc_normal(turned, 0.5, 2, -1, 3, b);
  EXPECT_TRUE(equal(whole, turned));
  (void)rand({801, 203}, c, f64);
  EXPECT_EQ(a.state(), c.state());
}

TEST_F(Init, XavierAndKaiming) {
  init::xavier_uniform(weight, 2);
  expect_uniform(weight, 2 * std::sqrt(6.0 / 660));
  init::xavier_normal(weight);
  expect_normal(weight, std::sqrt(2.0 / 660));
  init::kaiming_uniform(weight, {.nonlinearity = init::Nonlinearity::relu});
  expect_uniform(weight, std::sqrt(2.0) * std::sqrt(3.0 / 180));
  init::kaiming_normal(weight, {.slope = 0.5, .fan = init::Fan::out});
  expect_normal(weight, std::sqrt(2 / 1.25) / std::sqrt(480.0));
}

TEST_F(Init, WritesParametersOutsideOfTheTape) {
  Linear layer(100, 50);
  init::normal(layer.weight());
  EXPECT_TRUE(layer.weight().is_leaf() && layer.weight().requires_grad());
  expect_normal(layer.weight(), 1);
}

TEST_F(Init, LayersStartAsInPyTorch) {
  const Linear linear(400, 300);
  expect_uniform(linear.weight(), 1 / 20.0);
  EXPECT_LE(largest(linear.bias()), 1 / 20.0);
  EXPECT_GE(largest(linear.bias()), 0.9 / 20);
  const Conv2d conv({.in_channels = 32, .out_channels = 64, .kernel_size = {5, 4}, .groups = 2});
  expect_uniform(conv.weight(), 1 / std::sqrt(16.0 * 20));
  const Embedding table({.num_embeddings = 300, .embedding_dim = 40, .padding_idx = -1});
  expect_normal(table.weight().slice(0, 0, 299), 1);
  EXPECT_EQ(largest(table.weight()[299]), 0);
  const BatchNorm2d norm(3);
  EXPECT_TRUE(equal(norm.weight(), ones({3})) && equal(norm.bias(), zeros({3})));
  EXPECT_TRUE(equal(norm.running_mean(), zeros({3})) && equal(norm.running_var(), ones({3})));
}

TEST_F(Init, FollowsTheSeed) {
  manual_seed(9);
  const Linear a(5, 4);
  manual_seed(9);
  const Linear b(5, 4);
  EXPECT_TRUE(equal(a.weight(), b.weight()) && equal(a.bias(), b.bias()));
  EXPECT_FALSE(equal(a.weight(), Linear(5, 4).weight()));
}

TEST_F(Init, DrawsFromTheGeneratorThatIsGiven) {
  const auto same = [](const auto& write) {
    Generator a(5), b(5);
    Tensor x = empty({6, 8}), y = empty({6, 8});
    manual_seed(1);
    write(x, a);
    EXPECT_EQ(random_state(), (RandomState{1, 0}));
    write(y, b);
    EXPECT_TRUE(equal(x, y));
    write(y, b);
    EXPECT_FALSE(equal(x, y));
  };
  same([](const Tensor& x, Generator& g) { init::uniform(x, 0, 1, g); });
  same([](const Tensor& x, Generator& g) { init::normal(x, 0, 1, g); });
  same([](const Tensor& x, Generator& g) { init::trunc_normal(x, 0, 1, -2, 2, g); });
  same([](const Tensor& x, Generator& g) { init::xavier_uniform(x, 1, g); });
  same([](const Tensor& x, Generator& g) { init::xavier_normal(x, 1, g); });
  same([](const Tensor& x, Generator& g) { init::kaiming_uniform(x, {}, g); });
  same([](const Tensor& x, Generator& g) { init::kaiming_normal(x, {}, g); });
  same([](const Tensor& x, Generator& g) { init::orthogonal(x, 1, g); });
  same([](const Tensor& x, Generator& g) { init::sparse(x, 0.5, 1, g); });
}

TEST_F(Init, Orthogonal) {
  for (const Shape& shape : {Shape{4, 4}, Shape{3, 2, 5}, Shape{9, 2, 2}}) {
    Tensor x = empty(shape, f64);
    init::orthogonal(x, 2);
    const Tensor rows = x.reshape({shape[0], -1}), flat = rows.size(0) <= rows.size(1) ? rows : rows.transpose(0, 1);
    EXPECT_TRUE(allclose(matmul(flat, flat.transpose(0, 1)), eye(flat.size(0), std::nullopt, f64) * 4.0, 1e-10, 1e-12))
        << shape;
  }
  EXPECT_THROW(init::orthogonal(empty({3})), ShapeError);
}

TEST_F(Init, SparseEyeAndDirac) {
  Tensor x = empty({5, 3});
  init::sparse(x, 0.3);
  EXPECT_TRUE(equal(count_nonzero(x, 0), full({3}, 3, i64)));
  Generator a(7), b(7);
  Tensor filled = zeros({10, 6}), zeroed = zeros({10, 6});
  init::sparse(filled, 0.25, 1, a);
  init::normal(zeroed, 0, 1, b);
  for (int64_t column = 0; column < 6; ++column)
    for (const int64_t row : narrow(randperm(10, b), 0, 0, 3).to_vector<int64_t>()) zeroed[row][column].fill_(0);
  EXPECT_TRUE(equal(filled, zeroed));
  EXPECT_THROW(init::sparse(empty({5}), 0.3), ShapeError);
  EXPECT_THROW(init::sparse(x, 1.5), Error);
  init::eye(x);
  EXPECT_TRUE(equal(matmul(x, arange(3).to(f32)), tensor({0.0, 1.0, 2.0, 0.0, 0.0})));
  EXPECT_THROW(init::eye(empty({5})), ShapeError);
  // A convolution of groups gives its inputs; without groups, as many channels as there are.
  Conv1d conv({.in_channels = 4, .out_channels = 4, .kernel_size = 3, .padding = 1, .groups = 2, .bias = false});
  init::dirac(conv.weight(), 2);
  const Tensor signal = randn({2, 4, 6});
  EXPECT_TRUE(allclose(conv(signal), signal));
  Conv2d wide({.in_channels = 2, .out_channels = 3, .kernel_size = 3, .padding = 1, .bias = false});
  init::dirac(wide.weight());
  const Tensor image = randn({1, 2, 4, 4}), y = wide(image);
  EXPECT_TRUE(allclose(y.narrow(1, 0, 2), image) && largest(y.narrow(1, 2, 1)) == 0);
  EXPECT_THROW(init::dirac(empty({3, 3})), ShapeError);
  EXPECT_THROW(init::dirac(conv.weight(), 3), ShapeError);
}

TEST_F(Init, IntegersAreRefusedWhereNumbersWouldBeCutOff) {
  for (const DType dtype : {i64, boolean}) {
    EXPECT_THROW(init::trunc_normal(empty({2, 2}, dtype)), DtypeError);
    EXPECT_THROW(init::orthogonal(empty({2, 2}, dtype)), DtypeError);
  }
}

}  // namespace
}  // namespace weft::nn
