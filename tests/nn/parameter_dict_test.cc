// ParameterDict: parameters by name. ParameterList, where it differs.
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

TEST(ParameterDict, ClonesWhatIsThereTwiceAndWhatIsNot) {
  ParameterDict dict;
  const Tensor left = dict.insert("left", ones({2}));
  dict.insert("right", left);
  dict.insert("none", Tensor());
  const ParameterDict other = clone(dict);
  EXPECT_EQ(other.size(), 3u);
  EXPECT_TRUE(other["left"].is_same(other["right"]));
  EXPECT_FALSE(other["left"].shares_storage(left));
  ParameterList list;
  for (const Tensor& x : {left, Tensor(), left}) list.push_back(x);
  const ParameterList copy = clone(list);
  EXPECT_TRUE(copy[0].is_same(copy[2]));
  EXPECT_FALSE(copy[1].defined());
}

}  // namespace
}  // namespace weft::nn
