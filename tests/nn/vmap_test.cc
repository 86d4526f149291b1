// Losses and layers that look at values on the host, inside of vmap: they look at all samples at once. And functions
// that make tensors of more axes on the way.
#include "tensor/batching/vmap.h"

#include <gtest/gtest.h>

#include <array>
#include <tuple>

#include "autograd/autograd.h"
#include "nn/nn.h"
#include "tensor/autocast.h"
#include "tensor/core/random.h"
#include "tensor/functions/advanced_index.h"
#include "tensor/functions/attention.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/conv.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/group_norm.h"
#include "tensor/functions/histogram.h"
#include "tensor/functions/index.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/nonzero.h"
#include "tensor/functions/pool.h"
#include "tensor/functions/quantile.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/tile.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tests/error_of.h"

namespace weft {
namespace {

using Loss = std::function<Tensor(const Tensor&, const Tensor&)>;

/// loss(x, target) and its gradient of x, for each sample at once and one after the other.
void expect_alike(const Loss& loss, const Tensor& x, const Tensor& target) {
  const auto with_gradient = [&](const std::vector<Tensor>& in) {
    const Tensor leaf = parameter(in[0]);
    const Tensor y = loss(leaf, in[1]);
    return std::vector<Tensor>{y.detach(), grad({y}, {leaf})[0]};
  };
  const std::vector<Tensor> all = vmap(with_gradient)(std::vector<Tensor>{x, target});
  for (int64_t b = 0; b < x.size(0); ++b) {
    const std::vector<Tensor> one = with_gradient({x[b], target[b]});
    EXPECT_TRUE(allclose(all[0][b], one[0], 1e-12)) << b;
    EXPECT_TRUE(allclose(all[1][b], one[1], 1e-12)) << b;
  }
}

TEST(LossesUnderVmap, AreThoseOfALoop) {
  Generator g(3);
  const Tensor p = rand({4, 3, 2}, g, f64), t = rand({4, 3, 2}, g, f64);
  expect_alike([](const Tensor& x, const Tensor& y) { return nn::bce(x, y); }, p, t);
  expect_alike([&](const Tensor& x, const Tensor& y) { return nn::gaussian_nll_loss(x, y, p[0]); }, p, t);
  expect_alike([&](const Tensor& x, const Tensor& y) { return nn::gaussian_nll_loss(y, y * 2.0, x); }, p, t);
  const Tensor classes = tensor({{{1, 3, -1, 0}, {-1, 2, 2, 2}}, {{0, 1, 2, 3}, {3, 3, -1, -1}}});
  const auto margin = [](const Tensor& x, const Tensor& y) { return nn::multilabel_margin_loss(x, y); };
  expect_alike(margin, randn({2, 2, 4}, g, f64), classes);
}

TEST(RepeatsUnderVmap, LeaveRoomForTheAxisOfTheBatch) {
  const Tensor four = arange(24, f32).view({2, 2, 1, 2, 3}), seven = arange(12, f32).view({2, 1, 1, 1, 1, 1, 2, 3});
  const auto repeated = [](const Tensor& x) { return repeat(x, {2, 3, 2, 2}); };
  const auto interleaved = [](const Tensor& x) { return repeat_interleave(x, 2, -1); };
  EXPECT_TRUE(equal(vmap(repeated)(four), repeat(four, {1, 2, 3, 2, 2})));
  EXPECT_TRUE(equal(vmap(vmap(repeated))(four.unsqueeze(0)), vmap(repeated)(four).unsqueeze(0)));
  EXPECT_TRUE(equal(vmap(interleaved)(seven), repeat_interleave(seven, 2, -1)));
}

TEST(LossesUnderVmap, SeeAWrongValueInAnySample) {
  const Tensor good = full({3, 2}, 0.5), bad = cat({good, tensor({{0.5, 1.5}})});
  const auto bce = [](const Tensor& x) { return nn::bce(x, x); };
  (void)vmap(bce)(good);
  EXPECT_EQ(error_of([&] { (void)vmap(bce)(bad); }),
            "bce([2] f32 vmap:0, [2] f32 vmap:0): probabilities must be in [0, 1]; for logits take bce_with_logits");
  EXPECT_EQ(error_of([&] { (void)vmap([](const Tensor& x) { return nn::gaussian_nll_loss(x, x, x - 1.0); })(bad); }),
            "gaussian_nll_loss([2] f32 vmap:0, [2] f32 vmap:0, [2] f32 vmap:0): var has a negative value");
  EXPECT_EQ(error_of([&] {
              (void)vmap([](const Tensor& x, const Tensor& y) { return nn::multilabel_margin_loss(x, y); })(
                  good, tensor({{0, 1}, {1, -1}, {0, 2}}));
            }),
            "multilabel_margin_loss([2] f32 vmap:0, [2] i64 vmap:0): class 2 is out of range for 2 classes");
  EXPECT_EQ(error_of([&] { (void)vmap([](const Tensor& x) { return bernoulli(x); })(bad); }),
            "bernoulli([2] f32 vmap:0): the probability 1.5 must lie between 0 and 1");
  EXPECT_EQ(error_of([&] { (void)vmap([](const Tensor& q) { return quantile(ones({3}), q); })(bad); }),
            "quantile([3] f32, [2] f32 vmap:0): q = 1.5 is not in [0, 1]");
}

TEST(LayersUnderVmap, EmbeddingBagsBeginWhereEachSampleSays) {
  manual_seed(1);
  const nn::EmbeddingBag bag({.num_embeddings = 5, .embedding_dim = 3, .dtype = f64});
  const Tensor indices = tensor({{0, 1, 4, 2}, {3, 3, 0, 1}}), offsets = tensor({{0, 1, 1}, {0, 2, 4}});
  const Tensor all =
      vmap([&](const Tensor& i, const Tensor& o) { return bag.forward(i, o, Tensor()); })(indices, offsets);
  for (int64_t b = 0; b < 2; ++b)
    EXPECT_TRUE(allclose(all[b].detach(), bag.forward(indices[b], offsets[b], Tensor()).detach(), 1e-12)) << b;
  EXPECT_EQ(error_of([&] {
              (void)vmap([&](const Tensor& o) { return bag.forward(indices[0], o, Tensor()); })(
                  tensor({{0, 1, 1}, {0, 2, 1}}));
            }),
            "EmbeddingBag([4] i64): bag 1 of [2, 1): offsets begin at 0, rise and end before 4");
}

TEST(FunctionsUnderVmap, TakeAnElementOfEachSample) {
  const Tensor x = arange(12).to(f32).reshape({3, 4}), place = tensor({0, -1, 2});
  const Tensor taken = vmap([](const Tensor& row, const Tensor& i) { return row.index({i}); })(x, place);
  EXPECT_EQ(taken.to_vector<float>(), std::vector<float>({0, 7, 10}));
}

TEST(FunctionsUnderVmap, ReadWhatIsTheSameForAll) {
  const Tensor doubled = vmap([](const Tensor& x) {
    const Tensor same = zeros({}, f32, x.device()) + 2.0;  // on x's device, and the same in each sample
    return x * same.item<double>();
  })(ones({3, 2}));
  EXPECT_EQ(doubled.to_vector<float>(), std::vector<float>(6, 2));
}

TEST(FunctionsUnderVmap, RunForSomeSamplesAtOnce) {
  Generator g(8);
  const Tensor x = randn({4, 7, 3}, g, f64), w = randn({3}, g, f64);
  int64_t calls = 0;
  const auto f = [&](const Tensor& rows, const Tensor& weight) {
    ++calls;
    return std::vector<Tensor>{sin(rows) * weight, rows.sum(), weight * 2.0};
  };
  const auto whole = vmap(f, {1, std::nullopt}, {-1, 0, std::nullopt})(x, w);
  for (const int64_t step : {1, 3, 6, 7, 100}) {
    calls = 0;
    const Tensor p = parameter(x);
    const auto parts = vmap(f, {1, std::nullopt}, {-1, 0, std::nullopt}, {.samples_at_once = step})(p, w);
    EXPECT_EQ(calls, (7 + step - 1) / step);
    for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(equal(parts[i].detach(), whole[i])) << step;
    EXPECT_TRUE(allclose(grad(parts[0].sum(), p), cos(x) * w, 1e-12));
  }
  const auto named = [](const StateDict& s) {
    Tensor a = s.at("a");
    a.mul_(2.0);
    return StateDict{{"b", a + 1.0}};
  };
  const Tensor written = ones({5, 2});
  EXPECT_TRUE(equal(vmap(named, 0, 0, {.samples_at_once = 2})(StateDict{{"a", written}}).at("b"), full({5, 2}, 3.0)));
  EXPECT_TRUE(equal(written, full({5, 2}, 2.0)));
  calls = 0;
  const auto renamed = [&](const Tensor& row) { return StateDict{{++calls == 1 ? "a" : "b", row}}; };
  EXPECT_EQ(error_of([&] { (void)vmap(renamed, 0, 0, {.samples_at_once = 2})(x); }),
            "vmap: the function's results have other names than before");
  calls = 0;
  const auto fewer = [&](const Tensor& row) { return std::vector<Tensor>(++calls == 1 ? 2 : 1, row); };
  EXPECT_EQ(error_of([&] { (void)vmap(fewer, 0, 0, {.samples_at_once = 2})(x); }),
            "vmap: the function gave 2 results, and then 1");
  EXPECT_EQ(error_of([&] { (void)vmap(f, 0, 0, {.samples_at_once = -1})(x, x); }),
            "vmap: samples_at_once must be 0 (all) or more, not -1");
}

TEST(FunctionsUnderVmap, ReturnPairsAndTuplesOfTensorsListsAndStateDicts) {
  const Tensor w = tensor({{1.0, 2.0}, {3.0, 4.0}, {0.0, -1.0}}, f64), x = tensor({5.0, 6.0}, f64);
  const auto loss = [](const StateDict& p, const Tensor& t) { return square(p.at("w") * t).sum(); };
  const auto of_each = [&](const StateDict& p, const Tensor& t) {
    const auto [value, gradients] = value_and_grad(loss, p, t);
    return std::pair(value, gradients);
  };
  for (const int64_t step : {0, 2}) {
    const BatchAxes axes = {0, std::nullopt};
    const auto [values, gradients] = vmap(of_each, axes, 0, {.samples_at_once = step})(StateDict{{"w", w}}, x);
    EXPECT_TRUE(equal(values, square(w * x).sum(1)));
    ASSERT_EQ(gradients.size(), 1u);
    EXPECT_TRUE(equal(gradients.at("w"), 2.0 * w * square(x)));
  }
  const auto nested = [](const Tensor& t) {
    return std::tuple(t.sum(), std::vector<Tensor>{t, t * 2.0}, std::array<Tensor, 1>{t + 1.0});
  };
  const auto [sums, list, array] = vmap(nested, 0, {0, 1, 0, -1})(w);
  EXPECT_TRUE(equal(sums, w.sum(1)));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_TRUE(equal(list[0], w.t()));
  EXPECT_TRUE(equal(list[1], w * 2.0));
  EXPECT_TRUE(equal(array[0], (w + 1.0).t()));
  const auto undefined = [](const Tensor& t) { return std::pair(t, Tensor()); };
  EXPECT_EQ(error_of([&] { (void)vmap(undefined)(w); }), "vmap(): result 1 of the function is undefined");
  int64_t calls = 0;
  const auto renamed = [&](const Tensor& t) { return std::pair(t, StateDict{{++calls == 1 ? "a" : "b", t}}); };
  EXPECT_EQ(error_of([&] { (void)vmap(renamed, 0, 0, {.samples_at_once = 2})(w); }),
            "vmap: the function's results have other names than before");
}

TEST(FunctionsUnderVmap, TakeTheDtypeOfATensorFromOutside) {
  const Tensor x = tensor({1, 2}), y = tensor({0.5, 1.5}, f64);
  EXPECT_TRUE(equal(vmap([&](const Tensor& e) { return e.type_as(y); })(x), x.to(f64)));
  EXPECT_TRUE(equal(vmap([&](const Tensor& e) { return y.type_as(e) * e; })(x), tensor({{0, 1}, {0, 2}})));
  const auto rows = [](const Tensor& e) { return vmap([&](const Tensor& k) { return k.type_as(e) * e; })(arange(2)); };
  EXPECT_TRUE(equal(vmap(rows)(y), tensor({{0.0, 0.5}, {0.0, 1.5}}, f64)));
}

TEST(FunctionsUnderVmap, SayWhatShapesCannotDependOn) {
  const Tensor x = tensor({{0, 1, 1}, {1, 0, 2}});
  const std::string why = "the result's shape depends on values, which differ between vmap's samples; ";
  const auto error = [&](const std::function<Tensor(const Tensor&)>& f) { return error_of([&] { (void)vmap(f)(x); }); };
  EXPECT_EQ(error([](const Tensor& row) { return one_hot(row); }),
            "one_hot([3] i64 vmap:0): " + why + "give the number of classes");
  EXPECT_EQ(error([](const Tensor& row) { return nonzero(row); }),
            "nonzero([3] i64 vmap:0): " + why + "where() with three arguments keeps the shape");
  EXPECT_EQ(error([](const Tensor& row) { return row.masked_select(row > 0); }),
            "masked_select([3] i64 vmap:0, [3] bool vmap:0): " + why + "where() keeps the shape");
  EXPECT_EQ(error([](const Tensor& row) { return bincount(row); }),
            "bincount([3] i64 vmap:0): " + why + "scatter_add() counts into zeros of a given size");
}

TEST(RandomUnderVmap, EachSampleHasNumbersOfItsOwn) {
  manual_seed(2);
  const Tensor rates = full({2, 50}, 20.0), weights = ones({2, 100});
  const Tensor events = vmap([](const Tensor& r) { return poisson(r); })(rates);
  const Tensor drawn = vmap([](const Tensor& w) { return multinomial(w, 50, true); })(weights);
  const Tensor chosen = vmap([](const Tensor& w) { return multinomial(w, 50); })(weights);
  for (const Tensor& x : {events, drawn, chosen}) EXPECT_FALSE(equal(x[0], x[1]));
}

TEST(RandomUnderVmap, AlsoWhereTheFirstArgumentIsTheSameForAll) {
  manual_seed(5);
  const Tensor queries = randn({4, 8}), keys = ones({2, 1, 1}) * randn({9, 8}), deviations = ones({2, 50});
  const auto attend = [&](const Tensor& k) { return scaled_dot_product_attention(queries, k, k, {.dropout_p = 0.5}); };
  const auto around = [](const Tensor& std) { return normal(zeros({50}), std); };
  for (const Tensor& x : {vmap(attend)(keys), vmap(around)(deviations)}) EXPECT_FALSE(equal(x[0], x[1]));
  const Tensor nested = vmap([&](const Tensor& q) {
    return vmap([&](const Tensor& k) { return scaled_dot_product_attention(q, k, k, {.dropout_p = 0.5}); })(keys);
  })(stack({queries, queries}));
  EXPECT_FALSE(equal(nested[0][0], nested[0][1]) || equal(nested[0][0], nested[1][0]));
}

// What a rule reads for the next derivative only is read for a batch of gradients, too.
TEST(LayersUnderVmap, GradientsOfRecurrentLayersForABatchOfSeeds) {
  manual_seed(7);
  nn::GRU layer({.input_size = 4, .hidden_size = 6});
  layer.to(f64);
  const Tensor y = layer(randn({3, 5, 4}, f64)).output, seeds = randn({2, 3, 5, 6}, f64);
  for (const Tensor& weight : layer.parameters()) {
    const auto gradient = [&](const Tensor& seed) {
      return grad({y}, {weight}, {.retain_graph = true, .seeds = {seed}})[0];
    };
    EXPECT_TRUE(allclose(vmap(gradient)(seeds), stack({gradient(seeds[0]), gradient(seeds[1])})));
  }
}

// From 32 rows on, a linear layer's weight has no 16-bit copy.
TEST(LayersUnderVmap, LinearLayersHaveTheDtypeOfAutocast) {
  manual_seed(6);
  const nn::Linear layer(8, 4);
  for (const int64_t rows : {3, 40}) {
    const Tensor x = randn({3, rows, 8});
    const auto run = [&](const Tensor& sample) {
      const Autocast autocast(f16);
      return layer(sample);
    };
    const Tensor loop = stack({run(x[0]), run(x[1]), run(x[2])});
    const Tensor all = vmap(run)(x), nested = vmap(vmap(run))(x.unsqueeze(0));
    EXPECT_EQ(loop.dtype(), f16);
    for (const Tensor& y : {all, nested[0]}) {
      EXPECT_EQ(y.dtype(), f16);
      EXPECT_TRUE(allclose(y.to(f32), loop.to(f32), 1e-3, 1e-3));
    }
    layer.weight().zero_grad();
    all.to(f32).sum().backward();
    const Tensor gradient = layer.weight().grad().clone();
    layer.weight().zero_grad();
    loop.to(f32).sum().backward();
    EXPECT_TRUE(allclose(gradient, layer.weight().grad(), 1e-3, 1e-3));
  }
}

// Ops that merge the batch into an axis, or run sample by sample, say what one sample would give.
TEST(LayersUnderVmap, OfNoSamplesGiveNone) {
  const Tensor w = ones({3, 2, 2, 2}, f64);
  using F = std::function<std::vector<Tensor>(const Tensor&)>;
  const std::vector<F> table = {
      [&](const Tensor& x) { return std::vector{conv2d(x, w)}; },
      [&](const Tensor& x) {
        return std::vector{max_pool2d(x, 2), avg_pool2d(x, 2)};
      },
      [&](const Tensor& x) { return std::vector{group_norm(x, 2)}; },
      [&](const Tensor& x) {
        return std::vector{masked_fill(x, x > 0.0, 1), gather(x, 3, zeros({4, 2, 6, 1}, i64))};
      },
      [&](const Tensor& x) {
        return std::vector{multinomial(x[0][0], 2), poisson(x)};
      }};
  for (const F& f : table) {
    const auto whole = [&](const std::vector<Tensor>& in) { return f(in[0]); };
    const std::vector<Tensor> some = vmap(whole)(std::vector<Tensor>{ones({3, 4, 2, 6, 6}, f64)}),
                              none = vmap(whole)(std::vector<Tensor>{ones({0, 4, 2, 6, 6}, f64)});
    for (size_t i = 0; i < some.size(); ++i) {
      EXPECT_EQ(none[i].shape(), some[i].slice(0, 0, 0).shape());
      EXPECT_EQ(none[i].dtype(), some[i].dtype());
    }
  }
}

/// The gradients of stacked weights, taken outside of vmap, and of samples' indices are those of a loop.
template <class Layer> void expect_gradients_of_a_loop(Layer& layer, const Tensor& indices) {
  const auto call = [&](const Tensor& weight, const Tensor& i) {
    return nn::functional_call(layer, {{"weight", weight}}, i).sum();
  };
  const Tensor stack = parameter(rand({2, 5, 3}, f64)), loop = parameter(stack.detach());
  vmap(call)(stack, indices).sum().backward();
  for (int64_t b = 0; b < 2; ++b) call(loop[b], indices[b]).backward();
  EXPECT_TRUE(allclose(stack.grad(), loop.grad(), 1e-12));
  const Tensor shared = parameter(stack.detach()[0]), alone = parameter(stack.detach()[0]);
  vmap(call, {std::nullopt, 0})(shared, indices).sum().backward();
  for (int64_t b = 0; b < 2; ++b) call(alone, indices[b]).backward();
  EXPECT_TRUE(allclose(shared.grad(), alone.grad(), 1e-12));
}

TEST(LayersUnderVmap, EmbeddingsScaleGradientsByFrequency) {
  manual_seed(3);
  const Tensor indices = tensor({{{0, 1, 1}, {4, 1, 0}}, {{2, 2, 2}, {3, 2, 0}}});
  nn::Embedding rows({.num_embeddings = 5, .embedding_dim = 3, .scale_grad_by_freq = true, .dtype = f64});
  expect_gradients_of_a_loop(rows, indices);
  nn::EmbeddingBag bags({.num_embeddings = 5, .embedding_dim = 3, .scale_grad_by_freq = true, .dtype = f64});
  expect_gradients_of_a_loop(bags, indices);
}

}  // namespace
}  // namespace weft
