// vjp, jvp, jacobian, hessian, hvp and vhp, and how they nest with each other, with vmap and with backward.
#include "tensor/batching/vmap.h"
#include "tests/autograd/checks.h"
#include "tests/autograd/transform_values.h"
#include "tests/wave.h"

namespace weft::testing {
namespace {

TEST(Jacobian, RowsAtOnceBoundTheMemory) {
  const Tensor x = parameter(tensor({2.0, 3.0}));
  const auto f = [](const Tensor& v) { return v.repeat_interleave(1000) * 3.0; };
  const auto peak = [&](int64_t rows) {
    reset_peak_memory();
    const int64_t before = memory_stats().live_bytes;
    const Tensor j = jacobian(f, x, {.rows_at_once = rows});
    EXPECT_EQ(j.sum().item(), 6000);
    EXPECT_EQ(j[1999][1].item(), 3);
    return memory_stats().peak_bytes - before;
  };
  EXPECT_LT(peak(10), peak(0) / 4);  // 10 x 2000 instead of 2000 x 2000
}

class Transforms : public NoLeaks {};

Tensor wave(const Tensor& x) { return sin(x) * x; }
Tensor slope(const Tensor& x) { return cos(x) * x + sin(x); }
bool close(const Tensor& a, const Tensor& b) { return allclose(a.detach(), b.detach(), 1e-9, 1e-9); }

TEST_F(Transforms, AreDerivatives) {
  const Tensor x = randn({4}, f64), v = randn({4}, f64);
  EXPECT_TRUE(close(vjp(wave, x, v).gradient, slope(x) * v));
  EXPECT_TRUE(close(jvp(wave, x, v).tangent, slope(x) * v));
  EXPECT_TRUE(close(jacobian(wave, x).diagonal(), slope(x)));
  EXPECT_TRUE(close(jacobian(wave, x, {.rows_at_once = 3}), jacobian(wave, x)));
  EXPECT_THROW(jacobian(wave, x, {.rows_at_once = -2}), Error);
  const auto f = [](const Tensor& t) { return (t * t * t).sum() * t[0]; };
  const Tensor h = hessian(f, x);
  EXPECT_TRUE(close(h, h.t()));
  EXPECT_TRUE(close(h[1][1], 6.0 * x[1] * x[0]));
  EXPECT_TRUE(close(hvp(f, x, v), matmul(h, v)));
  EXPECT_TRUE(close(vhp(f, x, v), matmul(h, v)));
}

TEST_F(Transforms, TakeSeveralArgumentsAndGiveSeveralOutputs) {
  const Tensor a = randn({2, 3}, f64), b = randn({3}, f64), v = randn({2}, f64), w = randn({2, 3}, f64);
  const auto f = [](const std::vector<Tensor>& x) { return std::vector<Tensor>{matmul(x[0], x[1]), x[0] * x[1]}; };
  const auto back = vjp(f, {a, b}, {v, w});
  EXPECT_TRUE(close(back.gradients[0], unsqueeze(v, 1) * b + w * b));
  EXPECT_TRUE(close(back.gradients[1], matmul(a.t(), v) + (w * a).sum(0)));
  const auto forward = jvp(f, {a, b}, {w, b});
  EXPECT_TRUE(close(forward.tangents[0], matmul(w, b) + matmul(a, b)));
  EXPECT_TRUE(close(forward.tangents[1], w * b + a * b));
  const auto first = [](const std::vector<Tensor>& x) { return matmul(x[0], x[1]); };
  EXPECT_EQ(jacobian(first, {a, b})[0].shape(), (Shape{2, 2, 3}));
  EXPECT_TRUE(close(jacobian(first, {a, b})[1], a));
  const auto number = [](const std::vector<Tensor>& x) { return square(matmul(x[0], x[1])).sum(); };
  EXPECT_TRUE(close(hvp(number, {a, b}, {zeros_like(a), b})[1], 2.0 * matmul(a.t(), matmul(a, b))));
}

TEST_F(Transforms, JacobiansOfSeveralOutputs) {
  const Tensor a = randn({2, 3}, f64), b = randn({3}, f64);
  const auto f = [](const std::vector<Tensor>& x) {
    return std::vector<Tensor>{matmul(x[0], x[1]), square(x[1]), ones({2}, f64)};
  };
  const auto blocks = jacobian(f, {a, b});
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0][0].shape(), (Shape{2, 2, 3}));
  EXPECT_TRUE(close(blocks[0][0].select(0, 1).select(0, 1), b));
  EXPECT_TRUE(close(blocks[0][0].select(0, 1).select(0, 0), zeros({3}, f64)));
  EXPECT_TRUE(close(blocks[0][1], a));
  EXPECT_TRUE(close(blocks[1][0], zeros({3, 2, 3}, f64))) << "an output that does not depend on an argument";
  EXPECT_TRUE(close(blocks[1][1], diag_embed(2.0 * b)));
  EXPECT_TRUE(close(blocks[2][1], zeros({2, 3}, f64))) << "nor on any";
  EXPECT_TRUE(close(jacobian(f, {a, b}, {.rows_at_once = 1})[1][1], blocks[1][1]));
  const auto of_one = [](const Tensor& x) { return std::vector<Tensor>{x.sum(), x * x}; };
  const std::vector<Tensor> two = jacobian(of_one, b);
  EXPECT_TRUE(close(two[0], ones({3}, f64)));
  EXPECT_TRUE(close(two[1], diag_embed(2.0 * b)));
}

TEST_F(Transforms, HessiansOfSeveralArguments) {
  const Tensor a = randn({2, 3}, f64), x = randn({3}, f64), y = randn({2}, f64);
  const auto form = [&](const std::vector<Tensor>& in) {
    return (in[1] * matmul(a, in[0])).sum() + (in[0] * in[0] * in[0]).sum();
  };
  const auto h = hessian(form, {x, y});
  EXPECT_TRUE(close(h[0][0], diag_embed(6.0 * x)));
  EXPECT_TRUE(close(h[0][1], a.t()));
  EXPECT_TRUE(close(h[1][0], a));
  EXPECT_TRUE(close(h[1][1], zeros({2, 2}, f64)));
  const auto linear = hessian([](const std::vector<Tensor>& in) { return in[0].sum(); }, {x, y});
  EXPECT_TRUE(close(linear[0][1], zeros({3, 2}, f64)));
  const Tensor batch = randn({4, 3}, f64);
  const auto of_row = [&](const Tensor& row) { return hessian(form, {row, y})[0][0]; };
  EXPECT_TRUE(close(vmap(of_row)(batch), diag_embed(6.0 * batch)));
  Tensor w = parameter(randn({2}, f64));
  const auto of_leaf = [&](const std::vector<Tensor>& in) { return (square(in[0]).sum() * in[1] * w).sum(); };
  hessian(of_leaf, {x, y})[0][1].sum().backward();  // 2 x_i w_j
  EXPECT_TRUE(close(w.grad(), 2.0 * x.sum().expand({2})));
}

TEST_F(Transforms, EqualPyTorch) {
  const GoldenValues golden = golden_values(kTransformsEntries);
  const std::vector<Tensor> in = {testing::wave({3}, 0.3), testing::wave({2}, 1.1), testing::wave({2, 3}, 0.5)};
  const std::string names = "abw";
  const auto outputs = [](const std::vector<Tensor>& x) {
    return std::vector<Tensor>{tanh(matmul(x[2], x[0])) * x[1], (x[2] * x[0]).sum(0), exp(x[0].sum()) * prod(x[1])};
  };
  const auto number = [](const std::vector<Tensor>& x) {
    return square(tanh(matmul(x[2], x[0])) * x[1]).sum() * exp(x[0][0]) + x[1][0];
  };
  const auto first = jacobian(outputs, in), second = hessian(number, in);
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j) {
      const std::string block = text("jacobian.", i, ".", names[j]), pair = text("hessian.", names[i], ".", names[j]);
      expect_numbers(digest(first[i][j]), golden.at(block), 1e-12, block);
      expect_numbers(digest(second[i][j]), golden.at(pair), 1e-12, pair);
    }
}

TEST_F(Transforms, AreZeroWhereNothingDepends) {
  const Tensor x = randn({3}, f64);
  const auto constant = [](const Tensor& t) { return ones_like(t) * 2.0; };
  EXPECT_TRUE(close(vjp(constant, x, x).gradient, zeros_like(x)));
  EXPECT_TRUE(close(jvp(constant, x, x).tangent, zeros_like(x)));
  EXPECT_TRUE(close(jacobian(constant, x), zeros({3, 3}, f64)));
  EXPECT_TRUE(close(jvp([](const Tensor& t) { return t * 2.0; }, x, x).tangent, x * 2.0));
  EXPECT_TRUE(close(hvp([](const Tensor& t) { return t.sum(); }, x, x), zeros_like(x)));
  EXPECT_EQ(jacobian([](const Tensor& t) { return t.slice(0, 0, 0); }, x).shape(), (Shape{0, 3}));
}

TEST_F(Transforms, HaveHistoryWhereSomebodyCanWantIt) {
  const Tensor x = randn({3}, f64);
  Tensor w = parameter(randn({3}, f64));
  const auto free = vjp(wave, x, x);
  EXPECT_FALSE(free.output.requires_grad() || free.gradient.requires_grad());
  EXPECT_FALSE(jvp(wave, x, x).tangent.requires_grad() || jacobian(wave, x).requires_grad());
  const auto weighted = [&](const Tensor& t) { return (w * t * t).sum(); };
  Tensor g = vjp(weighted, x).gradient;  // 2 w x
  g.sum().backward();
  EXPECT_TRUE(close(w.grad(), 2.0 * x));
  w.zero_grad();
  jvp(weighted, x, ones_like(x)).tangent.backward();
  EXPECT_TRUE(close(w.grad(), 2.0 * x));
  w.zero_grad();
  vjp(wave, w, ones_like(w)).gradient.sum().backward();
  EXPECT_TRUE(close(w.grad(), 2.0 * cos(w) - sin(w) * w));
  w.zero_grad();
  const NoGrad guard;
  EXPECT_FALSE(vjp(weighted, x).gradient.requires_grad());
  EXPECT_TRUE(close(vjp(wave, w, ones_like(w)).gradient, slope(w)));
}

TEST_F(Transforms, NestInEachOther) {
  const Tensor x = randn({3}, f64), v = randn({3}, f64);
  const auto directional = [&](const Tensor& t) { return jvp(wave, t, v).tangent; };
  EXPECT_TRUE(close(jvp(directional, x, v).tangent, (2.0 * cos(x) - sin(x) * x) * v * v));
  const auto cubic = [](const Tensor& t) { return (t * t * t).sum(); };
  const auto hessian_of = [&](const Tensor& t) { return hessian(cubic, t); };
  EXPECT_EQ(jacobian(hessian_of, x).shape(), (Shape{3, 3, 3}));
  EXPECT_NEAR(jacobian(hessian_of, x)[1][1][1].item<double>(), 6.0, 1e-12);
}

TEST_F(Transforms, NestInVmap) {
  const Tensor batch = randn({5, 3}, f64), v = randn({3}, f64);
  EXPECT_TRUE(close(vmap([&](const Tensor& x) { return vjp(wave, x, v).gradient; })(batch), slope(batch) * v));
  EXPECT_TRUE(close(vmap([&](const Tensor& x) { return jvp(wave, x, v).tangent; })(batch), slope(batch) * v));
  const Tensor j = vmap([](const Tensor& x) { return jacobian(wave, x); })(batch);
  EXPECT_TRUE(close(j.diagonal(0, 1, 2), slope(batch)));
  const auto cubic = [](const Tensor& t) { return (t * t * t).sum(); };
  EXPECT_TRUE(close(vmap([&](const Tensor& x) { return hessian(cubic, x); })(batch).diagonal(0, 1, 2), 6.0 * batch));
  Tensor leaf = parameter(batch);
  vmap([&](const Tensor& x) { return vjp(wave, x, v).gradient; })(leaf).sum().backward();
  EXPECT_TRUE(close(leaf.grad(), (2.0 * cos(batch) - sin(batch) * batch) * v));
}

/// f(samples of x, the rest) under vmap, one by one, and the gradients of a number made of the results.
using Function = std::function<Tensor(const std::vector<Tensor>&)>;
std::vector<Tensor> results_and_gradients(const Function& f, std::vector<Tensor> x, const std::vector<bool>& batched,
                                          bool by_vmap) {
  for (Tensor& in : x)
    if (is_floating(in.dtype())) in = parameter(in.detach().clone());
  std::vector<std::optional<int64_t>> axes;
  for (const bool has_axis : batched) axes.push_back(has_axis ? std::optional<int64_t>(0) : std::nullopt);
  Tensor y;
  if (by_vmap) {
    y = vmap(f, BatchAxes(axes))(x);
  } else {
    std::vector<Tensor> rows;
    for (int64_t b = 0; b < x[0].size(0); ++b) {
      std::vector<Tensor> sample;
      for (size_t i = 0; i < x.size(); ++i) sample.push_back(batched[i] ? x[i][b] : x[i]);
      rows.push_back(f(sample));
    }
    y = stack(rows);
  }
  (y * testing::wave(y.shape(), 0.4)).sum().backward();
  std::vector<Tensor> out = {y.detach()};
  for (const Tensor& in : x)
    if (is_floating(in.dtype())) out.push_back(in.grad().clone());
  return out;
}

void expect_as_one_by_one(const Function& f, const std::vector<Tensor>& x, const std::vector<bool>& batched) {
  const auto found = results_and_gradients(f, x, batched, true), wanted = results_and_gradients(f, x, batched, false);
  for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(close(found[i], wanted[i])) << i;
}

TEST_F(Transforms, PaddingOfTablesInVmap) {
  const Tensor indices = tensor({{1, 0, 3}, {2, 1, 1}}), tables = randn({2, 4, 3}, f64);
  const auto rows = [](const std::vector<Tensor>& x) { return sin(embedding(x[1], x[0], 1)); };
  expect_as_one_by_one(rows, {tables, indices}, {true, true});
  expect_as_one_by_one(rows, {tables, indices[1]}, {true, false});
  // The gradient inside, and that of it.
  const auto inside = [](const std::vector<Tensor>& x) {
    const auto number = [&](const Tensor& table) { return (sin(embedding(x[1], table, 1)) * x[2]).sum(); };
    return vjp(number, x[0]).gradient;
  };
  expect_as_one_by_one(inside, {tables, indices, randn({3, 3}, f64)}, {true, true, false});
  EXPECT_SAYS(error_of([&] {
                vmap(rows)(std::vector<Tensor>{tables, tensor({{1, 0, 3}, {2, 4, 1}})});
              }),
              "index 4 is out of range for an axis of size 4");
}

TEST_F(Transforms, GradientsOfRecurrentWeightsInVmap) {
  const Tensor lengths = tensor({{3, 1}, {2, 3}});
  for (const Recurrence kind : {Recurrence::rnn_tanh, Recurrence::lstm, Recurrence::gru})
    for (const bool reverse : {false, true})
      for (const bool whole : {true, false}) {
        SCOPED_TRACE(text(static_cast<int>(kind), reverse ? " reversed" : "", whole ? "" : " with lengths"));
        const int64_t width = gates_of(kind) * 2;
        const auto number = [&](const std::vector<Tensor>& in, const Tensor& counts) {
          const RecurrentResult out =
              recurrent(kind, in[0], in[1], {.bias = in[2], .h = in[3], .lengths = counts, .reverse = reverse});
          return sin(out.output).sum() + out.h.square().sum();
        };
        const auto inside = [&](const std::vector<Tensor>& x) {
          const Tensor counts = whole ? Tensor() : x[4];
          const auto f = [&](const std::vector<Tensor>& in) { return number({x[0], in[0], in[1], x[3]}, counts); };
          const auto g = vjp(f, {x[1], x[2]}).gradients;
          return cat({g[0], unsqueeze(g[1], 1)}, 1);
        };
        const std::vector<Tensor> x = {randn({2, 2, 3, width}, f64), randn({width, 2}, f64), randn({width}, f64),
                                       randn({2, 2, 2}, f64), lengths};
        expect_as_one_by_one(inside, x, {true, false, false, true, true});
      }
}

TEST_F(Transforms, GradInsideOfVmapIsEachSamplesOwn) {
  const Tensor batch = randn({5, 3}, f64);
  Tensor w = parameter(randn({3}, f64));
  const auto of_shared = [&](const Tensor& x) { return grad({(w * x).sum()}, {w})[0]; };
  EXPECT_TRUE(close(vmap(of_shared)(batch), batch));
  const auto with_leaf = [&](const Tensor& x) {
    Tensor leaf = parameter(x);
    (leaf * leaf * w).sum().backward();
    return leaf.grad();
  };
  EXPECT_TRUE(close(vmap(with_leaf)(batch), 2.0 * batch * w));
  w.zero_grad();
  vmap([&](const Tensor& x) { return (w * x).sum(); })(batch).sum().backward();
  EXPECT_TRUE(close(w.grad(), batch.sum(0)));
  w.zero_grad();
  vmap([&](const Tensor& x) { return x.detach() * x; })(parameter(batch));
  Tensor leaf = parameter(batch);
  vmap([&](const Tensor& x) { return x.detach() * x; })(leaf).sum().backward();
  EXPECT_TRUE(close(leaf.grad(), batch));
}

TEST_F(Transforms, RandomNumbersOfSamplesAreTheirOwn) {
  const Tensor batch = ones({4, 50}, f64);
  const Tensor dropped = vmap([](const Tensor& x) { return dropout(x, 0.5); })(batch);
  EXPECT_FALSE(allclose(dropped[0], dropped[1])) << "each sample has a mask of its own";
  const Tensor noise = vmap([](const Tensor& x) { return randn_like(x); })(batch);
  EXPECT_FALSE(allclose(noise[0], noise[1]));
  const Tensor same = vmap([](const Tensor& x) { return x * randn({50}, f64); })(batch);
  EXPECT_TRUE(close(same[0], same[1]));
  Tensor leaf = parameter(batch);
  const Tensor y = vmap([](const Tensor& x) { return dropout(x, 0.5); })(leaf);
  y.sum().backward();
  EXPECT_TRUE(close(leaf.grad(), y)) << "backward drops what forward dropped";
  const auto pair = [](const Tensor& x) {
    const Tensor p = parameter(ones_like(x)), out = dropout(p, 0.5);  // the samples of p do not differ
    return std::vector<Tensor>{out.detach(), grad({out.sum()}, {p})[0]};
  };
  const auto both = vmap(pair)(batch);
  EXPECT_TRUE(close(both[0], both[1]));
  const Tensor nested = vmap([](const Tensor& rows) {
    return vmap([](const Tensor& x) { return dropout(x, 0.5); })(rows);
  })(ones({2, 3, 40}, f64));
  EXPECT_FALSE(allclose(nested[0], nested[1]));
  EXPECT_FALSE(allclose(nested[0][0], nested[0][1]));
}

TEST_F(Transforms, SayWhatIsWrong) {
  const Tensor x = ones({3});
  EXPECT_EQ(error_of([&] { vjp(wave, x, ones({2})); }),
            "vjp([3] f32): the direction of output 0 has shape [2], not [3]");
  EXPECT_EQ(error_of([&] { vjp(wave, x); }),
            "vjp([3] f32): output 0 has shape [3]; without a direction it must be one number");
  EXPECT_EQ(error_of([&] { jvp(wave, x, ones({2})); }),
            "jvp([3] f32): the direction of argument 0 has shape [2], not [3]");
  EXPECT_EQ(error_of([&] { vjp(wave, ones({3}, i64), x); }),
            "vjp([3] i64): cannot differentiate with respect to i64; it takes f32, f64, bf16 or f16");
  EXPECT_EQ(error_of([&] { hessian(wave, x); }), "hessian: the function gives [3] f32; it must give one number");
  const auto two = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0].sum(), in[0].sum()}; };
  EXPECT_EQ(error_of([&] { hessian(two, {x}); }), "hessian: the function gives 2 tensors; it must give one number");
  EXPECT_EQ(error_of([&] {
              hessian(two, {x, ones({3}, i64)});
            }),
            "hessian([3] f32, [3] i64): cannot differentiate with respect to i64; it takes f32, f64, bf16 or f16");
}

/// The gradient of the sum of squares of vmap(f)(rows), taken outside, is that of a loop.
void expect_gradient_from_outside(const std::function<Tensor(const Tensor&)>& f, const Tensor& rows) {
  const Tensor p = parameter(rows), q = parameter(rows);
  vmap(f)(p).square().sum().backward();
  for (int64_t b = 0; b < rows.size(0); ++b) f(q[b]).square().sum().backward();
  EXPECT_TRUE(close(p.grad(), q.grad()));
}

TEST_F(Transforms, GradientsFromOutsideOfFunctionsThatLookForOne) {
  const Tensor rows = tensor({{1.0, 3.0, 2.0, 2.0, 5.0}, {4.0, 4.0, 4.0, 4.0, 4.0}}, f64);
  expect_gradient_from_outside([](const Tensor& x) { return median(x); }, rows);
  expect_gradient_from_outside([](const Tensor& x) { return nanmedian(x); }, rows);
  expect_gradient_from_outside([](const Tensor& x) { return stddev(x); }, rows);
  const Tensor middles = vmap([](const Tensor& x) { return median(x); })(tensor({{(1 << 24) + 1, 1, 1 << 25}}));
  EXPECT_EQ(middles.dtype(), i64);
  EXPECT_EQ(middles.item<int64_t>(), (1 << 24) + 1);
  const Tensor weight = randn({2, 1, 2, 2}, f64), shift = randn({2}, f64);
  const auto scaled = [&](const Tensor& x) {
    return conv2d_scaled(x.reshape({1, 1, 3, 3}), weight, {.shift = shift, .relu = true}, {});
  };
  expect_gradient_from_outside(scaled, randn({2, 9}, f64));
  // The second derivatives of a fused op, whose formula makes leaves of its own.
  const Tensor grid = tensor({{{{-0.4, 0.3}, {0.1, 0.6}}, {{0.2, -0.7}, {0.5, 0.2}}}}, f64);
  const auto sampled = [&](const Tensor& x) {
    const Tensor g = parameter(grid);
    const Tensor y = grid_sample(x.reshape({1, 1, 3, 3}), g);
    const Tensor slope = grad({y.square().sum()}, {g}, {.create_graph = true})[0];
    return grad({slope.square().sum()}, {g}, {.create_graph = true})[0];
  };
  expect_gradient_from_outside(sampled, randn({2, 9}, f64));
  const Tensor stacked = parameter(ones({2, 3}));
  const auto weighted = [](const Tensor& w) { return cross_entropy(ones({2, 3}), tensor({0, 1}), {.weight = w}); };
  EXPECT_NE(error_of([&] { (void)vmap(weighted)(stacked); }).find("the class weights take no gradient"),
            std::string::npos);
  (void)vmap(weighted)(stacked.detach());
}

TEST_F(Transforms, AWriteUnderNoGradToASampleWithAHistoryIsNoticed) {
  const Tensor p = parameter(ones({2, 3}, f64));
  const auto written = [](const Tensor& x, auto&& write) {
    Tensor h = x * 2.0;
    const NoGrad guard;
    write(h);
    return h;
  };
  const auto whole = [](Tensor& h) { h.mul_(3.0); };
  const auto part = [](Tensor& h) { h[0].mul_(3.0); };
  const std::string why = "a sample of vmap has a history that does not give its values";
  for (const auto& write : {std::function<void(Tensor&)>(whole), std::function<void(Tensor&)>(part)}) {
    const auto used = [&](const Tensor& x) { return written(x, write) + x; };
    EXPECT_NE(error_of([&] { (void)vmap(used)(p); }).find(why), std::string::npos);
    (void)vmap(used)(p.detach());
    const auto left = [&](const Tensor& x) { return written(x, write).detach() * x; };
    vmap(left)(p).sum().backward();
  }
  EXPECT_TRUE(close(p.grad(), tensor({{12.0, 8.0, 8.0}, {12.0, 8.0, 8.0}}, f64)));
  // What is computed over a temporary's memory is no write.
  const auto over = [](const Tensor& x) {
    Tensor h = x * 2.0, y;
    {
      const NoGrad guard;
      y = exp(std::move(h));
    }
    return y * x;
  };
  vmap(over)(p).sum().backward();
}

}  // namespace
}  // namespace weft::testing
