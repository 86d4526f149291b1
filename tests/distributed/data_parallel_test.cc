// What DataParallel does to gradients: their mean, parameters that some or all ranks leave out, accumulation, bf16 on
// the wire, the same memory from step to step, and what it refuses.
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

TEST(Shard, StatesAreDividedAndWholeInCheckpoints) {
  const auto& g = group();
  manual_seed(4);
  nn::Sequential model(nn::Linear(16, 16), nn::ReLU(), nn::Linear(16, 16), nn::ReLU(), nn::Linear(16, 16), nn::ReLU(),
                       nn::Linear(16, 16));
  nn::Sequential twin(nn::Linear(16, 16), nn::ReLU(), nn::Linear(16, 16), nn::ReLU(), nn::Linear(16, 16), nn::ReLU(),
                      nn::Linear(16, 16));
  twin.load_state_dict(model.state_dict());
  optim::Adam sharded(model.parameters(), {.lr = 1e-2}), whole(twin.parameters(), {.lr = 1e-2});
  distributed::shard(sharded, g);
  const auto step = [](nn::Sequential& m, optim::Optimizer& optimizer) {
    optimizer.zero_grad();
    m(ones({2, 16})).square().sum().backward();
    optimizer.step();
  };
  for (int i = 0; i < 3; ++i) step(model, sharded), step(twin, whole);
  const optim::State state = sharded.state_dict(), expected = whole.state_dict();
  ASSERT_EQ(state.tensors.size(), expected.tensors.size());
  for (const auto& [key, tensor] : expected.tensors) EXPECT_TRUE(equal(state.tensors.at(key), tensor)) << key;
  EXPECT_EQ(state.numbers, expected.numbers);
  // What all have loads into any: whole, and sharded again.
  optim::Adam again(model.parameters(), {.lr = 1e-2});
  distributed::shard(again, g);
  again.load_state_dict(expected);
  optim::Adam alone(twin.parameters(), {.lr = 1e-2});
  alone.load_state_dict(state);
  step(model, again), step(twin, alone);
  for (const nn::NamedTensor& p : model.named_parameters())
    EXPECT_TRUE(equal(p.tensor.detach(), twin.get_parameter(p.name).detach())) << p.name;
}

}  // namespace
}  // namespace weft::test
