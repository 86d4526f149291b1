// L-BFGS with its closure: what it finds, refuses and takes back, and that it carries on exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/grad_mode.h"
#include "nn/nn.h"
#include "optim/optim.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tests/optim/problem.h"
#include "tests/optim/refused.h"

namespace weft::optim {
namespace {

using Values = std::vector<double>;

TEST(LBFGS, FindsTheMinimumOfRosenbrock) {
  Tensor x = leaf({3, -2});
  LBFGS lbfgs({x}, {.lr = 1.0, .line_search = true});
  for (int i = 0; i < 10; ++i) {
    const NoGrad guard;  // the closure records all the same
    lbfgs.step([&] {
      lbfgs.zero_grad();
      Tensor loss = square(1.0 - x[0]) + 100.0 * square(x[1] - square(x[0]));
      loss.backward();
      return loss;
    });
  }
  EXPECT_TRUE(allclose(x.detach(), ones({2}, f64), 0, 1e-4)) << x - 1.0;
  EXPECT_EQ(lbfgs.steps(), 10);
  EXPECT_TRUE(lbfgs.unused().empty());
}

TEST(LBFGS, SurvivesALossThatIsNaNFarAway) {
  Tensor x = leaf({2});
  LBFGS lbfgs({x}, {.lr = 1.0, .line_search = true});
  for (int i = 0; i < 5; ++i)
    lbfgs.step([&] {
      lbfgs.zero_grad();
      Tensor loss = sum(square(x) - log(x));  // NaN below 0
      loss.backward();
      return loss;
    });
  EXPECT_NEAR(x.item<double>(), std::sqrt(0.5), 1e-6);
}

TEST(LBFGS, LeavesTheParametersWhereTheStepBeganIfTheClosureThrows) {
  Tensor x = leaf({3});
  LBFGS lbfgs({x}, {.lr = 1.0, .line_search = true});
  int calls = 0;
  const auto closure = [&](int last) {
    return [&, last] {
      if (++calls == last) throw Error("no data");
      lbfgs.zero_grad();
      Tensor loss = sum(square(x));
      loss.backward();
      return loss;
    };
  };
  EXPECT_THROW(lbfgs.step(closure(2)), Error);
  EXPECT_EQ(x.item(), 3);
  EXPECT_NO_THROW(lbfgs.step(closure(-1)));
  EXPECT_NEAR(x.item(), 0, 1e-6);
}

TEST(LBFGS, ComputesParametersOf16BitsInF32) {
  Tensor x = parameter(tensor({200.0, -300.0}, f16));  // the square of its gradient is beyond f16
  LBFGS lbfgs({x}, {.lr = 1.0, .line_search = true});
  for (int i = 0; i < 5; ++i)
    lbfgs.step([&] {
      lbfgs.zero_grad();
      Tensor loss = sum(square(x.to(f32) - 1.0));
      loss.backward();
      return loss;
    });
  EXPECT_TRUE(allclose(x.detach().to(f32), ones({2}), 0, 0x1p-10)) << x;  // a unit of f16
}

TEST(LBFGS, ClimbsWithMaximize) {
  Tensor x = leaf({2});
  LBFGS lbfgs({x}, {.line_search = true, .maximize = true});
  lbfgs.step([&] {
    lbfgs.zero_grad();
    Tensor value = sum(-square(x - 0.5));
    value.backward();
    return value;
  });
  EXPECT_NEAR(x.item<double>(), 0.5, 1e-9);
}

TEST(LBFGS, RefusesWhatItCannotDo) {
  Tensor x = leaf({1, 2});
  LBFGS lbfgs({x});
  EXPECT_REFUSED(lbfgs.step(nullptr), "LBFGS::step(): the closure is empty");
  EXPECT_REFUSED(lbfgs.step([&] { return x; }), "LBFGS::step(): the closure must return the loss, one number");
  x.set_grad(ones({2}, f64));
  Optimizer& base = lbfgs;
  EXPECT_REFUSED(base.step(), "LBFGS(): step() needs a closure: step([&] { ...; return loss; })");
  EXPECT_REFUSED(LBFGS({x}, {.history_size = 0}), "LBFGS(): max_iter and history_size must be 1 or more");
  EXPECT_REFUSED(lbfgs.set("max_iter", 1.5), "LBFGS(): max_iter must be a whole number, not 1.5");
  lbfgs.set("max_iter", 7);
  EXPECT_EQ(lbfgs.get("max_iter"), 7);
}

TEST(LBFGS, CarriesOn) {
  for (const bool search : {false, true}) {
    const Problem one, two;
    const LBFGSOptions options = {.lr = 0.5, .max_iter = 3, .history_size = 4, .line_search = search};
    LBFGS first({one.a, one.b}, options), second({two.a, two.b});
    const auto step = [](const Problem& problem, LBFGS& optimizer) {
      optimizer.step([&] { return problem.backward(optimizer); });
    };
    second.load_state_dict(first.state_dict());
    for (int i = 0; i < 3; ++i) step(one, first);
    {
      const NoGrad guard;
      Tensor(two.a).copy_(one.a);
      Tensor(two.b).copy_(one.b);
    }
    second.load_state_dict(first.state_dict());
    for (int i = 0; i < 3; ++i) {
      step(one, first);
      step(two, second);
    }
    EXPECT_TRUE(equal(one.a, two.a) && equal(one.b, two.b));
    for (const char* part : {"lbfgs.direction", "lbfgs.steps_taken"}) {
      State half = first.state_dict();
      half.tensors.erase(part);
      EXPECT_REFUSED(second.load_state_dict(half),
                     "LBFGS(): the state does not fit: half of a pair of tensors is missing");
    }
    EXPECT_EQ(second.evaluations(), first.evaluations());
    LBFGS other({leaf({1})});
    EXPECT_THROW(other.load_state_dict(first.state_dict()), Error);
    EXPECT_EQ(other.steps(), 0);
  }
}

TEST(SkipNonfinite, TakesBackAStepOfLBFGS) {
  for (const bool line_search : {false, true})
    for (const int bad : {1, 3}) {
      SCOPED_TRACE(text(line_search, " ", bad));
      Tensor w = leaf({3, -2});
      LBFGS optimizer({w}, {.max_iter = 4, .line_search = line_search});
      optimizer.skip_nonfinite();
      int calls = 0, from = 1 << 30;
      const auto closure = [&] {
        optimizer.zero_grad();
        Tensor loss = sum(square(square(w)));
        if (++calls >= from) loss = loss * std::numeric_limits<double>::quiet_NaN();
        loss.backward();
        return loss;
      };
      optimizer.step(closure);
      EXPECT_EQ(optimizer.steps(), 1);
      const Values before = w.to_vector<double>();
      const auto numbers = optimizer.state_dict().numbers;
      from = calls + bad;
      optimizer.step(closure);
      if (line_search && bad > 1) {  // it goes back to the last point that was good
        EXPECT_TRUE(std::isfinite(w.to_vector<double>()[0]));
        continue;
      }
      EXPECT_EQ(w.to_vector<double>(), before);
      EXPECT_EQ(optimizer.steps(), 1);
      EXPECT_EQ(optimizer.skipped(), 1);
      EXPECT_EQ(optimizer.state_dict().numbers.at("lbfgs.iterations"), numbers.at("lbfgs.iterations"));
      from = 1 << 30;
      optimizer.step(closure);
      EXPECT_EQ(optimizer.steps(), 2);
      EXPECT_TRUE(std::isfinite(w.to_vector<double>()[0]));
    }
}
}  // namespace
}  // namespace weft::optim
