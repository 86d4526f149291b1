// Normalizations as functions: running statistics, and that names and the order of arguments are PyTorch's.
#include <gtest/gtest.h>

#include "tensor/functions/batch_norm.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/group_norm.h"
#include "tensor/functions/random.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft {
namespace {

bool close(const Tensor& a, const Tensor& b) { return allclose(a, b, 1e-10, 1e-10); }

/// (C) as (C, 1, 1).
Tensor column(const Tensor& t) { return t.view({t.size(0), 1, 1}); }

struct Running {
  Tensor mean = randn({3}, f64);
  Tensor var = rand({3}, f64) + 0.5;
};

TEST(BatchNorm, TrainsAndKeepsRunningStatistics) {
  const Tensor x = randn({4, 3, 5, 2}, f64), weight = randn({3}, f64), bias = randn({3}, f64);
  const Running before;
  const Running after{before.mean.clone(), before.var.clone()};
  const Tensor y = batch_norm(x, after.mean, after.var, weight, bias, {.training = true, .momentum = 0.3, .eps = 1e-3});
  const Axes axes = {0, 2, 3};
  const Tensor m = mean(x, axes), biased = mean(square(x - column(m)), axes);
  EXPECT_TRUE(close(y, (x - column(m)) * rsqrt(column(biased) + 1e-3) * column(weight) + column(bias)));
  EXPECT_TRUE(close(after.mean, before.mean * 0.7 + m * 0.3));
  EXPECT_TRUE(close(after.var, before.var * 0.7 + biased * (0.3 * 40 / 39)));
  EXPECT_TRUE(close(batch_norm(x, {}, {}, weight, bias, {.training = true, .eps = 1e-3}), y));
  EXPECT_TRUE(close(batch_norm_with_statistics(x, weight, bias, 1e-3).y, y));
}

TEST(BatchNorm, EvaluatesWithRunningStatistics) {
  const Tensor x = randn({4, 3, 5, 2}, f64);
  const Running running;
  const Tensor kept = running.mean.clone();
  EXPECT_TRUE(
      close(batch_norm(x, running.mean, running.var), (x - column(running.mean)) * rsqrt(column(running.var) + 1e-5)));
  EXPECT_TRUE(equal(running.mean, kept));
}

TEST(BatchNorm, AnEmptyBatchLeavesRunningStatistics) {
  const Running running;
  const Tensor kept = running.var.clone();
  batch_norm(zeros({0, 3}, f64), running.mean, running.var, {}, {}, {.training = true});
  instance_norm(zeros({0, 3, 4}, f64), running.mean, running.var);
  EXPECT_TRUE(equal(running.var, kept));
}

TEST(InstanceNorm, KeepsRunningStatisticsAndUsesThem) {
  const Tensor x = randn({4, 3, 5, 2}, f64), weight = randn({3}, f64), bias = randn({3}, f64);
  const Running before;
  const Running after{before.mean.clone(), before.var.clone()};
  const Tensor y = instance_norm(x, after.mean, after.var, weight, bias, {.momentum = 0.3});
  const Axes axes = {2, 3};
  const Tensor m = mean(x, axes, keepdim), biased = mean(square(x - m), axes, keepdim);
  EXPECT_TRUE(close(y, (x - m) * rsqrt(biased + 1e-5) * column(weight) + column(bias)));
  EXPECT_TRUE(close(after.mean, before.mean * 0.7 + mean(x, {0, 2, 3}) * 0.3));
  EXPECT_TRUE(close(after.var, before.var * 0.7 + mean(biased, 0).view({3}) * (0.3 * 10 / 9)));
  EXPECT_TRUE(close(instance_norm(x, {}, {}, weight, bias), y));
  EXPECT_TRUE(close(instance_norm(x, after.mean, after.var, weight, bias, {.use_input_stats = false}),
                    batch_norm(x, after.mean, after.var, weight, bias)));
}

}  // namespace
}  // namespace weft
