// Modules where memory runs out: a container has a registered item, under its name and in its list, or can be given it
// again; modes are given back all the same.
#include "tests/failing_allocations.h"

#include <memory>

#include "nn/module/mode_scope.h"
#include "nn/nn.h"
#include "tensor/all.h"

namespace weft {
namespace {

using test::fail_each_allocation;

/// add(container, i) for two items, and for a third with each of its allocations failing; then it has three.
template <class Container, class Add> void expect_all_or_nothing(const Add& add) {
  auto items = std::make_unique<Container>();
  const auto start = [&] {
    items = std::make_unique<Container>();
    for (int i = 0; i < 2; ++i) add(*items, i);
  };
  start();
  const size_t each = items->named_parameters().size() / 2;
  fail_each_allocation(
      [&] {
        start();
        add(*items, 2);
      },
      [&](const std::exception_ptr&) {
        const size_t done = items->size();
        EXPECT_EQ(items->named_parameters().size(), each * done);
        for (int i = static_cast<int>(done); i < 3; ++i) EXPECT_NO_THROW(add(*items, i));
        EXPECT_EQ(items->size(), 3u);
        EXPECT_EQ(items->named_parameters().size(), 3 * each);
      });
  EXPECT_EQ(items->size(), 3u);
}

const std::string kNames[] = {"the name of the first item", "the name of the second item", "the name of the third"};

TEST(FailingAllocations, LeaveContainersWhole) {
  using Layers = nn::ModuleList<nn::Linear>;
  using Named = nn::ModuleDict<nn::Linear>;
  expect_all_or_nothing<nn::Sequential>([](nn::Sequential& s, int) { s.push_back(nn::Linear(2, 2)); });
  expect_all_or_nothing<Layers>([](Layers& list, int) { list.push_back(nn::Linear(2, 2)); });
  expect_all_or_nothing<Named>([](Named& dict, int i) { dict.insert(kNames[i], nn::Linear(2, 2)); });
  expect_all_or_nothing<nn::ParameterList>([](nn::ParameterList& list, int) { list.push_back(ones({2})); });
  expect_all_or_nothing<nn::ParameterDict>([](nn::ParameterDict& d, int i) { d.insert(kNames[i], ones({2})); });
}

TEST(FailingAllocations, LeaveContainersWholeThatAreChangedInTheMiddle) {
  using Layers = nn::ModuleList<nn::Linear>;
  expect_all_or_nothing<nn::Sequential>([](nn::Sequential& s, int) { s.insert(0, nn::Linear(2, 2)); });
  expect_all_or_nothing<Layers>([](Layers& list, int) { list.insert(0, nn::Linear(2, 2)); });
  expect_all_or_nothing<nn::ParameterList>([](nn::ParameterList& list, int) { list.insert(0, ones({2})); });
  const auto expect_all_or_nothing_left = [](auto start, const auto& erase) {
    auto items = start();
    const size_t each = items.named_parameters().size() / 3;
    fail_each_allocation(
        [&] {
          items = start();
          erase(items);
        },
        [&](const std::exception_ptr&) {
          EXPECT_EQ(items.named_parameters().size(), each * items.size());
          if (items.size() == 2) return;
          EXPECT_NO_THROW(erase(items));
        });
    EXPECT_EQ(items.size(), 2u);
  };
  expect_all_or_nothing_left(
      [] {
        Layers out;
        for (int i = 0; i < 3; ++i) out.push_back(nn::Linear(2, 2));
        return out;
      },
      [](Layers& list) { list.erase(1); });
  expect_all_or_nothing_left([] { return nn::Sequential(nn::Linear(2, 2), nn::Linear(2, 2), nn::Linear(2, 2)); },
                             [](nn::Sequential& s) { s.erase(0); });
  expect_all_or_nothing_left(
      [] {
        nn::ModuleDict<nn::Linear> out;
        for (const std::string& name : kNames) out.insert(name, nn::Linear(2, 2));
        return out;
      },
      [](nn::ModuleDict<nn::Linear>& dict) { dict.erase(kNames[1]); });
}

TEST(FailingAllocations, OneParameterIsFoundWithoutNamingAll) {
  nn::Sequential net;
  for (int i = 0; i < 100; ++i) net.push_back(nn::Linear(2, 2));
  const test::FailingAllocation counting(1'000'000, test::FailingAllocation::Where::here);
  EXPECT_EQ(net.get_parameter("99.weight").numel(), 4);
  EXPECT_LT(test::FailingAllocation::made(), 5);
}

struct Owner : nn::Module {
  nn::Linear head{2, 2};
  void take() { register_module("the name of the head", head); }
};

TEST(FailingAllocations, LeaveAMemberToBeRegisteredAgain) {
  auto owner = std::make_unique<Owner>();
  const auto check = [&](const std::exception_ptr&) {
    if (owner->parameters().empty()) owner->take();
    EXPECT_EQ(owner->parameters().size(), 2u);
    EXPECT_EQ(owner->named_parameters()[0].name, "the name of the head.weight");
  };
  fail_each_allocation(
      [&] {
        owner = std::make_unique<Owner>();
        owner->take();
      },
      check);
  check({});
}

TEST(FailingAllocations, LeaveModesToBeGivenBack) {
  Owner owner;
  owner.take();
  auto modes = std::make_unique<nn::detail::ModeScope>(owner);
  owner.eval();
  {
    const test::FailingAllocation failing(1, test::FailingAllocation::Where::here_on);
    modes.reset();  // a destructor, which must not throw
  }
  EXPECT_TRUE(owner.is_training());
  EXPECT_TRUE(owner.head.is_training());
}

}  // namespace
}  // namespace weft
