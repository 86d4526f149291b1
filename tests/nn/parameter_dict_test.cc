// ParameterDict: parameters by name. ParameterList, where it differs. What containers do with items of their own.
#include <gtest/gtest.h>

#include "nn/nn.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

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

TEST(Containers, TakeItemsOfTheirOwn) {  // which move where the container grows
  ParameterList list;
  list.push_back(ones({2}));
  for (int i = 0; i < 5; ++i) list.push_back(*list.begin());
  EXPECT_EQ(list.size(), 6u);
  EXPECT_EQ(list.parameters().size(), 1u);
  ParameterDict dict;
  dict.insert("first of several parameters", ones({2}));
  for (int i = 0; i < 5; ++i) dict.insert(text(i), dict.begin()->second);
  EXPECT_TRUE(dict["4"].is_same(dict["first of several parameters"]));
  EXPECT_EQ(error_of([&] { dict.insert(dict.begin()->first, ones({2})); }),
            "register_parameter(): the name `first of several parameters` is taken in this ParameterDict");
  ModuleDict<Linear> modules;
  modules.insert("the only one of the modules", Linear(1, 1));
  EXPECT_EQ(error_of([&] { modules.insert(modules.begin()->first, Linear(1, 1)); }),
            "register_module(): the name `the only one of the modules` is taken in this ModuleDict<Linear>");
  EXPECT_EQ(modules.size(), 1u);
}

}  // namespace
}  // namespace weft::nn
