// Checkpoint files of training in 16 bits: masters, states in bf16 rounded at random, and a model that mixes scopes,
// NoGrad and autograd::checkpoint go on with the same bits.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "autograd/autograd.h"
#include "io/checkpoint.h"
#include "io/safetensors.h"
#include "nn/nn.h"
#include "optim/optim.h"
#include "tensor/all.h"
#include "tests/io/files.h"
#include "tests/io/states.h"

namespace weft {
namespace {

using test::expect_same;
using test::Folder;

/// A model of bf16 whose optimizer keeps what the options say.
struct Half {
  explicit Half(const optim::AdamWOptions& options) {
    model.to(bf16);
    optimizer.emplace(model.parameters(), options);
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) {
      optimizer->zero_grad();
      const Tensor x = randn({16, 8}).to(bf16);
      nn::mse_loss(model(x).to(f32), zeros({16, 4})).backward();
      optimizer->step();
    }
  }
  io::CheckpointParts parts() { return {.model = &model, .optimizer = &*optimizer}; }

  nn::Linear model{8, 4};
  std::optional<optim::AdamW> optimizer;
};

TEST(HalfCheckpoint, MastersAndStatesGoOn) {
  const std::map<std::string, optim::AdamWOptions> ways = {
      {"masters", {.lr = 1e-3, .master_weights = true}},
      {"masters and states in bf16", {.lr = 1e-3, .master_weights = true, .bf16_states = true}},
      {"rounded at random", {.lr = 1e-3, .stochastic_rounding = true}},
      {"all at random", {.lr = 1e-3, .stochastic_rounding = true, .bf16_states = true}}};
  for (const auto& [name, options] : ways) {
    SCOPED_TRACE(name);
    const Folder folder;
    manual_seed(4);
    Half straight(options);
    straight.steps(5);
    io::save_checkpoint(folder / "a", straight.parts());
    straight.steps(6);
    const optim::State expected = straight.optimizer->state_dict();

    manual_seed(9);
    Half resumed(options);
    resumed.steps(2);
    io::load_checkpoint(folder / "a", resumed.parts());
    resumed.steps(6);
    expect_same(straight.model.state_dict(), resumed.model.state_dict());
    expect_same(straight.optimizer->masters(), resumed.optimizer->masters());
    EXPECT_EQ(resumed.optimizer->masters().size(), options.master_weights ? 2u : 0u);
    expect_same(expected.tensors, resumed.optimizer->state_dict().tensors);
    EXPECT_EQ(expected.numbers, resumed.optimizer->state_dict().numbers);

    int in_bf16 = 0, in_f32 = 0;
    for (const auto& [key, tensor] : expected.tensors) (tensor.dtype() == bf16 ? in_bf16 : in_f32) += 1;
    EXPECT_EQ(in_bf16, options.bf16_states ? 4 : 0) << "two means for each of two parameters";
    EXPECT_EQ(in_f32, (options.bf16_states ? 0 : 4) + (options.master_weights ? 2 : 0));
  }
}

/// f32 weights under a scope, a part of it without casts, one without a gradient, and one that is computed again.
struct Mixed : nn::Module {
  nn::Linear first = register_module("first", nn::Linear(8, 16));
  nn::Linear second = register_module("second", nn::Linear(16, 16));
  nn::Linear exact = register_module("exact", nn::Linear(16, 4));
  nn::Dropout dropout = register_module("dropout", nn::Dropout(0.2));

  Tensor loss(const Tensor& x, const Tensor& target) {
    const Autocast scope(f16);
    const auto half = [&](const Tensor& in) { return dropout(gelu(second(gelu(first(in))))); };
    const Tensor y = autograd::checkpoint(half, x);
    Tensor fixed;
    {
      const NoGrad guard;
      fixed = first(x);
    }
    const Autocast off = Autocast::off();
    return nn::cross_entropy(exact(y.to(f32) * fixed.to(f32)), target);
  }
};

struct MixedTraining {
  void steps(int count) {
    for (int i = 0; i < count; ++i) {
      optimizer.zero_grad();
      scaler.scale(model.loss(randn({16, 8}), randint(0, 4, {16}))).backward();
      scaler.step(optimizer);
      scaler.update();
    }
  }
  io::CheckpointParts parts() { return {.model = &model, .optimizer = &optimizer, .scaler = &scaler}; }

  Mixed model;
  optim::AdamW optimizer{model.parameters(), {.lr = 1e-2, .bf16_states = true}};
  optim::GradScaler scaler{{.init_scale = 1024, .growth_interval = 3}};
};

TEST(HalfCheckpoint, AMixOfScopesGoesOn) {
  const Folder folder;
  manual_seed(6);
  MixedTraining straight;
  straight.steps(4);
  io::save_checkpoint(folder / "a", straight.parts());
  straight.steps(5);
  manual_seed(12);
  MixedTraining resumed;
  resumed.steps(1);
  io::load_checkpoint(folder / "a", resumed.parts());
  resumed.steps(5);
  expect_same(straight.model.state_dict(), resumed.model.state_dict());
  expect_same(straight.optimizer.state_dict().tensors, resumed.optimizer.state_dict().tensors);
  EXPECT_EQ(straight.scaler.state_dict(), resumed.scaler.state_dict());
}

// What the file says of masters holds for an optimizer that was made without them.
TEST(HalfCheckpoint, FilesSayWhatTheOptimizerKeeps) {
  const Folder folder;
  manual_seed(5);
  Half with({.lr = 1e-3, .master_weights = true});
  with.steps(2);
  io::save_checkpoint(folder / "a", with.parts());
  Half without({.lr = 1e-3});
  io::load_checkpoint(folder / "a", without.parts());
  EXPECT_EQ(without.optimizer->get("master_weights"), 1) << "the file decides";
  expect_same(with.optimizer->masters(), without.optimizer->masters());
}

}  // namespace
}  // namespace weft
