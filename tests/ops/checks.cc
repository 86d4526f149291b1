#include "tests/ops/checks.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "autograd/autograd.h"
#include "autograd/rule.h"
#include "tensor/dispatch/observer.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/kernels/cpu/base/force_loops.h"
#include "tensor/memory/allocator.h"
#include "tensor/runtime/threads.h"
#include "tests/device/simulated_device.h"
#include "tests/ops/roundings.h"
#include "tests/ops/run.h"

// A check stops at the first sample that fails: what follows is mostly the same again.
namespace weft::testing {

namespace {

constexpr DType kDTypes[] = {f32, f64, bf16, f16, i64, i32, i16, i8, u8, boolean};

/// What `dtype` makes of a reference value: infinity where it is too large, modular where it is an integer.
double as_held_by(double value, DType dtype) {
  if (dtype == boolean) return value != 0 ? 1 : 0;
  if (is_floating(dtype)) {
    const double largest = dtype == f16 ? 65504.0 : dtype == f64 ? std::numeric_limits<double>::max() : 3.4028235e38;
    return std::abs(value) > largest ? std::copysign(std::numeric_limits<double>::infinity(), value) : value;
  }
  const int64_t whole = static_cast<int64_t>(value);
  switch (dtype) {
    case DType::i32: return static_cast<int32_t>(whole);
    case DType::i16: return static_cast<int16_t>(whole);
    case DType::i8: return static_cast<int8_t>(whole);
    case DType::u8: return static_cast<uint8_t>(whole);
    default: return static_cast<double>(whole);
  }
}

/// Whether an input of its own choice of dtype exists: without one the sample says nothing about dtypes.
bool depends_on_dtype(const Sample& sample) {
  for (const InputSpec& spec : sample)
    if (!spec.dtype && spec.kind != InputSpec::Kind::absent) return true;
  return false;
}

void compare_with_reference(const OpCase& op, size_t sample, DType dtype) {
  const Arrays values = draw_inputs(op, sample, dtype);
  const Outputs outputs = op.call(tensors_of(values, op.samples[sample], dtype));
  if (!op.reference) return;
  const Arrays expected = op.reference(values);
  Roundings roundings;
  if (is_half_precision(dtype))
    roundings = roundings_of(op, [&] { op.call(tensors_of(values, op.samples[sample], dtype)); });
  ASSERT_EQ(outputs.size(), expected.size());
  for (size_t o = 0; o < outputs.size(); ++o) {
    const DType result = result_dtype(op.results[std::min(o, op.results.size() - 1)], dtype);
    EXPECT_EQ(name_of(outputs[o].dtype()), name_of(result)) << "of result " << o;
    Array held = expected[o];
    for (double& value : held.values) value = as_held_by(value, result);
    // Results of a wider dtype than the input's are compared as tightly as the computation's dtype allows.
    const Tolerance tolerance = is_half_precision(dtype) && is_floating(result)
                                    ? half_tolerance(op, dtype, held, roundings)
                                    : tolerance_of(result, op.tolerance);
    expect_close(array_of(outputs[o]), held, tolerance, "result " + std::to_string(o));
  }
}

void expect_dtype_error(const OpCase& op, size_t sample, DType dtype) {
  const Inputs inputs = tensors_of(draw_inputs(op, sample, dtype), op.samples[sample], dtype);
  try {
    op.call(inputs);
    ADD_FAILURE() << "was accepted, but is not among the dtypes of the case";
  } catch (const DtypeError&) {
  }
}

}  // namespace

bool is_differentiable(const OpCase& op, const Sample& sample) {
  return op.differentiable && all_differentiable(sample) != 0;
}

void check_values(const OpCase& op) {
  for (size_t sample = 0; sample < op.samples.size(); ++sample)
    for (DType dtype : kDTypes) {
      SCOPED_TRACE(where(sample, dtype));
      if (!depends_on_dtype(op.samples[sample])) {
        if (dtype == f32) compare_with_reference(op, sample, dtype);
      } else if (accepts(op, dtype)) {
        compare_with_reference(op, sample, dtype);
      } else if (sample == 0 && op.refused.contains(dtype)) {
        expect_dtype_error(op, sample, dtype);
      }
      if (::testing::Test::HasFailure()) return;
    }
}

namespace {

/// The sample in `layout` (each input in another one after it where `mixed`), against contiguous copies.
void compare_layout(const OpCase& op, size_t number, DType dtype, Layout layout, bool mixed) {
  const Sample& sample = op.samples[number];
  Arrays values = draw_inputs(op, number, dtype);
  Inputs inputs;
  for (size_t i = 0; i < values.size(); ++i) {
    const Layout own = mixed ? static_cast<Layout>((static_cast<size_t>(layout) + i) % kLayoutCount) : layout;
    values[i] = adapted(values[i], own);
    inputs.push_back(laid_out(values[i], dtype_of_input(sample[i], dtype), own));
  }
  const Subset subset = is_differentiable(op, sample) && is_floating(dtype) ? all_differentiable(sample) : 0;
  const Run expected = run(op, tensors_of(values, sample, dtype), subset);
  const DType computed = is_floating(dtype) ? dtype : result_dtype(op.results.front(), dtype);  // in the result's dtype
  expect_close(run(op, inputs, subset), expected, tolerance_of(computed, op.tolerance), "in another layout");
}

}  // namespace

void check_layouts(const OpCase& op) {
  for (size_t sample = 0; sample < op.samples.size(); ++sample)
    for (DType dtype : kLayoutDTypes) {
      if (!accepts(op, dtype)) continue;
      for (int l = 1; l < kLayoutCount; ++l) {
        const Layout layout = static_cast<Layout>(l);
        SCOPED_TRACE(where(sample, dtype) + ", " + std::string(name_of(layout)));
        compare_layout(op, sample, dtype, layout, false);
        if (op.samples[sample].size() > 1) compare_layout(op, sample, dtype, layout, true);
        if (::testing::Test::HasFailure()) return;
      }
    }
}

namespace {

using Scalar64 = std::function<double(const Inputs&)>;

/// Central differences of `f` in input `which`.
Array numeric_gradient(const Scalar64& f, const Arrays& values, const Sample& sample, size_t which) {
  Array out{values[which].shape, {}};
  for (size_t i = 0; i < values[which].values.size(); ++i) {
    const double x = values[which].values[i], step = 1e-6 * std::max(1.0, std::abs(x));
    Arrays moved = values;
    moved[which].values[i] = x + step;
    const double above = f(tensors_of(moved, sample, f64));
    moved[which].values[i] = x - step;
    out.values.push_back((above - f(tensors_of(moved, sample, f64))) / (2 * step));
  }
  return out;
}

Array zero_where_undefined(const Tensor& gradient, const Array& like) {
  if (gradient.defined()) return array_of(gradient);
  return {like.shape, std::vector<double>(like.values.size(), 0.0)};
}

void compare_numeric(const Inputs& found, const Scalar64& f, const Arrays& values, const Sample& sample, double factor,
                     const std::string& order) {
  for (size_t i = 0; i < values.size(); ++i)
    if (sample[i].differentiable)
      expect_close(zero_where_undefined(found[i], values[i]), numeric_gradient(f, values, sample, i),
                   {1e-5 * factor, 1e-6 * factor}, order + " gradient of input " + std::to_string(i));
}

/// The weighted sum of the gradients, as a function that can be differentiated: what second order is checked on.
Outputs first_gradients(const OpCase& op, const Inputs& leaves, Subset subset) {
  Outputs out;
  for (const Tensor& gradient : gradients_of(op.call(leaves), leaves, subset, true))
    if (gradient.defined()) out.push_back(gradient);
  return out;
}

/// Gradients are linear in those that come in, so a factor of the outputs has their weighted sum as its own gradient.
/// No input reaches the terms of second order that depend on incoming gradients alone.
void check_linear_in_incoming(const OpCase& op, const Inputs& leaves, Subset subset) {
  const Tensor factor = parameter(ones({}, f64));
  Outputs scaled, gradients;
  for (const Tensor& y : op.call(leaves)) scaled.push_back(y.dtype() == f64 && y.requires_grad() ? y * factor : y);
  for (const Tensor& gradient : gradients_of(scaled, leaves, subset, true))
    if (gradient.defined() && gradient.numel() > 0) gradients.push_back(gradient);
  if (gradients.empty()) return;
  const Array found = zero_where_undefined(gradients_of(gradients, {factor}, 1)[0], {{}, {0}});
  expect_close(found, {{}, {weighted_sum(gradients)}}, {1e-9 * op.tolerance, 1e-9 * op.tolerance},
               "second order gradient of what comes in");
}

void check_sample_gradients(const OpCase& op, size_t number) {
  const Sample& sample = op.samples[number];
  const Subset subset = all_differentiable(sample);
  const Arrays values = draw_inputs(op, number, f64);
  const Inputs leaves = with_leaves(tensors_of(values, sample, f64), subset);
  const Scalar64 first = [&](const Inputs& x) { return weighted_sum(op.call(x)); };
  const Inputs found = gradients_of(op.call(leaves), leaves, subset);
  compare_numeric(found, first, values, sample, op.tolerance, "first order");
  const Scalar64 second = [&](const Inputs& x) {
    const Inputs moved = with_leaves(x, subset);
    return weighted_sum(first_gradients(op, moved, subset));
  };
  compare_numeric(gradients_of(first_gradients(op, leaves, subset), leaves, subset), second, values, sample,
                  op.tolerance, "second order");
  check_linear_in_incoming(op, leaves, subset);
  for (Subset part = 1; part < subset; ++part) {
    if ((part & subset) != part) continue;
    const Inputs partial = with_leaves(tensors_of(values, sample, f64), part);
    const Inputs gradients = gradients_of(op.call(partial), partial, part);
    for (size_t i = 0; i < values.size(); ++i)
      if ((part >> i) & 1u)
        expect_close(zero_where_undefined(gradients[i], values[i]), zero_where_undefined(found[i], values[i]),
                     tolerance_of(f64, 1),
                     "gradient of input " + std::to_string(i) + " of subset " + std::to_string(part));
  }
}

}  // namespace

void check_gradients(const OpCase& op) {
  for (size_t sample = 0; sample < op.samples.size(); ++sample) {
    SCOPED_TRACE(where(sample, f64));
    if (is_differentiable(op, op.samples[sample]) && accepts(op, f64)) check_sample_gradients(op, sample);
    if (::testing::Test::HasFailure()) return;
  }
}

namespace {

void expect_same_bits(const Run& a, const Run& b) {
  auto same = [](const std::vector<Array>& x, const std::vector<Array>& y) {
    for (size_t i = 0; i < x.size(); ++i)
      for (size_t k = 0; k < x[i].values.size(); ++k)
        if (std::bit_cast<uint64_t>(x[i].values[k]) != std::bit_cast<uint64_t>(y[i].values[k])) return false;
    return true;
  };
  EXPECT_TRUE(same(a.outputs, b.outputs)) << "two runs give different results";
  EXPECT_TRUE(same(a.gradients, b.gradients)) << "two runs give different gradients";
}

void check_sample_kernels(const OpCase& op, size_t number) {
  const Sample& sample = op.samples[number];
  const Subset subset = is_differentiable(op, sample) ? all_differentiable(sample) : 0;
  const Arrays values = draw_inputs(op, number, f32);
  const Run shipped = run(op, tensors_of(values, sample, f32), subset);
  expect_same_bits(run(op, tensors_of(values, sample, f32), subset), shipped);
  const Tolerance tolerance = tolerance_of(f32, 4 * op.tolerance);
  if (accepts(op, f64) && subset != 0)
    expect_close(shipped, run(op, tensors_of(values, sample, f64), subset), tolerance, "f32 against f64");
  const kernels::cpu::ForceLoops loops;
  expect_close(shipped, run(op, tensors_of(values, sample, f32), subset), tolerance, "shipped against loops");
}

}  // namespace

void check_kernels(const OpCase& op) {
  // A chosen count: else other processes may change the parts that work is cut into between two runs.
  set_num_threads(num_threads());
  for (size_t sample = 0; sample < op.samples.size(); ++sample) {
    SCOPED_TRACE(where(sample, f32));
    const int64_t before = memory_stats().live_bytes;
    if (accepts(op, f32)) check_sample_kernels(op, sample);
    EXPECT_EQ(memory_stats().live_bytes, before) << "bytes are left behind";
    if (::testing::Test::HasFailure()) return;
  }
}

namespace {

/// Remembers the one view op that ran, and its input.
struct ViewWatcher : Observer {
  void begin(const ObserverEvent& event) override {
    if (event.kind != ObserverEvent::Kind::op || event.info->view == nullptr) return;
    ++count;
    last.emplace(*event.info, event.op);
    input = event.inputs[0]->layout();
  }
  int count = 0;
  std::optional<AnyOp> last;
  View input = View::contiguous({});
};

void check_sample_view(const OpCase& op, size_t number) {
  const Sample& sample = op.samples[number];
  const Inputs leaves = with_leaves(tensors_of(draw_inputs(op, number, f64), sample, f64), 1u);
  ViewWatcher watcher;
  Outputs outputs;
  {
    const ObserverScope scope(watcher);
    outputs = op.call(leaves);
  }
  for (const Tensor& output : outputs) EXPECT_TRUE(output.shares_storage(leaves[0])) << "the result is a copy";
  if (watcher.count != 1 || outputs.size() != 1) return;
  const Tensor seed = cast(clone(outputs[0].detach()), f64);
  const Tensor by_rule = grad({outputs[0]}, {leaves[0]}, {.seeds = {seed}})[0];
  const Tensor generic = autograd::adjoint_of_view(*watcher.last, watcher.input, seed);
  expect_close(array_of(by_rule), array_of(generic), tolerance_of(f64, 1), "rule against the generic adjoint");
}

}  // namespace

void check_view(const OpCase& op) {
  for (size_t sample = 0; sample < op.samples.size(); ++sample) {
    SCOPED_TRACE(where(sample, f64));
    check_sample_view(op, sample);
    if (::testing::Test::HasFailure()) return;
  }
}

namespace {
/// One thread for kernels while alive.
struct OneThread {
  const int before = num_threads();
  OneThread() { set_num_threads(1); }
  ~OneThread() { set_num_threads(before); }
};
}  // namespace

void check_device(const OpCase& op) {
  const OneThread serial;  // a library's sums of weight gradients depend on the number of threads
  const Device device = Device::extension();
  (void)simulated_device();
  for (size_t number = 0; number < op.samples.size(); ++number) {
    const Sample& sample = op.samples[number];
    const DType dtype = accepted_dtype(op, f32);
    SCOPED_TRACE(where(number, dtype));
    const Inputs inputs = tensors_of(draw_inputs(op, number, dtype), sample, dtype);
    const Subset subset = is_differentiable(op, sample) && is_floating(dtype) ? all_differentiable(sample) : 0;
    Inputs moved;
    for (const Tensor& x : inputs) moved.push_back(x.defined() ? x.to(device) : x);
    const Run expected = run(op, inputs, subset), actual = run(op, moved, subset);
    expect_close(actual, expected, {0, 0}, "on another device");
    if (::testing::Test::HasFailure()) return;
  }
}

void check_undefined(const OpCase& op) {
  const DType dtype = accepted_dtype(op, f32);
  for (size_t number = 0; number < op.samples.size(); ++number) {
    const Sample& sample = op.samples[number];
    const auto call_without = [&](auto is_left_out) {
      Inputs inputs = tensors_of(draw_inputs(op, number, dtype), sample, dtype);
      for (size_t i = 0; i < inputs.size(); ++i)
        if (is_left_out(i)) inputs[i] = Tensor();
      try {
        op.call(inputs);
      } catch (const Error&) {
      } catch (const std::exception& e) {
        ADD_FAILURE() << where(number, dtype) << ": " << e.what();
      }
    };
    for (size_t i = 0; i < sample.size(); ++i) call_without([i](size_t input) { return input == i; });
    call_without([](size_t) { return true; });
  }
}

void check_error(const ErrorCase& error) {
  try {
    error.call();
    ADD_FAILURE() << error.name << ": no error";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), error.text.c_str()) << error.name;
    EXPECT_TRUE(error.is_kind(&e)) << error.name << ": an error of another kind";
  }
}

void run_all(const OpCase& op) {
  const DType dtype = accepted_dtype(op, f64);
  for (size_t number = 0; number < op.samples.size(); ++number) {
    const Sample& sample = op.samples[number];
    const Subset subset = is_differentiable(op, sample) && is_floating(dtype) ? all_differentiable(sample) : 0;
    const Inputs leaves = with_leaves(tensors_of(draw_inputs(op, number, dtype), sample, dtype), subset);
    if (subset == 0)
      op.call(leaves);
    else
      gradients_of(first_gradients(op, leaves, subset), leaves, subset);
  }
}

}  // namespace weft::testing
