// The copies of parameters that an Autocast scope shares: never a stale value, whatever code writes, and one cast per
// change.
#include "tensor/dispatch/autocast_copies.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "autograd/autograd.h"
#include "tensor/autocast.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions_all.h"
#include "tensor/memory/allocator.h"

namespace weft {
namespace {

/// What a product in the scope sees of w: x is the identity.
Tensor seen(const Tensor& w) { return matmul(eye(w.size(0)), w).to(f32); }

TEST(AutocastCopies, AreMadeOncePerChange) {
  const Tensor w = parameter(randn({64, 64}));
  const Autocast scope(f16);
  const Tensor first = dispatch::autocast_copy(w, f16), second = dispatch::autocast_copy(w, f16);
  EXPECT_TRUE(first.shares_storage(second));
  EXPECT_FALSE(first.is_same(second)) << "each use has a history of its own";
  EXPECT_TRUE(first.requires_grad() && second.requires_grad());
  {
    const NoGrad guard;
    const Tensor third = dispatch::autocast_copy(w, f16);
    EXPECT_TRUE(third.shares_storage(first));
    EXPECT_FALSE(third.requires_grad());
    Tensor(w).add_(1.0);
  }
  EXPECT_FALSE(dispatch::autocast_copy(w, f16).shares_storage(first));
}

TEST(AutocastCopies, AreNeverStale) {
  Tensor w = parameter(full({4, 4}, 1.0, f32));
  const Autocast scope(f16);
  EXPECT_TRUE(equal(seen(w), full({4, 4}, 1.0, f32)));
  {
    const NoGrad guard;
    w.fill_(2.0);
    EXPECT_TRUE(equal(seen(w), full({4, 4}, 2.0, f32)));
    w[0].fill_(3.0);  // through a view
    EXPECT_EQ(seen(w).to_vector<float>()[0], 3.0f);
    w.detach().fill_(4.0);
  }
  EXPECT_TRUE(equal(seen(w), full({4, 4}, 4.0, f32)));
  float* memory = w.data<float>();
  EXPECT_EQ(seen(w).to_vector<float>()[0], 4.0f);
  memory[0] = 5;  // without a version
  EXPECT_EQ(seen(w).to_vector<float>()[0], 5.0f);
}

TEST(AutocastCopies, OfBorrowedMemoryAreNotKept) {
  std::vector<float> memory(16, 1.0f);
  const Tensor w = parameter(Tensor::wrap(memory.data(), {4, 4}));
  const Autocast scope(f16);
  EXPECT_EQ(seen(w).to_vector<float>()[5], 1.0f);
  memory[5] = 7;
  EXPECT_EQ(seen(w).to_vector<float>()[5], 7.0f);
}

TEST(AutocastCopies, EndWithTheOutermostScope) {
  const Tensor w = parameter(randn({64, 64}));
  const int64_t before = memory_stats().live_bytes;
  {
    const Autocast outer(f16);
    {
      const Autocast inner(f16);
      (void)dispatch::autocast_copy(w, f16);
    }
    EXPECT_GE(memory_stats().live_bytes, before + 64 * 64 * 2);
    const Tensor again = dispatch::autocast_copy(w, f16);
  }
  EXPECT_EQ(memory_stats().live_bytes, before);
  EXPECT_FALSE(dispatch::autocast_copy(w, f16).shares_storage(dispatch::autocast_copy(w, f16))) << "no scope";
}

TEST(AutocastCopies, GiveTheGradientOfEveryUse) {
  const Tensor w = parameter(full({3, 3}, 0.5, f32)), x = ones({2, 3});
  {
    const Autocast scope(f16);
    const Tensor y = matmul(x, w), z = matmul(x, w);
    (sum(y) + sum(z)).backward();
  }
  EXPECT_EQ(w.grad().dtype(), f32);
  EXPECT_TRUE(equal(w.grad(), full({3, 3}, 4.0, f32)));
}

// A scope, one switched off, NoGrad and a checkpoint in one model; results are those of each part alone.
TEST(AutocastCopies, MixWithNoGradAndCheckpoint) {
  const Tensor w = parameter(randn({8, 8}) * 0.3), v = parameter(randn({8, 8}) * 0.3), x = randn({4, 8});
  const auto forward = [&](bool with_checkpoint) {
    const Autocast scope(f16);
    const auto half = [&](const Tensor& in) { return tanh(matmul(in, w)); };
    const Tensor y = with_checkpoint ? autograd::checkpoint(half, x) : half(x);
    Tensor fixed;
    {
      const NoGrad guard;
      fixed = matmul(y, w);
    }
    const auto exact = Autocast::off();
    return sum(matmul(y.to(f32), v) * fixed.to(f32));
  };
  const auto gradients = [&](bool with_checkpoint) {
    Tensor(w).zero_grad();
    Tensor(v).zero_grad();
    forward(with_checkpoint).backward();
    return std::vector<Tensor>{clone(w.grad()), clone(v.grad())};
  };
  const auto plain = gradients(false), again = gradients(true);
  EXPECT_EQ(plain[0].dtype(), f32);
  EXPECT_TRUE(equal(plain[0], again[0]));
  EXPECT_TRUE(equal(plain[1], again[1]));
}

TEST(AutocastCopies, BelongToOneThread) {
  const Tensor w = parameter(randn({32, 32}));
  const Tensor expected = w.detach().to(f16).to(f32);
  std::vector<int> right(4, 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < right.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const Autocast scope(f16);
        right[t] += equal(dispatch::autocast_copy(w, f16).detach().to(f32), expected) &&
                    equal(dispatch::autocast_copy(w, f16).detach().to(f32), expected);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(4, 20));
}

}  // namespace
}  // namespace weft
