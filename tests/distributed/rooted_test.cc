// Collectives with a root, and of ranks with different numbers of rows: many sizes, every root, and errors that every
// rank makes.
#include <cmath>
#include <string>
#include <vector>

#include "distributed/signature.h"
#include "distributed/texts.h"
#include "tests/distributed/ranks.h"
#include "tests/error_of.h"

namespace weft::test {
namespace {

using distributed::ReduceOp;

/// Whether two tensors have the same dtype and values.
bool same(const Tensor& a, const Tensor& b) { return a.dtype() == b.dtype() && equal(a, b); }

/// Random values of every rank, whose sum depends on the order of the ranks.
std::vector<Tensor> random_values(int64_t count) {
  Generator generator(3);
  std::vector<Tensor> all;
  for (int64_t rank = 0; rank < group().size(); ++rank)
    all.push_back(randn({count}, generator) * (rank == 1 ? 1e4 : 1.0));
  return all;
}

TEST(Rooted, ReduceOfManySizesToEachRoot) {
  const auto& g = group();
  for (const int64_t count : {0, 1, 2, 1023, 4096, 4099, 49152, 49153, 300001}) {
    const std::vector<Tensor> all = random_values(count);
    const Tensor& own = all[size_t(g.rank())];
    for (int64_t root = 0; root < g.size(); ++root)
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max}) {
        Tensor x = own.clone(), y = own.clone(), everywhere = own.clone();
        g.reduce(x, root, op);
        g.reduce_async(y, root, op).wait();  // by messages
        g.all_reduce(everywhere, op);
        const Tensor& expected = g.rank() == root ? everywhere : own;
        EXPECT_TRUE(same(everywhere, reduced(all, op))) << count;
        EXPECT_TRUE(same(x, expected)) << count << " to " << root;
        EXPECT_TRUE(same(y, expected)) << count << " to " << root << ", asynchronous";
      }
  }
}

TEST(Rooted, GatherAndScatterOfManySizes) {
  const auto& g = group();
  for (const int64_t count : {0, 1, 1023, 33000, 100003})
    for (int64_t root = 0; root < g.size(); ++root) {
      std::vector<Tensor> all;
      for (int64_t rank = 0; rank < g.size(); ++rank) all.push_back(values(rank, {2, count}, i32));
      const Tensor& own = all[size_t(g.rank())];
      const Tensor gathered = g.gather(own, root), later = g.gather_async(own, root).wait();
      ASSERT_EQ(gathered.defined(), g.rank() == root);
      ASSERT_EQ(later.defined(), g.rank() == root);
      // What the root has goes back; the others know the shape alone.
      Tensor rows = zeros({1}, i32).expand({2 * g.size(), count});
      if (gathered.defined()) {
        EXPECT_TRUE(same(gathered, stack(all)) && same(later, gathered)) << count;
        rows = gathered.flatten(0, 1);
      }
      EXPECT_TRUE(same(g.scatter(rows, root), own)) << count << " from " << root;
      EXPECT_TRUE(same(g.scatter_async(rows, root).wait(), own)) << count << " from " << root;
    }
}

TEST(Rooted, ManyAreasInARow) {
  const auto& g = group();
  const int64_t n = g.size();
  std::vector<Tensor> all;
  for (int64_t rank = 0; rank < n; ++rank) all.push_back(values(rank, {n, 200001}, i32));
  const Tensor &own = all[size_t(g.rank())], sum = reduced(all, ReduceOp::sum);
  for (int64_t round = 0; round < 4; ++round) {
    if (g.rank() == round % n) (void)values(0, {200000});  // comes late
    const int64_t root = (round + 1) % n;
    Tensor x = own.clone(), y = own.clone();
    g.reduce(x, root);
    EXPECT_TRUE(same(x, g.rank() == root ? sum : own));
    const Tensor part = g.scatter(own, root);
    EXPECT_TRUE(same(part, all[size_t(root)].narrow(0, g.rank(), 1)));
    const Tensor rows = g.gather(part, root);
    EXPECT_EQ(rows.defined(), g.rank() == root);
    if (rows.defined()) {
      EXPECT_TRUE(same(rows.flatten(0, 1), own));
    }
    g.all_reduce(y);
    EXPECT_TRUE(same(y, sum));
  }
}

/// Rank r holds lengths[r % lengths.size()] rows.
void expect_all_rows(const std::vector<int64_t>& lengths, DType dtype) {
  const auto& g = group();
  std::vector<Tensor> all;
  for (int64_t rank = 0; rank < g.size(); ++rank)
    all.push_back(values(rank, {lengths[size_t(rank) % lengths.size()], 3}, dtype));
  const Tensor& own = all[size_t(g.rank())];
  EXPECT_TRUE(same(g.all_gather_rows(own), cat(all)));
  EXPECT_TRUE(same(g.all_gather_rows(own.t().contiguous().t()), cat(all)));
  EXPECT_TRUE(same(distributed::all_gather_rows(own, g), cat(all)));
}

TEST(Rooted, RowsOfDifferentNumbers) {
  for (const DType dtype : {f32, bf16, i64, boolean}) {
    expect_all_rows({3, 5, 1, 2}, dtype);
    expect_all_rows({0, 2}, dtype);
    expect_all_rows({4, 0, 0, 0}, dtype);
    expect_all_rows({0}, dtype);
    expect_all_rows({50000, 7, 0, 30011}, dtype);
  }
  const auto& g = group();
  EXPECT_EQ(g.all_gather_rows(values(g.rank(), {g.rank() + 1})).shape(), (Shape{g.size() * (g.size() + 1) / 2}));
  EXPECT_SAYS(error_of<ShapeError>([&] { (void)g.all_gather_rows(ones({})); }), "all_gather_rows([] f32): ");
}

TEST(Rooted, TextsOfDifferentLengths) {
  const auto& g = group();
  const auto text_of = [](int64_t rank) { return std::string(size_t(rank % 2 * 1000 + rank / 2), char('a' + rank)); };
  std::vector<std::string> expected;
  for (int64_t rank = 0; rank < g.size(); ++rank) expected.push_back(text_of(rank));
  EXPECT_EQ(distributed::gather_texts(g, text_of(g.rank())), expected);
}

TEST(Rooted, WrongArgumentsAreErrorsOfOneLine) {
  const auto& g = group();
  const Tensor x = zeros({2 * g.size()});
  for (const int64_t root : {int64_t(-1), g.size()}) {
    EXPECT_SAYS(error_of<IndexError>([&] { g.reduce(x, root); }), "the root is rank ");
    EXPECT_THROW((void)g.reduce_async(x, root), IndexError);
    EXPECT_SAYS(error_of<IndexError>([&] { (void)g.gather(x, root); }), "the root is rank ");
    EXPECT_THROW((void)g.gather_async(x, root), IndexError);
    EXPECT_SAYS(error_of<IndexError>([&] { (void)g.scatter(x, root); }), "the root is rank ");
    EXPECT_THROW((void)g.scatter_async(x, root), IndexError);
  }
  EXPECT_THROW((void)g.scatter(zeros({}), 0), ShapeError);
  if (g.size() > 1) {
    EXPECT_SAYS(error_of<ShapeError>([&] { (void)g.scatter(zeros({2 * g.size() + 1}), 0); }), "the first axis");
  }
  const Tensor w = parameter(ones({2}));
  EXPECT_THROW(g.reduce(w, 0), GradientError);
  EXPECT_THROW(g.reduce(w * 2.0, 0), GradientError);
  EXPECT_SAYS(error_of<GradientError>([&] { (void)distributed::reduce(w, g, 0, ReduceOp::max); }), "reduce: max");
  EXPECT_SAYS(error_of([&] { g.barrier(-1); }), "barrier(): the timeout must be ");
  EXPECT_THROW(g.barrier(std::nan("")), Error);
  g.barrier(5);
}

TEST(Rooted, EveryRankRefusesATensorOfVmap) {
  const auto& g = group();
  const Tensor batch = ones({3, 2 * g.size()});
  EXPECT_THROW(vmap([&](const Tensor& x) { return g.scatter(x, 0); })(batch), DeviceError);
  EXPECT_THROW(vmap([&](const Tensor& x) { return g.scatter_async(x, 0).wait(); })(batch), DeviceError);
  EXPECT_THROW(vmap([&](const Tensor& x) { return g.gather(x, 0); })(batch), DeviceError);
  g.barrier();  // no rank waits for another in one of these
}

TEST(Rooted, ReduceOfTwoRanksNeedsNoMemory) {
  const auto& g = group();
  if (g.size() != 2 || !g.is_shared()) GTEST_SKIP() << "more ranks sum a slice each, and messages have buffers";
  const Tensor x = ones({1 << 20});
  reset_peak_memory();
  const int64_t before = memory_stats().peak_bytes;
  g.reduce(x, 0);
  EXPECT_LT(memory_stats().peak_bytes - before, 1 << 19);
}

TEST(Rooted, ReduceIsAWriteOnTheRootAlone) {
  const auto& g = group();
  const Tensor y = parameter(ones({2})).exp();
  g.reduce(y.detach(), 0);
  // exp kept its result, which was written there.
  if (g.rank() == 0) {
    EXPECT_THROW(y.sum().backward(), GradientError);
  } else {
    EXPECT_NO_THROW(y.sum().backward());
  }
}

TEST(Rooted, SignaturesNameTheRoot) {
  using distributed::Call, distributed::Signature;
  EXPECT_EQ(Signature::of(Call::reduce, {3}, f32, 2, ReduceOp::max).to_string(),
            "reduce([3] f32, max, to rank 2), call 1");
  EXPECT_EQ(Signature::of(Call::gather, {3}, f32, 2).to_string(), "gather([3] f32, to rank 2), call 1");
  EXPECT_EQ(Signature::of(Call::scatter, {3}, f32, 2).to_string(), "scatter([3] f32, from rank 2), call 1");
  EXPECT_EQ(Signature::of(Call::row_counts, {3}, f32).to_string(), "all_gather_rows(rows of [3] f32), call 1");
  EXPECT_EQ(Signature::of(Call::all_gather_rows, {5, 3}, f32).to_string(), "all_gather_rows([5, 3] f32), call 1");
}

}  // namespace
}  // namespace weft::test
