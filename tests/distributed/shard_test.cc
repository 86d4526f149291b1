// Optimizers whose states are divided among ranks (ZeRO-1): whole states, masters, checkpoints, what is refused.
#include "distributed/communicator.h"
#include "tests/distributed/ranks.h"

namespace weft::test {
namespace {

/// Trains a sharded optimizer beside a whole one: the same states, which load into either.
template <class Optimizer, class Options> void expect_whole_states(const Options& options, DType dtype = f32) {
  const auto& g = group();
  manual_seed(4);
  const auto make = [&] {
    // Uneven, so that ranks own different numbers of them; their names are numbers too, `2.weight`.
    nn::Sequential model(nn::Linear(16, 40), nn::ReLU(), nn::Linear(40, 16), nn::ReLU(), nn::Linear(16, 4), nn::ReLU(),
                         nn::Linear(4, 3));
    model.to(dtype);
    return model;
  };
  nn::Sequential model = make(), twin = make();
  twin.load_state_dict(model.state_dict());
  Optimizer sharded(model.parameters(), options), whole(twin.parameters(), options);
  const auto step = [&](nn::Sequential& m, optim::Optimizer& optimizer) {
    optimizer.zero_grad();
    m(ones({2, 16}, dtype)).square().sum().backward();
    optimizer.step();
  };
  step(model, sharded), step(twin, whole);
  distributed::shard(sharded, g);  // drops what belongs to others
  for (int i = 0; i < 3; ++i) step(model, sharded), step(twin, whole);
  const optim::State state = sharded.state_dict(), expected = whole.state_dict();
  ASSERT_EQ(state.tensors.size(), expected.tensors.size());
  for (const auto& [key, tensor] : expected.tensors) EXPECT_TRUE(equal(state.tensors.at(key), tensor)) << key;
  EXPECT_EQ(state.numbers, expected.numbers);
  Optimizer again(model.parameters(), options), alone(twin.parameters(), options);
  distributed::shard(again, g);
  again.load_state_dict(expected);
  alone.load_state_dict(state);
  step(model, again), step(twin, alone);
  for (const nn::NamedTensor& p : model.named_parameters())
    EXPECT_TRUE(equal(p.tensor.detach(), twin.get_parameter(p.name).detach())) << p.name;
}

TEST(Shard, StatesOfAdam) { expect_whole_states<optim::Adam>(optim::AdamOptions{.lr = 1e-2}); }
TEST(Shard, StatesOfNAdam) { expect_whole_states<optim::NAdam>(optim::NAdamOptions{.lr = 1e-2}); }
TEST(Shard, MastersOfBf16) {
  expect_whole_states<optim::Adam>(optim::AdamOptions{.lr = 1e-2, .master_weights = true}, bf16);
}

struct OddNames : nn::Module {
  Tensor space = register_parameter(" a", ones({3})), line = register_parameter("b\nnumber 1", ones({2}));
};
TEST(Shard, NamesOfAnyCharacters) {
  OddNames model;
  optim::Adam optimizer(model.parameters(), {.lr = 1e-2});
  distributed::shard(optimizer, group());
  (model.space.sum() + model.line.sum()).backward();
  optimizer.step();
  const optim::State state = optimizer.state_dict();
  EXPECT_TRUE(state.tensors.contains(" a.exp_avg"));
  EXPECT_TRUE(state.tensors.contains("b\nnumber 1.exp_avg"));
  optimizer.load_state_dict(state);
}

TEST(Shard, MastersAreDivided) {
  const auto& g = group();
  nn::Sequential model(nn::Linear(8, 8), nn::Linear(8, 8), nn::Linear(8, 8), nn::Linear(8, 8));
  model.to(bf16);
  optim::Adam optimizer(model.parameters(), {.lr = 1e-2, .master_weights = true});
  model(ones({2, 8}, bf16)).sum().backward();
  optimizer.step();
  EXPECT_EQ(optimizer.masters().size(), 8u);
  distributed::shard(optimizer, g);
  EXPECT_EQ(static_cast<int64_t>(optimizer.masters().size()), 8 / g.size());
}

TEST(Shard, OneRankLoadsACheckpointByItself) {
  const auto& g = group();
  manual_seed(4);
  nn::Sequential model(nn::Linear(8, 8), nn::Linear(8, 8));
  optim::Adam optimizer(model.parameters(), {.lr = 1e-2});
  distributed::shard(optimizer, g);
  data::DataLoader loader(data::TensorDataset(arange(6)), {.batch_size = 2}),
      other(data::TensorDataset(arange(6)), {.batch_size = 3});
  const auto step = [&] {
    optimizer.zero_grad();
    model(ones({2, 8})).square().sum().backward();
    optimizer.step();
  };
  const auto state = [&] {
    optim::State out = optimizer.state_dict();
    for (auto& [key, tensor] : out.tensors) tensor = tensor.clone();
    return out;
  };
  const auto expect_state = [&](const optim::State& expected) {
    const optim::State found = optimizer.state_dict();
    EXPECT_EQ(found.numbers, expected.numbers);
    ASSERT_EQ(found.tensors.size(), expected.tensors.size());
    for (const auto& [key, tensor] : found.tensors) EXPECT_TRUE(equal(tensor, expected.tensors.at(key))) << key;
  };
  step();
  const char* folder = std::getenv("TEST_TMPDIR");
  const std::string path = (folder != nullptr ? std::string(folder) : std::string("/tmp")) + "/shard.safetensors";
  distributed::save_checkpoint(g, path, {.optimizer = &optimizer, .loader = &loader});
  const optim::State saved = state();
  step();
  const optim::State before = state();
  g.barrier();
  if (g.rank() == 0) {
    EXPECT_THROW(io::load_checkpoint(path, {.optimizer = &optimizer, .loader = &other}), IoError);
  }
  expect_state(before);
  if (g.rank() == 0) io::load_checkpoint(path, {.optimizer = &optimizer, .loader = &loader});
  g.barrier();
  if (g.rank() != 0) io::load_checkpoint(path, {.optimizer = &optimizer, .loader = &loader});
  expect_state(saved);
}

TEST(Shard, FewCallsForManySmallParameters) {
  const auto& g = group();
  if (!g.is_shared()) GTEST_SKIP() << "exchanges through shared memory are counted";
  nn::Sequential model;
  for (int i = 0; i < 50; ++i) model.push_back(nn::Linear(2, 2));
  const auto exchanges = [&](const auto& run) {
    const auto& published = g.communicator().node().own().published;
    const uint64_t before = published.load();
    run();
    return static_cast<int64_t>(published.load() - before);
  };
  EXPECT_LT(exchanges([&] { const distributed::DataParallel parallel(model, g); }), 20);
  optim::Adam optimizer(model.parameters(), {.lr = 1e-2});
  EXPECT_LT(exchanges([&] { distributed::shard(optimizer, g); }), 5);
  model(ones({2, 2})).sum().backward();
  EXPECT_EQ(exchanges([&] { optimizer.step(); }), g.size());  // one of each owner
  EXPECT_EQ(exchanges([&] { optimizer.state_dict(); }), g.size() + 2);
}

TEST(Shard, RefusesLbfgs) {
  nn::Linear model(2, 2);
  optim::LBFGS optimizer(model.parameters(), {});
  EXPECT_THROW(distributed::shard(optimizer, group()), Error);
}
}  // namespace
}  // namespace weft::test
