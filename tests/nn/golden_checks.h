// Checks against the golden values of layers and losses.
#pragma once

#include <string>
#include <vector>

#include "autograd/leaf.h"
#include "nn/module/module.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/reduce.h"
#include "tests/nn/golden_parts.h"
#include "tests/nn/layers_golden_values.h"
#include "tests/wave.h"

namespace weft::nn {

inline void expect_golden(const std::string& name, const Tensor& tensor) {
  expect_golden(kGolden, 1e-10, name, tensor);
}

/// y and the gradients of sum(y wave) in the inputs.
inline void check_backward(const std::string& name, const Tensor& y, const std::vector<NamedTensor>& inputs) {
  expect_golden(name + ".y", y);
  sum(y * testing::wave(y.shape(), 0.9)).backward();
  for (const NamedTensor& input : inputs) expect_golden(name + "." + input.name + ".grad", input.tensor.grad());
}

/// Leaves x, x1, x2, ... of these shapes.
inline std::vector<NamedTensor> leaves_of(const std::vector<Shape>& shapes, double scale) {
  std::vector<NamedTensor> out;
  for (size_t i = 0; i < shapes.size(); ++i)
    out.push_back({i == 0 ? std::string("x") : "x" + std::to_string(i),
                   parameter(testing::wave(shapes[i], 0.3 + 0.2 * static_cast<double>(i), scale))});
  return out;
}

/// run(module, inputs), its inputs and parameters.
template <class M, class F>
void check_module(const std::string& name, M& module, const std::vector<Shape>& shapes, const F& run) {
  fill_parameters(module);
  std::vector<NamedTensor> inputs = leaves_of(shapes, 1);
  const Tensor y = run(module, inputs);
  for (const NamedTensor& parameter : module.named_parameters()) inputs.push_back(parameter);
  check_backward(name, y, inputs);
}
template <class M> void check_module(const std::string& name, M module, const Shape& shape) {
  check_module(name, module, {shape}, [](M& m, const std::vector<NamedTensor>& x) { return m(x[0].tensor); });
}

/// All elements, concatenated.
inline Tensor joined(const std::vector<Tensor>& parts) {
  std::vector<Tensor> flat;
  for (const Tensor& part : parts)
    if (part.defined()) flat.push_back(part.flatten());
  return cat(flat);
}

}  // namespace weft::nn
