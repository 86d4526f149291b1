// Optimizers on parameters of 16 bits: masters, rounding at random, states in bf16, and what checkpoints keep of them.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "autograd/grad_mode.h"
#include "autograd/leaf.h"
#include "nn/module/module.h"
#include "optim/optim.h"
#include "tensor/core/random.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/stochastic_cast.h"
#include "tensor/runtime/threads.h"
#include "tests/wave.h"

namespace weft::optim {
namespace {

using testing::wave;
using Make = std::function<std::unique_ptr<Optimizer>(const std::vector<Tensor>&)>;

/// Every optimizer that has the fields, with `edit` applied to its options.
template <class F> std::vector<std::pair<std::string, Make>> all_optimizers(F edit) {
  std::vector<std::pair<std::string, Make>> out;
  const auto add = [&]<class O>(const char* name, auto options) {
    edit(options);
    out.emplace_back(name, [options](const std::vector<Tensor>& p) { return std::make_unique<O>(p, options); });
  };
  add.template operator()<SGD>("SGD", SGDOptions{.lr = 0.01, .momentum = 0.9});
  add.template operator()<Adam>("Adam", AdamOptions{.lr = 0.01});
  add.template operator()<AdamW>("AdamW", AdamWOptions{.lr = 0.01, .amsgrad = true});
  add.template operator()<RMSprop>("RMSprop", RMSpropOptions{.lr = 0.01, .momentum = 0.5});
  add.template operator()<Adagrad>("Adagrad", AdagradOptions{.lr = 0.05});
  add.template operator()<Adadelta>("Adadelta", AdadeltaOptions{.lr = 0.5});
  add.template operator()<Adamax>("Adamax", AdamaxOptions{.lr = 0.01});
  add.template operator()<NAdam>("NAdam", NAdamOptions{.lr = 0.01});
  add.template operator()<RAdam>("RAdam", RAdamOptions{.lr = 0.01});
  add.template operator()<Lion>("Lion", LionOptions{.lr = 0.01});
  add.template operator()<LAMB>("LAMB", LAMBOptions{.lr = 0.01});
  add.template operator()<ASGD>("ASGD", ASGDOptions{.lr = 0.01});
  add.template operator()<Rprop>("Rprop", RpropOptions{.lr = 0.01});
  add.template operator()<Adafactor>("Adafactor", AdafactorOptions{.lr = 0.01, .eps1 = 1e-3});
  add.template operator()<Muon>("Muon", MuonOptions{.lr = 0.01});
  return out;
}

std::vector<std::pair<std::string, Make>> plain() {
  return all_optimizers([](auto&) {});
}
std::vector<std::pair<std::string, Make>> with_masters() {
  return all_optimizers([](auto& o) { o.master_weights = true; });
}

Tensor gradient_of_step(int step, DType dtype) { return wave({6, 5}, 0.5 + step).to(dtype); }

void steps(Optimizer& optimizer, Tensor parameter, int from, int to) {
  for (int i = from; i < to; ++i) {
    parameter.set_grad(gradient_of_step(i, parameter.dtype()));
    optimizer.step();
  }
}

// A model in 16 bits with masters goes, bit for bit, where f32 weights go with the same gradients.
TEST(MasterWeights, FollowAnF32Reference) {
  for (const DType dtype : {bf16, f16}) {
    const auto half = with_masters(), full = plain();
    for (size_t i = 0; i < half.size(); ++i) {
      SCOPED_TRACE(half[i].first);
      Tensor rounded = parameter(wave({6, 5}, 0.1).to(dtype)), exact = parameter(rounded.detach().to(f32));
      const auto a = half[i].second({rounded}), b = full[i].second({exact});
      for (int step = 0; step < 20; ++step) {
        const Tensor gradient = gradient_of_step(step, dtype);
        rounded.set_grad(gradient);
        exact.set_grad(gradient.to(f32));
        a->step();
        b->step();
        ASSERT_EQ(rounded.dtype(), dtype);
        ASSERT_TRUE(equal(rounded, exact.detach().to(dtype))) << "step " << step;
      }
      ASSERT_EQ(a->masters().size(), 1u);
      EXPECT_TRUE(equal(a->masters().begin()->second, exact.detach()));
      for (const auto& [key, state] : b->state_dict().tensors)
        EXPECT_TRUE(equal(a->state_dict().tensors.at(key), state)) << key;
    }
  }
}

// Steps far smaller than the gap between two numbers of bf16 move the master, and in the end the parameter.
TEST(MasterWeights, KeepSmallSteps) {
  Tensor with = parameter(ones({4}, bf16)), without = parameter(ones({4}, bf16));
  SGD a({with}, {.lr = 1e-4, .master_weights = true}), b({without}, {.lr = 1e-4});
  for (int i = 0; i < 200; ++i) {
    with.set_grad(ones({4}, bf16));
    without.set_grad(ones({4}, bf16));
    a.step();
    b.step();
  }
  EXPECT_NEAR(a.masters().begin()->second.to_vector<float>()[0], 0.98f, 1e-5);
  EXPECT_EQ(with.to_vector<float>()[0], static_cast<float>(BFloat16(0.98f)));
  EXPECT_EQ(without.to_vector<float>()[0], 1.0f) << "rounding to nearest loses every step";
}

TEST(MasterWeights, AreOnlyKeptForSixteenBits) {
  Tensor w = parameter(wave({6, 5}, 0.1).to(f32));
  AdamW optimizer({w}, {.master_weights = true});
  steps(optimizer, w, 0, 2);
  EXPECT_TRUE(optimizer.masters().empty());
}

TEST(MasterWeights, TakeOverWhatOthersWrote) {
  Tensor w = parameter(wave({6, 5}, 0.1).to(bf16));
  SGD optimizer({w}, {.lr = 1e-4, .master_weights = true});
  steps(optimizer, w, 0, 3);
  const Tensor before = clone(optimizer.masters().begin()->second);
  {
    NoGrad guard;
    w[0].fill_(3.0);
  }
  w.set_grad(zeros({6, 5}, bf16));
  optimizer.step();
  const Tensor after = optimizer.masters().begin()->second;
  EXPECT_TRUE(equal(after[0], full({5}, 3.0)));
  EXPECT_TRUE(equal(after.narrow(0, 1, 5), before.narrow(0, 1, 5))) << "the others keep what rounding cuts off";
}

// Saved after three steps and restored, in either order of model and optimizer, runs go on with the same bits.
TEST(MasterWeights, AreSavedAndRestored) {
  const std::vector<std::vector<std::pair<std::string, Make>>> kinds = {
      with_masters(),
      all_optimizers([](auto& o) { o.stochastic_rounding = true; }),
      all_optimizers([](auto& o) { o.bf16_states = o.master_weights = true; }),
  };
  for (const auto& kind : kinds)
    for (const auto& [name, make] : kind)
      for (const bool model_first : {true, false}) {
        SCOPED_TRACE(name);
        Tensor w = parameter(wave({6, 5}, 0.1).to(bf16));
        const auto optimizer = make({w});
        manual_seed(7);
        steps(*optimizer, w, 0, 3);
        State saved = optimizer->state_dict();
        for (auto& [key, tensor] : saved.tensors) tensor = clone(tensor);
        const Tensor weights = clone(w.detach());
        const RandomState random = random_state();
        steps(*optimizer, w, 3, 6);

        Tensor again = parameter(zeros({6, 5}, bf16));
        const auto resumed = make({again});
        const auto restore_model = [&] {
          NoGrad guard;
          again.copy_(weights);
        };
        if (model_first) restore_model();
        resumed->load_state_dict(saved);
        if (!model_first) restore_model();
        set_random_state(random);
        steps(*resumed, again, 3, 6);
        EXPECT_TRUE(equal(again, w));
        EXPECT_EQ(resumed->state_dict().numbers, optimizer->state_dict().numbers);
        for (const auto& [key, tensor] : optimizer->state_dict().tensors)
          EXPECT_TRUE(equal(resumed->state_dict().tensors.at(key), tensor)) << key;
      }
}

TEST(MasterWeights, SwitchesAreSavedOnlyWhereTheyAreOn) {
  const Tensor w = parameter(ones({2}, bf16));
  AdamW off({w}), on({w}, {.master_weights = true});
  EXPECT_FALSE(off.state_dict().numbers.contains("group.0.master_weights"));
  EXPECT_EQ(on.state_dict().numbers.at("group.0.master_weights"), 1);
  EXPECT_NE(on.to_string().find("master_weights=true"), std::string::npos) << on.to_string();
  off.load_state_dict(on.state_dict());
  EXPECT_EQ(off.get("master_weights"), 1) << "a file that has it decides";
  on.load_state_dict(AdamW({w}).state_dict());
  EXPECT_EQ(on.get("master_weights"), 1) << "one without it says nothing";
  EXPECT_THROW(AdamW({w}, {.master_weights = true, .stochastic_rounding = true}), Error);
}

// The mean of many roundings is the value; exact values stay; a neighbor it is always.
TEST(StochasticRounding, IsUnbiased) {
  manual_seed(3);
  for (const DType dtype : {bf16, f16})
    for (const double value : {1.003, -0.3337, 3e-5, 2.2e-7}) {
      SCOPED_TRACE(value);
      constexpr int64_t kCount = 1 << 18;
      const Tensor x = full({kCount}, value, f32), y = stochastic_cast(x, dtype).to(f64);
      const double mean_value = mean(y).item<double>(), low = min(y).item<double>(), high = max(y).item<double>();
      const double exact = x[0].item<double>(), gap = high - low;
      ASSERT_TRUE(low <= exact && exact <= high);
      // Four standard deviations of a mean of values that are `gap` apart, and the steps of the probability.
      EXPECT_NEAR(mean_value, exact, gap * (4 * 0.5 / std::sqrt(double{kCount}) + 0x1p-13));
      EXPECT_EQ(full({1}, low, f64).to(dtype).to(f64).item<double>(), low);
      EXPECT_LE(gap, std::abs(exact) * (dtype == bf16 ? 0x1p-7 : 0x1p-10) + (dtype == f16 ? 0x1p-24 : 0));
    }
  const Tensor whole = arange(-200, 200).to(f32);
  EXPECT_TRUE(equal(stochastic_cast(whole, bf16).to(f32), whole));
  EXPECT_TRUE(equal(stochastic_cast(whole, f16).to(f32), whole));
}

TEST(StochasticRounding, PassesGradientsOn) {
  const Tensor x = parameter(wave({5}, 0.2).to(f32));
  sum(stochastic_cast(x, bf16).to(f32) * 2.0).backward();
  EXPECT_TRUE(equal(x.grad(), full({5}, 2.0, f32)));
}

TEST(StochasticRounding, HasTheSameBitsAtAnyThreadCount) {
  const int before = num_threads();
  Tensor results[2];
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    manual_seed(11);
    Tensor w = parameter(wave({300, 500}, 0.1).to(bf16));
    Adam optimizer({w}, {.lr = 1e-3, .stochastic_rounding = true, .bf16_states = true});
    for (int i = 0; i < 3; ++i) {
      w.set_grad(wave({300, 500}, 0.5 + i).to(bf16));
      optimizer.step();
    }
    results[threads - 1] = clone(w.detach());
  }
  set_num_threads(before);
  EXPECT_TRUE(equal(results[0], results[1]));
}

// The same 200 small steps that rounding to nearest loses arrive on average.
TEST(StochasticRounding, KeepsSmallStepsOnAverage) {
  manual_seed(5);
  Tensor w = parameter(ones({4096}, bf16));
  SGD optimizer({w}, {.lr = 1e-4, .stochastic_rounding = true});
  for (int i = 0; i < 200; ++i) {
    w.set_grad(ones({4096}, bf16));
    optimizer.step();
  }
  EXPECT_EQ(w.dtype(), bf16);
  EXPECT_NEAR(mean(w.detach().to(f64)).item<double>(), 0.98, 5e-4);  // 3.5 standard deviations
}

// Half the memory; a mean square that decays by 0.1 % a step does decay.
TEST(Bf16States, DecayAndStayClose) {
  manual_seed(9);
  Tensor w = parameter(wave({4096}, 0.1).to(f32)), exact = parameter(wave({4096}, 0.1).to(f32));
  Adam rounded({w}, {.bf16_states = true}), full({exact});
  for (int i = 0; i < 300; ++i) {
    const Tensor gradient = i == 0 ? ones({4096}) : zeros({4096});
    w.set_grad(gradient);
    exact.set_grad(gradient);
    rounded.step();
    full.step();
  }
  const Tensor a = rounded.state_dict().tensors.at("0.exp_avg_sq"), b = full.state_dict().tensors.at("0.exp_avg_sq");
  EXPECT_EQ(a.dtype(), bf16);
  EXPECT_EQ(b.dtype(), f32);
  EXPECT_NEAR(mean(a.to(f64)).item<double>(), mean(b.to(f64)).item<double>(), 0.01 * mean(b.to(f64)).item<double>());
  EXPECT_TRUE(allclose(w.detach(), exact.detach(), 1e-2, 1e-3));
}

TEST(Bf16States, AreF32Otherwise) {
  Tensor w = parameter(ones({3}, bf16));
  Adam optimizer({w});
  w.set_grad(ones({3}, bf16));
  optimizer.step();
  EXPECT_EQ(optimizer.state_dict().tensors.at("0.exp_avg").dtype(), f32);
}

// The memory of a parameter that was cast counts its writes anew, and comes to the count that the old memory had.
TEST(MasterWeights, TakeOverWhatWasLoadedAfterACast) {
  struct Model : nn::Module {
    Tensor w = register_parameter("w", ones({2}));
  } model;
  model.to(bf16);
  SGD optimizer({model.w}, {.lr = 1e-3, .master_weights = true});
  for (int k = 1; k <= 3; ++k) {
    for (int i = 0; i < k; ++i) {
      model.w.set_grad(ones({2}, bf16));
      optimizer.step();
    }
    model.to(f32);
    model.to(bf16);
    for (int i = 0; i < k; ++i) model.load_state_dict({{"w", full({2}, 5.0 * k)}});
    model.w.set_grad(ones({2}, bf16));
    optimizer.step();
    EXPECT_TRUE(allclose(optimizer.masters().at("w"), full({2}, 5.0 * k - 1e-3), 1e-6, 0)) << k;
  }
}

// A write through an address is in no version.
TEST(MasterWeights, TakeOverWhatWasWrittenThroughAnAddress) {
  Tensor w = parameter(ones({2}, bf16));
  BFloat16* const values = w.detach().data<BFloat16>();
  SGD optimizer({w}, {.lr = 1e-3, .master_weights = true});
  w.set_grad(ones({2}, bf16));
  optimizer.step();
  values[0] = BFloat16(5.0F);
  optimizer.step();
  const Tensor master = optimizer.masters().at("0");
  EXPECT_TRUE(allclose(master, tensor({5.0 - 1e-3, 1.0 - 2e-3}, f32), 1e-6, 0)) << master.to_string();
}

TEST(MasterWeights, KeepTheirMemory) {
  Tensor w = parameter(ones({2}, bf16));
  SGD optimizer({w}, {.lr = 1e-3, .master_weights = true});
  w.set_grad(ones({2}, bf16));
  optimizer.step();
  const Tensor master = optimizer.masters().begin()->second;
  {
    NoGrad guard;
    w.fill_(3.0);
  }
  optimizer.step();
  EXPECT_TRUE(allclose(master, full({2}, 3.0 - 1e-3), 1e-6, 0)) << "an average of masters follows";
}

}  // namespace
}  // namespace weft::optim
