// Runs every row of the case table through every check, and proves that the rows reach every op of op_list.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <set>

#include "tensor/autocast.h"
#include "tensor/dispatch/observer.h"
#include "tensor/dispatch/op_info.h"
#include "tensor/dispatch/op_list.h"
#include "tests/ops/checks.h"
#include "tests/ops/run.h"

namespace weft::testing {

/// How gtest shows a case.
void PrintTo(const OpCase* op, std::ostream* out) { *out << op->name; }

namespace {

class Case : public ::testing::TestWithParam<const OpCase*> {};

TEST_P(Case, EqualsTheReferenceInEveryDtype) { check_values(*GetParam()); }
TEST_P(Case, IsTheSameInEveryLayout) { check_layouts(*GetParam()); }
TEST_P(Case, HasTrueGradients) { check_gradients(*GetParam()); }
TEST_P(Case, HasSoundKernels) { check_kernels(*GetParam()); }
TEST_P(Case, IsTrueInSixteenBits) { check_halves(*GetParam()); }
TEST_P(Case, RunsOnAnotherDevice) { check_device(*GetParam()); }
TEST_P(Case, RunsUnderVmap) { check_vmap(*GetParam()); }
TEST_P(Case, HasTrueTangents) { check_jvp(*GetParam()); }
TEST_P(Case, IsAView) { check_view(*GetParam()); }

std::vector<const OpCase*> all_ops() {
  std::vector<const OpCase*> out;
  for (const OpCase& op : all_cases().ops()) out.push_back(&op);
  return out;
}

std::string test_name(const ::testing::TestParamInfo<const OpCase*>& info) {
  std::string name = info.param->name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Ops, Case, ::testing::ValuesIn(all_ops()), test_name);

TEST(Errors, SayExactlyWhatIsWrong) {
  for (const ErrorCase& error : all_cases().errors()) check_error(error);
}

/// Which ops ran.
struct Reached : Observer {
  void begin(const Event& event) override {
    if (event.kind == Event::Kind::op) codes.insert(*event.info->code);
  }
  std::set<OpCode> codes;
};

/// Looks at the numeric inputs of each op that runs: what an Autocast(f16) scope makes of them is the op's policy.
struct PolicyWatcher : Observer {
  void begin(const Event& event) override {
    if (event.kind != Event::Kind::op || modes().autocast == f32) return;  // no scope holds in backward
    const Policy& policy = event.info->policy;
    for (size_t i = 0; i < event.inputs.size(); ++i) {
      const Tensor& x = *event.inputs[i];
      const bool numeric = (policy.numeric >> std::min<size_t>(i, 31)) & 1u;
      if (!x.defined() || !numeric || !is_floating(x.dtype())) continue;
      const bool half = x.dtype() == f16 || x.dtype() == bf16;
      EXPECT_FALSE(policy.autocast == Autocasting::lower && x.dtype() == f32) << event.name;
      EXPECT_FALSE(policy.autocast == Autocasting::full && half) << event.name;
      seen[policy.autocast].insert(event.info->name);
    }
  }
  std::map<Autocasting, std::set<std::string_view>> seen;
};

// The table of policies, row by row: every case runs in a scope with inputs in f32 and in f16. Exempt are adjoint ops,
// which only run in backward, where no scope holds.
TEST(Autocast, EveryOpDoesWhatItsPolicySays) {
  PolicyWatcher watcher;
  for (const OpCase& op : all_cases().ops())
    for (const DType dtype : {f32, f16}) {
      if ((op.dtypes & only(dtype)) == 0) continue;
      SCOPED_TRACE(op.name + " in " + std::string(name_of(dtype)));
      const Inputs inputs = tensors_of(draw_inputs(op, 0, dtype), op.samples[0], dtype);
      const ::weft::Autocast scope(f16);
      const ObserverScope observed(watcher);
      op.call(inputs);
      if (::testing::Test::HasFailure()) return;
    }
  const auto& lower = watcher.seen[Autocasting::lower];
  const auto& full = watcher.seen[Autocasting::full];
  const auto& follow = watcher.seen[Autocasting::follow];
  for (const char* name : {"matmul", "linear", "conv", "attention", "recurrent"})
    EXPECT_TRUE(lower.contains(name)) << name;
  for (const char* name :
       {"softmax", "log_softmax", "exp", "log", "pow", "sum", "prod", "cumsum", "norm", "var", "logsumexp"})
    EXPECT_TRUE(full.contains(name)) << name;
  for (const char* name : {"relu", "gelu", "add", "cat", "where", "dropout", "embedding", "batch_norm", "layer_norm",
                           "group_norm", "max_pool2d", "avg_pool2d", "cross_entropy"})
    EXPECT_TRUE(follow.contains(name)) << name;
}

TEST(Coverage, CasesReachEveryOp) {
  const std::map<OpCode, std::string_view> names = {
#define WEFT_OP_NAME(Op) {OpCodeOf<op::Op>::value, #Op},
      WEFT_OP_LIST(WEFT_OP_NAME)
#undef WEFT_OP_NAME
  };
  std::set<OpCode> reached;
  std::map<OpCode, int> gradient_samples;
  size_t samples = 0, gradients = 0;
  for (const OpCase& op : all_cases().ops()) {
    Reached now;
    {
      const ObserverScope scope(now);
      run_all(op);
    }
    reached.insert(now.codes.begin(), now.codes.end());
    samples += op.samples.size();
    const auto count = std::count_if(op.samples.begin(), op.samples.end(),
                                     [&](const Sample& sample) { return is_differentiable(op, sample); });
    gradients += static_cast<size_t>(count);
    if (count > 0)
      for (OpCode code : now.codes) gradient_samples[code] += static_cast<int>(count);
  }
  for (const auto& [code, name] : names) EXPECT_TRUE(reached.count(code)) << "no case reaches op " << name;
  std::vector<int> counts;
  for (const auto& [code, count] : gradient_samples) counts.push_back(count);
  std::sort(counts.begin(), counts.end());
  const int median = counts[counts.size() / 2];
  std::printf("%zu cases, %zu samples, %zu gradient samples (median %d per op), %zu error inputs, %zu of %d ops\n",
              all_cases().ops().size(), samples, gradients, median, all_cases().errors().size(), reached.size(),
              kOpCount);
  EXPECT_GE(median, 8);
  EXPECT_GE(gradients, 3000u);
  EXPECT_GE(all_cases().errors().size(), 300u);
}

}  // namespace
}  // namespace weft::testing
