// ParameterDict: parameters by name.
#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tensor/functions_all.h"

namespace weft::nn {
namespace {

struct Scales : Module {
  ParameterDict scales = register_module("scales", ParameterDict());
  Scales() {
    scales.insert("left", ones({2}));
    scales.insert("right", zeros({3}));
  }
};

TEST(ParameterDict, HoldsParametersByName) {
  const Scales net;
  EXPECT_EQ(net.state_dict().size(), 2u);
  EXPECT_TRUE(net.state_dict().contains("scales.right"));
  EXPECT_TRUE(net.scales.contains("left"));
  EXPECT_FALSE(net.scales.contains("other"));
  EXPECT_EQ(net.scales["right"].numel(), 3);
  EXPECT_THROW((void)net.scales["other"], Error);
  EXPECT_EQ(clone(net).scales.size(), 2u);
}

}  // namespace
}  // namespace weft::nn
