// update_bn(): the statistics of batch norms anew.
#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tensor/functions_all.h"

namespace weft::nn {
namespace {

TEST(UpdateBn, TakesPlainAveragesOverALoader) {
  manual_seed(8);
  Sequential net(BatchNorm1d({.num_features = 2, .momentum = 0.9, .dtype = f64}), Dropout(0.5));
  (void)net(randn({8, 2}, f64) * 5.0);
  net.eval();
  const std::vector<Tensor> batches = {randn({4, 2}, f64), randn({4, 2}, f64) + 3.0};
  update_bn(batches, net);
  const Tensor means = (mean(batches[0], 0) + mean(batches[1], 0)) / 2.0;
  EXPECT_TRUE(allclose(net.get_buffer("0.running_mean"), means, 1e-10, 1e-12));
  const Tensor variances = (var(batches[0], 0) + var(batches[1], 0)) / 2.0;
  EXPECT_TRUE(allclose(net.get_buffer("0.running_var"), variances, 1e-10, 1e-12));
  EXPECT_EQ(net.get_buffer("0.num_batches_tracked").item<int64_t>(), 2);
  EXPECT_FALSE(net.is_training());
  // Pairs of an input and a target, as loaders give them; the momentum counts again afterwards.
  const std::vector<std::array<Tensor, 2>> pairs = {{batches[0], ones({4})}, {batches[1], ones({4})}};
  update_bn(pairs, net);
  EXPECT_TRUE(allclose(net.get_buffer("0.running_mean"), means, 1e-10, 1e-12));
  net.train();
  (void)net(batches[0]);
  EXPECT_TRUE(allclose(net.get_buffer("0.running_mean"), means * 0.1 + mean(batches[0], 0) * 0.9, 1e-10, 1e-12));
}

struct Watcher : Module {
  Tensor mean = register_buffer("running_mean", full({2}, 5.0));
  BatchNorm1d norm = register_module("norm", BatchNorm1d(2));
  Tensor forward(const Tensor& x) const { return norm(x); }
};

TEST(UpdateBn, LeavesAveragesOfOtherModules) {
  Watcher net;
  const std::vector<Tensor> batches = {randn({4, 2})};
  update_bn(batches, net);
  EXPECT_TRUE(equal(net.mean, full({2}, 5.0)));
  EXPECT_TRUE(allclose(net.norm.running_mean(), mean(batches[0], 0), 1e-5, 1e-6));
}

}  // namespace
}  // namespace weft::nn
