// Reductions against naive ones in double: every dtype, layout and choice of axes, and the sizes at which the paths change.
#include "tensor/kernels/cpu/reduce/reduce.h"

#include <functional>

#include "tests/tensor/kernels/row_checks.h"

namespace weft::testing {
namespace {

namespace cpu = kernels::cpu;
constexpr double kInf = std::numeric_limits<double>::infinity();
using Values = std::vector<double>;

struct Case {
  const char* name;
  std::function<void(const cpu::Operand&, const IntList&, const cpu::Operand&)> run;
  std::function<double(const Values&)> naive;
  bool floating_only = false;
};

double naive_sum(const Values& v) {
  long double total = 0;
  for (double x : v) total += x;
  return static_cast<double>(total);
}
double naive_norm(const Values& v, double p) {
  long double total = 0;
  for (double x : v) total += std::pow(std::fabs(x), p);
  return static_cast<double>(std::pow(total, 1 / p));
}
double naive_variance(const Values& v) {
  const double mean = naive_sum(v) / static_cast<double>(v.size());
  long double total = 0;
  for (double x : v) total += (x - mean) * (x - mean);
  return static_cast<double>(total / (static_cast<double>(v.size()) - 1));
}
double naive_logsumexp(const Values& v) {
  long double total = 0;
  for (double x : v) total += std::exp(static_cast<long double>(x));
  return static_cast<double>(std::log(total));
}

const Case kCases[] =
    {
        {"sum", cpu::sum, naive_sum},
        {"prod", cpu::prod,
         [](const Values& v) { return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies<>()); }},
        {"max", cpu::max, [](const Values& v) { return *std::max_element(v.begin(), v.end()); }},
        {"min", cpu::min, [](const Values& v) { return *std::min_element(v.begin(), v.end()); }},
        {"any", cpu::any,
         [](const Values& v) { return std::any_of(v.begin(), v.end(), [](double x) { return x != 0; }); }},
        {"all", cpu::all,
         [](const Values& v) { return std::all_of(v.begin(), v.end(), [](double x) { return x != 0; }); }},
        {"sum_squares", cpu::sum_squares, [](const Values& v) { return std::pow(naive_norm(v, 2), 2); }, true},
        {"logsumexp", cpu::logsumexp, naive_logsumexp, true},
        {"variance", [](const auto& x, const auto& axes, const auto& out) { cpu::variance(x, axes, 1, out); },
         naive_variance, true},
        {"norm 2", [](const auto& x, const auto& axes, const auto& out) { cpu::norm(x, axes, 2, out); },
         [](const Values& v) { return naive_norm(v, 2); }, true},
        {"norm 1", [](const auto& x, const auto& axes, const auto& out) { cpu::norm(x, axes, 1, out); },
         [](const Values& v) { return naive_norm(v, 1); }, true},
        {"norm 3", [](const auto& x, const auto& axes, const auto& out) { cpu::norm(x, axes, 3, out); },
         [](const Values& v) { return naive_norm(v, 3); }, true},
        {"norm 0", [](const auto& x, const auto& axes, const auto& out) { cpu::norm(x, axes, 0, out); },
         [](const Values& v) {
  return static_cast<double>(std::count_if(v.begin(), v.end(), [](double x) { return x != 0; }));
         },
         true},
        {"norm inf", [](const auto& x, const auto& axes, const auto& out) { cpu::norm(x, axes, kInf, out); },
         [](const Values& v) {
  double m = 0;
  for (double x : v) m = std::max(m, std::fabs(x));
  return m;
         },
         true},
           };

DType result_dtype(const Case& c, DType dtype) {
  const std::string name = c.name;
  if (name == "any" || name == "all") return boolean;
  if ((name == "sum" || name == "prod") && !is_floating(dtype)) return i64;
  return dtype;
}

void check(const Case& c, AnyArray& x, const IntList& axes, Random& random) {
  AnyArray out(kept_shape(x.shape(), axes), result_dtype(c, x.dtype), Layout::permuted, random);
  c.run(x.operand(), axes, out.operand());
  // What a sum loses is relative to its parts, not to what is left of them.
  const double parts = static_cast<double>(checked_numel(x.shape())) / static_cast<double>(checked_numel(out.shape()));
  const double absolute = std::string_view(c.name) == "sum"         ? 2 + 0.1 * parts
                          : std::string_view(c.name) == "logsumexp" ? 1
                                                                    : 1e-3;
  const auto want = [&](const IntList& index) { return rounded(c.naive(elements_at(x, index, axes)), out.dtype); };
  expect_all_close(out, want, 2, absolute, text(c.name, " of ", describe(x), " over ", axes));
}

TEST(Reduce, AgreesWithNaiveLoopsOnRandomShapes) {
  Random random(1);
  for (int i = 0; i < property_cases(600); ++i) {
    const Case& c = kCases[i % static_cast<int>(std::size(kCases))];
    Shape shape;
    const int64_t rank = pick(random, 0, 4);
    for (int64_t a = 0; a < rank; ++a) shape.push_back(pick(random, 1, 9));
    const DType dtype = c.floating_only ? kFloatingDtypes[pick(random, 0, 3)] : kAllDtypes[pick(random, 0, 9)];
    IntList axes;
    for (int64_t a = 0; a < rank; ++a)
      if (pick(random, 0, 1) != 0) axes.push_back(a);
    if (std::string_view(c.name) == "variance" && kept_shape(shape, axes) == shape) continue;  // 0 / 0
    AnyArray x = random_values(shape, dtype, kAllLayouts[pick(random, 0, 4)], random);
    check(c, x, axes, random);
    if (HasFailure()) break;
  }
}

// Long rows, row groups, wide and narrow columns, strided ones: each with blocks left over.
TEST(Reduce, AgreesWithNaiveLoopsAtTheSizesWherePathsChange) {
  Random random(2);
  const std::vector<std::pair<Shape, IntList>> shapes = {
      {{20001}, {0}},     {{3, 9001}, {1}},       {{7, 3, 1500}, {0, 2}},      {{5000, 3}, {0}},
      {{5000, 3}, {1}},   {{300, 1100}, {0}},     {{300, 1100}, {1}},          {{2, 4100, 17}, {1}},
      {{9, 40, 60}, {1}}, {{4, 3000, 2}, {0, 1}}, {{2, 70, 9, 11}, {0, 2, 3}}, {{1500, 6}, {0, 1}},
      {{40, 2100}, {0}},  {{100, 20}, {1}}};
  for (const auto& [shape, axes] : shapes)
    for (Layout layout : {Layout::row_major, Layout::channels_last, Layout::gaps, Layout::reversed})
      for (const Case& c : kCases) {
        if (std::string_view(c.name) == "prod" || (layout != Layout::row_major && pick(random, 0, 3) != 0)) continue;
        const DType dtypes[] = {f32, f64, bf16};
        for (DType dtype : dtypes) {
          if (dtype != f32 && (layout != Layout::row_major || pick(random, 0, 4) != 0)) continue;
          AnyArray x = random_values(shape, dtype, layout, random);
          check(c, x, axes, random);
          ASSERT_FALSE(HasFailure());
        }
      }
}

TEST(Reduce, EmptyInputsGiveTheIdentity) {
  Random random(3);
  AnyArray x({2, 0, 3}, f32, Layout::row_major, random), out({2, 1, 3}, f32, Layout::row_major, random);
  const auto result = [&](auto f) {
    out.fill([] { return 77.0; });
    f(x.operand(), IntList{1}, out.operand());
    return out.get({1, 0, 2});
  };
  EXPECT_EQ(result(cpu::sum), 0);
  EXPECT_EQ(result(cpu::prod), 1);
  EXPECT_EQ(result(cpu::max), -kInf);
  EXPECT_EQ(result(cpu::min), kInf);
  EXPECT_EQ(result(cpu::logsumexp), -kInf);
  EXPECT_EQ(result(kCases[9].run), 0);  // norms
  EXPECT_EQ(result(kCases[13].run), 0);
  EXPECT_TRUE(std::isnan(result(kCases[8].run)));  // variance
  AnyArray none({2, 1, 0}, f32, Layout::row_major, random), nothing({1, 1, 0}, f32, Layout::row_major, random);
  cpu::sum(none.operand(), {0}, nothing.operand());
}

TEST(Reduce, IntegersWrapModulo2To64) {
  Array<int64_t> x{{std::numeric_limits<int64_t>::max(), 2, 1}, View::contiguous({3})}, out{{0}, View::contiguous({1})};
  cpu::sum(x.operand(), {0}, out.operand());
  EXPECT_EQ(out.memory[0], std::numeric_limits<int64_t>::min() + 2);
  Random random(4);
  AnyArray flags({300}, boolean, Layout::row_major, random), count({1}, i64, Layout::row_major, random);
  flags.fill([] { return 1.0; });
  cpu::sum(flags.operand(), {0}, count.operand());
  EXPECT_EQ(count.get({0}), 300);
}

TEST(Reduce, MeanAndVarianceTogether) {
  Random random(5);
  AnyArray x = random_values({6, 500, 3}, f32, Layout::row_major, random, 2, 10);
  AnyArray mean({6, 1, 3}, f32, Layout::row_major, random), variance({6, 1, 3}, f64, Layout::row_major, random);
  cpu::mean_variance(x.operand(), {1}, 1, mean.operand(), variance.operand());
  expect_all_close(
      mean, [&](auto& i) { return naive_sum(elements_at(x, i, {1})) / 500; }, 1, 0, "mean");
  // Deviations of f32 inputs are taken in f32, whatever the result is kept in.
  expect_all_close(
      variance, [&](auto& i) { return naive_variance(elements_at(x, i, {1})); }, 3e7, 0, "variance");
}

}  // namespace
}  // namespace weft::testing
