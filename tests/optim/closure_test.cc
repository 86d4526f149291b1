// step(closure): of every optimizer, and through a reference to the base.
#include <gtest/gtest.h>

#include <functional>

#include "autograd/grad_mode.h"
#include "autograd/leaf.h"
#include "optim/optim.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

namespace weft::optim {
namespace {

TEST(Optimizer, StepsAfterAClosure) {
  Tensor w = parameter(tensor({2.0}));
  SGD sgd({w}, {.lr = 0.25});
  const NoGrad guard;
  const Tensor loss = sgd.step([&] {
    sgd.zero_grad();
    Tensor out = square(w).sum();
    out.backward();
    return out;
  });
  EXPECT_EQ(loss.item(), 4);
  EXPECT_EQ(w.item(), 1);
  EXPECT_EQ(error_of([&] { sgd.step(std::function<Tensor()>()); }), "SGD::step(): the closure is empty");
  const auto wrong = [&]() -> Tensor { return weft::matmul(w, ones({4})); };
  EXPECT_EQ(error_of([&] { sgd.step(wrong); }), "matmul([1] f32, [4] f32): inner sizes differ: 1 and 4");
  LBFGS lbfgs({w}, {.lr = 1.0});
  Optimizer& any = lbfgs;
  any.step([&] {
    any.zero_grad();
    Tensor out = square(w).sum();
    out.backward();
    return out;
  });
  EXPECT_NEAR(w.item(), 0, 1e-6);
}

}  // namespace
}  // namespace weft::optim
