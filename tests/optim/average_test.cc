// Averages of weights: Ema, Swa, and the scope in which a model has them.
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/grad_mode.h"
#include "nn/nn.h"
#include "optim/optim.h"
#include "tensor/functions/compare.h"
#include "tests/optim/problem.h"
#include "tests/optim/refused.h"

namespace weft::optim {
namespace {

using Values = std::vector<double>;
using testing::wave;

void set(Tensor x, const Values& values) {
  const NoGrad guard;
  x.copy_(from_vector(values, std::nullopt, f64));
}

TEST(Ema, IsTheFormula) {
  Tensor w = leaf({1, 2});
  Ema average(std::vector<Tensor>{w}, 0.9);
  set(w, {10, 20});
  average.update();  // copies
  EXPECT_EQ(average.averages()[0].to_vector<double>(), (Values{10, 20}));
  set(w, {0, 10});
  average.update();
  EXPECT_TRUE(allclose(average.averages()[0], tensor({9.0, 19.0}, f64), 1e-15, 0));
  EXPECT_EQ(average.updates(), 2);
}

TEST(Swa, IsTheMean) {
  Tensor w = leaf({0});
  Swa average(std::vector<Tensor>{w});
  for (const double value : {1.0, 5.0, 9.0, 1.0}) {
    set(w, {value});
    average.update();
  }
  EXPECT_NEAR(average.averages()[0].item<double>(), 4, 1e-15);
}

TEST(Average, IsAppliedForAScope) {
  Tensor w = leaf({1});
  Ema average(std::vector<Tensor>{w}, 0.5);
  average.update();
  set(w, {3});
  {
    const auto averaged = average.applied();
    EXPECT_EQ(w.item<double>(), 1);
    EXPECT_TRUE(w.requires_grad() && w.is_leaf());
    EXPECT_REFUSED(average.update(), "update() of an average that is applied: the model holds the averages themselves");
    EXPECT_REFUSED(average.applied(), "this average is applied already");
  }
  EXPECT_EQ(w.item<double>(), 3);
  {
    const auto averaged = average.applied();
    EXPECT_REFUSED(average.copy_to_model(),
                   "copy_to_model() of an average that is applied: the end of its scope would undo it");
  }
  average.update();
  EXPECT_EQ(average.averages()[0].item<double>(), 2);
  average.copy_to_model();
  EXPECT_EQ(w.item<double>(), 2);
}

TEST(Average, OfAModel) {
  nn::Sequential model(nn::Linear(3, 2), nn::BatchNorm1d(2));
  Ema weights(model, 0.5), all(model, 0.5, {.buffers = true});
  EXPECT_EQ(weights.averages().size(), 4u);
  EXPECT_EQ(all.averages().size(), 6u);
  const std::vector<float> before = model.parameters()[0].to_vector<float>();
  weights.update();
  SGD optimizer(model.parameters(), {.lr = 0.1});
  sum(square(model(ones({4, 3})) - 1.0)).backward();
  optimizer.step();
  {
    auto averaged = weights.applied();
    EXPECT_EQ(model.parameters()[0].to_vector<float>(), before);
  }
  // Statistics of the averaged weights do not outlive the scope.
  const StateDict own = model.clone_state();
  for (Ema* average : {&weights, &all}) {
    auto averaged = average->applied();
    model(wave({4, 3}, 0.1).to(f32));
    EXPECT_FALSE(equal(model.get_buffer("1.running_mean"), own.at("1.running_mean")));
  }
  for (const auto& [name, value] : model.state_dict()) EXPECT_TRUE(equal(value, own.at(name))) << name;
  model.to(f64);
  weights.update();
  EXPECT_EQ(weights.averages()[0].dtype(), f64);
}

TEST(Average, CarriesOn) {
  Tensor a = leaf({1}), b = leaf({7});
  Ema first(std::vector<Tensor>{a}, 0.5), second(std::vector<Tensor>{b}, 0.5);
  first.update();
  second.load_state_dict(first.state_dict());
  EXPECT_EQ(second.updates(), 1);
  EXPECT_EQ(second.averages()[0].item<double>(), 1);
  EXPECT_REFUSED(second.load_state_dict({}), "Average::load_state_dict(): the state does not fit: missing updates");
  State other = first.state_dict();
  other.tensors["average.0"] = zeros({3});
  EXPECT_REFUSED(second.load_state_dict(other), "Average::load_state_dict(): average.0 has shape [3] instead of [1]");
  EXPECT_REFUSED(Ema(std::vector<Tensor>{a}, 1.5), "Ema(): decay must be in [0, 1], not 1.5");
  EXPECT_REFUSED(Swa(std::vector<Tensor>{}),
                 "an average of no parameters: was register_module() forgotten in the model?");
}

TEST(Average, OfSixteenBitsIsF32) {
  Tensor w = parameter(full({1}, 0.5, bf16));
  Ema average(std::vector<Tensor>{w}, 0.999);
  Swa mean(std::vector<Tensor>{w});
  average.update();
  for (int i = 0; i < 2000; ++i) {
    NoGrad guard;
    w.fill_(i < 1000 ? 0.5 : 1.0);
    average.update();
    mean.update();
  }
  EXPECT_EQ(average.averages()[0].dtype(), f32);
  EXPECT_NEAR(average.averages()[0].item<double>(), 1 - 0.5 * std::pow(0.999, 1000), 1e-4);
  EXPECT_NEAR(mean.averages()[0].item<double>(), 0.75, 1e-4);
  average.copy_to_model();
  EXPECT_EQ(w.dtype(), bf16);
}

}  // namespace
}  // namespace weft::optim
