// Accumulate: one step for the gradients of several batches.
#include <gtest/gtest.h>

#include <cmath>

#include "optim/optim.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tests/optim/problem.h"
#include "tests/optim/refused.h"

namespace weft::optim {
namespace {

TEST(Accumulate, IsOneStepOfTheMean) {
  const Problem one, parts;
  SGD whole({one.a, one.b}, {.lr = 0.1}), part({parts.a, parts.b}, {.lr = 0.1});
  const auto loss = [](const Problem& p, int64_t from, int64_t count) {
    return mean(square(tanh(matmul(p.x.narrow(0, from, count), p.a) + p.b) - p.y.narrow(0, from, count)));
  };
  Accumulate accumulate(part, 2);
  int before = 0;
  accumulate.on_step([&] { ++before; });
  for (int i = 0; i < 3; ++i) {
    whole.zero_grad();
    loss(one, 0, 4).backward();
    whole.step();
    EXPECT_FALSE(accumulate.backward(loss(parts, 0, 2)));
    EXPECT_EQ(accumulate.waiting(), 1);
    EXPECT_TRUE(accumulate.backward(loss(parts, 2, 2)));
  }
  EXPECT_TRUE(allclose(one.a, parts.a, 1e-14, 1e-14));
  EXPECT_EQ(part.steps(), 3);
  EXPECT_EQ(before, 3);
  EXPECT_FALSE(accumulate.flush());
  accumulate.backward(loss(parts, 0, 2));
  EXPECT_TRUE(accumulate.flush());
  EXPECT_EQ(part.steps(), 4);
  EXPECT_REFUSED(Accumulate(part, 0), "Accumulate(): batches must be 1 or more, not 0");
}

TEST(Accumulate, ScalesTheLoss) {
  const Tensor a = leaf({1, 2}), b = leaf({1, 2});
  SGD plain({a}, {.lr = 0.1}), scaled({b}, {.lr = 0.1});
  GradScaler scaler({.init_scale = 1024, .growth_interval = 1});
  Accumulate one(plain, 2), other(scaled, 2, scaler);
  Tensor seen;
  other.on_step([&] { seen = b.grad().clone(); });
  for (int i = 0; i < 4; ++i) {
    one.backward(sum(square(a)));
    other.backward(sum(square(b)));
    if (i == 0) {
      EXPECT_TRUE(equal(b.grad(), a.grad() * 1024.0));
    }
  }
  EXPECT_TRUE(equal(a, b));
  EXPECT_TRUE(allclose(seen, b.detach() * 2.5)) << "the gradient at the last step, where b was 1.25 times as large";
  EXPECT_EQ(scaler.get_scale(), 4096);
  const Tensor before = b.detach().clone();
  other.backward(sum(b * HUGE_VAL));
  other.backward(sum(b));
  EXPECT_TRUE(equal(b, before));
  EXPECT_EQ(scaler.skipped(), 1);
}

TEST(Accumulate, AFailedStepDiscardsTheBatches) {
  const Tensor a = leaf({1, 2});
  SGD optimizer({a}, {.lr = 0.1});
  GradScaler scaler({.init_scale = 1024});
  for (const bool scaled : {false, true}) {
    Accumulate accumulate = scaled ? Accumulate(optimizer, 2, scaler) : Accumulate(optimizer, 2);
    bool fails = true;
    accumulate.on_step([&] {
      if (fails) throw Error("not now");
    });
    const int64_t before = optimizer.steps();
    EXPECT_FALSE(accumulate.backward(sum(square(a))));
    EXPECT_REFUSED(accumulate.backward(sum(square(a))), "not now");
    EXPECT_EQ(accumulate.waiting(), 0);
    EXPECT_FALSE(a.grad().defined());
    fails = false;
    EXPECT_FALSE(accumulate.backward(sum(square(a))));
    EXPECT_TRUE(accumulate.backward(sum(square(a))));
    EXPECT_EQ(optimizer.steps(), before + 1);
  }
}

TEST(Accumulate, RefusesStatesThatDoNotFit) {
  const Tensor a = leaf({1, 2});
  SGD optimizer({a}, {.lr = 0.1});
  Accumulate accumulate(optimizer, 3);
  accumulate.backward(sum(square(a)));
  const State state = accumulate.state_dict();
  for (const double waiting : {1.5, -1.0, 3.0}) {
    State other = state;
    other.numbers["waiting"] = waiting;
    EXPECT_REFUSED(accumulate.load_state_dict(other),
                   text("Accumulate::load_state_dict(): ", waiting, " of 3 batches cannot be waiting"));
  }
  State more = state;
  more.tensors["grad.1"] = ones({2}, f64);
  EXPECT_REFUSED(accumulate.load_state_dict(more),
                 "Accumulate::load_state_dict(): the state has gradients for parameters past the optimizer's 1");
  EXPECT_EQ(accumulate.waiting(), 1);
  EXPECT_TRUE(a.grad().defined());
}

}  // namespace
}  // namespace weft::optim
