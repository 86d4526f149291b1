#include "tests/ops/roundings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tensor/dispatch/op_info.h"
#include "tests/ops/checks.h"

namespace weft::testing {
namespace {

double largest_finite(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

void check_sample(const OpCase& op, size_t number, DType dtype) {
  const Sample& sample = op.samples[number];
  const Subset subset = is_differentiable(op, sample) ? all_differentiable(sample) : 0;
  if (subset == 0) return;  // check_values() has compared the results
  const Arrays values = draw_inputs(op, number, dtype);
  const Run actual = run(op, tensors_of(values, sample, dtype), subset);
  const Run expected = run(op, tensors_of(values, sample, f64), subset);
  const Roundings roundings = roundings_of(op, [&] { run(op, tensors_of(values, sample, dtype), subset); });
  for (size_t i = 0; i < expected.gradients.size(); ++i)
    expect_close(actual.gradients[i], expected.gradients[i],
                 half_tolerance(op, dtype, expected.gradients[i], roundings), "gradient of input " + std::to_string(i));
}

}  // namespace

void Roundings::end(const ObserverEvent& event) {
  if (event.kind != ObserverEvent::Kind::op || event.info->view != nullptr) return;
  bool rounds = false;
  for (const Tensor& y : event.outputs) {
    if (!y.defined() || !is_half_precision(y.dtype())) continue;
    rounds = true;
    if (y.device().kind == DeviceKind::vmap) continue;  // values of samples cannot be read
    largest = std::max(largest, largest_finite(y.detach().to_vector<double>()));
  }
  if (event.info->outputs == 0)  // a step that writes its inputs
    for (const Tensor* x : event.inputs) rounds = rounds || (x->defined() && is_half_precision(x->dtype()));
  count += rounds ? 1 : 0;
}

Tolerance half_tolerance(const OpCase& op, DType dtype, const Array& expected, const Roundings& roundings) {
  const Tolerance inside = tolerance_of(f32, op.tolerance);
  // What one rounding to nearest adds at most: relative to a normal number, and half the gap of subnormal ones.
  const double unit = dtype == bf16 ? 0x1p-8 : 0x1p-11, gap = dtype == bf16 ? 0x1p-134 : 0x1p-25;
  Tolerance out{inside.rtol, inside.atol + gap * roundings.count};
  if (roundings.count <= 1) return out.rtol += unit * roundings.count, out;
  EXPECT_LT(unit * roundings.count, 0.5) << "a bound of " << roundings.count << " roundings says nothing";
  double largest = largest_finite(expected.values);
  if (op.has_large_parts) largest = std::max(largest, roundings.largest);
  if (largest < 1e-12) largest = 1;  // nothing but what f64 leaves of a cancellation: of parts as large as the seed
  out.atol += unit * roundings.count * largest;
  return out;
}

void check_halves(const OpCase& op) {
  if (!op.dtypes.contains(f64)) return;
  for (const DType dtype : {bf16, f16})
    for (size_t sample = 0; sample < op.samples.size() && op.dtypes.contains(dtype); ++sample) {
      if (dtype == bf16 && !op.has_bf16_gradients) continue;
      SCOPED_TRACE(where(sample, dtype));
      check_sample(op, sample, dtype);
      if (::testing::Test::HasFailure()) return;
    }
}

}  // namespace weft::testing
