// Collectives on tensors: every dtype, memory orders, sizes around the staging areas, shapes of nothing, and errors
// that every rank makes.
#include "tests/distributed/ranks.h"

namespace weft::test {
namespace {

using distributed::ReduceOp;

/// What rank r holds: values that tell ranks and places apart.
Tensor values(int64_t rank, const Shape& shape, DType dtype = f32) {
  int64_t count = 1;
  for (const int64_t n : shape) count *= n;
  return ((arange(count) * 3 + rank * 5) % 11).reshape(shape).to(dtype);
}

TEST(Collectives, AllReduceOfEveryDtype) {
  const auto& g = group();
  for (const DType dtype : {f32, f64, bf16, f16, i64, i32, i16, i8, u8}) {
    Tensor x = values(g.rank(), {7, 3}, dtype);
    Tensor sum = values(0, {7, 3}, f64), largest = sum.clone();
    for (int64_t rank = 1; rank < g.size(); ++rank) {
      sum += values(rank, {7, 3}, f64);
      largest = maximum(largest, values(rank, {7, 3}, f64));
    }
    Tensor y = x.clone();
    g.all_reduce(x);
    EXPECT_TRUE(equal(x.to(f64), sum)) << text(dtype);
    g.all_reduce(y, ReduceOp::max);
    EXPECT_TRUE(equal(y.to(f64), largest)) << text(dtype);
    if (!is_floating(dtype)) {
      EXPECT_THROW(g.all_reduce(x, ReduceOp::mean), DtypeError);
      continue;
    }
    g.all_reduce(y, ReduceOp::mean);
    EXPECT_TRUE(equal(y.to(f64), largest)) << text(dtype);
  }
}

TEST(Collectives, AllReduceInAnyMemoryOrder) {
  const auto& g = group();
  // Every second rank holds the transposed order.
  Tensor memory = zeros({6, 4});
  Tensor x = g.rank() % 2 == 0 ? zeros({4, 6}) : memory.t();
  x.copy_(values(g.rank(), {4, 6}));
  Tensor expected = zeros({4, 6});
  for (int64_t rank = 0; rank < g.size(); ++rank) expected += values(rank, {4, 6});
  g.all_reduce(x);
  EXPECT_TRUE(equal(x, expected));
}

TEST(Collectives, AllReduceOfManySizes) {
  const auto& g = group();
  for (const int64_t count : {0, 1, 2, 1023, 4096, 49152, 49153, 300001}) {
    Tensor x = values(g.rank(), {count}), expected = zeros({count});
    for (int64_t rank = 0; rank < g.size(); ++rank) expected += values(rank, {count});
    g.all_reduce(x);
    EXPECT_TRUE(equal(x, expected)) << count;
  }
}

TEST(Collectives, SumsInTheOrderOfTheRanks) {
  const auto& g = group();
  manual_seed(3);
  std::vector<Tensor> all;
  for (int64_t rank = 0; rank < g.size(); ++rank) all.push_back(randn({70000}) * (rank == 1 ? 1e4 : 1.0));
  Tensor expected = all[0].clone();
  for (size_t rank = 1; rank < all.size(); ++rank) expected += all[rank];
  Tensor x = all[static_cast<size_t>(g.rank())].clone(), y = x.clone();
  g.all_reduce(x);
  EXPECT_TRUE(equal(x, expected));
  auto work = g.all_reduce_async(y);  // by messages
  work.wait();
  EXPECT_TRUE(equal(y, expected));
}

TEST(Collectives, BroadcastFromEachRank) {
  const auto& g = group();
  for (int64_t root = 0; root < g.size(); ++root) {
    Tensor x = values(g.rank(), {5, 50000}, i32);
    g.broadcast(x, root);
    EXPECT_TRUE(equal(x, values(root, {5, 50000}, i32))) << root;
    Tensor flag = g.rank() == root ? ones({3}, boolean) : zeros({3}, boolean);
    g.broadcast_async(flag, root).wait();
    EXPECT_TRUE(flag.all().item<bool>());
  }
  EXPECT_THROW(g.broadcast(zeros({2}), g.size()), IndexError);
}

TEST(Collectives, GatherScatterAndSwap) {
  const auto& g = group();
  const int64_t n = g.size();
  const Tensor rows = g.all_gather(values(g.rank(), {2, 3}));
  ASSERT_EQ(rows.shape(), (Shape{n, 2, 3}));
  for (int64_t rank = 0; rank < n; ++rank) EXPECT_TRUE(equal(rows[rank], values(rank, {2, 3})));
  EXPECT_TRUE(equal(g.all_gather_async(values(g.rank(), {2, 3})).wait(), rows));

  const Tensor x = values(g.rank(), {2 * n, 30000});
  Tensor sum = zeros({2 * n, 30000});
  for (int64_t rank = 0; rank < n; ++rank) sum += values(rank, {2 * n, 30000});
  const Tensor part = g.reduce_scatter(x);
  EXPECT_TRUE(equal(part, sum.narrow(0, 2 * g.rank(), 2)));
  EXPECT_TRUE(equal(g.reduce_scatter_async(x).wait(), part));

  const Tensor swapped = g.all_to_all(x);
  for (int64_t rank = 0; rank < n; ++rank)
    EXPECT_TRUE(equal(swapped.narrow(0, 2 * rank, 2), values(rank, {2 * n, 30000}).narrow(0, 2 * g.rank(), 2)));
  EXPECT_TRUE(equal(g.all_to_all_async(x).wait(), swapped));
  if (n > 1) {
    EXPECT_THROW(g.reduce_scatter(zeros({2 * n + 1})), ShapeError);
  }
  g.barrier();
}

TEST(Collectives, SeveralAtOnce) {
  const auto& g = group();
  std::vector<Tensor> x;
  std::vector<distributed::Work> works;
  for (int64_t i = 0; i < 5; ++i) {
    x.push_back(full({1000 * (i + 1)}, double(g.rank() + i)));
    works.push_back(g.all_reduce_async(x.back(), ReduceOp::max));
  }
  Tensor between = ones({10});
  g.all_reduce(between);
  EXPECT_EQ(between.sum().item<double>(), 10.0 * double(g.size()));
  for (size_t i = works.size(); i-- > 0;) {
    works[i].wait();
    EXPECT_EQ(x[i].min().item<double>(), double(g.size() - 1) + double(i));
  }
}

TEST(Collectives, SendAndReceive) {
  const auto& g = group();
  EXPECT_THROW(g.send(zeros({1}), g.rank()), IndexError);
  if (g.size() == 1) GTEST_SKIP() << "one rank has no other to send to";
  const int64_t next = (g.rank() + 1) % g.size(), before = (g.rank() + g.size() - 1) % g.size();
  Tensor x = zeros({40000, 2}).t();
  if (g.rank() % 2 == 0) g.send(values(g.rank(), {2, 40000}), next, 7);
  g.recv(x, before, 7);
  if (g.rank() % 2 == 1) g.send(values(g.rank(), {2, 40000}), next, 7);
  EXPECT_TRUE(equal(x, values(before, {2, 40000})));
}

TEST(Collectives, WritesAreWrites) {
  const auto& g = group();
  const Tensor w = parameter(ones({2}));
  EXPECT_THROW(g.all_reduce(w), GradientError);
  EXPECT_THROW(g.all_reduce(w * 2.0), GradientError);
  const Tensor y = w.exp();
  Tensor data = y.detach();
  g.all_reduce(data);
  EXPECT_THROW(y.sum().backward(), GradientError);  // exp kept its result, which was written
}

}  // namespace
}  // namespace weft::test
