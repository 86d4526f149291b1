#include "tests/ops/run.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/autograd.h"
#include "tensor/core/half.h"
#include "tensor/functions/fill.h"

namespace weft::testing {

namespace {

/// A number that every floating dtype holds, so that all of them are given the same seeds.
double weight_at(size_t output, size_t place) {
  const double wave = std::sin(1.7 * static_cast<double>(place) + 0.9 * static_cast<double>(output) + 0.4) + 0.2;
  return static_cast<float>(BFloat16(static_cast<float>(wave)));
}

Tensor weights_like(const Tensor& output, size_t number) {
  std::vector<double> weights(static_cast<size_t>(output.numel()));
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = weight_at(number, i);
  return from_vector(weights, output.shape(), output.dtype()).to(output.device());
}

}  // namespace

DType accepted_dtype(const OpCase& op, DType first) {
  const DType second = first == f32 ? f64 : f32;
  return accepts(op, first) ? first : accepts(op, second) ? second : i64;
}

std::string where(size_t sample, DType dtype) {
  return "sample " + std::to_string(sample) + " in " + std::string(name_of(dtype));
}

Arrays draw_inputs(const OpCase& op, size_t sample, DType dtype, size_t number) {
  Draw from(op.name, sample + 7919 * number);
  Arrays values;
  for (const InputSpec& spec : op.samples[sample]) values.push_back(draw(spec, dtype, from));
  return values;
}

Inputs tensors_of(const Arrays& values, const Sample& sample, DType dtype) {
  Inputs inputs;
  for (size_t i = 0; i < values.size(); ++i) inputs.push_back(laid_out(values[i], dtype_of_input(sample[i], dtype)));
  return inputs;
}

Subset all_differentiable(const Sample& sample) {
  Subset out = 0;
  for (size_t i = 0; i < sample.size(); ++i)
    if (sample[i].differentiable) out |= 1u << i;
  return out;
}

Inputs with_leaves(const Inputs& inputs, Subset subset) {
  Inputs out = inputs;
  for (size_t i = 0; i < out.size(); ++i)
    if ((subset >> i) & 1u) out[i] = parameter(inputs[i]);
  return out;
}

double weighted_sum(const Outputs& outputs) {
  double sum = 0;
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (!is_floating(outputs[o].dtype())) continue;
    const std::vector<double> values = outputs[o].detach().to_vector<double>();
    for (size_t i = 0; i < values.size(); ++i) sum += values[i] * weight_at(o, i);
  }
  return sum;
}

Inputs gradients_of(const Outputs& outputs, const Inputs& leaves, Subset subset, bool create_graph) {
  std::vector<Tensor> roots, seeds, wanted;
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (!outputs[o].requires_grad()) continue;
    roots.push_back(outputs[o]);
    seeds.push_back(weights_like(outputs[o], o));
  }
  for (size_t i = 0; i < leaves.size(); ++i)
    if ((subset >> i) & 1u) wanted.push_back(leaves[i]);
  Inputs out(leaves.size());
  if (roots.empty() || wanted.empty()) return out;
  const std::vector<Tensor> found =
      grad(roots, wanted, {.create_graph = create_graph, .allow_unused = true, .seeds = seeds});
  for (size_t i = 0, next = 0; i < leaves.size(); ++i)
    if ((subset >> i) & 1u) out[i] = found[next++];
  return out;
}

Run run(const OpCase& op, const Inputs& inputs, Subset subset) {
  const Inputs leaves = with_leaves(inputs, subset);
  const Outputs outputs = op.call(leaves);
  Run out;
  for (const Tensor& output : outputs) out.outputs.push_back(array_of(output));
  for (const Tensor& gradient : gradients_of(outputs, leaves, subset)) out.gradients.push_back(array_of(gradient));
  return out;
}

Tolerance tolerance_of(DType dtype, double factor) {
  switch (dtype) {
    case DType::f32: return {4e-6 * factor, 4e-6 * factor};
    case DType::f64: return {1e-11 * factor, 1e-11 * factor};
    default: return {0, 0};
  }
}

namespace {
bool is_close(double a, double b, Tolerance tolerance) {
  if (std::isnan(b)) return std::isnan(a);
  if (std::isinf(b) || std::isinf(a)) return a == b;
  return std::abs(a - b) <= tolerance.atol + tolerance.rtol * std::abs(b);
}
}  // namespace

void expect_close(const Array& actual, const Array& expected, Tolerance tolerance, const std::string& what) {
  ASSERT_EQ(actual.absent, expected.absent) << what;
  if (actual.absent) return;
  ASSERT_EQ(actual.shape.to_string(), expected.shape.to_string()) << what;
  ASSERT_EQ(actual.values.size(), expected.values.size()) << what;
  size_t wrong = 0, first = 0;
  for (size_t i = actual.values.size(); i-- > 0;)
    if (!is_close(actual.values[i], expected.values[i], tolerance)) ++wrong, first = i;
  EXPECT_EQ(wrong, 0u) << what << " " << expected.shape.to_string() << ": element " << first << " is "
                       << ::testing::PrintToString(actual.values[first]) << ", not "
                       << ::testing::PrintToString(expected.values[first]);
}

void expect_close(const Run& actual, const Run& expected, Tolerance tolerance, const std::string& what) {
  ASSERT_EQ(actual.outputs.size(), expected.outputs.size()) << what;
  ASSERT_EQ(actual.gradients.size(), expected.gradients.size()) << what;
  for (size_t i = 0; i < actual.outputs.size(); ++i)
    expect_close(actual.outputs[i], expected.outputs[i], tolerance, what + ", result " + std::to_string(i));
  for (size_t i = 0; i < actual.gradients.size(); ++i)
    expect_close(actual.gradients[i], expected.gradients[i], tolerance, what + ", gradient " + std::to_string(i));
}

}  // namespace weft::testing
