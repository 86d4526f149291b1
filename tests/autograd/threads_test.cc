// Several threads at once: backward into shared parameters, reads of one tensor; and what runs when threads end.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "tensor/autocast.h"
#include "tensor/batching/vmap.h"
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

// Both threads find that its history is out of date, and take a new one from the base.
TEST_F(SharedLeaves, AViewMayBeReadWhereItsBaseWasWritten) {
  const Tensor w = parameter(ones({4, 4}, f64));
  for (int i = 0; i < 2000; ++i) {
    Tensor base = w * 1.0;
    const Tensor row = base[1];
    base *= 3.0;
    std::atomic<int> ready{0};
    in_threads(2, [&] {
      for (++ready; ready < 2;) std::this_thread::yield();
      EXPECT_TRUE((row * 2.0).requires_grad());
    });
    if (i % 500 != 0) continue;
    EXPECT_EQ(numbers(grad(row.sum(), {w})[0][1]), Numbers(4, 3.0));
  }
}

/// Computes with all that keeps objects of a thread.
double late_sum() {
  const Tensor x = parameter(ones({1, 3, 8, 8})), w = parameter(ones({3, 3, 3, 3}));
  const Tensor y = conv2d(x, w, {.padding = 1}), z = vmap([](const Tensor&row) { return row * row; })(ones({3, 3}));
  const Autocast autocast(bf16);
  matmul(x.reshape({24, 8}), ones({8, 24})).sum().backward();
  return y.sum().item() + z.sum().item();
}

/// Computes when it is destroyed, after objects of its thread that were made later.
struct Late {
  double* sum;
  ~Late() { *sum = late_sum(); }
};

TEST(EndOfAThread, DestructorsOfThreadLocalObjectsCompute) {
  double early = 0, late = 0;
  std::thread([&] {
    static thread_local Late last{&late};
    (void)last.sum;
    early = late_sum();
  }).join();
  EXPECT_GT(early, 0);
  EXPECT_EQ(late, early);
}

TEST(EndOfAProgram, DestructorsOfStaticObjectsCompute) {
  const auto ends = [] {
    static double early = 0, late = 0;
    static const auto check = [] { std::_Exit(late == early && early > 0 ? 0 : 1); };
    struct Check {
      ~Check() { check(); }
    };
    static const Check last;
    static const Late before_last{&late};
    early = late_sum();
    std::exit(2);
  };
  EXPECT_EXIT(ends(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace weft
