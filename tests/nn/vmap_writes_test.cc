// Writes inside of vmap: to parts of tensors, and to the arguments, which are the caller's.
#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "nn/nn.h"
#include "tensor/batching/vmap.h"
#include "tensor/core/random.h"
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
