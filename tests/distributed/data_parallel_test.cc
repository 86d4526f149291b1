// What DataParallel does to gradients: their mean, parameters that some or all ranks leave out, accumulation, bf16 on
// the wire, the same memory from step to step, and what it refuses.
#include "distributed/communicator.h"
#include "tests/distributed/ranks.h"

namespace weft::test {
namespace {

/// Three parameters, of which a call uses those it is told.
struct Parts : nn::Module {
  Tensor a = register_parameter("a", ones({3}));
  Tensor b = register_parameter("b", ones({2, 2}));
  Tensor c = register_parameter("c", ones({5}));
};

double mean_of_ranks() { return double(group().size() - 1) / 2; }

TEST(Init, ThreadsOfAProcessAlone) {
  if (group().size() > 1) GTEST_SKIP() << "ranks divide the cores";
  const int before = num_threads();
  const distributed::Communicator chosen(distributed::InitOptions{.threads = before + 1});
  EXPECT_EQ(num_threads(), before + 1);
  const distributed::Communicator unchosen(distributed::InitOptions{});
  EXPECT_EQ(num_threads(), before + 1);
  set_num_threads(before);
  EXPECT_THROW(distributed::Communicator(distributed::InitOptions{.threads = -1}), distributed::DistributedError);
}

TEST(DataParallel, GradientsAreTheMean) {
  const auto& g = group();
  Parts parts;
  distributed::DataParallel parallel(parts, g);
  for (int round = 0; round < 3; ++round) {
    parts.zero_grad();
    ((parts.a * double(g.rank())).sum() + parts.b.sum() + (parts.c * double(round)).sum()).backward();
    EXPECT_TRUE(equal(parts.a.grad(), full({3}, mean_of_ranks())));
    EXPECT_TRUE(equal(parts.b.grad(), ones({2, 2})));
    EXPECT_TRUE(equal(parts.c.grad(), full({5}, double(round))));
  }
}

TEST(DataParallel, ParametersOfRankZeroToAll) {
  const auto& g = group();
  nn::Sequential model(nn::Linear(3, 4), nn::BatchNorm1d(4));
  {
    NoGrad guard;
    model.get_parameter("0.weight").fill_(double(g.rank() + 1));
    model.get_buffer("1.running_mean").fill_(double(g.rank() + 5));
  }
  distributed::DataParallel parallel(model, g);
  EXPECT_TRUE(equal(model.get_parameter("0.weight").detach(), ones({4, 3})));
  EXPECT_TRUE(equal(model.get_buffer("1.running_mean"), full({4}, 5.0)));
}

TEST(DataParallel, UnusedParameters) {
  const auto& g = group();
  Parts parts;
  distributed::DataParallel parallel(parts, g);
  // a on all ranks, b on the last one alone, c nowhere.
  Tensor loss = parts.a.sum();
  if (g.rank() == g.size() - 1) loss = loss + parts.b.sum();
  loss.backward();
  EXPECT_TRUE(equal(parts.a.grad(), ones({3})));
  ASSERT_TRUE(parts.b.grad().defined());
  EXPECT_TRUE(equal(parts.b.grad(), full({2, 2}, 1.0 / double(g.size()))));
  EXPECT_FALSE(parts.c.grad().defined());
}

TEST(DataParallel, GradientsThatAreSet) {
  const auto& g = group();
  Parts parts;
  distributed::DataParallel parallel(parts, g);
  for (int round = 0; round < 2; ++round) {
    parts.zero_grad();
    parts.a.set_grad(full({3}, double(g.rank())));
    parts.b.set_grad(full({2, 2}, double(g.rank() + 1)));  // of a parameter that backward does not reach
    (parts.a.sum() + parts.c.sum()).backward();
    EXPECT_TRUE(equal(parts.a.grad(), full({3}, mean_of_ranks() + 1)));
    EXPECT_TRUE(equal(parts.b.grad(), full({2, 2}, g.size() == 1 ? 1.0 : mean_of_ranks() + 1)));
  }
}

TEST(DataParallel, NoSyncAccumulates) {
  const auto& g = group();
  Parts parts;
  distributed::DataParallel parallel(parts, g);
  {
    auto local = parallel.no_sync();
    (parts.a * double(g.rank())).sum().backward();
    EXPECT_TRUE(equal(parts.a.grad(), full({3}, double(g.rank()))));
  }
  (parts.a * 2.0).sum().backward();
  EXPECT_TRUE(equal(parts.a.grad(), full({3}, 2 + mean_of_ranks())));
}

TEST(DataParallel, Bf16OnTheWire) {
  const auto& g = group();
  Parts parts;
  distributed::DataParallel parallel(parts, g, {.wire = distributed::Wire::bf16});
  (parts.a * (1.0 + 1e-4)).sum().backward();
  // 1.0001 is no bf16; its neighbour 1 is.
  EXPECT_TRUE(equal(parts.a.grad(), g.size() == 1 ? full({3}, 1.0 + 1e-4) : ones({3})));
}

TEST(DataParallel, GradientsStayWhereTheyAre) {
  const auto& g = group();
  Parts parts;
  distributed::DataParallel parallel(parts, g);
  parts.a.sum().backward();
  const float* first = parts.a.grad().data<float>();
  parts.zero_grad();
  EXPECT_FALSE(parts.a.grad().defined());
  parts.a.sum().backward();
  if (g.size() > 1) {
    EXPECT_EQ(parts.a.grad().data<float>(), first);
  }
}

TEST(DataParallel, WindowsAreUsedAgain) {
  const auto& g = group();
  Parts parts;
  const float* first = nullptr;
  for (int round = 0; round < 3; ++round) {
    distributed::DataParallel parallel(parts, g);
    for (int step = 0; step < 2; ++step) {
      parts.zero_grad();
      (parts.a * double(g.rank() + round)).sum().backward();
      EXPECT_TRUE(equal(parts.a.grad(), full({3}, mean_of_ranks() + round)));
    }
    if (!g.is_shared()) continue;
    if (round == 0) first = parts.a.grad().data<float>();
    EXPECT_EQ(parts.a.grad().data<float>(), first);
    parts.zero_grad();
  }
}

TEST(DataParallel, TagsAreUsedAgain) {
  const auto& g = group();
  if (g.size() == 1) GTEST_SKIP() << "one rank sends nothing";
  auto& c = g.communicator();
  const int first = c.reserve_tags(5), second = c.reserve_tags(2);
  // Ranks release in any order.
  for (int i = 0; i < 2; ++i) c.release_tags((g.rank() + i) % 2 == 0 ? first : second);
  EXPECT_EQ(c.reserve_tags(3), first);
  EXPECT_EQ(c.reserve_tags(2), second);
  EXPECT_GE(c.reserve_tags(6), second + 2);
}

TEST(DataParallel, NoRoomIsNoError) {
  const auto& g = group();
  if (g.size() == 1) GTEST_SKIP() << "one rank shares nothing";
  testing::internal::CaptureStderr();
  EXPECT_EQ(g.communicator().allocate(size_t{1} << 56), nullptr);
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_EQ(line.find("/dev/shm has no room") != std::string::npos, g.is_shared() && g.rank() == 0) << line;
}

TEST(DataParallel, GradOfAResultReducesNothing) {
  const auto& g = group();
  nn::Sequential model(nn::Linear(3, 2));
  distributed::DataParallel parallel(model, g);
  Tensor x = parameter(ones({2, 3}));
  // On one rank alone: a reduction would wait for the others.
  if (g.rank() == 0) {
    const Tensor y = parallel(x);
    EXPECT_EQ(grad({y.sum()}, {x})[0].shape(), x.shape());
    EXPECT_FALSE(model.get_parameter("0.weight").grad().defined());
  } else {
    (void)parallel(x);
  }
  (parallel(x) * double(g.rank())).sum().backward();
  EXPECT_TRUE(equal(model.get_parameter("0.bias").grad(), full({2}, 2 * mean_of_ranks())));
}

TEST(DataParallel, TrainsWithBf16OnTheWire) {
  const auto& g = group();
  const auto factor = [](int64_t rank, int step) { return 1.0 / (3.0 + double(rank) + 2.0 * step); };
  Parts parts;
  optim::SGD optimizer(parts.parameters(), {.lr = 0.1});
  distributed::DataParallel parallel(parts, g, {.wire = distributed::Wire::bf16});
  Tensor expected = ones({3});
  for (int step = 0; step < 3; ++step) {
    optimizer.zero_grad();
    (parts.a * factor(g.rank(), step)).sum().backward();
    optimizer.step();
    Tensor sum = zeros({3});
    for (int64_t rank = 0; rank < g.size(); ++rank) sum += full({3}, factor(rank, step)).to(bf16).to(f32);
    Tensor gradient = g.size() == 1 ? full({3}, factor(0, step)) : (sum * (1 / double(g.size()))).to(bf16).to(f32);
    expected += gradient * -0.1;
  }
  EXPECT_TRUE(allclose(parts.a.detach(), expected, 1e-6, 1e-7));
  EXPECT_EQ(parts.a.detach().to_vector<float>(), expected.to_vector<float>());
}

TEST(DataParallel, GradientsOutliveIt) {
  Parts parts;
  {
    distributed::DataParallel parallel(parts, group());
    parts.a.sum().backward();
  }
  EXPECT_TRUE(equal(parts.a.grad(), ones({3})));
  parts.zero_grad();
  (parts.a * double(group().rank())).sum().backward();  // reduces nothing any more
  EXPECT_TRUE(equal(parts.a.grad(), full({3}, double(group().rank()))));
}

TEST(DataParallel, AParameterIsInOneOnly) {
  const auto& g = group();
  if (g.size() == 1) GTEST_SKIP() << "one rank reduces nothing";
  Parts parts;
  {
    distributed::DataParallel first(parts, g);
    EXPECT_THROW(distributed::DataParallel(parts, g), GradientError);
    parts.a.sum().backward();
    EXPECT_TRUE(equal(parts.a.grad(), ones({3})));
  }
  distributed::DataParallel next(parts, g);
}

TEST(DataParallel, RefusesCreateGraph) {
  const auto& g = group();
  if (g.size() > 1) GTEST_SKIP() << "the error ends the group: fault_test has it";
  Parts parts;
  EXPECT_THROW(distributed::DataParallel(parts, g, {.bucket_bytes = 0}), Error);
}

TEST(SyncBatchNorm, IsBatchNormOfAllRanksTogether) {
  const auto& g = group();
  distributed::SyncBatchNorm sync({.num_features = 3}, g);
  nn::BatchNorm2d whole(3);
  Generator generator(11);
  const Tensor all = randn({4 * g.size(), 3, 5, 5}, generator), seed = randn({4 * g.size(), 3, 5, 5}, generator);
  const auto part = [&](const Tensor& x) { return x.narrow(0, 4 * g.rank(), 4); };
  Tensor x = parameter(part(all).clone()), y = parameter(all.clone());
  const Tensor out = sync(x), expected = whole(y);
  EXPECT_TRUE(allclose(out, part(expected), 1e-4, 1e-5));
  (out * part(seed)).sum().backward();
  (expected * seed).sum().backward();
  EXPECT_TRUE(allclose(x.grad(), part(y.grad()), 1e-4, 1e-4));
  Tensor weight = sync.get_parameter("weight").grad().clone();
  g.all_reduce(weight);
  EXPECT_TRUE(allclose(weight, whole.weight().grad(), 1e-3, 1e-3));
  EXPECT_TRUE(allclose(sync.get_buffer("running_mean"), whole.running_mean(), 1e-4, 1e-6));
  EXPECT_TRUE(allclose(sync.get_buffer("running_var"), whole.running_var(), 1e-4, 1e-6));
  sync.eval(), whole.eval();
  EXPECT_TRUE(allclose(sync(x), whole(x), 1e-4, 1e-5));
}

TEST(SyncBatchNorm, StatisticsOfHalfTypesAreF32) {
  const auto& g = group();
  Generator generator(12);
  // More values a channel than f16 can count, and a mean that f16 sums of them could not hold.
  const Tensor all = randn({2 * g.size(), 2, 200, 200}, generator) + 3.0;
  for (const DType dtype : {bf16, f16}) {
    distributed::SyncBatchNorm sync({.num_features = 2}, g);
    nn::BatchNorm2d whole(2);
    const Tensor x = all.to(dtype), y = sync(x.narrow(0, 2 * g.rank(), 2));
    const Tensor expected = whole(x.to(f32));
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_TRUE(allclose(y.to(f32), expected.narrow(0, 2 * g.rank(), 2), 1e-2, 2e-2)) << text(dtype);
    EXPECT_TRUE(allclose(sync.running_mean(), whole.running_mean(), 1e-4, 1e-5)) << text(dtype);
    EXPECT_TRUE(allclose(sync.running_var(), whole.running_var(), 1e-4, 1e-5)) << text(dtype);
  }
}

TEST(SyncBatchNorm, EmptyBatches) {
  const auto& g = group();
  distributed::SyncBatchNorm sync({.num_features = 3}, g);
  EXPECT_EQ(sync(zeros({0, 3, 4})).shape(), (Shape{0, 3, 4}));
  EXPECT_TRUE(equal(sync.running_mean(), zeros({3})));
  EXPECT_TRUE(equal(sync.running_var(), ones({3})));
  EXPECT_EQ(sync.get_buffer("num_batches_tracked").item<int64_t>(), 0);
  // The last rank's alone is empty.
  Generator generator(13);
  const Tensor all = randn({4, 3, 4}, generator);
  nn::BatchNorm1d whole(3);
  const Tensor expected = whole(all);
  const Tensor y = sync(g.rank() == 0 ? all : zeros({0, 3, 4}));
  if (g.rank() == 0) {
    EXPECT_TRUE(allclose(y, expected, 1e-4, 1e-5));
  }
  EXPECT_TRUE(allclose(sync.running_mean(), whole.running_mean(), 1e-4, 1e-6));
}

TEST(SyncBatchNorm, OneValueOfAllRanksHasNoVariance) {
  const auto& g = group();
  distributed::SyncBatchNorm sync({.num_features = 2}, g);
  EXPECT_THROW(sync(ones({g.rank() == 0 ? 1 : 0, 2})), ShapeError);
  EXPECT_TRUE(equal(sync.running_var(), ones({2})));
  sync.eval();
  EXPECT_NO_THROW(sync(ones({1, 2})));
}

TEST(SyncBatchNorm, IsBatchNormInEvaluationAndAlone) {
  const auto& g = group();
  for (const bool tracks : {true, false}) {
    distributed::SyncBatchNorm sync({.num_features = 3, .track_running_stats = tracks}, g);
    nn::BatchNorm2d batch_norm({.num_features = 3, .track_running_stats = tracks});
    Generator generator(14 + static_cast<uint64_t>(g.rank()));
    const Tensor x = randn({2, 3, 5, 5}, generator) + 1.0;
    if (g.size() == 1) {
      EXPECT_TRUE(equal(sync(x), batch_norm(x)));
    }
    sync.eval(), batch_norm.eval();
    EXPECT_TRUE(equal(sync(x), batch_norm(x))) << tracks;
    EXPECT_TRUE(equal(sync.forward_relu(x), batch_norm.forward_relu(x))) << tracks;
  }
  EXPECT_THROW(distributed::SyncBatchNorm({.num_features = 0}, g), ShapeError);
  EXPECT_THROW(distributed::SyncBatchNorm({.num_features = 2, .momentum = 1.5}, g), Error);
  EXPECT_THROW(distributed::SyncBatchNorm({.num_features = 2}, g)(zeros({2, 3})), ShapeError);
}

TEST(Functions, GradientsPassBetweenRanks) {
  const auto& g = group();
  const double n = double(g.size()), own = double(g.rank() + 1), all = n * (n + 1) / 2;
  Tensor x = parameter(full({2}, own));
  (distributed::all_reduce(x, g) * own).sum().backward();
  EXPECT_TRUE(equal(x.grad(), full({2}, all)));
  x.zero_grad();
  (distributed::all_gather(x, g) * own).sum().backward();
  EXPECT_TRUE(equal(x.grad(), full({2}, all)));
  Tensor rows = parameter(ones({g.size(), 3}));
  (distributed::reduce_scatter(rows, g) * own).sum().backward();
  for (int64_t rank = 0; rank < g.size(); ++rank) EXPECT_TRUE(equal(rows.grad()[rank], full({3}, double(rank + 1))));
  rows.zero_grad();
  (distributed::all_to_all(rows, g) * own).sum().backward();
  for (int64_t rank = 0; rank < g.size(); ++rank) EXPECT_TRUE(equal(rows.grad()[rank], full({3}, double(rank + 1))));
  EXPECT_THROW(distributed::all_reduce(x, g, distributed::ReduceOp::max), GradientError);
}

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

TEST(Shard, RefusesLbfgs) {
  nn::Linear model(2, 2);
  optim::LBFGS optimizer(model.parameters(), {});
  EXPECT_THROW(distributed::shard(optimizer, group()), Error);
}

}  // namespace
}  // namespace weft::test
