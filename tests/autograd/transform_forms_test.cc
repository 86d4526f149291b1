// Forms of transforms: with a second result, which is not differentiated, and linearize (jvp for many directions).
#include "tensor/batching/vmap.h"
#include "tests/autograd/checks.h"
#include "tests/error_of.h"

namespace weft::testing {
namespace {

class SecondResult : public NoLeaks {};

bool close(const Tensor& a, const Tensor& b) { return allclose(a.detach(), b.detach(), 1e-9, 1e-9); }

TEST_F(SecondResult, IsPassedOnWithoutHistory) {
  const Tensor x = randn({4}, f64), v = randn({4}, f64);
  const auto f = [](const Tensor& t) { return std::pair(sin(t) * t, exp(t)); };
  const auto [y, gradient, aux] = vjp(f, x, v);
  EXPECT_TRUE(close(y, sin(x) * x));
  EXPECT_TRUE(close(gradient, (cos(x) * x + sin(x)) * v));
  EXPECT_TRUE(equal(aux, exp(x)));
  EXPECT_FALSE(aux.requires_grad());
  const auto [j, of_jacobian] = jacobian(f, x);
  EXPECT_TRUE(close(j.diagonal(), cos(x) * x + sin(x)));
  EXPECT_TRUE(equal(of_jacobian, exp(x)));
}

TEST_F(SecondResult, MayBeAnything) {
  const Tensor x = randn({3}, f64);
  const auto f = [](const Tensor& t) {
    const Tensor y = t * 2.0;
    return std::pair(y.sum(),
                     std::tuple(std::string("name"), 7, std::vector<Tensor>{y, Tensor()}, StateDict{{"y", y}}));
  };
  auto [y, gradient, aux] = vjp(f, x);
  EXPECT_EQ(numbers(gradient), Numbers({2, 2, 2}));
  auto& [name, number, list, dict] = aux;
  EXPECT_EQ(name, "name");
  EXPECT_EQ(number, 7);
  EXPECT_TRUE(equal(list[0], x * 2.0));
  EXPECT_FALSE(list[0].requires_grad());
  EXPECT_FALSE(list[1].defined());
  EXPECT_FALSE(dict["y"].requires_grad());
}

TEST_F(SecondResult, GoesWithLists) {
  const Tensor a = randn({3}, f64), b = randn({3}, f64);
  const auto f = [](const std::vector<Tensor>& x) {
    return std::pair(std::vector<Tensor>{x[0] * x[1], x[0]}, x[1] + 1.0);
  };
  const auto [outputs, gradients, aux] = vjp(f, {a, b}, {ones({3}, f64), zeros({3}, f64)});
  EXPECT_EQ(outputs.size(), 2u);
  EXPECT_TRUE(equal(gradients[0], b));
  EXPECT_TRUE(equal(aux, b + 1.0));
  const auto [j, with_list] = jacobian(f, {a, b});
  EXPECT_TRUE(close(j[0][1].diagonal(), a));
  EXPECT_TRUE(equal(with_list, b + 1.0));
  const auto one = [](const std::vector<Tensor>& x) { return std::pair(x[0] * x[1], 3); };
  const auto [of_one, three] = jacobian(one, {a, b});
  EXPECT_TRUE(close(of_one[0].diagonal(), b));
  EXPECT_EQ(three, 3);
}

TEST_F(SecondResult, OfValueAndGrad) {
  const StateDict p = {{"w", tensor({1.0, 2.0}, f64)}, {"count", tensor({3})}};
  const Tensor x = tensor({5.0, 6.0}, f64);
  const auto [loss, gradients, aux] = value_and_grad(
      [](const StateDict& q, const Tensor& t) {
        const Tensor y = q.at("w") * t;
        return std::pair(square(y).sum(), std::pair(y, q.at("count")));
      },
      p, x);
  EXPECT_EQ(loss.item(), 25 + 144);
  EXPECT_EQ(gradients.size(), 1u);
  EXPECT_EQ(numbers(gradients.at("w")), Numbers({50, 144}));
  EXPECT_EQ(numbers(aux.first), Numbers({5, 12}));
  EXPECT_FALSE(aux.first.requires_grad());
  EXPECT_EQ(numbers(aux.second), Numbers({3}));
}

TEST_F(SecondResult, OfValueAndGradOfATensor) {
  const Tensor w = tensor({1.0, 2.0}, f64), x = tensor({5.0, 6.0}, f64);
  const auto loss = [](const auto& v, const Tensor& t) { return square(v * t).sum(); };  // not called with a state dict
  const auto [value, gradient] = value_and_grad(loss, w, x);
  EXPECT_EQ(value.item(), 25 + 144);
  EXPECT_EQ(numbers(gradient), Numbers({50, 144}));
  EXPECT_FALSE(value.requires_grad() || gradient.requires_grad());
  const auto with_product = [](const Tensor& v, const Tensor& t) { return std::pair(square(v * t).sum(), v * t); };
  const auto [same, again, product] = value_and_grad(with_product, w, x);
  EXPECT_EQ(same.item(), 25 + 144);
  EXPECT_EQ(numbers(again), Numbers({50, 144}));
  EXPECT_EQ(numbers(product), Numbers({5, 12}));
  const Tensor outer = parameter(w);  // second order
  value_and_grad(loss, outer, x).gradient.sum().backward();
  EXPECT_EQ(numbers(outer.grad()), Numbers({50, 72}));
}

TEST_F(SecondResult, HasTheHistoryOfWhatIsOutside) {
  const Tensor w = leaf({3});
  const auto f = [&](const Tensor& t) {
    const Tensor y = w * square(t);
    return std::pair(y.sum(), y);
  };
  const auto [y, gradient, aux] = vjp(f, tensor({2.0}, f64));
  EXPECT_EQ(numbers(grad(aux.sum(), w, {.retain_graph = true})), Numbers({4}));
  EXPECT_EQ(numbers(grad(gradient.sum(), w)), Numbers({4}));
  NoGrad guard;
  EXPECT_FALSE(vjp(f, tensor({2.0}, f64)).aux.requires_grad());
}

TEST_F(SecondResult, KeepsTheNodesThatItSharesWithTheFirst) {
  const Tensor w = leaf({3}), x = tensor({2.0}, f64);  // only the second result depends on w
  const auto aux = vjp(
                       [&](const Tensor& t) {
                         const Tensor y = exp(t);
                         return std::pair(y.sum(), y * w);
                       },
                       x)
                       .aux;
  EXPECT_TRUE(close(grad(aux.sum(), w), exp(x)));
  const auto of_state = [&](const StateDict& p) {
    const Tensor y = exp(p.at("x"));
    return std::pair(y.sum(), y * w);
  };
  value_and_grad(of_state, {{"x", x}}).aux.sum().backward();  // it runs through exp too
  EXPECT_TRUE(close(w.grad(), exp(x)));
  w.zero_grad();
}

TEST_F(SecondResult, GoesWithAListOfOneTensor) {
  const auto f = [](const Tensor& t) { return std::pair(std::vector<Tensor>{t * 2.0, t * 3.0}, 1); };
  const auto [jacobians, one] = jacobian(f, tensor({1.0}, f64));
  ASSERT_EQ(jacobians.size(), 2u);
  EXPECT_EQ(jacobians[0].item(), 2);
  EXPECT_EQ(jacobians[1].item(), 3);
  EXPECT_EQ(one, 1);
}

TEST_F(SecondResult, WorksInsideOfVmap) {
  const Tensor x = randn({3, 2}, f64);
  const auto all = vmap([](const std::vector<Tensor>& in) {
    const auto [y, gradient, aux] = vjp([](const Tensor& t) { return std::pair(square(t).sum(), t + 1.0); }, in[0]);
    return std::vector<Tensor>{gradient, aux};
  })({x});
  EXPECT_TRUE(equal(all[0], x * 2.0));
  EXPECT_TRUE(equal(all[1], x + 1.0));
}

class Linearize : public NoLeaks {};

TEST_F(Linearize, IsJvpForManyDirections) {
  const Tensor x = randn({4}, f64);
  int calls = 0;
  const auto f = [&](const Tensor& t) {
    ++calls;
    return sin(t) * t;
  };
  const OutputAndJvp linear = linearize(f, x);
  const Tensor& y = linear.output;
  EXPECT_TRUE(equal(y, sin(x) * x));
  for (int i = 0; i < 3; ++i) {
    const Tensor v = randn({4}, f64), tangent = linear.jvp(v);
    EXPECT_TRUE(close(tangent, (cos(x) * x + sin(x)) * v));
    EXPECT_FALSE(tangent.requires_grad());
  }
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(y.requires_grad());
  EXPECT_EQ(error_of([&] { linear.jvp(ones({3}, f64)); }),
            "jvp of linearize([4] f64): the direction of argument 0 has shape [3], not [4]");
}

TEST_F(Linearize, TakesListsAndWhatDependsOnNothing) {
  const Tensor a = randn({3}, f64), b = randn({3}, f64), v = randn({3}, f64), w = randn({3}, f64);
  const auto [outputs, along] = linearize(
      [](const std::vector<Tensor>& x) {
        return std::vector<Tensor>{x[0] * x[1], ones({2}, f64), argsort(x[0])};
      },
      {a, b});
  const std::vector<Tensor> tangents = along({v, w});
  EXPECT_TRUE(close(tangents[0], v * b + a * w));
  EXPECT_TRUE(equal(tangents[1], zeros({2}, f64)));
  EXPECT_TRUE(equal(tangents[2], zeros({3}, i64)));
  EXPECT_TRUE(close(along({w, v})[0], w * b + a * v)) << "again";
}

TEST_F(Linearize, CanBeDifferentiated) {
  const Tensor x = leaf({1, 2}), v = leaf({3, 4});
  const auto [y, along] = linearize([](const Tensor& t) { return t * square(t); }, x);
  const Tensor tangent = along(v);  // 3 x^2 v
  const auto gradients = grad({tangent.sum()}, {x, v}, {.retain_graph = true});
  EXPECT_EQ(numbers(gradients[0]), Numbers({18, 48}));  // 6 x v
  EXPECT_EQ(numbers(gradients[1]), Numbers({3, 12}));
  EXPECT_EQ(numbers(grad(y.sum(), x, {.retain_graph = true})), Numbers({3, 12}));
  NoGrad guard;
  EXPECT_FALSE(along(v).requires_grad());
}

TEST_F(Linearize, RunsUnderVmapOverDirections) {
  const Tensor x = randn({3}, f64), directions = eye(3, f64);
  const auto [y, along] = linearize([](const Tensor& t) { return exp(t).cumsum(0); }, x);
  const Tensor columns = vmap(along)(directions);
  EXPECT_TRUE(close(columns.t(), jacobian([](const Tensor& t) { return exp(t).cumsum(0); }, x)));
}

}  // namespace
}  // namespace weft::testing
