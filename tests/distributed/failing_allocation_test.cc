// Memory that runs out on one rank as its backward begins: it can try again, and gradients are those of all ranks.
// (What comes later ends the group: fault_test.)
#include "autograd/gradient_buffer.h"
#include "tests/distributed/ranks.h"
#include "tests/failing_allocations.h"

namespace weft::test {
namespace {

/// Notes how many allocations there were when the gradient of its result arrives, before DataParallel's hook gets it.
struct Net : nn::Module {
  nn::Linear linear = register_module("linear", nn::Linear(4, 3));
  int64_t allocations = 0;
  Tensor forward(const Tensor& x) {
    const Tensor y = linear(x);
    y.register_hook([this](const Tensor&) { allocations = FailingAllocation::made(); });
    return y;
  }
};

TEST(FailingAllocations, ABackwardThatHasNotBegunCanBeRepeated) {
  constexpr int64_t kBefore = 2, kToBegin = 2;  // the allocations that are tried
  const distributed::Group& g = group();
  const bool fails = g.rank() == g.size() - 1;
  manual_seed(1);
  Net net;
  distributed::DataParallel parallel(net, g);
  const Tensor x = full({2, 4}, static_cast<double>(g.rank() + 1));
  const auto backward = [&](const Tensor& loss) {
    net.zero_grad();
    loss.backward({.retain_graph = true});
  };
  for (int i = 0; i < 2; ++i) {  // the second time everything has its place
    const Tensor loss = parallel(x).sum();
    const FailingAllocation counting(1'000'000, FailingAllocation::Where::here);
    backward(loss);
  }
  const Tensor expected = net.linear.weight().grad().clone();
  const int64_t noted = net.allocations, first = noted - kBefore, last = noted + kToBegin;
  for (int64_t nth = first; nth <= last; ++nth) {
    const Tensor loss = parallel(x).sum();
    bool failed = false;
    if (fails) {
      const FailingAllocation failing(nth, FailingAllocation::Where::here_on);
      try {
        backward(loss);
      } catch (const std::exception&) {
        failed = true;
      }
    }
    if (failed || !fails) backward(loss);
    EXPECT_EQ(failed, fails) << nth;
    ASSERT_TRUE(equal(net.linear.weight().grad(), expected)) << nth << " of " << noted;
  }
}

Tensor last_placed;  // the parameter that gets its gradient's place last

TEST(FailingAllocations, ADataParallelThatWasNotMadeLeavesTheModelAsItWas) {
  const distributed::Group& g = group();
  if (g.size() == 1) GTEST_SKIP() << "one rank has no buckets";
  Net net;
  last_placed = net.linear.weight();
  const auto make_without_memory = [&] {
    const FailingAllocation failing([] { return autograd::has_gradient_buffer(last_placed); });
    const distributed::DataParallel parallel(net, g);
  };
  EXPECT_THROW(make_without_memory(), std::bad_alloc);  // as it registers its hooks
  for (const Tensor& p : net.parameters()) EXPECT_FALSE(autograd::has_gradient_buffer(p));
  const distributed::DataParallel parallel(net, g);
  parallel(full({2, 4}, static_cast<double>(g.rank() + 1))).sum().backward();
  EXPECT_TRUE(equal(net.linear.weight().grad(), full({3, 4}, static_cast<double>(g.size() + 1))));
}

}  // namespace
}  // namespace weft::test
