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

TEST(DataParallel, NoSyncOfSomeBatches) {
  const auto& g = group();
  Parts parts;
  distributed::DataParallel parallel(parts, g);
  for (int batch = 0; batch < 4; ++batch) {
    const auto local = parallel.no_sync(batch % 2 != 1);
    (parts.a * double(g.rank())).sum().backward();
    const double waiting = batch % 2 == 0 ? double(g.rank()) : mean_of_ranks();
    EXPECT_TRUE(equal(parts.a.grad(), full({3}, waiting + batch * mean_of_ranks()))) << batch;
  }
  const auto outer = parallel.no_sync();
  const auto inner = parallel.no_sync(false);  // does not end the outer one
  parts.zero_grad();
  (parts.a * double(g.rank())).sum().backward();
  EXPECT_TRUE(equal(parts.a.grad(), full({3}, double(g.rank()))));
}

TEST(DataParallel, RefusesANegativeNumberOfSamples) {
  Parts parts;
  const distributed::DataParallel parallel(parts, group());
  const auto call = [](const Parts& p) { return p.a.sum(); };
  EXPECT_THROW(parallel.with(-1, call), Error);
  parallel.with(1, call).backward();  // the group goes on
  EXPECT_TRUE(equal(parts.a.grad(), ones({3})));
}

TEST(DataParallel, MemoryOrdersThatNeedNotAgree) {
  const auto& g = group();
  struct Orders : nn::Module {
    explicit Orders(bool other) {
      register_parameter("frozen", other ? ones({3, 2}).transpose(0, 1) : ones({2, 3})).requires_grad_(false);
      register_parameter("one", other ? ones({1, 4, 3}).transpose(0, 1) : ones({4, 1, 3}));
    }
  } orders(g.rank() == 1);
  const distributed::DataParallel parallel(orders, g);
  const Tensor one = orders.get_parameter("one"), values = arange(12).to(f32).reshape({4, 1, 3});
  (one * values * double(g.rank())).sum().backward();
  EXPECT_TRUE(equal(one.grad(), values * mean_of_ranks()));
}

TEST(DataParallel, Bf16OnTheWire) {
  const auto& g = group();
  Parts parts;
  distributed::DataParallel parallel(parts, g, {.wire = distributed::Wire::bf16});
  (parts.a * (1.0 + 1e-4)).sum().backward();
  // 1.0001 is no bf16; its neighbor 1 is.
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

TEST(DataParallel, ABackwardWithinBackwardAddsToTheSameGradients) {
  const auto& g = group();
  const double own = double(g.rank());
  for (const int64_t bytes : {8, 1 << 20}) {
    Parts parts;
    distributed::DataParallel parallel(parts, g, {.bucket_bytes = bytes, .first_bucket_bytes = bytes});
    const auto adds_to_b = [&](const Tensor&) {
      const EnableGrad recording;
      (parts.b * own).sum().backward();
    };
    // b's gradient is complete in the inner backward before the outer one adds to it; in one bucket after that too.
    for (const bool inner_first : {true, false}) {
      if (!inner_first && bytes == 8) continue;  // an error, which ends the group: fault_test has it
      parts.zero_grad();
      Tensor early = inner_first ? parts.b.sum() : Tensor();
      const Tensor h = parts.a * 2.0;
      h.register_hook(adds_to_b);
      if (!inner_first) early = parts.b.sum();
      (early + h.sum() * (own + 1)).backward();
      EXPECT_TRUE(equal(parts.a.grad(), full({3}, 2 * mean_of_ranks() + 2))) << bytes;
      EXPECT_TRUE(equal(parts.b.grad(), full({2, 2}, 1 + mean_of_ranks()))) << bytes;
    }
  }
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

}  // namespace
}  // namespace weft::test
