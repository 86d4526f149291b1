// Runs every row of the case table through every check, and proves that the rows reach every op of op_list.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <set>

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
// Cases that have what a check looks at; the instances below choose them.
class LayoutCase : public Case {};
class GradientCase : public Case {};
class SinglePrecisionCase : public Case {};
class HalfPrecisionCase : public Case {};
class ViewCase : public Case {};

TEST_P(Case, EqualsTheReferenceInEveryDtype) { check_values(*GetParam()); }
TEST_P(LayoutCase, IsTheSameInEveryLayout) { check_layouts(*GetParam()); }
TEST_P(GradientCase, HasTrueGradients) { check_gradients(*GetParam()); }
TEST_P(SinglePrecisionCase, HasSoundKernels) { check_kernels(*GetParam()); }
TEST_P(HalfPrecisionCase, HasTrueGradientsInSixteenBits) { check_halves(*GetParam()); }
TEST_P(Case, RunsOnAnotherDevice) { check_device(*GetParam()); }
TEST_P(Case, RunsUnderVmap) { check_vmap(*GetParam()); }
TEST_P(GradientCase, HasTrueTangents) { check_jvp(*GetParam()); }
TEST_P(GradientCase, TakesSavedValuesInAnyMemoryOrder) { check_saved(*GetParam()); }
TEST_P(GradientCase, WritesOverNothingThatIsSeen) { check_overwriting(*GetParam()); }
TEST_P(Case, SurvivesAnUndefinedInput) { check_undefined(*GetParam()); }
TEST_P(ViewCase, SharesMemory) { check_view(*GetParam()); }

/// Whether first and second order are checked, in f64.
bool has_gradients(const OpCase& op) {
  const auto is_checked = [&](const Sample& sample) { return is_differentiable(op, sample); };
  return op.dtypes.contains(f64) && std::any_of(op.samples.begin(), op.samples.end(), is_checked);
}
bool has_half_gradients(const OpCase& op) {
  return has_gradients(op) && (op.dtypes.contains(f16) || (op.dtypes.contains(bf16) && op.has_bf16_gradients));
}
bool has_layouts(const OpCase& op) {
  return op.has_layouts && std::any_of(std::begin(kLayoutDTypes), std::end(kLayoutDTypes),
                                       [&](DType dtype) { return op.dtypes.contains(dtype); });
}

/// The cases of which `applies` holds.
template <class F> std::vector<const OpCase*> cases_where(const F& applies) {
  std::vector<const OpCase*> out;
  for (const OpCase& op : all_cases().ops())
    if (applies(op)) out.push_back(&op);
  return out;
}

std::string test_name(const ::testing::TestParamInfo<const OpCase*>& info) {
  std::string name = info.param->name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

#define WEFT_CASES_WHERE(Fixture, applies) \
  INSTANTIATE_TEST_SUITE_P(Ops, Fixture, ::testing::ValuesIn(cases_where(applies)), test_name)
WEFT_CASES_WHERE(Case, [](const OpCase&) { return true; });
WEFT_CASES_WHERE(LayoutCase, has_layouts);
WEFT_CASES_WHERE(GradientCase, has_gradients);
WEFT_CASES_WHERE(SinglePrecisionCase, [](const OpCase& op) { return op.dtypes.contains(f32); });
WEFT_CASES_WHERE(HalfPrecisionCase, has_half_gradients);
WEFT_CASES_WHERE(ViewCase, [](const OpCase& op) { return op.is_view; });
#undef WEFT_CASES_WHERE

TEST(Errors, SayExactlyWhatIsWrong) {
  for (const ErrorCase& error : all_cases().errors()) check_error(error);
}

/// Which ops ran.
struct Reached : Observer {
  void begin(const ObserverEvent& event) override {
    if (event.kind == ObserverEvent::Kind::op) codes.insert(*event.info->code);
  }
  std::set<OpCode> codes;
};

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
