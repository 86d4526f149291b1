// What golden tests of modules share, whichever file their values are in.
#pragma once

#include <string>

#include "autograd/grad_mode.h"
#include "nn/module/module.h"
#include "tests/golden.h"
#include "tests/wave.h"

namespace weft::nn {

/// `tensor` is f64 and has the digest that `golden` holds for `name`.
inline void expect_golden(const testing::GoldenValues& golden, double tolerance, const std::string& name,
                          const Tensor& tensor) {
  ASSERT_TRUE(tensor.defined()) << name;
  EXPECT_EQ(tensor.dtype(), f64) << name;
  ASSERT_TRUE(golden.contains(name)) << name;
  testing::expect_numbers(testing::digest(tensor), golden.at(name), tolerance, name);
}

/// Parameters become waves, in the order of registration.
template <class M> void fill_parameters(M& module) {
  NoGrad guard;
  module.to(f64);
  double phase = 0;
  for (Tensor& parameter : module.parameters()) parameter.copy_(testing::wave(parameter.shape(), phase += 0.1, 0.5));
}

}  // namespace weft::nn
