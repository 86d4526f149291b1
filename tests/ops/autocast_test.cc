// The table of Autocast policies, row by row: what dispatch makes of the inputs of each op of op_list.h inside of a
// scope, for inputs in f32, in 16 bits and mixed. The inputs are those that the case table's runs give the op.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "autograd/autograd.h"
#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/autocast_copies.h"
#include "tensor/dispatch/observer.h"
#include "tensor/dispatch/op_info.h"
#include "tensor/dispatch/op_list.h"
#include "tensor/functions/copy.h"
#include "tests/ops/checks.h"
#include "tests/ops/run.h"

namespace weft::testing {
namespace {

bool is_numeric(const Policy& policy, size_t input) { return (policy.numeric >> std::min<size_t>(input, 31)) & 1u; }

bool rounded_inside(const Policy& policy, size_t input) {
  return policy.autocast == Autocasting::lower && (policy.rounded_inside >> std::min<size_t>(input, 31) & 1u) != 0;
}

struct Seen {
  const OpInfo* info = nullptr;
  std::vector<Tensor> inputs;

  std::vector<size_t> floating() const {
    std::vector<size_t> out;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (is_numeric(info->policy, i) && inputs[i].defined() && is_floating(inputs[i].dtype())) out.push_back(i);
    return out;
  }
};

/// Keeps the inputs of each op that runs, those of the call with the most floating ones.
struct Collector : Observer {
  void begin(const ObserverEvent& event) override {
    if (event.kind != ObserverEvent::Kind::op) return;
    Seen now{event.info, {}};
    for (const Tensor* x : event.inputs) now.inputs.push_back(x->defined() ? x->detach() : Tensor());
    Seen& best = ops[*event.info->code];
    if (best.info == nullptr || now.floating().size() > best.floating().size()) best = std::move(now);
  }
  std::map<OpCode, Seen> ops;
};

/// The dtype that the policy names for floating inputs of these dtypes in a scope of `scope`.
DType named_by(const Policy& policy, const std::vector<Tensor>& inputs, const std::vector<size_t>& floating,
               DType scope) {
  // Promotion: f32 beside 16 bits is f32, but a tensor without axes widens none that has some.
  std::optional<DType> widest, widest_without_axes;
  for (const size_t i : floating) {
    std::optional<DType>& widest_here = inputs[i].rank() > 0 ? widest : widest_without_axes;
    if (!widest_here || size_of(inputs[i].dtype()) > size_of(*widest_here)) widest_here = inputs[i].dtype();
  }
  const DType own = widest ? *widest : *widest_without_axes;
  switch (policy.autocast) {
    case Autocasting::lower: return own == f32 ? scope : own;
    case Autocasting::full: return own == scope ? f32 : own;
    case Autocasting::follow: break;
  }
  return own;
}

/// Floating inputs in f32 (0), in the scope's dtype (1), the first of them alone in it (2), all others (3).
std::vector<Tensor> mixed(const Seen& seen, DType half, int mix) {
  std::vector<Tensor> out = seen.inputs;
  const std::vector<size_t> floating = seen.floating();
  for (const size_t i : floating) {
    const bool first = i == floating.front();
    out[i] = out[i].to(mix == 1 || (mix == 2 && first) || (mix == 3 && !first) ? half : f32);
  }
  return out;
}

void check_row(const Seen& seen, DType scope) {
  const Policy& policy = seen.info->policy;
  const std::vector<size_t> floating = seen.floating();
  for (int mix = 0; mix < (floating.empty() ? 1 : floating.size() == 1 ? 2 : 4); ++mix) {
    SCOPED_TRACE(std::string(seen.info->name) + " in " + std::string(name_of(scope)) + ", mix " + std::to_string(mix));
    const std::vector<Tensor> given = mixed(seen, scope, mix);
    std::vector<Tensor> prepared = given;
    const internal::ModeScope on(&internal::Modes::autocast, scope);  // whatever this CPU computes bf16 in
    if (floating.empty()) {
      dispatch::prepare(*seen.info, prepared);
      for (size_t i = 0; i < given.size(); ++i) {
        const bool widened = policy.widens_integers && is_numeric(policy, i);
        if (!given[i].defined() || widened) continue;
        EXPECT_EQ(prepared[i].dtype(), given[i].dtype()) << "input " << i;
      }
      continue;
    }
    const DType expected = named_by(policy, given, floating, scope);
    if (!policy.accepts.contains(expected)) {
      EXPECT_THROW(dispatch::prepare(*seen.info, prepared), DtypeError) << name_of(expected);
      continue;
    }
    dispatch::prepare(*seen.info, prepared);
    for (size_t i = 0; i < given.size(); ++i) {
      if (!given[i].defined()) continue;
      const bool stays =
          !is_numeric(policy, i) || (expected == scope && given[i].dtype() == f32 && rounded_inside(policy, i) &&
                                     given[0].size(0) >= dispatch::kManyRows);
      const DType wanted = stays ? given[i].dtype() : expected;
      EXPECT_EQ(prepared[i].dtype(), wanted) << "input " << i;
    }
  }
}

TEST(AutocastTable, EveryOpDoesWhatItsPolicySays) {
  Collector collector;
  for (const OpCase& op : all_cases().ops()) {
    const ObserverScope scope(collector);
    run_all(op);
  }
  ASSERT_EQ(collector.ops.size(), static_cast<size_t>(kOpCount));
  int checked = 0;
  const NoGrad guard;  // the inputs are of runs that have come to their end
  for (const auto& [code, seen] : collector.ops) {
    if (seen.info->view != nullptr || seen.info->outputs == 0) {
      // Views of memory, and what writes its inputs: there is nothing to cast.
      EXPECT_EQ(seen.info->policy.autocast, Autocasting::follow) << seen.info->name;
      continue;
    }
    for (const DType scope : {bf16, f16}) check_row(seen, scope);
    ++checked;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(checked, kOpCount / 2);
}

/// Looks at what kernels are given: the short way of dispatch, for inputs that are ready, must not miss a scope.
struct KernelWatcher : Observer {
  explicit KernelWatcher(DType scope) : half(scope) {}
  void begin(const ObserverEvent& event) override {
    if (event.kind != ObserverEvent::Kind::op || internal::modes().autocast == f32)
      return;  // no scope holds in backward
    const Policy& policy = event.info->policy;
    for (size_t i = 0; i < event.inputs.size(); ++i) {
      const Tensor& x = *event.inputs[i];
      if (!x.defined() || !is_numeric(policy, i)) continue;
      const bool stays = rounded_inside(policy, i) && event.inputs[0]->size(0) >= dispatch::kManyRows;
      EXPECT_FALSE(policy.autocast == Autocasting::lower && x.dtype() == f32 && !stays) << event.name;
      EXPECT_FALSE(policy.autocast == Autocasting::full && x.dtype() == half) << event.name;
      ++inputs;
    }
  }
  DType half;
  int inputs = 0;
};

TEST(AutocastTable, KernelsSeeWhatItSays) {
  int64_t inputs_seen = 0;
  for (const DType half : {bf16, f16})
    for (const OpCase& op : all_cases().ops())
      for (const DType dtype : {f32, half}) {
        if (!op.dtypes.contains(dtype)) continue;
        for (size_t sample = 0; sample < op.samples.size(); ++sample) {
          SCOPED_TRACE(op.name + " in " + std::string(name_of(dtype)));
          const Inputs inputs = tensors_of(draw_inputs(op, sample, dtype), op.samples[sample], dtype);
          KernelWatcher watcher(half);
          const internal::ModeScope on(&internal::Modes::autocast, half);
          const ObserverScope observed(watcher);
          op.call(inputs);
          inputs_seen += watcher.inputs;
          if (::testing::Test::HasFailure()) return;
        }
      }
  EXPECT_GT(inputs_seen, kOpCount);
}

}  // namespace
}  // namespace weft::testing
