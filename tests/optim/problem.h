// The problem of the golden trajectories (tests/golden/common_optimizers.py and optimizers.py have the same).
#pragma once

#include <string>
#include <vector>

#include "autograd/leaf.h"
#include "optim/optimizer.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tests/golden.h"
#include "tests/wave.h"

namespace weft::optim {

/// A parameter (n) in f64.
inline Tensor leaf(const std::vector<double>& values) { return parameter(from_vector(values, std::nullopt, f64)); }

/// mean((tanh(x a + b) - y)^2) + ridge (sum(a^2) + sum(b^2)); without the ridge, it is lowest infinitely far away.
struct Problem {
  double ridge = 0;
  Tensor a = parameter(testing::wave({3, 4}, 0.1));
  Tensor b = parameter(testing::wave({4}, 0.2));
  Tensor x = testing::wave({5, 3}, 0.3, 2.0);
  Tensor y = testing::wave({5, 4}, 0.4);

  /// The loss, after backward().
  Tensor backward(Optimizer& optimizer) const {
    optimizer.zero_grad();
    Tensor loss = mean(square(tanh(matmul(x, a) + b) - y));
    if (ridge != 0) loss = loss + ridge * (sum(square(a)) + sum(square(b)));
    loss.backward();
    return loss;
  }
  void step(Optimizer& optimizer) const {
    backward(optimizer);
    optimizer.step();
  }
  void add_digests(std::vector<double>& out) const {
    for (const Tensor& parameter : {a, b})
      for (const double number : testing::digest(parameter)) out.push_back(number);
  }
};

/// What the optimizer keeps of each parameter against the golden values `name.0.exp_avg`, ...; neither has more.
inline void expect_states(const std::string& name, const Optimizer& optimizer, const testing::GoldenValues& golden,
                          double tolerance) {
  const State state = optimizer.state_dict();
  for (const auto& [key, tensor] : state.tensors) {
    const auto found = golden.find(name + "." + key);
    ASSERT_NE(found, golden.end()) << name << "." << key;
    testing::expect_numbers(testing::digest(tensor), found->second, tolerance, name + "." + key);
  }
  size_t expected = 0;
  for (auto at = golden.lower_bound(name + "."); at != golden.end() && at->first.starts_with(name + "."); ++at)
    ++expected;
  EXPECT_EQ(state.tensors.size(), expected) << name;
}

}  // namespace weft::optim
