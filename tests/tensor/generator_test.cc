// Generators, and the distributions of what is drawn with them.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>
#include <thread>

#include "tensor/core/error.h"
#include "tensor/core/random.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/dropout.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/memory/allocator.h"
#include "tensor/runtime/threads.h"
#include "tests/in_child.h"

namespace weft {
namespace {

TEST(Generator, FollowsItsSeedAlone) {
  Generator a(3), b(3), other(4);
  const Tensor first = rand({8}, a);
  (void)rand({100});
  EXPECT_TRUE(equal(rand({8}, b), first));
  EXPECT_FALSE(equal(rand({8}, other), first));
  EXPECT_FALSE(equal(rand({8}, a), first));
  a.manual_seed(3);
  EXPECT_TRUE(equal(rand({8}, a), first));
}

TEST(Generator, SplitsIntoAsManyAsMemoryHolds) {
  Generator generator(3);
  const RandomState state = generator.state();
  EXPECT_THROW((void)generator.split(-1), Error);
  EXPECT_THROW((void)generator.split(int64_t{1} << 60), MemoryError);
  EXPECT_EQ(generator.state(), state);
  EXPECT_EQ(generator.split(3).size(), 3u);
}

TEST(Generator, LeavesTheProcessesAlone) {
  manual_seed(1);
  const Tensor expected = randn({5});
  manual_seed(1);
  Generator own(9);
  (void)randn({5}, own);
  (void)multinomial(ones({4}), 2, false, own);
  EXPECT_TRUE(equal(randn({5}), expected));
}

TEST(Generator, ContinuesFromASavedState) {
  Generator generator(5);
  (void)rand({7}, generator);
  const RandomState state = generator.state();
  const Tensor next = randn({4}, generator);
  Generator resumed(state);
  EXPECT_TRUE(equal(randn({4}, resumed), next));
  generator.set_state(state);
  EXPECT_TRUE(equal(randn({4}, generator), next));
}

TEST(Generator, SplitsIntoStreamsThatDiffer) {
  Generator root(0);
  std::vector<Generator> parts = root.split(100);
  for (const Generator& more : root.split(100)) parts.push_back(more);
  parts.push_back(root);
  std::set<uint64_t> seeds;
  std::set<double> firsts;
  for (Generator& part : parts) {
    seeds.insert(part.state().seed);
    firsts.insert(rand({}, part, f64).item<double>());
  }
  EXPECT_EQ(seeds.size(), 201u);
  EXPECT_EQ(firsts.size(), 201u);
  // The same parts again, whatever is drawn from them.
  Generator again(0);
  EXPECT_EQ(again.split(100)[42].state(), Generator(0).split(43)[42].state());
  EXPECT_TRUE(root.split(0).empty());
  EXPECT_THROW(root.split(-1), Error);
  EXPECT_THROW(root.next_key(-1), Error);
}

TEST(Generator, ServesThreadsAtOnce) {
  Generator generator(2);
  std::vector<std::vector<RandomKey>> keys(4);
  std::vector<std::thread> threads;
  for (auto& own : keys)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) own.push_back(generator.next_key(2));
    });
  for (std::thread& thread : threads) thread.join();
  std::set<uint64_t> offsets;
  for (const auto& own : keys)
    for (const RandomKey& key : own) offsets.insert(key.offset);
  EXPECT_EQ(offsets.size(), 2000u);
}

/// What `draw` gives is the same with one thread and with several.
template <class F> void expect_same_at_any_thread_count(F draw) {
  const int before = num_threads();
  set_num_threads(1);
  const Tensor one = draw(Generator(6));
  set_num_threads(4);
  const Tensor four = draw(Generator(6));
  set_num_threads(before);
  EXPECT_TRUE(equal(one, four));
}

TEST(Samples, AreTheSameAtAnyThreadCount) {
  const Tensor weights = rand({300, 40}) + 0.1;
  expect_same_at_any_thread_count([&](Generator g) { return multinomial(weights, 50, true, g); });
  expect_same_at_any_thread_count([&](Generator g) { return multinomial(weights, 20, false, g); });
  expect_same_at_any_thread_count([&](Generator g) { return poisson(weights * 30, g); });
  expect_same_at_any_thread_count([&](Generator g) { return bernoulli(clip(weights, 0, 1), g); });
}

void expect_mean_and_variance(const Tensor& x, double mean, double variance) {
  const double n = static_cast<double>(x.numel()), got = x.to(f64).mean().item<double>();
  EXPECT_NEAR(got, mean, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(x.to(f64).var().item<double>(), variance, 0.03 * variance);
}

TEST(Samples, HaveTheirMomentsRight) {
  Generator g(11);
  for (double rate : {0.3, 2.0, 9.9, 10.1, 55.0, 4000.0})
    expect_mean_and_variance(poisson(full({200000}, rate, f64), g), rate, rate);
  expect_mean_and_variance(bernoulli(full({200000}, 0.3), g), 0.3, 0.21);
  expect_mean_and_variance(zeros({200000}).exponential_(2, g), 0.5, 0.25);
  expect_mean_and_variance(zeros({200000}).uniform_(-1, 3, g), 1, 16.0 / 12);
  expect_mean_and_variance(zeros({200000}).normal_(5, 2, g), 5, 4);
  expect_mean_and_variance(zeros({200000}, i32).bernoulli_(0.25, g), 0.25, 0.1875);
  expect_mean_and_variance(normal(full({200000}, 2.0), full({}, 3.0), g), 2, 9);
}

// Whatever the memory order is, the numbers are drawn into it, with the bits of the formula that makes a new tensor.
TEST(Samples, AreDrawnIntoTheirTensor) {
  for (const DType dtype : {f32, f64, bf16, f16}) {
    const Tensor memory = zeros({40, 64, 33}, dtype);
    for (Tensor x : {memory, memory.permute({2, 0, 1}), memory.slice(2, 1, 33, 2), memory.flip({0, 2})}) {
      Generator a(7), b(7);
      reset_peak_memory();
      const int64_t before = memory_stats().live_bytes;
      x.normal_(1, 2, a);
      EXPECT_LT(memory_stats().peak_bytes - before, memory.numel() / 16);
      EXPECT_TRUE(equal(x, randn(x.shape(), b, dtype) * 2 + 1));
      reset_peak_memory();
      x.uniform_(0, 1, a);
      x.uniform_(-0.5, 0.5, a);  // none is rounded up to 0.5
      EXPECT_LT(memory_stats().peak_bytes - before, memory.numel() / 16);
      b.set_state(a.state());
      x.uniform_(1, 2, a);
      const Tensor u = rand(x.shape(), b, dtype) + 1.0;
      EXPECT_TRUE(equal(x, where(u < 2, u, 1)));
    }
  }
}

TEST(Samples, FollowTheirWeights) {
  Generator g(12);
  const std::vector<double> p = {0.1, 0, 0.4, 0.2, 0.3};
  const Tensor weights = from_vector(p) * 7;
  const int64_t n = 100000;
  const Tensor drawn = multinomial(weights, n, true, g);
  const Tensor first = multinomial(weights.expand({n, 5}), 2, false, g);
  for (int64_t k = 0; k < 5; ++k) {
    const double expected = p[static_cast<size_t>(k)], allowed = 5 * std::sqrt(expected * (1 - expected) / n);
    EXPECT_NEAR((drawn == k).to(f64).mean().item<double>(), expected, allowed) << k;
    EXPECT_NEAR((first.select(1, 0) == k).to(f64).mean().item<double>(), expected, allowed) << k;
    // The second: the first was another one, and this came of what was left.
    double second = 0;
    for (size_t j = 0; j < 5; ++j)
      if (j != static_cast<size_t>(k)) second += p[j] * expected / (1 - p[j]);
    EXPECT_NEAR((first.select(1, 1) == k).to(f64).mean().item<double>(), second, 0.01) << k;
  }
}

TEST(Generator, AForkedChildDrawsWhateverOtherThreadsDrew) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) (void)next_random_key(1);
  });
  const auto draw = [] { return (void)next_random_key(1), 7; };
  int status = 7;
  for (int i = 0; i < 50 && status == 7; ++i) status = in_child(draw);
  EXPECT_EQ(status, 7);
  stop = true;
  other.join();
}

TEST(Samples, OneWithoutReplacementIsOneWithIt) {
  Generator a(4), b(4);
  const Tensor weights = rand({50, 30}, a);
  (void)rand({50, 30}, b);
  EXPECT_TRUE(equal(multinomial(weights, 1, false, a), multinomial(weights, 1, true, b)));
  EXPECT_EQ(a.state(), b.state());
}

TEST(Draws, RandintFromZeroAndDropoutOutsideOfTraining) {
  manual_seed(3);
  const Tensor a = randint(5, {20});
  manual_seed(3);
  EXPECT_TRUE(equal(a, randint(0, 5, {20})));
  const Tensor x = ones({100});
  EXPECT_TRUE(dropout(x, 0.5, false).is_same(x));
  EXPECT_FALSE(equal(dropout(x, 0.5, true), x));
}

}  // namespace
}  // namespace weft
