// Writes inside of vmap: to parts of tensors, and to the arguments, which are the caller's.
#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "nn/nn.h"
#include "tensor/batching/vmap.h"
#include "tensor/core/random.h"
#include "tensor/functions/advanced_index.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tests/error_of.h"

namespace weft {
namespace {

/// The states h of h = tanh(w h + s[t]), written one by one.
Tensor written_scan(const Tensor& s, const Tensor& w) {
  Tensor out = zeros_like(s), h = s[0];
  for (int64_t t = 0; t < s.size(0); ++t) {
    h = tanh(h * w + s[t]);
    out[t] = h;
  }
  return out;
}
Tensor stacked_scan(const Tensor& s, const Tensor& w) {
  std::vector<Tensor> states;
  Tensor h = s[0];
  for (int64_t t = 0; t < s.size(0); ++t) states.push_back(h = tanh(h * w + s[t]));
  return stack(states);
}

TEST(WritesInVmap, GoToIndicesThatDifferBetweenSamples) {
  const Tensor x = arange(24, f64).view({2, 3, 4}), rows = tensor({2, -3}), columns = tensor({0, 3});
  const auto loop = [&](const auto& f) { return stack({f(x[0], rows[0], columns[0]), f(x[1], rows[1], columns[1])}); };
  const auto expect_same = [&](const auto& f) { EXPECT_TRUE(equal(vmap(f)(x, rows, columns), loop(f))); };
  const auto leave = TensorIndex(Slice());
  expect_same([&](Tensor a, Tensor i, Tensor) { return a.index_put({i}, 5.0); });
  expect_same([&](Tensor a, Tensor i, Tensor) { return a.index_put({i}, a[0], true); });
  expect_same([&](Tensor a, Tensor, Tensor j) { return a.index_put({leave, j}, a.select(1, 1)); });
  expect_same([&](Tensor a, Tensor i, Tensor j) { return a.index_put({i, j}, a.sum()); });
  expect_same([&](Tensor a, Tensor i, Tensor j) { return a.index_put({i, None, Slice(1, 3)}, 7.0) + j; });
  expect_same([&](Tensor a, Tensor i, Tensor) {
    const Tensor leaf = parameter(a.clone());
    return grad({(leaf.index_put({i}, leaf[1] * 3.0) * a).sum()}, {leaf})[0];
  });
  EXPECT_THROW(vmap([&](const Tensor& i) { return x.index_put({i, leave, tensor({0, 1})}, 1.0); })(rows), DeviceError);
  EXPECT_THROW(vmap([&](const Tensor& i) { return x.index_put({i}, 1.0); })(rows + 1), IndexError);
}

TEST(WritesInVmap, OfAScanAreThoseOfAStack) {
  Generator g(3);
  const Tensor x = randn({4, 6, 3}, g, f64);
  const Tensor first = parameter(randn({3}, g, f64)), second = parameter(first.detach());
  const auto run = [&](auto scan, const Tensor& w) { return vmap([&](const Tensor& s) { return scan(s, w); })(x); };
  EXPECT_TRUE(equal(run(written_scan, first.detach()), run(stacked_scan, first.detach())));
  const Tensor written = run(written_scan, first), stacked = run(stacked_scan, second);
  EXPECT_TRUE(equal(written, stacked));
  written.pow(2).sum().backward();
  stacked.pow(2).sum().backward();
  EXPECT_TRUE(allclose(first.grad(), second.grad(), 1e-12));
}

TEST(WritesInVmap, LeaveWhatOthersHold) {
  Generator g(4);
  const Tensor x = randn({3, 4}, g, f64), w = parameter(randn({4}, g, f64));
  const Tensor got = vmap([&](const Tensor& row) {
    Tensor y = row * 2.0;
    y[0] = row[1];
    const Tensor copy = y.clone(), product = y * w;  // keeps y for w's gradient
    y.add_(1);
    y[1] = y[2];
    y.slice(0, 0, 2) += y.slice(0, 2, 4);
    return stack({copy, y});
  })(x);
  std::vector<Tensor> rows;
  for (int64_t b = 0; b < 3; ++b) {
    Tensor y = x[b] * 2.0;
    y[0] = x[b][1];
    const Tensor copy = y.clone();
    y.add_(1);
    y[1] = y[2];
    y.slice(0, 0, 2) += y.slice(0, 2, 4);
    rows.push_back(stack({copy, y}));
  }
  EXPECT_TRUE(equal(got, stack(rows)));
}

TEST(WritesInVmap, ReachTheArguments) {
  const Tensor columns = ones({2, 3}), same = ones({2});
  const Tensor sum = vmap(
      [](const Tensor& p, const Tensor& q) {
        Tensor s = p, t = q;
        s.add_(arange(2).to(f32));
        t.mul_(3);
        return s + t;
      },
      {1, std::nullopt})(columns, same);
  EXPECT_EQ(columns.to_vector<float>(), std::vector<float>({1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(same.to_vector<float>(), std::vector<float>({3, 3}));
  EXPECT_EQ(sum.to_vector<float>(), std::vector<float>({4, 5, 4, 5, 4, 5}));
}

TEST(WritesInVmap, ACopyHasMemoryOfItsOwn) {
  const auto copied = [](const Tensor& like, const Tensor& from) {
    Tensor y = zeros_like(like);
    y.copy_(from);
    return y;
  };
  const Tensor x = ones({3, 2});
  Tensor w = tensor({1.0, 2.0}, f32);
  Tensor of_sample = vmap([&](const Tensor& row) { return copied(row, row); })(x);
  const Tensor of_outer = vmap([&](const Tensor& row) { return copied(row, w); })(x);
  of_sample.add_(5);
  w.add_(10);
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(6, 1));
  EXPECT_EQ(of_outer.to_vector<float>(), std::vector<float>({1, 2, 1, 2, 1, 2}));
}

TEST(WritesInVmap, OfOneArgumentToAnother) {
  const auto move_on = [](const Tensor& p, const Tensor& q) {
    Tensor newer = p, older = q;
    older.copy_(newer);
    newer.add_(10);
    return newer.sum();
  };
  const Tensor x = tensor({1.0, 2.0}, f32), y = zeros({2}), z = tensor({3.0, 4.0}, f32);
  (void)vmap(move_on)(x, y);
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>({11, 12}));
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>({1, 2}));
  // With a history, and in the other order.
  const Tensor w = parameter(ones({2})), kept = zeros({2}), seen = z * w;
  (void)vmap([&](const Tensor& q, const Tensor& p) { return move_on(p, q); })(kept, seen);
  EXPECT_EQ(kept.to_vector<float>(), std::vector<float>({3, 4}));
  (kept * kept).sum().backward();
  EXPECT_EQ(w.grad().to_vector<float>(), std::vector<float>({18, 32}));
}

TEST(WritesInVmap, ToParameters) {
  const Tensor w = parameter(ones({3, 2}));
  const auto halve = [](const Tensor& p) {
    Tensor q = p;
    q.mul_(0.5);
    return q.sum();
  };
  {
    const NoGrad guard;
    (void)vmap(halve)(w);
  }
  EXPECT_EQ(w.to_vector<float>(), std::vector<float>(6, 0.5));
  EXPECT_NE(error_of([&] { (void)vmap(halve)(w); }), "");
}

TEST(WritesInVmap, KeepTheOldValuesOfAnArgumentForItsGradient) {
  Generator g(6);
  const Tensor values = rand({2, 3}, g, f64), w = rand({2, 3}, g, f64);
  const auto written = [](const Tensor& p, const Tensor& q) {
    Tensor x = p;
    x[0].sin_();
    x.mul_(q);
    return x.exp_();
  };
  const auto gradients = [&](bool by_vmap) {
    const Tensor p = parameter(values), q = parameter(w), h = p * 1.0;
    const Tensor y = by_vmap ? vmap(written)(h, q) : stack({written(h[0], q[0]), written(h[1], q[1])});
    EXPECT_TRUE(allclose(y, h, 1e-12));
    return grad({(y * y).sum() + (h * h * h).sum()}, {p, q});
  };
  const auto found = gradients(true), wanted = gradients(false);
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(allclose(found[i], wanted[i], 1e-12)) << i;
}

TEST(WritesInVmap, KeepOldValuesThatOnlyTheGradientOfAnotherReads) {
  const Tensor x = full({2, 3}, 2.0, f64), q = parameter(full({2, 3}, 3.0, f64));
  const auto scaled = [](const Tensor& values, const Tensor& factor) {
    Tensor in_place = values;
    return in_place.mul_(factor) * 1.0;
  };
  EXPECT_TRUE(equal(grad(vmap(scaled)(x, q).sum(), q), full({2, 3}, 2.0, f64)));
  EXPECT_TRUE(equal(x, full({2, 3}, 6.0, f64)));
}

TEST(WritesInVmap, KeepNoValuesThatAreNotTheArgumentsAnyMore) {
  Tensor x = ones({2, 3});
  const Tensor q = parameter(ones({2, 3}));
  const auto scaled = [&](const Tensor& values, const Tensor& factor) {
    x.add_(1.0);
    Tensor in_place = values;
    return in_place.mul_(factor) * 1.0;
  };
  EXPECT_SAYS(error_of<GradientError>([&] { (void)vmap(scaled)(x, q); }), "was written by `add_`");
}

TEST(WritesInVmap, KeepTheOldValuesWhereThereIsNoKernelInPlace) {
  const auto cubed = [](const Tensor& values) {
    Tensor in_place = values;
    return in_place.pow_(3.0) * 1.0;
  };
  const auto nested = [&](const Tensor& rows) { return vmap(cubed)(rows); };
  const auto gradient = [](const auto& f) {
    const Tensor p = parameter(full({2, 3}, 2.0, f64));
    return grad(f(p * 1.0).sum(), p);
  };
  const Tensor wanted = full({2, 3}, 12.0, f64);
  EXPECT_TRUE(equal(gradient(vmap(cubed)), wanted));
  EXPECT_TRUE(equal(gradient(vmap(nested)), wanted));
  EXPECT_TRUE(equal(gradient(vmap(cubed, 0, 0, {.samples_at_once = 1})), wanted));
}

TEST(WritesInVmap, AnEnsembleUpdatesItsAverages) {
  manual_seed(5);
  nn::BatchNorm1d norm(3);
  const Tensor x = randn({2, 8, 3});
  StateDict stacked;
  for (const auto& [name, tensor] : norm.state_dict()) stacked[name] = stack({tensor, tensor});
  (void)vmap([&](const std::vector<Tensor>& in) {
    StateDict state;
    size_t i = 0;
    for (const auto& [name, tensor] : stacked) state[name] = in[i++];
    return nn::functional_call(norm, state, in[i]);
  })([&] {
    std::vector<Tensor> in;
    for (const auto& [name, tensor] : stacked) in.push_back(tensor);
    in.push_back(x);
    return in;
  }());
  for (int64_t b = 0; b < 2; ++b) {
    nn::BatchNorm1d one(3);
    (void)one(x[b]);
    for (const auto& [name, tensor] : one.state_dict()) EXPECT_TRUE(allclose(stacked[name][b], tensor, 1e-6)) << name;
  }
}

}  // namespace
}  // namespace weft
