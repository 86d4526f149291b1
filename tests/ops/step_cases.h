// What the cases of optimizer steps share: what one step writes to copies of its inputs, against formulas in double.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tensor/adjoints/optimizer_step.h"
#include "tests/ops/case.h"

namespace weft::testing {

using internal::optimizer_step;

/// The inputs are the parameter, the gradient and the states; the outputs are what is written: all but the gradient.
inline Call written(const std::function<void(const Inputs&)>& step) {
  return [step](const Inputs& x) {
    Inputs copies;
    for (size_t i = 0; i < x.size(); ++i) copies.push_back(i == 1 ? x[i].detach() : x[i].detach().clone());
    step(copies);
    copies.erase(copies.begin() + 1);
    return Outputs(copies);
  };
}

/// The same of one element: `step` changes {parameter, gradient, states...}.
inline Reference each(const std::function<void(std::vector<double>&)>& step) {
  return [step](const Arrays& x) {
    Arrays out;
    for (size_t k = 0; k < x.size(); ++k) {
      if (k == 1) continue;
      out.push_back(build(x[0].shape, [&](const Index& i) {
        std::vector<double> values;
        for (const Array& array : x) values.push_back(array.at(i));
        step(values);
        return values[k];
      }));
    }
    return out;
  };
}

/// Samples of a parameter, a gradient, and states in the ranges given.
struct StateRange {
  double low, high;
};
inline constexpr StateRange kSigned = {-0.3, 0.3}, kPositive = {0.5, 2};
inline std::vector<Sample> step_samples(const std::vector<StateRange>& states) {
  std::vector<Sample> out;
  for (const Shape& shape : {Shape{3, 4}, Shape{}, Shape{0, 3}, Shape{37}, Shape{2, 3, 2, 2}}) {
    Sample sample = {normal(shape), normal(shape)};
    for (const StateRange& range : states) sample.push_back(uniform(shape, range.low, range.high));
    out.push_back(sample);
  }
  return out;
}

inline void add_step(Cases& cases, const std::string& name, const std::vector<StateRange>& states,
                     const std::function<void(const Inputs&)>& step,
                     const std::function<void(std::vector<double>&)>& reference) {
  cases.add(name, step_samples(states), written(step), each(reference))
      .compares(kFloating)
      .no_gradient()
      .loose(4)
      .no_vmap();
}

}  // namespace weft::testing
