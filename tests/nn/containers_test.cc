// Containers that change (insert, erase, pop, extend, update, clear), and the names afterwards; checkpoint_sequential.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nn/nn.h"
#include "tensor/functions_all.h"
#include "tests/error_of.h"

namespace weft::nn {
namespace {

using Names = std::vector<std::string>;

/// The names of a module's parameters, in order. The leaves have the same names.
Names names_in(const Module& module) {
  Names out;
  for (const auto& [name, parameter] : module.named_parameters()) {
    EXPECT_EQ(parameter.name(), name);
    out.push_back(name);
  }
  return out;
}

/// A layer that can be told from others: by its number of inputs.
Linear numbered(int64_t number) { return Linear(number, 1, {.bias = false}); }

template <class List> std::vector<int64_t> numbers_of(const List& list) {
  std::vector<int64_t> out;
  for (size_t i = 0; i < list.size(); ++i) {
    out.push_back(list[i].in_features());
    EXPECT_EQ(list.get_parameter(std::to_string(i) + ".weight").size(1), out.back());
  }
  return out;
}

struct Net : Module {
  ModuleList<Linear> layers = register_module("layers", ModuleList<Linear>());
  Net() {
    for (int64_t i = 1; i <= 3; ++i) layers.push_back(numbered(i));
  }
};

TEST(ModuleList, InsertsErasesAndPops) {
  Net net;
  net.layers.insert(1, numbered(9));
  net.layers.insert(4, numbered(4));
  EXPECT_EQ(numbers_of(net.layers), (std::vector<int64_t>{1, 9, 2, 3, 4}));
  EXPECT_EQ(names_in(net),
            (Names{"layers.0.weight", "layers.1.weight", "layers.2.weight", "layers.3.weight", "layers.4.weight"}));
  net.layers.erase(0);
  Linear second = net.layers.pop(1);
  EXPECT_EQ(second.in_features(), 2);
  EXPECT_EQ(names_in(second), Names{"weight"});
  EXPECT_EQ(net.layers.pop().in_features(), 4);
  EXPECT_EQ(numbers_of(net.layers), (std::vector<int64_t>{9, 3}));
  EXPECT_EQ(names_in(net), (Names{"layers.0.weight", "layers.1.weight"}));
  net.layers.insert(0, std::move(second));  // it belongs to no module
  EXPECT_EQ(numbers_of(net.layers), (std::vector<int64_t>{2, 9, 3}));
  EXPECT_EQ(names_in(net).size(), 3u);
  net.layers[0] = numbered(7);
  EXPECT_EQ(numbers_of(net.layers), (std::vector<int64_t>{7, 9, 3}));
  net.layers.clear();
  EXPECT_TRUE(net.parameters().empty());
  net.layers.push_back(numbered(5));
  EXPECT_EQ(names_in(net), Names{"layers.0.weight"});
  EXPECT_EQ(error_of([&] { net.layers[0](ones({1, 4})); }).substr(0, 27), "in layer layers.0 (Linear):");
}

TEST(ModuleList, ExtendsByAnother) {
  Net net, other;
  net.layers.extend(std::move(other.layers));
  EXPECT_EQ(numbers_of(net.layers), (std::vector<int64_t>{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(names_in(net).back(), "layers.5.weight");
  EXPECT_TRUE(other.parameters().empty());
  net.layers.erase(4);
  EXPECT_EQ(clone(net.layers).size(), 5u);
  EXPECT_EQ(numbers_of(clone(net.layers)), (std::vector<int64_t>{1, 2, 3, 1, 3}));
}

TEST(ModuleList, OfManyKeepsItsNames) {  // which have an index then
  ModuleList<Linear> list;
  for (int64_t i = 1; i <= 40; ++i) list.push_back(numbered(i));
  list.insert(20, numbered(99));
  list.erase(0);
  list.push_back(numbered(50));
  const std::vector<int64_t> numbers = numbers_of(list);
  EXPECT_EQ(numbers[19], 99);
  EXPECT_EQ(numbers[20], 21);
  EXPECT_EQ(numbers.back(), 50);
  EXPECT_EQ(names_in(list)[30], "30.weight");
}

struct Flow : Module {
  virtual Tensor forward(const Tensor& x) = 0;
};
struct Scale : Flow {
  Tensor factor = register_parameter("factor", full({}, 2.0));
  Tensor forward(const Tensor& x) override { return x * factor; }
};

TEST(ModuleList, OfABaseClass) {
  ModuleList<Flow> flows;
  flows.push_back(Scale());
  flows.insert(0, Scale());
  flows.erase(1);
  EXPECT_EQ(names_in(flows), Names{"0.factor"});
  ModuleList<Module> modules;
  modules.push_back(Scale());
  EXPECT_EQ(error_of([&] { (void)modules.pop(); }), "module 0 is a Scale, derived from what pop() returns");
  EXPECT_EQ(modules.size(), 1u);
}

TEST(ModuleList, Errors) {
  Net net;
  EXPECT_EQ(error_of<IndexError>([&] { net.layers.insert(4, numbered(1)); }),
            "index 4 is no place to insert at in 3 modules");
  EXPECT_EQ(error_of<IndexError>([&] { net.layers.erase(3); }), "index 3 is out of range for 3 modules");
  ModuleList<Linear> none;
  EXPECT_EQ(error_of<IndexError>([&] { (void)none.pop(); }), "index 0 is out of range for 0 modules");
  EXPECT_EQ(net.layers.size(), 3u);
}

struct Tied : Module {
  Linear first = register_module("first", Linear(2, 2, {.bias = false}));
  ModuleList<Module> layers;
  struct Holder : Module {
    explicit Holder(const Tensor& w) { register_parameter("weight", w); }
  };
  Tied() {
    layers.push_back(Linear(3, 3, {.bias = false}));
    layers.push_back(Holder(first.weight()));
    register_module("layers", layers);
  }
};

TEST(ModuleList, KeepsTheFirstNameOfWhatIsTied) {
  Tied net;
  net.layers.erase(0);
  EXPECT_EQ(names_in(net), Names{"first.weight"});
  EXPECT_TRUE(net.state_dict().contains("layers.0.weight"));
  net.layers.clear();
  EXPECT_EQ(names_in(net), Names{"first.weight"});
}

TEST(ModuleList, NamesWhatIsTiedByItsFirstPlace) {  // optimizers save their state under these names
  Tied net;
  net.layers.insert(0, Tied::Holder(net.layers[0].get_parameter("weight")));
  EXPECT_EQ(names_in(net), (Names{"first.weight", "layers.0.weight"}));
  net.layers.erase(0);
  EXPECT_EQ(names_in(net), (Names{"first.weight", "layers.0.weight"}));
  ParameterList list;
  list.extend({ones({1}), ones({2})});
  list.extend({list[0]});
  list.erase(0);
  EXPECT_EQ(names_in(list), (Names{"0", "1"}));
}

TEST(Containers, CannotTakeTheirOwnModules) {
  Net net;
  EXPECT_EQ(error_of([&] { net.layers.extend(std::move(net.layers)); }),
            "a ModuleList<Linear> cannot take its own modules");
  EXPECT_EQ(net.layers.size(), 3u);
  Sequential steps(numbered(1));
  EXPECT_EQ(error_of([&] { steps.extend(std::move(steps)); }), "a Sequential cannot take its own modules");
  EXPECT_EQ(names_in(steps), Names{"0.weight"});
  ModuleDict<Linear> dict;
  dict.insert("a", numbered(1));
  EXPECT_EQ(error_of([&] { dict.update(std::move(dict)); }), "a ModuleDict<Linear> cannot take its own modules");
  EXPECT_EQ(names_in(dict), Names{"a.weight"});
}

TEST(Sequential, InsertsErasesAndPops) {
  Sequential net(numbered(1), numbered(2));
  net.push_back("head", numbered(3));
  net.insert(1, [](const Tensor& x) { return x; });
  net.insert(0, "stem", numbered(4));
  EXPECT_EQ(names_in(net), (Names{"stem.weight", "1.weight", "3.weight", "head.weight"}));
  EXPECT_EQ(net.at<Linear>(1).in_features(), 1);
  net.erase(2);
  EXPECT_EQ(names_in(net), (Names{"stem.weight", "1.weight", "2.weight", "head.weight"}));
  Linear head = net.pop<Linear>(3);
  EXPECT_EQ(head.in_features(), 3);
  EXPECT_EQ(names_in(head), Names{"weight"});
  net.erase(0);
  EXPECT_EQ(names_in(net), (Names{"0.weight", "1.weight"}));
  EXPECT_EQ(names_in(net.clone()), (Names{"0.weight", "1.weight"}));
  EXPECT_EQ(error_of([&] { (void)net.pop<ReLU>(0); }),
            "module 0 of this Sequential is a Linear, not of the type asked for");
  EXPECT_EQ(error_of<IndexError>([&] { net.erase(2); }), "index 2 is out of range for 2 modules");
  EXPECT_EQ(error_of<IndexError>([&] { net.insert(3, ReLU()); }), "index 3 is no place to insert at in 2 modules");
}

TEST(Sequential, RunsInTheNewOrder) {
  Sequential net(Linear(2, 3), Linear(4, 1));
  net.insert(1, Linear(3, 4));
  net.insert(1, ReLU());
  const Tensor x = randn({5, 2});
  const Tensor expected = net.at<Linear>(3)(net.at<Linear>(2)(relu(net.at<Linear>(0)(x))));
  EXPECT_TRUE(equal(net(x), expected));
}

TEST(Sequential, ExtendsByAnother) {
  Sequential net(numbered(1)), tail(numbered(2), ReLU());
  tail.push_back("head", numbered(3));
  net.extend(std::move(tail));
  EXPECT_EQ(names_in(net), (Names{"0.weight", "1.weight", "head.weight"}));
  EXPECT_EQ(net.size(), 4u);
  Sequential more;
  more.push_back("head", numbered(5));
  EXPECT_EQ(error_of([&] { net.extend(std::move(more)); }), "extend: the name `head` is taken in this Sequential");
  EXPECT_EQ(more.size(), 1u);
  Sequential twice(numbered(6));  // "0", which would become "4", as the other is called
  twice.push_back("4", numbered(7));
  EXPECT_EQ(error_of([&] { net.extend(std::move(twice)); }), "extend: the name `4` is taken in this Sequential");
  EXPECT_EQ(net.size(), 4u);
  EXPECT_EQ(names_in(twice), (Names{"0.weight", "4.weight"}));
}

TEST(Sequential, InsertsAmongNamesThatAreNumbersOfOtherPlaces) {
  Sequential named;
  named.push_back("1", ReLU());
  EXPECT_EQ(error_of([&] { named.insert(0, ReLU()); }), "register_module(): the name `1` is taken in this Sequential");
  named.push_back("0", ReLU());
  named.push_back("3", ReLU());
  // The new step would be 3 before it moves; ReLU "1" is no number of its place, 0.
  EXPECT_EQ(error_of([&] { named.insert(0, ReLU()); }), "register_module(): the name `3` is taken in this Sequential");
  EXPECT_EQ(named.size(), 3u);
  EXPECT_EQ(error_of([&] { named.insert(1, "x", ReLU()); }), "");
  Sequential mixed;
  for (const char* name : {"1", "x", "2"}) mixed.push_back(name, ReLU());
  EXPECT_EQ(error_of([&] { mixed.erase(1); }), "the name `1` is taken in this Sequential");
  EXPECT_EQ(mixed.size(), 3u);
}

TEST(CheckpointSequential, RunsAllPartsButTheLastAgain) {
  int runs = 0;
  Sequential net;
  for (int i = 0; i < 7; ++i) {
    net.push_back(Linear(3, 3));
    net.push_back([&](const Tensor& x) {
      ++runs;
      return tanh(x);
    });
  }
  const Tensor x = randn({4, 3});
  const Tensor plain = net(x);
  plain.sum().backward();
  std::vector<Tensor> wanted;
  for (const Tensor& p : net.parameters()) wanted.push_back(p.grad().clone()), p.zero_grad();
  runs = 0;
  const Tensor y = checkpoint_sequential(net, 3, x);  // parts of 4, 4 and 6 modules
  EXPECT_TRUE(equal(y, plain));
  EXPECT_EQ(runs, 7);
  y.sum().backward();
  EXPECT_EQ(runs, 7 + 4);
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_TRUE(equal(net.parameters()[i].grad(), wanted[i])) << i;
  EXPECT_TRUE(equal(checkpoint_sequential(net, 1, x), plain));
  EXPECT_TRUE(equal(checkpoint_sequential(net, 14, x), plain));
  EXPECT_EQ(error_of([&] { (void)checkpoint_sequential(net, 15, x); }),
            "checkpoint_sequential([4, 3] f32): the number of segments must be 1 to the 14 modules, not 15");
}

TEST(ModuleDict, ErasesPopsAndUpdates) {
  struct Heads : Module {
    ModuleDict<Linear> heads = register_module("heads", ModuleDict<Linear>());
  };
  Heads net;
  for (int64_t i = 1; i <= 3; ++i) net.heads.insert(std::string(1, static_cast<char>('a' + i)), numbered(i));
  net.heads.erase("b");
  EXPECT_EQ(names_in(net), (Names{"heads.c.weight", "heads.d.weight"}));
  EXPECT_EQ(net.heads["d"].in_features(), 3);
  EXPECT_FALSE(net.heads.contains("b"));
  ModuleDict<Linear> more;
  more.insert("x", numbered(8));
  more.insert("c", numbered(9));
  net.heads.update(std::move(more));
  EXPECT_EQ(names_in(net), (Names{"heads.c.weight", "heads.d.weight", "heads.x.weight"}));
  EXPECT_EQ(net.get_parameter("heads.c.weight").size(1), 9);
  Linear c = net.heads.pop(net.heads.begin()->first);
  EXPECT_EQ(c.in_features(), 9);
  EXPECT_EQ(names_in(c), Names{"weight"});
  EXPECT_EQ(error_of([&] { net.heads.erase("c"); }), "there is no module `c`");
  net.heads.clear();
  EXPECT_EQ(net.heads.size(), 0u);
  net.heads.insert("c", std::move(c));
  EXPECT_EQ(names_in(net), Names{"heads.c.weight"});
}

TEST(ParameterList, InsertsErasesAndPops) {
  struct Scales : Module {
    ParameterList scales = register_module("scales", ParameterList());
  };
  Scales net;
  net.scales.extend({ones({1}), ones({2})});
  net.scales.extend({net.scales[1]});  // tied
  const Tensor inserted = net.scales.insert(1, zeros({3}));
  EXPECT_TRUE(inserted.is_same(net.scales[1]));
  EXPECT_EQ(names_in(net), (Names{"scales.0", "scales.1", "scales.2"}));
  EXPECT_EQ(net.state_dict().size(), 4u);
  const Tensor popped = net.scales.pop(0);
  EXPECT_EQ(popped.numel(), 1);
  EXPECT_EQ(names_in(net), (Names{"scales.0", "scales.1"}));
  EXPECT_EQ(net.get_parameter("scales.0").numel(), 3);
  net.scales.insert(0, Tensor());
  net.scales.insert(0, popped);
  EXPECT_EQ(names_in(net), (Names{"scales.0", "scales.2", "scales.3"}));
  net.scales.erase(1);
  EXPECT_EQ(net.scales.pop().numel(), 2);
  EXPECT_EQ(names_in(net), (Names{"scales.0", "scales.1", "scales.2"}));
  EXPECT_EQ(error_of<IndexError>([&] { net.scales.insert(4, ones({1})); }),
            "index 4 is no place to insert at in 3 parameters");
  EXPECT_EQ(error_of<IndexError>([&] { (void)net.scales.pop(3); }), "index 3 is out of range for 3 parameters");
  net.scales.clear();
  EXPECT_EQ(net.scales.size(), 0u);
  EXPECT_TRUE(net.parameters().empty());
}

TEST(ParameterDict, ErasesAndPops) {
  ParameterDict dict;
  dict.insert("a", ones({1}));
  dict.insert("b", ones({2}));
  dict.insert("c", ones({3}));
  EXPECT_EQ(dict.pop("b").numel(), 2);
  EXPECT_EQ(names_in(dict), (Names{"a", "c"}));
  EXPECT_EQ(error_of([&] { dict.erase("b"); }), "there is no parameter `b`");
  dict.insert("b", ones({4}));
  EXPECT_EQ(names_in(dict), (Names{"a", "c", "b"}));
  dict.erase(dict.begin()->first);
  EXPECT_FALSE(dict.contains("a"));
  dict.clear();
  EXPECT_EQ(dict.size(), 0u);
  EXPECT_TRUE(dict.parameters().empty());
}

}  // namespace
}  // namespace weft::nn
