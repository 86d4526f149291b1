// linear_cross_entropy() against cross_entropy(linear()): the same numbers in less memory.
#include "nn/losses/linear_cross_entropy.h"

#include <gtest/gtest.h>

#include <vector>

#include "autograd/backward.h"
#include "tensor/core/random.h"
#include "tensor/functions_all.h"
#include "tensor/memory/allocator.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

struct Problem {
  Tensor x, matrix, bias, targets;
};

Problem problem(bool soft) {
  Generator g(3);
  const Tensor classes = randint(0, 7, {2, 5}, g);
  classes[0][1].fill_(-100);
  return {randn({2, 5, 4}, g, f64), randn({7, 4}, g, f64), randn({7}, g, f64),
          soft ? softmax(randn({2, 5, 7}, g, f64), -1) : classes};
}

/// The loss of Problem p as one product and one loss.
Tensor plain(const Problem& p, const LinearCrossEntropyOptions& o) {
  const bool soft = is_floating(p.targets.dtype());
  const Tensor logits = linear(p.x, p.matrix, o.bias).reshape({10, 7});
  const Tensor loss = cross_entropy(logits, p.targets.reshape(soft ? Shape{10, 7} : Shape{10}),
                                    {o.weight, o.ignore_index, o.label_smoothing, o.reduction});
  return o.reduction == Reduction::none ? loss.reshape({2, 5}) : loss;
}

double difference(const Tensor& a, const Tensor& b) { return max(abs(a - b)).item(); }

TEST(LinearCrossEntropy, GivesLossAndGradientsOfTheTwo) {
  const Tensor weight = tensor({0.5, 1.0, 2.0, 0.1, 1.5, 1.0, 3.0}).to(f64);
  for (const bool soft : {false, true})
    for (const int64_t rows : {0, 1, 3, 4, 10})
      for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum})
        for (const bool more : {false, true}) {
          const Problem p = problem(soft);
          for (const Tensor& t : {p.x, p.matrix, p.bias}) t.requires_grad_();
          LinearCrossEntropyOptions o{.reduction = reduction, .rows = rows};
          if (more) o.bias = p.bias, o.weight = weight, o.label_smoothing = 0.2;
          const Tensor a = linear_cross_entropy(p.x, p.matrix, p.targets, o), b = plain(p, o);
          ASSERT_EQ(a.shape(), b.shape());
          ASSERT_LT(difference(a, b), 1e-13);
          std::vector<Tensor> leaves = {p.x, p.matrix};
          if (more) leaves.push_back(p.bias);
          const auto ga = grad(a.square().sum(), leaves), gb = grad(b.square().sum(), leaves);
          for (size_t i = 0; i < leaves.size(); ++i) ASSERT_LT(difference(ga[i], gb[i]), 1e-12) << i;
        }
}

TEST(LinearCrossEntropy, AddsTheGradientsOfPartsInF32) {
  Generator g(5);
  const Tensor x = (rand({8192, 4}, g) + 0.5).to(bf16), matrix = randn({7, 4}, g).to(bf16), bias = zeros({7}, bf16),
               targets = zeros({8192}, i64);
  for (const Tensor& t : {matrix, bias}) t.requires_grad_();
  const std::vector<Tensor> leaves = {matrix, bias};
  const auto parts = grad(linear_cross_entropy(x, matrix, targets, {.bias = bias, .rows = 128}), leaves);
  const auto whole = grad(cross_entropy(linear(x, matrix, bias).to(f32), targets), leaves);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(parts[i].dtype(), bf16);
    EXPECT_LT(difference(parts[i].to(f32), whole[i].to(f32)), 0.01 * max(abs(whole[i])).item());
  }
}

TEST(LinearCrossEntropy, IsDifferentiableTwice) {
  const Problem p = problem(false);
  p.x.requires_grad_();
  const auto second = [&](const Tensor& loss) {
    const Tensor g = grad(loss, p.x, {.create_graph = true});
    return grad(g.square().sum(), p.x);
  };
  const LinearCrossEntropyOptions o{.rows = 4};
  EXPECT_LT(difference(second(linear_cross_entropy(p.x, p.matrix, p.targets, o)), second(plain(p, o))), 1e-13);
}

TEST(LinearCrossEntropy, TakesOneRowAndNone) {
  const Problem p = problem(false);
  const Tensor row = p.x[0][0], target = p.targets[0][0];
  EXPECT_LT(difference(linear_cross_entropy(row, p.matrix, target), cross_entropy(linear(row, p.matrix), target)),
            1e-13);
  const Tensor none = linear_cross_entropy(p.x[0].narrow(0, 0, 0), p.matrix, p.targets[0].narrow(0, 0, 0),
                                           {.reduction = Reduction::sum});
  EXPECT_EQ(none.item(), 0);
}

TEST(LinearCrossEntropy, NeedsTheMemoryOfOnePart) {
  const Tensor x = randn({512, 8}), matrix = randn({1024, 8}), targets = randint(1024, {512});
  matrix.requires_grad_();
  const auto peak = [&](int64_t rows) {
    matrix.zero_grad();
    reset_peak_memory();
    const int64_t before = memory_stats().live_bytes;
    linear_cross_entropy(x, matrix, targets, {.rows = rows}).backward();
    return memory_stats().peak_bytes - before;
  };
  EXPECT_LT(peak(64), peak(512) / 3);  // the logits and their gradient are 2 MB each
}

TEST(LinearCrossEntropy, NamesWhatDoesNotFit) {
  const Problem p = problem(false);
  EXPECT_EQ(error_of([&] { linear_cross_entropy(p.x, p.matrix, p.targets[0]); }),
            "linear_cross_entropy([2, 5, 4] f64, [7, 4] f64, [5] i64): the targets must be [2, 5], not [5]");
  EXPECT_EQ(error_of([&] { linear_cross_entropy(p.x, p.x, p.targets); }),
            "linear_cross_entropy([2, 5, 4] f64, [2, 5, 4] f64, [2, 5] i64): x must be (..., F) and the matrix (C, F)");
  EXPECT_EQ(error_of([&] { linear_cross_entropy(p.x, p.matrix, p.targets, {.rows = -1}); }),
            "linear_cross_entropy([2, 5, 4] f64, [7, 4] f64, [2, 5] i64): rows must be 0 or more, not -1");
  EXPECT_EQ(error_of([&] { linear_cross_entropy(p.x, p.matrix, p.targets + 7, {.rows = 3}); }),
            "linear_cross_entropy([2, 5, 4] f64, [7, 4] f64, [2, 5] i64): class 7 is out of range for 7 classes");
}

}  // namespace
}  // namespace weft::nn
