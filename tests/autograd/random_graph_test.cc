// Random graphs against finite differences. What single ops cannot show: gradients that arrive along several paths,
// that are overwritten instead of added, or that go to the wrong node.
#include <cmath>
#include <random>

#include "tests/autograd/checks.h"
#include "tests/setting.h"

namespace weft {
namespace {

using testing::numbers;
using testing::Numbers;
using Random = std::mt19937_64;

class RandomGraph : public testing::NoLeaks {};

int64_t pick(Random& random, int64_t count) { return static_cast<int64_t>(random() % static_cast<uint64_t>(count)); }

/// One op of a graph: which earlier values it reads, and what it does with them. All values have shape [3, 3].
struct Step {
  int64_t a, b;
  const char* name;
  Tensor (*f)(const Tensor& a, const Tensor& b);
};

struct Kind {
  const char* name;
  Tensor (*f)(const Tensor& a, const Tensor& b);
};

// Smooth, and bounded where they are repeated thirty times.
const Kind kKinds[] = {
    {"add", [](const Tensor& a, const Tensor& b) { return (a + b) * 0.5; }},
    {"sub", [](const Tensor& a, const Tensor& b) { return a - b * 0.5; }},
    {"mul", [](const Tensor& a, const Tensor& b) { return tanh(a) * b; }},
    {"div", [](const Tensor& a, const Tensor& b) { return a / (b * b + 1.0); }},
    {"twice", [](const Tensor& a, const Tensor&) { return a * sin(a); }},
    {"sin", [](const Tensor& a, const Tensor&) { return sin(a); }},
    {"tanh", [](const Tensor& a, const Tensor&) { return tanh(a); }},
    {"sigmoid", [](const Tensor& a, const Tensor&) { return sigmoid(a); }},
    {"exp", [](const Tensor& a, const Tensor&) { return exp(-(a * a)); }},
    {"log", [](const Tensor& a, const Tensor&) { return log1p(a * a); }},
    {"softmax", [](const Tensor& a, const Tensor&) { return softmax(a, 1) * 2.0; }},
    {"matmul", [](const Tensor& a, const Tensor& b) { return matmul(tanh(a), tanh(b)); }},
    {"transpose", [](const Tensor& a, const Tensor&) { return a.t(); }},
    {"flip", [](const Tensor& a, const Tensor&) { return a.flip({1}); }},
    {"reshape",
     [](const Tensor& a, const Tensor&) {
       return a.t().reshape({9}).view({3, 3});
     }},
    {"row", [](const Tensor& a, const Tensor& b) { return a[1] + b; }},
    {"column", [](const Tensor& a, const Tensor& b) { return a.slice(1, 2, 3) * tanh(b); }},
    {"expand",
     [](const Tensor& a, const Tensor&) {
       return a.select(1, 0).unsqueeze(0).expand({3, 3});
     }},
    {"diagonal", [](const Tensor& a, const Tensor& b) { return a.diagonal() + b * 0.5; }},
    {"pad",
     [](const Tensor& a, const Tensor&) {
       return a.slice(0, 1).pad({{0, 1}, {0, 0}});
     }},
    {"unfold", [](const Tensor& a,
                  const Tensor&) { return a.flatten().unfold(0, 3, 3) + a.flatten().unfold(0, 3, 2).slice(0, 0, 3); }},
    {"cat",
     [](const Tensor& a, const Tensor& b) {
       return cat({a.slice(0, 0, 1), b.slice(0, 1)}, 0);
     }},
    {"sum", [](const Tensor& a, const Tensor& b) { return tanh(a.sum(0, keepdim)) + b * 0.5; }},
    {"mean", [](const Tensor& a, const Tensor& b) { return a.mean() + b; }},
    {"var", [](const Tensor& a, const Tensor& b) { return tanh(a.var(1, 1, keepdim)) * tanh(b); }},
    {"logsumexp", [](const Tensor& a, const Tensor& b) { return a.logsumexp(1, keepdim) * 0.5 - tanh(b); }},
    {"write",
     [](const Tensor& a, const Tensor& b) {
       Tensor y = a * 0.5;
       y.add_(b).mul_(0.5);
       return y;
     }},
    {"clone", [](const Tensor& a, const Tensor&) { return a.t().clone(); }},
};

struct Graph {
  std::vector<Step> steps;
  int64_t inputs;

  Graph(Random& random, int64_t ops) : inputs(1 + pick(random, 3)) {
    for (int64_t i = 0; i < ops; ++i) {
      const int64_t known = inputs + i;
      const Kind& kind = kKinds[pick(random, std::size(kKinds))];
      // Late values are preferred, so that graphs are deep as well as wide.
      const int64_t a = pick(random, 2) == 0 ? known - 1 : pick(random, known);
      steps.push_back({a, pick(random, known), kind.name, kind.f});
    }
  }

  Tensor operator()(const std::vector<Tensor>& in) const {
    std::vector<Tensor> values = in;
    for (const Step& step : steps)
      values.push_back(step.f(values[static_cast<size_t>(step.a)], values[static_cast<size_t>(step.b)]));
    // Every value counts, so that none of the graph is dead.
    Tensor total = zeros({3, 3}, f64);
    for (size_t i = 0; i < values.size(); ++i) total = total + values[i] * (1.0 / static_cast<double>(i + 1));
    return (total * total * 0.5 + total).sum();
  }

  std::string describe() const {
    std::string out = text(inputs, " inputs");
    for (const Step& step : steps) out += text("; ", step.name, "(", step.a, ", ", step.b, ")");
    return out;
  }
};

/// The derivative along `direction`, of order h^6.
double numeric_slope(const Graph& graph, const std::vector<Tensor>& at, const std::vector<Tensor>& direction) {
  NoGrad guard;
  const double h = 1e-3;
  auto value = [&](double step) {
    std::vector<Tensor> moved;
    for (size_t i = 0; i < at.size(); ++i) moved.push_back(at[i].detach() + direction[i] * step);
    return graph(moved).item<double>();
  };
  return (45 * (value(h) - value(-h)) - 9 * (value(2 * h) - value(-2 * h)) + value(3 * h) - value(-3 * h)) / (60 * h);
}

TEST_F(RandomGraph, GradientsAgreeWithDifferences) {
  for (int64_t seed = 0; seed < testing::property_cases(150); ++seed) {
    Random random(static_cast<uint64_t>(seed));
    const Graph graph(random, 2 + pick(random, 29));
    manual_seed(static_cast<uint64_t>(seed));
    std::vector<Tensor> at, direction;
    for (int64_t i = 0; i < graph.inputs; ++i) {
      at.push_back(parameter(randn({3, 3}, f64)));
      direction.push_back(randn({3, 3}, f64));
    }
    const std::vector<Tensor> gradients = grad({graph(at)}, at);
    double slope = 0;
    for (size_t i = 0; i < at.size(); ++i) slope += (gradients[i] * direction[i]).sum().item<double>();
    const double expected = numeric_slope(graph, at, direction);
    ASSERT_NEAR(slope, expected, 1e-6 * (1 + std::abs(expected))) << "seed " << seed << ": " << graph.describe();
  }
}

TEST_F(RandomGraph, SecondDerivativesAgreeWithDifferencesOfTheFirst) {
  for (int64_t seed = 0; seed < testing::property_cases(50); ++seed) {
    Random random(static_cast<uint64_t>(seed) + 1000);
    const Graph graph(random, 2 + pick(random, 10));
    manual_seed(static_cast<uint64_t>(seed));
    std::vector<Tensor> at, direction;
    for (int64_t i = 0; i < graph.inputs; ++i) {
      at.push_back(parameter(randn({3, 3}, f64)));
      direction.push_back(randn({3, 3}, f64));
    }
    const std::vector<Tensor> first = grad({graph(at)}, at, {.create_graph = true});
    Tensor along = zeros({}, f64);
    for (size_t i = 0; i < at.size(); ++i) along = along + (first[i] * direction[i]).sum();
    const std::vector<Tensor> second = grad({along}, at, {.allow_unused = true});
    double found = 0;
    for (size_t i = 0; i < at.size(); ++i)
      if (second[i].defined()) found += (second[i] * direction[i]).sum().item<double>();

    auto slope_at = [&](double step) {
      std::vector<Tensor> moved;
      for (size_t i = 0; i < at.size(); ++i) moved.push_back(parameter(at[i].detach() + direction[i] * step));
      const std::vector<Tensor> g = grad({graph(moved)}, moved);
      double slope = 0;
      for (size_t i = 0; i < at.size(); ++i) slope += (g[i] * direction[i]).sum().item<double>();
      return slope;
    };
    const double h = 1e-4,
                 expected = (8 * (slope_at(h) - slope_at(-h)) - (slope_at(2 * h) - slope_at(-2 * h))) / (12 * h);
    ASSERT_NEAR(found, expected, 1e-5 * (1 + std::abs(expected))) << "seed " << seed << ": " << graph.describe();
  }
}

TEST_F(RandomGraph, BackwardAndGradGiveTheSameBits) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const Graph graph(random, 15);
    std::vector<Tensor> at;
    for (int64_t i = 0; i < graph.inputs; ++i) at.push_back(parameter(randn({3, 3}, f64)));
    const Tensor y = graph(at);
    const std::vector<Tensor> functional = grad({y}, at, {.retain_graph = true});
    y.backward();
    for (size_t i = 0; i < at.size(); ++i)
      EXPECT_EQ(numbers(at[i].grad()), numbers(functional[i])) << "seed " << seed << ": " << graph.describe();
  }
}

TEST_F(RandomGraph, TheGradientIsLinearInTheSeed) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const Graph graph(random, 10);
    std::vector<Tensor> at;
    for (int64_t i = 0; i < graph.inputs; ++i) at.push_back(parameter(randn({3, 3}, f64)));
    const Tensor y = graph(at), z = (at[0] * at[0]).sum();
    auto of = [&](double a, double b) {
      return numbers(grad({y, z}, {at[0]}, {.retain_graph = true, .seeds = {full({}, a, f64), full({}, b, f64)}})[0]);
    };
    const Numbers both = of(2, -3), first = of(1, 0), second = of(0, 1);
    for (size_t i = 0; i < both.size(); ++i)
      EXPECT_NEAR(both[i], 2 * first[i] - 3 * second[i], 1e-10 * (1 + std::abs(both[i]))) << "seed " << seed;
  }
}

}  // namespace
}  // namespace weft
