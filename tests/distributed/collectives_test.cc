// Collectives on tensors: sizes around the staging areas, zero sizes, handles, and errors that every rank makes.
#include <memory>

#include "distributed/node/slot.h"
#include "distributed/signature.h"
#include "tests/distributed/ranks.h"
#include "tests/error_of.h"

namespace weft::test {
namespace {

using distributed::ReduceOp;

TEST(Collectives, AllReduceOfManySizes) {
  const auto& g = group();
  for (const int64_t count : {0, 1, 2, 1023, 4096, 49152, 49153, 300001}) {
    Tensor x = values(g.rank(), {count}), expected = zeros({count});
    for (int64_t rank = 0; rank < g.size(); ++rank) expected += values(rank, {count});
    g.all_reduce(x);
    EXPECT_TRUE(equal(x, expected)) << count;
  }
}

/// Many staging areas of each collective, one right behind the other and ranks in no step: an area is not filled again
/// before all have read it.
TEST(Collectives, ManyAreasInARow) {
  const auto& g = group();
  const Shape shape = {g.size(), 500001};
  std::vector<Tensor> all;
  for (int64_t rank = 0; rank < g.size(); ++rank) all.push_back(values(rank, shape, i32));
  const Tensor &mine = all[size_t(g.rank())], sum = reduced(all, ReduceOp::sum);
  for (int64_t round = 0; round < 6; ++round) {
    if (g.rank() == round % g.size()) (void)values(0, {200000});  // comes late
    Tensor x = mine.clone(), y = mine.clone();
    g.all_reduce(x);
    EXPECT_TRUE(equal(x, sum));
    EXPECT_TRUE(equal(g.reduce_scatter(mine, ReduceOp::sum), sum.narrow(0, g.rank(), 1)));
    EXPECT_TRUE(equal(g.all_gather(mine), stack(all)));
    g.broadcast(y, round % g.size());
    EXPECT_TRUE(equal(y, all[size_t(round % g.size())]));
    const Tensor swapped = g.all_to_all(mine);
    for (int64_t rank = 0; rank < g.size(); ++rank)
      EXPECT_TRUE(equal(swapped[rank], all[size_t(rank)][g.rank()])) << rank;
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

TEST(Collectives, SeveralTransfersWithOneTag) {
  const auto& g = group();
  EXPECT_THROW(g.send(zeros({1}), g.rank()), IndexError);
  EXPECT_EQ(error_of([&] { (void)g.send_async(zeros({1}), -1); }).find("send_async([1] f32): to rank -1: "), 0u);
  EXPECT_EQ(error_of([&] { (void)g.recv_async(zeros({1}), -1); }).find("recv_async([1] f32): from rank -1: "), 0u);
  if (g.size() == 1) GTEST_SKIP() << "one rank has no other to send to";
  const int64_t next = (g.rank() + 1) % g.size(), before = (g.rank() + g.size() - 1) % g.size();
  EXPECT_THROW(g.send(zeros({1}), next, 40000), IndexError);
  std::vector<distributed::Work> works;
  std::vector<Tensor> received;
  for (int64_t i = 0; i < 4; ++i) {
    received.push_back(zeros({100000, i}));
    works.push_back(g.send_async(values(g.rank(), {100000, i}) + double(i), next, 7));
    works.push_back(g.recv_async(received.back(), before, 7));
  }
  g.barrier_async().wait();
  while (!works.empty()) works.back().wait(), works.pop_back();
  for (int64_t i = 0; i < 4; ++i) EXPECT_TRUE(equal(received[size_t(i)], values(before, {100000, i}) + double(i))) << i;
}

TEST(Collectives, MoreAtOnceThanThereAreTags) {
  const auto& g = group();
  std::vector<Tensor> sums;
  std::vector<distributed::Work> works;
  for (int i = 0; i < 8192 + 100; ++i) {
    works.push_back(g.all_reduce_async(sums.emplace_back(full({1}, double(i + g.rank())))));
  }
  for (auto& work : works) work.wait();
  for (size_t i = 0; i < sums.size(); ++i)
    ASSERT_EQ(sums[i].item(), double(g.size() * (2 * i + g.size() - 1)) / 2) << i;
}

TEST(Collectives, WorkThatIsDroppedGoesOn) {
  const auto& g = group();
  constexpr int64_t kCount = 1 << 18;
  for (int round = 0; round < 3; ++round) {
    (void)g.all_reduce_async(full({kCount}, 3.0));
    (void)g.all_gather_async(full({kCount}, 3.0));
    (void)g.broadcast_async(full({kCount}, 3.0), 0);
    // Memory that a result of the above would be written to, were it given back.
    std::vector<Tensor> mine;
    for (int64_t i = 0; i < 8; ++i) mine.push_back(full({i == 0 ? g.size() * kCount : kCount}, 7.0));
    for (int i = 0; i < 3; ++i) g.barrier_async().wait(), g.barrier();
    for (const Tensor& x : mine) EXPECT_TRUE(x.min().item<float>() == 7 && x.max().item<float>() == 7);
  }
}

TEST(Collectives, AWriteBeforeWaitIsAnError) {
  const auto& g = group();
  if (g.size() == 1) GTEST_SKIP() << "alone, all is done at once";
  const auto refused = [](distributed::Work work, const std::string& op) {
    const std::string line = error_of([&] { work.wait(); });
    EXPECT_NE(line.find("was written by `" + op + "` before wait()"), std::string::npos) << line;
  };
  Tensor x = ones({4}), turned = ones({2, 3}).t();
  auto work = g.all_reduce_async(x);
  x.add_(1.0);
  refused(work, "add_");
  work = g.broadcast_async(turned, 0);
  turned[0].fill_(2.0);
  refused(work, "fill_");
  auto gathered = g.all_gather_async(x);
  x.zero_();
  refused(gathered.work, "fill_");
  gathered = g.all_gather_async(x);
  gathered.result.fill_(3.0);
  refused(gathered.work, "fill_");
  // Parts of one memory are exchanged and written at once, and what is only read may be exchanged twice.
  Tensor rows = ones({3, 2});
  std::vector<distributed::Work> works = {g.all_reduce_async(rows[0]), g.all_reduce_async(rows[1])};
  rows[2].fill_(5.0);
  for (distributed::Work& one : works) one.wait();
  EXPECT_EQ(rows[0].sum().item<double>(), 2.0 * double(g.size()));
  auto first = g.all_gather_async(x), second = g.all_gather_async(x);
  EXPECT_TRUE(equal(first.wait(), second.wait()));
}

TEST(Collectives, CopiesOfAHandleAreTheSameWork) {
  const auto& g = group();
  Tensor base = ones({2, 3});
  Tensor x = base.t();  // not row-major: the sum is copied to it at the end
  distributed::Work work = g.all_reduce_async(x), copy = work;
  work.wait();
  EXPECT_EQ(base.sum().item<double>(), 6.0 * double(g.size()));
  base.fill_(7.0);
  copy.wait();
  EXPECT_EQ(base.sum().item<double>(), 42.0);
  EXPECT_TRUE(copy.is_done());
}

/// A signature of a small call.
distributed::Signature call_of(distributed::Call call, int root = 0, uint64_t number = 0) {
  auto out = distributed::Signature::of(call, {3}, f32, root);
  out.number = number;
  return out;
}

TEST(Collectives, WaitsThatCanGoOn) {
  using distributed::Call, distributed::can_go_on;
  EXPECT_TRUE(can_go_on({call_of(Call::barrier), call_of(Call::barrier)}));
  EXPECT_FALSE(can_go_on({call_of(Call::barrier), call_of(Call::all_reduce)}));
  EXPECT_FALSE(can_go_on({call_of(Call::all_reduce, 0, 1), call_of(Call::all_reduce, 0, 2)}));
  EXPECT_TRUE(can_go_on({call_of(Call::send, 1, 5), call_of(Call::recv, 0, 5), call_of(Call::barrier)}));
  EXPECT_FALSE(can_go_on({call_of(Call::send, 1, 5), call_of(Call::recv, 0, 6)})) << "other tags";
  EXPECT_FALSE(can_go_on({call_of(Call::send, 1), call_of(Call::send, 0)}));
  EXPECT_FALSE(can_go_on({call_of(Call::send, 2), call_of(Call::recv, 0), call_of(Call::recv, 1)}));
}

TEST(Collectives, WhatARankDoesAndDid) {
  const auto slot = std::make_unique<distributed::Slot>();
  EXPECT_EQ(slot->activity(), "computes");
  EXPECT_EQ(slot->past_activity(), "computed");
  slot->describe(call_of(distributed::Call::all_reduce));
  slot->waiting = 1;
  EXPECT_EQ(slot->activity(), "waits in all_reduce([3] f32, sum), call 1");
  EXPECT_EQ(slot->past_activity(), "waited in all_reduce([3] f32, sum), call 1");
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
