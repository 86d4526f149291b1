// Reductions against naive ones in double: every dtype, layout and choice of axes, and the sizes at which the paths
// change.
#include "tensor/ops/reduce.h"

#include <functional>

#include "tests/reference/rows.h"
#include "tests/tensor/kernels/row_checks.h"

namespace weft::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
using Values = reference::Row;

template <class Op> void fold(const Operand& x, const IntList& axes, const Operand& out) {
  Op op;
  op.axes = axes;
  op.keepdim = true;
  op.cpu(x, out);
}
template <int p> void norm(const Operand& x, const IntList& axes, const Operand& out) {
  op::Norm{p, axes, true}.cpu(x, out);
}
void variance(const Operand& x, const IntList& axes, const Operand& out) { op::Var{axes, 1, true}.cpu(x, out); }

struct Case {
  const char* name;
  std::function<void(const Operand&, const IntList&, const Operand&)> run;
  std::function<double(const Values&)> naive;
  bool floating_only = false;
};

const Case kCases[] = {
    {"sum", fold<op::Sum>, reference::sum},
    {"prod", fold<op::Prod>, reference::prod},
    {"max", fold<op::Max>, reference::max},
    {"min", fold<op::Min>, reference::min},
    {"any", fold<op::Any>, reference::any},
    {"all", fold<op::All>, reference::all},
    {"logsumexp", fold<op::Logsumexp>, reference::logsumexp, true},
    {"variance", variance, [](const Values& v) { return reference::variance(v, 1); }, true},
    {"norm 2", norm<2>, [](const Values& v) { return reference::norm(v, 2); }, true},
    {"norm 1", norm<1>, [](const Values& v) { return reference::norm(v, 1); }, true},
    {"norm 3", norm<3>, [](const Values& v) { return reference::norm(v, 3); }, true},
    {"norm 0", norm<0>, [](const Values& v) { return reference::norm(v, 0); }, true},
    {"norm inf",
     [](const Operand& x, const IntList& axes, const Operand& out) {
       op::Norm{kInf, axes, true}.cpu(x, out);
     },
     [](const Values& v) { return reference::norm(v, kInf); }, true},
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
  const auto want = reduced(x, axes, [&](const Values& v) { return rounded(c.naive(v), out.dtype); });
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
  const std::vector<std::pair<Shape, IntList>> shapes = {{{20001}, {0}},
                                                         {{3, 9001}, {1}},
                                                         {{7, 3, 1500}, {0, 2}},
                                                         {{5000, 3}, {0}},
                                                         {{5000, 3}, {1}},
                                                         {{300, 1100}, {0}},
                                                         {{300, 1100}, {1}},
                                                         {{2, 4100, 17}, {1}},
                                                         {{9, 40, 60}, {1}},
                                                         {{4, 3000, 2}, {0, 1}},
                                                         {{2, 70, 9, 11}, {0, 2, 3}},
                                                         {{1500, 6}, {0, 1}},
                                                         {{40, 2100}, {0}},
                                                         {{100, 20}, {1}},
                                                         {{101, 30}, {1}},
                                                         {{43, 150}, {1}},
                                                         {{43, 17}, {1}},
                                                         {{43, 11}, {1}},
                                                         {{90, 4, 16}, {1}},
                                                         {{50, 11, 33}, {1}}};
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

// Rows are folded some at a time; one alone has the same bits.
TEST(Reduce, ARowsBitsDoNotDependOnItsNeighbors) {
  Random random(6);
  for (const int64_t length : {17, 24, 49, 150, 1000}) {
    AnyArray x = random_values({37, length}, f32, Layout::row_major, random);
    AnyArray all({37, 1}, f32, Layout::row_major, random), one({1, 1}, f32, Layout::row_major, random);
    fold<op::Sum>(x.operand(), {1}, all.operand());
    for (int64_t i = 0; i < 37; ++i) {
      const View row = x.operand().view->slice(0, i, i + 1);
      fold<op::Sum>(x.operand().with(row), {1}, one.operand());
      ASSERT_EQ(all.get({i, 0}), one.get({0, 0})) << "row " << i << " of " << length;
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
  EXPECT_EQ(result(fold<op::Sum>), 0);
  EXPECT_EQ(result(fold<op::Prod>), 1);
  EXPECT_EQ(result(fold<op::Max>), -kInf);
  EXPECT_EQ(result(fold<op::Min>), kInf);
  EXPECT_EQ(result(fold<op::Logsumexp>), -kInf);
  EXPECT_EQ(result(norm<2>), 0);
  EXPECT_EQ(result(kCases[std::size(kCases) - 1].run), 0);  // norm inf
  EXPECT_TRUE(std::isnan(result(variance)));
  AnyArray none({2, 1, 0}, f32, Layout::row_major, random), nothing({1, 1, 0}, f32, Layout::row_major, random);
  fold<op::Sum>(none.operand(), {0}, nothing.operand());
}

TEST(Reduce, IntegersWrapModulo2To64) {
  Array<int64_t> x{{std::numeric_limits<int64_t>::max(), 2, 1}, View::contiguous({3})}, out{{0}, View::contiguous({1})};
  fold<op::Sum>(x.operand(), {0}, out.operand());
  EXPECT_EQ(out.memory[0], std::numeric_limits<int64_t>::min() + 2);
  Random random(4);
  AnyArray flags({300}, boolean, Layout::row_major, random), count({1}, i64, Layout::row_major, random);
  flags.fill([] { return 1.0; });
  fold<op::Sum>(flags.operand(), {0}, count.operand());
  EXPECT_EQ(count.get({0}), 300);
}

// An output without the reduced axes is addressed as one that keeps them.
TEST(Reduce, OutputsWithoutTheReducedAxes) {
  Random random(5);
  AnyArray x = random_values({4, 5, 6, 3}, f32, Layout::permuted, random);
  for (const IntList& axes : {IntList{0}, IntList{3}, IntList{1, 2}, IntList{0, 3}, IntList{0, 1, 2, 3}}) {
    AnyArray kept(kept_shape(x.shape(), axes), f32, Layout::row_major, random);
    fold<op::Sum>(x.operand(), axes, kept.operand());
    Shape shape = op::reduced_shape(x.shape(), axes, false);
    AnyArray out(shape, f32, Layout::gaps, random);
    op::Sum sum;
    sum.axes = axes;
    sum.keepdim = false;
    sum.cpu(x.operand(), out.operand());
    for_each_index(kept.shape(), [&](const IntList& index) {
      IntList place;
      for (int64_t i = 0; i < x.shape().rank(); ++i)
        if (std::find(axes.begin(), axes.end(), i) == axes.end()) place.push_back(index[static_cast<size_t>(i)]);
      ASSERT_EQ(out.get(place), kept.get(index)) << axes.to_string();
    });
  }
}

}  // namespace
}  // namespace weft::testing
