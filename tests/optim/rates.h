// What tests of schedules share.
#pragma once

#include <vector>

#include "autograd/leaf.h"
#include "tensor/functions/fill.h"
#include "tests/golden.h"
#include "tests/wave.h"

namespace weft::optim {

/// A parameter for an optimizer whose rate is all that matters.
inline Tensor weight() {
  Tensor w = parameter(zeros({1}, f64));
  w.set_grad(zeros({1}, f64));
  return w;
}

/// Every sixth of 60 numbers, and the digest of all.
inline void add_series(std::vector<double>& out, const std::vector<double>& series) {
  for (size_t i = 0; i < series.size(); i += 6) out.push_back(series[i]);
  for (const double number : testing::digest(from_vector(series, Shape{60}, f64))) out.push_back(number);
}

}  // namespace weft::optim
