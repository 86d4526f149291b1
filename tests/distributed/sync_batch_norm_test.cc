// SyncBatchNorm: batch norm of all ranks together, in training and in evaluation.
#include "tests/distributed/ranks.h"

namespace weft::test {
namespace {

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
}  // namespace
}  // namespace weft::test
