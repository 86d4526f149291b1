// The checks of function transforms and of memory: every case under vmap and jvp, with saved tensors replaced, and with
// gradients that rules may write over.
#include <gtest/gtest.h>

#include <algorithm>
#include <any>

#include "autograd/autograd.h"
#include "tensor/batching/vmap.h"
#include "tensor/core/random.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"
#include "tests/ops/checks.h"
#include "tests/ops/run.h"

namespace weft::testing {
namespace {

constexpr size_t kSamples = 3;

/// Inputs number `which` of a sample; 0 are those that other checks use.
Inputs drawn(const OpCase& op, size_t sample, DType dtype, size_t which) {
  return tensors_of(draw_inputs(op, sample, dtype, which), op.samples[sample], dtype);
}

/// Whether an input has a batch axis, one bit each.
using Mask = uint32_t;

/// Which inputs differ between samples: all, and each one alone.
std::vector<Mask> masks_of(const Sample& sample) {
  Mask all = 0;
  for (size_t i = 0; i < sample.size(); ++i)
    if (sample[i].kind != InputSpec::Kind::absent) all |= 1u << i;
  std::vector<Mask> out;
  if (all != 0) out.push_back(all);
  for (size_t i = 0; i < sample.size(); ++i)
    if ((all >> i & 1u) && all != 1u << i) out.push_back(1u << i);
  return out;
}

struct Batch {
  std::vector<Inputs> samples;  // as the loop sees them
  Inputs whole;                 // with batch axes
  std::vector<std::optional<int64_t>> axes;
};

Batch batch_of(const OpCase& op, size_t sample, DType dtype, Mask mask) {
  Batch out;
  for (size_t b = 0; b < kSamples; ++b) out.samples.push_back(drawn(op, sample, dtype, b));
  for (size_t i = 0; i < op.samples[sample].size(); ++i) {
    const bool batched = mask >> i & 1u;
    std::vector<Tensor> list;
    for (Inputs& inputs : out.samples) {
      if (!batched) inputs[i] = out.samples[0][i];
      if (batched) list.push_back(unsqueeze(inputs[i], 0));
    }
    out.whole.push_back(batched ? cat(list, 0) : out.samples[0][i]);
    out.axes.push_back(batched ? std::optional<int64_t>(0) : std::nullopt);
  }
  return out;
}

/// Whether the case says that vmap refuses the call.
bool must_be_refused(const OpCase& op, Mask mask) {
  return (mask & op.refused_by_vmap) != 0 || (op.writes_first && !(mask & 1u));
}

/// The error says what vmap cannot do, in words of its own.
bool says_why(const Error& error) {
  const std::string_view what = error.what();
  for (const char* part : {"so that they cannot be read", "the result's shape depends on values",
                           "which vmap cannot do", "to a tensor that does not", "move them to one device"})
    if (what.find(part) != std::string_view::npos) return true;
  return false;
}

std::vector<Tensor> under_vmap(const std::function<Outputs(const Inputs&)>& f, const Batch& batch) {
  manual_seed(5);
  return vmap([&](const std::vector<Tensor>& x) -> std::vector<Tensor> { return f(x); },
              BatchAxes(batch.axes))(batch.whole);
}

void expect_same(const std::vector<Tensor>& batched, const std::vector<Outputs>& loop, Tolerance tolerance,
                 const std::string& what) {
  for (size_t b = 0; b < loop.size(); ++b) {
    ASSERT_EQ(batched.size(), loop[b].size()) << what;
    for (size_t o = 0; o < batched.size(); ++o) {
      const Tensor own = batched[o].select(0, static_cast<int64_t>(b)).detach();
      ASSERT_EQ(own.dtype(), loop[b][o].dtype()) << what;
      expect_close(array_of(own), array_of(loop[b][o].detach()), tolerance,
                   what + ", result " + std::to_string(o) + " of sample " + std::to_string(b));
    }
  }
}

/// The sum of 0.7 y + 0.1 y^2 over all floating results y that have a history: its gradient depends on each of them.
Tensor scalar_of(const std::vector<Tensor>& results) {
  Tensor sum;
  for (const Tensor& y : results) {
    if (!is_floating(y.dtype()) || !y.requires_grad()) continue;
    const Tensor part = cast((y * 0.7 + 0.1 * y * y).sum(), f64);
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

/// The gradients of scalar_of(op(x)) with respect to the inputs of `subset`.
Outputs gradients_at(const OpCase& op, const Inputs& x, Subset subset) {
  Inputs leaves = x;
  std::vector<Tensor> wanted;
  for (size_t i = 0; i < x.size(); ++i)
    if (subset >> i & 1u) wanted.push_back(leaves[i] = parameter(x[i]));
  const Tensor sum = scalar_of(op.call(leaves));
  Outputs out;
  if (sum.defined())
    for (const Tensor& g : grad({sum}, wanted, {.allow_unused = true})) out.push_back(g);
  out.resize(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    if (!out[i].defined()) out[i] = zeros_like(wanted[i].detach());
  return out;
}

/// Backward through vmap: the gradients of the whole batch.
void check_gradient_of_vmap(const OpCase& op, const Batch& batch, Subset subset, const std::vector<Outputs>& loop,
                            Tolerance tolerance) {
  Batch leaves = batch;
  std::vector<Tensor> wanted;
  std::vector<bool> batched;
  for (size_t i = 0; i < batch.whole.size(); ++i) {
    if (!(subset >> i & 1u)) continue;
    wanted.push_back(leaves.whole[i] = parameter(batch.whole[i]));
    batched.push_back(batch.axes[i].has_value());
  }
  const Tensor sum = scalar_of(under_vmap(op.call, leaves));
  if (!sum.defined()) return;
  const auto found = grad({sum}, wanted, {.allow_unused = true});
  for (size_t i = 0; i < wanted.size(); ++i) {
    Tensor expected;
    for (const Outputs& one : loop) {
      const Tensor g = batched[i] ? unsqueeze(one[i], 0) : one[i];
      expected = !expected.defined() ? g : batched[i] ? cat({expected, g}, 0) : expected + g;
    }
    const Tensor g = found[i].defined() ? found[i] : zeros_like(wanted[i].detach());
    expect_close(array_of(g), array_of(expected), tolerance, "backward through vmap, input " + std::to_string(i));
  }
}

void check_batch(const OpCase& op, size_t number, DType dtype, Mask mask) {
  const Sample& sample = op.samples[number];
  for (const InputSpec& input : sample)
    if (input.shape.rank() == kMaxAxes) return;  // no room for the axis of the batch
  const Batch batch = batch_of(op, number, dtype, mask);
  const Tolerance tolerance = tolerance_of(dtype, 4 * op.tolerance);
  std::vector<Outputs> loop, gradients;
  bool draws = false;  // each sample has numbers of its own: only those of the first are the loop's
  for (const Inputs& x : batch.samples) {
    manual_seed(5);
    const RandomState before = random_state();
    loop.push_back(op.call(x));
    draws = draws || !(random_state() == before);
  }
  if (draws) loop.resize(1);
  if (must_be_refused(op, mask)) {
    bool empty = false;  // nothing is read of it
    for (const Tensor& x : batch.whole) empty = empty || (x.defined() && x.numel() == 0);
    try {
      under_vmap(op.call, batch);
      if (!empty) ADD_FAILURE() << "vmap did what the case says that it refuses";
    } catch (const Error& error) {
      EXPECT_TRUE(says_why(error)) << error.what();
    }
    return;
  }
  expect_same(under_vmap(op.call, batch), loop, tolerance, "vmap");
  const Subset subset = is_differentiable(op, sample) && is_floating(dtype) ? all_differentiable(sample) : 0;
  if (subset == 0) return;
  for (size_t b = 0; b < loop.size(); ++b) {
    manual_seed(5);
    const Inputs& x = batch.samples[b];
    gradients.push_back(gradients_at(op, x, subset));
  }
  const auto inside = [&](const Inputs& x) { return gradients_at(op, x, subset); };
  expect_same(under_vmap(inside, batch), gradients, tolerance, "gradient inside of vmap");
  if (!draws) check_gradient_of_vmap(op, batch, subset, gradients, tolerance);
}

double dot(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double out = 0;
  for (size_t i = 0; i < a.size(); ++i)
    if (is_floating(a[i].dtype())) out += (cast(a[i].detach(), f64) * cast(b[i].detach(), f64)).sum().item<double>();
  return out;
}

std::vector<Tensor> directions(const std::vector<Tensor>& like, double phase) {
  std::vector<Tensor> out;
  for (const Tensor& x : like) {
    std::vector<double> values(static_cast<size_t>(x.numel()));
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(phase + 1.3 * static_cast<double>(i));
    out.push_back(from_vector(values, x.shape(), is_floating(x.dtype()) ? x.dtype() : f64));
  }
  return out;
}

}  // namespace

void check_vmap(const OpCase& op) {
  const DType dtype = accepted_dtype(op, f64);
  for (size_t sample = 0; sample < op.samples.size(); ++sample)
    for (Mask mask : masks_of(op.samples[sample])) {
      SCOPED_TRACE("sample " + std::to_string(sample) + ", inputs " + std::to_string(mask));
      check_batch(op, sample, dtype, mask);
      if (::testing::Test::HasFailure()) return;
    }
}

namespace {
void check_tangent(const OpCase& op, size_t sample) {
  const Inputs inputs = drawn(op, sample, f64, 0);
  const Subset subset = all_differentiable(op.samples[sample]);
  std::vector<Tensor> at;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (subset >> i & 1u) at.push_back(inputs[i]);
  if (std::all_of(at.begin(), at.end(), [](const Tensor& x) { return x.numel() == 0; })) return;  // no directions
  const auto f = [&](const std::vector<Tensor>& x) -> std::vector<Tensor> {
    manual_seed(5);
    Inputs all = inputs;
    for (size_t i = 0, next = 0; i < all.size(); ++i)
      if (subset >> i & 1u) all[i] = x[next++];
    return op.call(all);
  };
  const std::vector<Tensor> v = directions(at, 0.3);
  const OutputsAndTangents forward = jvp(f, at, v);
  std::vector<Tensor> w = directions(forward.outputs, 1.1);
  const OutputsAndGradients backward = vjp(f, at, w);
  const double through = dot(w, forward.tangents), back = dot(backward.gradients, v);
  EXPECT_NEAR(through, back, 1e-8 * op.tolerance * std::max(1.0, std::abs(back))) << "<w, J v> and <J^T w, v>";
}
}  // namespace

void check_jvp(const OpCase& op) {
  for (size_t sample = 0; sample < op.samples.size() && accepts(op, f64); ++sample) {
    SCOPED_TRACE("sample " + std::to_string(sample));
    if (is_differentiable(op, op.samples[sample])) check_tangent(op, sample);
    if (::testing::Test::HasFailure()) return;
  }
}

namespace {
/// A copy whose last axis is the outermost one in memory.
Tensor reversed_in_memory(const Tensor& x) {
  std::vector<int64_t> axes;
  for (int64_t axis = x.rank(); axis-- > 0;) axes.push_back(axis);
  return x.permute(axes).contiguous().permute(axes).clone();
}

/// The gradients of both orders, those of the second of all that are defined of the first.
Run gradients_of_both_orders(const OpCase& op, const Inputs& inputs, Subset subset) {
  const Inputs leaves = with_leaves(inputs, subset);
  Outputs first;
  for (const Tensor& gradient : gradients_of(op.call(leaves), leaves, subset, true))
    if (gradient.defined()) first.push_back(gradient);
  Run out;
  for (const Tensor& gradient : first) out.outputs.push_back(array_of(gradient));
  for (const Tensor& gradient : gradients_of(first, leaves, subset)) out.gradients.push_back(array_of(gradient));
  return out;
}
}  // namespace

void check_saved(const OpCase& op) {
  for (size_t sample = 0; sample < op.samples.size(); ++sample)
    for (DType dtype : {f32, f64}) {
      SCOPED_TRACE(where(sample, dtype));
      if (!accepts(op, dtype) || !is_differentiable(op, op.samples[sample])) continue;
      const Subset subset = all_differentiable(op.samples[sample]);
      const Run expected = gradients_of_both_orders(op, drawn(op, sample, dtype, 0), subset);
      const autograd::SavedTensorHooks hooks([](const Tensor& x) -> std::any { return reversed_in_memory(x); },
                                             [](const std::any& kept) { return std::any_cast<Tensor>(kept); });
      const Run found = gradients_of_both_orders(op, drawn(op, sample, dtype, 0), subset);
      expect_close(found, expected, tolerance_of(dtype, 4 * op.tolerance), "with what was saved in another order");
      if (::testing::Test::HasFailure()) return;
    }
}

namespace {
/// run() with gradients that only the engine holds when they reach the op; the results as they are afterwards.
Run run_unheld(const OpCase& op, const Inputs& inputs, Subset subset) {
  const Inputs leaves = with_leaves(inputs, subset);
  const Outputs outputs = op.call(leaves);
  Outputs passed;
  for (const Tensor& y : outputs) passed.push_back(y.requires_grad() ? y * 1.0 : y);
  Run out;
  for (const Tensor& gradient : gradients_of(passed, leaves, subset)) out.gradients.push_back(array_of(gradient));
  for (const Tensor& y : outputs) out.outputs.push_back(array_of(y));
  return out;
}
}  // namespace

void check_overwriting(const OpCase& op) {
  for (size_t sample = 0; sample < op.samples.size(); ++sample)
    for (DType dtype : {f32, f64, bf16}) {
      SCOPED_TRACE(where(sample, dtype));
      if (!accepts(op, dtype) || !is_differentiable(op, op.samples[sample])) continue;
      const Subset subset = all_differentiable(op.samples[sample]);
      const Inputs inputs = drawn(op, sample, dtype, 0);
      expect_close(run_unheld(op, inputs, subset), run(op, inputs, subset), {0, 0},
                   "with gradients that nothing holds");
      if (::testing::Test::HasFailure()) return;
    }
}

}  // namespace weft::testing
