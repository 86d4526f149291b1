// Backward in several threads at once, into shared parameters.
#include <atomic>
#include <thread>

#include "tests/autograd/checks.h"

namespace weft {
namespace {

using testing::numbers;
using testing::Numbers;

class SharedLeaves : public testing::NoLeaks {};

template <class F> void in_threads(int count, const F& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body);
  for (std::thread& thread : threads) thread.join();
}

TEST_F(SharedLeaves, NoContributionIsLost) {
  constexpr int kThreads = 4, kRuns = 20000;
  const Tensor w = parameter(full({1}, 2.0, f64)), v = parameter(full({1}, 3.0, f64));
  in_threads(kThreads, [&] {
    for (int i = 0; i < kRuns; ++i) (w * v).sum().backward();
  });
  EXPECT_EQ(numbers(w.grad()), Numbers({3.0 * kThreads * kRuns}));
  EXPECT_EQ(numbers(v.grad()), Numbers({2.0 * kThreads * kRuns}));
}

TEST_F(SharedLeaves, NorWhereGradientsAreLarge) {
  constexpr int kThreads = 4, kRuns = 50;
  const Tensor w = parameter(ones({300, 300}));
  in_threads(kThreads, [&] {
    for (int i = 0; i < kRuns; ++i) (w + w).sum().backward();
  });
  EXPECT_EQ(numbers(w.grad()), Numbers(300 * 300, 2.0 * kThreads * kRuns));
}

TEST_F(SharedLeaves, EachRunIsAnnounced) {
  constexpr int kThreads = 4, kRuns = 1000;
  Tensor w = parameter(ones({1}, f64));
  std::atomic<int> calls{0};
  w.register_post_accumulate_grad_hook([&](const Tensor& sum) {
    EXPECT_TRUE(sum.defined());
    ++calls;
  });
  in_threads(kThreads, [&] {
    for (int i = 0; i < kRuns; ++i) w.sum().backward();
  });
  EXPECT_EQ(calls, kThreads * kRuns);
  EXPECT_EQ(numbers(w.grad()), Numbers({kThreads * kRuns}));
}

}  // namespace
}  // namespace weft
