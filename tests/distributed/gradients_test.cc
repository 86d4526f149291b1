// Gradients of collectives on tensors, to second order.
#include <cmath>
#include <functional>

#include "tests/distributed/ranks.h"

namespace weft::test {
namespace {

using distributed::ReduceOp;
using Function = std::function<Tensor(const Tensor& x, const distributed::Group& g)>;

/// The sum over ranks of (values * weights).sum().
double total(const Tensor& values, const Tensor& weights) {
  Tensor sum = (values * weights).sum().detach().clone();
  group().all_reduce(sum);
  return sum.item<double>();
}

/// Ranks move their x together, each in a direction of its own: what the sum of all ranks' losses changes by is what
/// gradients say, and so is what the gradients change by.
void expect_gradients(const char* name, const Function& f, const Shape& shape) {
  const auto& g = group();
  Generator generator(40 + static_cast<uint64_t>(g.rank()));
  const Tensor x = randn(shape, generator).to(f64), v = randn(shape, generator).to(f64),
               u = randn(shape, generator).to(f64);
  const Tensor weights = randn(f(x, g).shape(), generator).to(f64);
  const auto gradient = [&](const Tensor& leaf) {
    return grad({(f(leaf, g).sin() * weights).sum()}, {leaf}, {.create_graph = true})[0];
  };
  const auto loss_at = [&](double h) { return total(f(x + v * h, g).sin(), weights); };
  const auto gradient_at = [&](double h) { return total(gradient(parameter((x + v * h).clone())), u); };
  constexpr double kStep = 1e-5;
  const Tensor leaf = parameter(x.clone()), first = gradient(leaf);
  const double slope = total(first, v), measured = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
  EXPECT_NEAR(slope, measured, 1e-6 * (1 + std::abs(measured))) << name;
  const Tensor second = grad({(first * u).sum()}, {leaf})[0];
  const double bend = total(second, v), bent = (gradient_at(kStep) - gradient_at(-kStep)) / (2 * kStep);
  EXPECT_NEAR(bend, bent, 1e-6 * (1 + std::abs(bent))) << name << ", second order";
}

TEST(Functions, GradientsOfFirstAndSecondOrder) {
  const Shape rows = {2 * group().size(), 3};
  expect_gradients("all_reduce", [](auto& x, auto& g) { return distributed::all_reduce(x, g); }, {4, 3});
  expect_gradients("mean", [](auto& x, auto& g) { return distributed::all_reduce(x, g, ReduceOp::mean); }, {4, 3});
  expect_gradients("broadcast", [](auto& x, auto& g) { return distributed::broadcast(x, g, g.size() - 1); }, {4, 3});
  expect_gradients("all_gather", [](auto& x, auto& g) { return distributed::all_gather(x, g); }, {4, 3});
  expect_gradients(
      "reduce_scatter", [](auto& x, auto& g) { return distributed::reduce_scatter(x, g); }, rows);
  expect_gradients(
      "mean of rows", [](auto& x, auto& g) { return distributed::reduce_scatter(x, g, ReduceOp::mean); }, rows);
  expect_gradients(
      "all_to_all", [](auto& x, auto& g) { return distributed::all_to_all(x, g); }, rows);
}

TEST(Functions, GradientsOfCallsWithARoot) {
  const Shape rows = {2 * group().size(), 3};
  for (int64_t root = 0; root < group().size(); ++root) {
    expect_gradients("reduce", [=](auto& x, auto& g) { return distributed::reduce(x, g, root); }, {4, 3});
    expect_gradients("reduce mean", [=](auto& x, auto& g) { return distributed::reduce(x, g, root, ReduceOp::mean); },
                     {4, 3});
    expect_gradients("gather", [=](auto& x, auto& g) { return distributed::gather(x, g, root); }, {4, 3});
    expect_gradients(
        "scatter", [=](auto& x, auto& g) { return distributed::scatter(x, g, root); }, rows);
  }
}

TEST(Functions, GradientsOfDifferentNumbersOfRows) {
  const auto own_rows = [](auto& x, auto& g) {
    return distributed::all_gather_rows(x.narrow(0, 1, (g.rank() + 1) % 3), g);
  };
  expect_gradients("all_gather_rows", own_rows, {4, 3});
}

TEST(Functions, OtherRanksThanTheRootGetZeros) {
  const auto& g = group();
  const Tensor x = values(g.rank(), {2, 3});
  const Tensor sum = distributed::reduce(x, g, 0), rows = distributed::gather(x, g, 0);
  ASSERT_EQ(sum.shape(), (Shape{2, 3}));
  ASSERT_EQ(rows.shape(), (Shape{g.size(), 2, 3}));
  std::vector<Tensor> all;
  for (int64_t rank = 0; rank < g.size(); ++rank) all.push_back(values(rank, {2, 3}));
  const bool is_root = g.rank() == 0;
  EXPECT_TRUE(equal(sum, is_root ? reduced(all, ReduceOp::sum) : zeros({2, 3})));
  EXPECT_TRUE(equal(rows, is_root ? stack(all) : zeros({g.size(), 2, 3})));
}

}  // namespace
}  // namespace weft::test
