// parametrize(): weights that are functions of others. prune(): weights with a mask. plain(): without either.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "autograd/gradcheck.h"
#include "nn/nn.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

std::vector<std::string> names(const StateDict& state) {
  std::vector<std::string> out;
  for (const auto& [name, tensor] : state) out.push_back(name);
  return out;
}

Tensor symmetric(const Tensor& x) { return x.triu() + transpose(x.triu(1), 0, 1); }

TEST(Reparametrize, ComputesTheWeightInEachCall) {
  Linear fc(3, 3);
  const Tensor before = fc.weight().detach().clone(), x = randn({2, 3});
  auto layer = parametrize(std::move(fc), symmetric);
  EXPECT_EQ(names(layer.state_dict()), (std::vector<std::string>{"bias", "parametrizations.weight.original"}));
  EXPECT_TRUE(equal(layer.weight(), symmetric(before)));
  EXPECT_TRUE(equal(layer(x), linear(x, symmetric(before), layer.bias())));
  layer(x).sum().backward();
  const Tensor original = layer.get_parameter("parametrizations.weight.original");
  EXPECT_TRUE(equal(original.grad().tril(-1), zeros({3, 3})));
  EXPECT_GT(abs(original.grad()).sum().item(), 0);
  original.detach().add_(1.0);
  EXPECT_TRUE(equal(layer.weight(), symmetric(before + 1.0)));
  EXPECT_TRUE(equal(clone(layer)(x), layer(x)));
  Sequential net(std::move(layer), ReLU());
  EXPECT_TRUE(net.state_dict().contains("0.parametrizations.weight.original"));
}

TEST(Reparametrize, SecondOrderAndOtherNames) {
  const LinearOptions options = {.in_features = 2, .out_features = 2, .dtype = f64};
  auto layer = parametrize(Linear(options), [](const Tensor& x) { return exp(x); },
                           {.right_inverse = [](const Tensor& w) { return log(abs(w) + 0.1); }});
  const Tensor original = layer.get_parameter("parametrizations.weight.original");
  const auto checked = gradcheck(
      [&](const std::vector<Tensor>& in) {
        return functional_call(layer, {{"parametrizations.weight.original", in[0]}}, in[1]);
      },
      {original.detach().clone(), randn({3, 2}, f64)});
  EXPECT_TRUE(checked) << checked.report();
  EXPECT_TRUE((layer.weight() > 0).all().item<bool>());
  const auto biased = parametrize(Linear(2, 2), [](const Tensor& b) { return b * 2.0; }, {.name = "bias"});
  EXPECT_TRUE(biased.weight().is_leaf());
  EXPECT_TRUE(equal(biased(zeros({2})), biased.get_parameter("parametrizations.bias.original") * 2.0));
}

TEST(Reparametrize, StartsWhereTheRightInverseSays) {
  Linear fc(2, 2);
  const Tensor before = fc.weight().detach().clone();
  const auto layer = parametrize(std::move(fc), [](const Tensor& x) { return x * 4.0; },
                                 {.right_inverse = [](const Tensor& w) { return w / 4.0; }});
  EXPECT_TRUE(equal(layer.weight(), before));
}

TEST(Reparametrize, KeepsNoMemoryOfTheRightInverse) {
  const Tensor start = ones({2, 2});
  for (const Tensor& given : {start, zeros({1, 2}).expand({2, 2})}) {
    const auto layer = parametrize(Linear(2, 2), [](const Tensor& x) { return x * 2.0; },
                                   {.right_inverse = [given](const Tensor&) { return given; }});
    layer.get_parameter("parametrizations.weight.original").detach().add_(1.0);
    EXPECT_TRUE(equal(layer.weight(), (given + 1.0) * 2.0));
  }
  EXPECT_TRUE(equal(start, ones({2, 2})));
}

TEST(Reparametrize, IsMadeClonedAndUndoneInAutocast) {
  const Autocast half(f16);
  const auto layer = parametrize(Linear(2, 2), [](const Tensor& x) { return matmul(x, x); });
  const auto copy = clone(layer);
  const Linear plain = layer.plain();
  const Autocast exact = Autocast::off();
  EXPECT_TRUE(equal(plain.weight(), layer.weight()));
  EXPECT_TRUE(equal(copy.weight(), layer.weight()));
}

TEST(Reparametrize, Errors) {
  EXPECT_EQ(error_of([] { (void)parametrize(Linear(2, 3), [](const Tensor& x) { return transpose(x, 0, 1); }); }),
            "parametrize(): the function gives [2, 3] for a parameter of shape [3, 2]");
  EXPECT_EQ(error_of<DtypeError>([] { (void)parametrize(Linear(2, 3), [](const Tensor& x) { return x.to(f64); }); }),
            "parametrize(): the function gives f64 for a parameter in f32");
  EXPECT_EQ(error_of([] { (void)parametrize(Linear(2, 3), {}); }), "parametrize: the function is empty");
  EXPECT_EQ(error_of([] { (void)parametrize(Linear(2, 3), symmetric, {.name = "w"}); }),
            "parametrize(): Reparametrized<Linear> has no parameter `w` of its own");
}

/// An adapter of low rank: w + b a.
struct Adapter : Layer<Adapter> {
  Adapter(int64_t out, int64_t in, int64_t rank, DType dtype = f32) : out_(out), in_(in), rank_(rank) {
    a = register_parameter("a", randn({rank, in}, dtype));
    b = register_parameter("b", zeros({out, rank}, dtype));
  }
  Tensor forward(const Tensor& w) const { return w + matmul(b, a); }
  Adapter remake() const { return {out_, in_, rank_, a.dtype()}; }
  Tensor a, b;

 private:
  int64_t out_, in_, rank_;
};

TEST(Reparametrize, ByAModuleTrainsItsParameters) {
  Linear fc(3, 4);
  fc.requires_grad_(false);
  const Tensor before = fc.weight().detach().clone(), x = randn({2, 3});
  auto layer = parametrize(std::move(fc), Adapter(4, 3, 2));
  EXPECT_EQ(names(layer.state_dict()),
            (std::vector<std::string>{"bias", "parametrizations.weight.0.a", "parametrizations.weight.0.b",
                                      "parametrizations.weight.original"}));
  EXPECT_TRUE(equal(layer(x), linear(x, before, layer.bias())));
  Sequential net(std::move(layer), ReLU(), Linear(4, 1));
  net(x).sum().backward();
  EXPECT_TRUE(net.get_parameter("0.parametrizations.weight.0.b").grad().defined());
  EXPECT_FALSE(net.get_parameter("0.parametrizations.weight.original").requires_grad());
  net.get_parameter("0.parametrizations.weight.0.b").detach().fill_(1.0);
  const auto& adapted = net.at<ParametrizedBy<Linear, Adapter>>(0);
  const Tensor a = net.get_parameter("0.parametrizations.weight.0.a");
  EXPECT_TRUE(allclose(adapted.weight(), before + a.sum(0)));
  EXPECT_TRUE(equal(adapted.plain()(x), adapted(x)));
}

TEST(Reparametrize, AModuleIsClonedWithItsLayer) {
  auto layer = parametrize(Linear(3, 3), Adapter(3, 3, 1));
  layer.get_parameter("parametrizations.weight.0.b").detach().fill_(0.5);
  layer.eval();
  auto copy = clone(layer);
  EXPECT_TRUE(equal(copy.weight(), layer.weight()));
  EXPECT_FALSE(copy.is_training());
  const Tensor before = layer.weight().detach().clone();
  copy.get_parameter("parametrizations.weight.0.b").detach().fill_(2.0);
  EXPECT_TRUE(equal(layer.weight(), before));
  EXPECT_FALSE(equal(copy.weight(), before));
}

TEST(Reparametrize, AModulesGradientsAreRight) {
  const LinearOptions options = {.in_features = 2, .out_features = 3, .dtype = f64};
  const auto layer = parametrize(Linear(options), Adapter(3, 2, 1, f64));
  const auto checked = gradgradcheck(
      [&](const std::vector<Tensor>& in) {
        return functional_call(layer, {{"parametrizations.weight.0.a", in[0]}, {"parametrizations.weight.0.b", in[1]}},
                               in[2]);
      },
      {randn({1, 2}, f64), randn({3, 1}, f64), randn({2, 2}, f64)});
  EXPECT_TRUE(checked) << checked.report();
}

/// A scale with its inverse, as torch.nn.utils.parametrize takes right_inverse() of a module.
struct Doubled : Layer<Doubled> {
  Tensor forward(const Tensor& x) const { return x * 2.0; }
  Tensor right_inverse(const Tensor& w) const { return w / 2.0; }
};

TEST(Reparametrize, AModuleMayHaveARightInverse) {
  Linear fc(2, 2);
  const Tensor before = fc.weight().detach().clone();
  const auto layer = parametrize(std::move(fc), Doubled());
  EXPECT_TRUE(equal(layer.weight(), before));
  EXPECT_TRUE(equal(layer.get_parameter("parametrizations.weight.original"), before / 2.0));
  EXPECT_EQ(error_of([] { (void)parametrize(Linear(2, 3), Adapter(3, 3, 1)); }),
            "in layer parametrizations.weight.0 (Adapter): parametrize(): shapes [3, 2] and [3, 3] do not broadcast: 2 "
            "and 3 on "
            "axis -1");
}

TEST(Reparametrize, PlainHasTheComputedWeight) {
  const Tensor x = randn({2, 3});
  auto fc = parametrize(Linear(3, 3), symmetric);
  fc.eval();
  fc.get_parameter("bias").requires_grad_(false);
  const Linear plain = fc.plain();
  EXPECT_EQ(names(plain.state_dict()), (std::vector<std::string>{"bias", "weight"}));
  EXPECT_TRUE(equal(plain(x), fc(x)));
  EXPECT_TRUE(plain.weight().requires_grad() && plain.weight().is_leaf());
  EXPECT_FALSE(plain.bias().requires_grad() || plain.is_training());
  EXPECT_FALSE(plain.bias().shares_storage(fc.bias()));
  auto half = spectral_norm(Conv2d(2, 3, 3));
  half.to(f64);
  half.requires_grad_(false);
  const Tensor image = randn({1, 2, 5, 5}, f64);
  half.eval();
  const Conv2d conv = half.plain();
  EXPECT_EQ(conv.weight().dtype(), f64);
  EXPECT_FALSE(conv.weight().requires_grad());
  EXPECT_TRUE(allclose(conv(image), half(image), 1e-12, 1e-12));
  const auto both = weight_norm(weight_norm(Linear(3, 3)), {.name = "bias"});
  const WeightNorm<Linear> one = both.plain();
  EXPECT_TRUE(equal(one(x), both(x)));
  EXPECT_EQ(one.state_dict().size(), 3u);
}

Tensor transposed_product(const Tensor& w) { return matmul(transpose(w, -2, -1), w); }

/// The orthogonal matrix that the test's PyTorch code takes from sgn(diag(R)) of a QR.
Tensor some_base(int64_t n) {
  const Tensor x = cos(arange(n * n).to(f64).reshape({n, n}) * 0.7) + eye(n, f64) * 2.0;
  const auto [q, r] = qr(x);
  return q * sign(diagonal(r));
}

// torch.nn.utils.parametrizations.orthogonal(nn.Linear(i, o, bias=False), orthogonal_map=...) with
// original[j] = sin(0.37 j) and base = some_base(): the weight's first two elements, and of the gradient g of the first
// output for an x of ones the sums of g[j] and of j g[j].
TEST(Orthogonal, IsPyTorchs) {
  struct Row {
    int64_t out, in;
    OrthogonalMap map;
    double w0, w1, sum, moment;
  };
  const Row rows[] = {
      {3, 3, OrthogonalMap::matrix_exp, 0.5539749172991296, -0.7050874103883659, -2.099399214921456, -9.92551447044535},
      {3, 3, OrthogonalMap::cayley, 0.6615375236833843, -0.6165578200100859, -1.5508137902687107, -7.229489768324298},
      {4, 2, OrthogonalMap::matrix_exp, 0.008299259572231835, -0.8931033352602572, -1.7403100543879744,
       -6.215427129235629},
      {4, 2, OrthogonalMap::cayley, 0.22270614217214976, -0.7852188887632499, -1.2090624269498418, -3.7515737983885105},
      {2, 3, OrthogonalMap::matrix_exp, 0.7978590864130386, -0.29831652032792266, 0.1291810686992867,
       -2.3447857062412902},
      {2, 3, OrthogonalMap::cayley, 0.8425999769439781, -0.25836109291162457, 0.3914688331004957, -1.393616339025153}};
  for (const auto& [out, in, map, w0, w1, sum, moment] : rows) {
    auto layer = orthogonal(Linear(LinearOptions{.in_features = in, .out_features = out, .bias = false, .dtype = f64}),
                            {.map = map});
    layer.load_state_dict(
        {{"parametrizations.weight.original", sin(arange(out * in).to(f64).reshape({out, in}) * 0.37)},
         {"parametrizations.weight.0.base", some_base(std::max(out, in))}});
    const Tensor w = flatten(layer.weight().detach());
    EXPECT_NEAR(w[0].item(), w0, 1e-12);
    EXPECT_NEAR(w[1].item(), w1, 1e-12);
    layer(ones({1, in}, f64))[0][0].backward();
    const Tensor g = flatten(layer.get_parameter("parametrizations.weight.original").grad());
    EXPECT_NEAR(g.sum().item(), sum, 1e-12);
    EXPECT_NEAR((g * arange(out * in)).sum().item(), moment, 1e-11);
  }
}

TEST(Orthogonal, StaysOrthogonalInTraining) {
  manual_seed(3);
  auto layer = orthogonal(Conv2d(4, 6, {3, 2}));  // six by four matrices of (3, 2)
  const Tensor x = randn({2, 4, 5, 5});
  const Tensor unit = eye(2).expand({6, 4, 2, 2});
  EXPECT_TRUE(allclose(transposed_product(layer.weight()), unit, 1e-5, 1e-5));
  const Tensor before = layer.weight().detach();
  square(layer(x)).sum().backward();
  const Tensor original = layer.get_parameter("parametrizations.weight.original");
  original.detach().add_(original.grad(), -0.01);
  EXPECT_FALSE(allclose(layer.weight(), before));
  EXPECT_TRUE(allclose(transposed_product(layer.weight()), unit, 1e-5, 1e-5));
  EXPECT_TRUE(equal(clone(layer)(x), layer(x)));
  EXPECT_TRUE(equal(layer.plain()(x), layer(x)));
}

TEST(Orthogonal, StartsWithAWeightThatIs) {
  Linear fc(LinearOptions{.in_features = 3, .out_features = 3, .dtype = f64});
  fc.load_state_dict({{"weight", some_base(3)}}, {.strict = false});
  EXPECT_TRUE(allclose(orthogonal(std::move(fc)).weight(), some_base(3), 1e-14, 1e-14));
  EXPECT_EQ(error_of<ShapeError>([] { (void)orthogonal(Linear(2, 3), {.name = "bias"}); }),
            "orthogonal(): a weight [3] is no matrix, which has two axes or more");
}

const Tensor kWeight = tensor({{.5, -.1, .3, -.9}, {.2, .05, -.6, .7}, {-.15, .8, .25, -.4}}).to(f32);

// torch.nn.utils.prune: l1_unstructured(0.45), ln_structured(1, 2, dim=0), ln_structured(0.5, inf, dim=1),
// global_unstructured(L1Unstructured, 3)
TEST(Prune, MasksArePyTorchs) {
  const auto expect_mask = [](const Tensor& mask, const Tensor& expected) {
    EXPECT_EQ(mask.dtype(), f32);
    EXPECT_TRUE(equal(mask, expected.to(f32))) << mask;
  };
  expect_mask(l1_mask(kWeight, 0.45), tensor({{1, 0, 1, 1}, {0, 0, 1, 1}, {0, 1, 0, 1}}));
  expect_mask(ln_structured_mask(kWeight, 1, 2, 0), tensor({{1, 1, 1, 1}, {1, 1, 1, 1}, {0, 0, 0, 0}}));
  expect_mask(ln_structured_mask(kWeight, 0.5, INFINITY, -1), tensor({{0, 1, 0, 1}, {0, 1, 0, 1}, {0, 1, 0, 1}}));
  const auto masks = global_l1_masks({tensor({{.1f, .2f}, {.3f, .9f}}), tensor({{.05f, .25f}})}, 3);
  expect_mask(masks[0], tensor({{0, 0}, {1, 1}}));
  expect_mask(masks[1], tensor({{0, 1}}));
}

TEST(Prune, RandomMasksHaveTheAmount) {
  for (const int64_t count : {0, 5, 12}) EXPECT_EQ(random_mask(kWeight, count).sum().item(), 12 - count);
  const Tensor slices = random_structured_mask(kWeight, 0.5, 1);
  EXPECT_EQ(slices.sum(0).to_vector<int64_t>(), (slices[0] * 3.0).to_vector<int64_t>());
  EXPECT_EQ(slices.sum().item(), 6);
  EXPECT_EQ(l1_mask(kWeight.to(bf16), 1.0).dtype(), bf16);
  EXPECT_EQ(l1_mask(kWeight, 1.0).sum().item(), 0);
}

TEST(Prune, MasksOfEmptyWeights) {
  for (const Shape& shape : {Shape{0, 3}, Shape{3, 0}}) {
    EXPECT_EQ(l1_mask(zeros(shape), 0.5).shape(), shape);
    for (const int64_t axis : {0, 1}) EXPECT_EQ(ln_structured_mask(zeros(shape), 0, 2, axis).shape(), shape);
  }
}

TEST(Prune, KeepsZerosInTraining) {
  Linear fc(4, 3);
  fc.load_state_dict({{"weight", kWeight}}, {.strict = false});
  const Tensor mask = l1_mask(fc.weight(), 5);
  auto layer = prune(std::move(fc), mask);
  EXPECT_EQ(names(layer.state_dict()),
            (std::vector<std::string>{"bias", "parametrizations.weight.0.mask", "parametrizations.weight.original"}));
  const Tensor x = randn({8, 4});
  layer(x).sum().backward();
  const Tensor original = layer.get_parameter("parametrizations.weight.original");
  EXPECT_TRUE(equal(original.grad() * (1.0 - mask), zeros({3, 4})));
  EXPECT_TRUE(equal(layer.weight(), kWeight * mask));
  layer.mask().mul_(l1_mask(layer.weight(), 7));
  EXPECT_EQ((layer.weight() == 0).sum().item(), 7);
  const Linear zeroed = layer.plain();
  EXPECT_TRUE(equal(zeroed.weight(), layer.weight()));
  EXPECT_TRUE(equal(clone(layer)(x), layer(x)));
  auto other = prune(Linear(4, 3), ones({3, 4}));
  other.load_state_dict(layer.state_dict());
  EXPECT_TRUE(equal(other(x), layer(x)));
  EXPECT_TRUE(equal(layer.options().mask, layer.mask()));
  layer.to(f64);
  EXPECT_EQ(layer.weight().dtype(), f64);
}

TEST(Prune, Errors) {
  EXPECT_EQ(error_of([] { (void)l1_mask(kWeight, 13); }),
            "l1_mask([3, 4] f32): the amount 13 is not in [0, 12], the number of elements or slices");
  EXPECT_EQ(error_of([] { (void)l1_mask(kWeight, 1.5); }),
            "l1_mask([3, 4] f32): the amount 1.5 is not a fraction in [0, 1]");
  EXPECT_EQ(error_of<IndexError>([] { (void)ln_structured_mask(kWeight, 1, 2, 2); }),
            "ln_structured_mask([3, 4] f32): axis 2 is out of range for 2 axes");
  EXPECT_EQ(error_of<ShapeError>([] {
              (void)prune(Linear(4, 3), ones({4, 3}));
            }),
            "prune([4, 3] f32): the mask must be [3, 4] as the weight is, not [4, 3]");
}

}  // namespace
}  // namespace weft::nn
