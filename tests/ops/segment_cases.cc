// Cases of segment_reduce.
#include <algorithm>
#include <limits>

#include "tensor/functions/fill.h"
#include "tensor/functions/segment.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

using Meet = double (*)(double old, double value);

Array transposed(const Array& x) {
  return build({x.size(1), x.size(0)}, [&](const Index& i) { return x.at({i[1], i[0]}); });
}

/// The same along rows.
Reference of_columns(const Reference& of_rows) {
  return [=](const Arrays& x) { return transposed(of_rows({transposed(x[0]), x[1]})[0]); };
}

/// The rows of x[0] that follow each other, as many as x[1] says, met column by column.
Reference segmented(double start, Meet meet, bool divide) {
  return [=](const Arrays& x) {
    Array out = build({x[1].size(0), x[0].size(1)}, [=](const Index&) { return start; });
    int64_t row = 0;
    for (int64_t i = 0; i < out.size(0); ++i) {
      const auto count = static_cast<int64_t>(x[1].at({i}));
      for (int64_t column = 0; column < out.size(1); ++column) {
        double& value = out.at({i, column});
        for (int64_t j = 0; j < count; ++j) value = meet(value, x[0].at({row + j, column}));
        if (divide) value /= static_cast<double>(count);
      }
      row += count;
    }
    return out;
  };
}

void add_reductions(Cases& cases) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Meet plus = [](double a, double b) { return a + b; }, times = [](double a, double b) { return a * b; };
  const Meet most = [](double a, double b) { return std::max(a, b); };
  const Meet least = [](double a, double b) { return std::min(a, b); };
  struct {
    std::string reduce;
    double start;
    Meet meet;
  } const rows[] = {
      {"sum", 0, plus}, {"mean", 0, plus}, {"prod", 1, times}, {"max", -kInfinity, most}, {"min", kInfinity, least}};
  const InputSpec lengths = index({3}, {2, 3, 1}), with_none = index({4}, {2, 0, 3, 1}), full = index({2}, {4, 2}, i32);
  for (const auto& [reduce, start, meet] : rows) {
    const auto call = [reduce = reduce](const Inputs& x) { return segment_reduce(x[0], reduce, x[1]); };
    const bool divide = reduce == "mean";
    cases
        .add("segment_reduce " + reduce,
             {{distinct({6, 3}), lengths}, {integers({6, 3}, -9, 9), with_none}, {distinct({6, 0}), full}}, call,
             segmented(start, meet, divide))
        .compares(kFloating)
        .no_layouts()  // others have other lengths
        .loose(10);
    cases
        .add(
            "segment_reduce along rows, " + reduce, {{distinct({3, 6}), lengths}, {integers({3, 6}, -9, 9), with_none}},
            [reduce = reduce](const Inputs& x) { return segment_reduce(x[0], reduce, x[1], 1); },
            of_columns(segmented(start, meet, divide)))
        .compares(kFloating)
        .no_layouts()
        .loose(10);
    if (divide) continue;
    cases
        .add("segment_reduce of integers, " + reduce, {{integers({6, 2}, 1, 3), full}}, call,
             segmented(start, meet, false))
        .accepts(kNumbers)
        .no_layouts();
  }
  cases
      .add("segment_reduce prod with zeros",
           {{given({6, 2}, {0, 2, 3, 0, 2, 0, 3, 4, 0, 5, 2, 3}), lengths},
            {given({6, 1}, {2, 3, 0, 1, 5, 4}), with_none}},
           CALL(segment_reduce(x[0], "prod", x[1])), segmented(1, times, false))
      .compares(kFloating)
      .no_layouts()
      .loose(10);
  cases
      .add("segment_reduce along another axis", {{normal({2, 3})}},
           CALL(segment_reduce(x[0], "sum", tensor({1, 2}).to(x[0].device()), -1)),
           [](const Arrays& x) {
             const Row& v = x[0].values;
             return Array{{2, 2}, {v[0], v[1] + v[2], v[3], v[4] + v[5]}};
           })
      .compares(kFloating)
      .loose(10);
}

void add_errors(Cases& cases) {
  cases.error<ShapeError>(
      "segment_reduce lengths",
      [] {
        segment_reduce(ones({3}), "sum", tensor({1, 1}));
      },
      "segment_reduce([3] f32, [2] i64): the lengths add up to 2, not to the size 3");
  cases.error<ShapeError>(
      "segment_reduce negative length",
      [] {
        segment_reduce(ones({3}), "sum", tensor({4, -1}));
      },
      "segment_reduce([3] f32, [2] i64): the length -1 is negative");
  cases.error<ShapeError>(
      "segment_reduce lengths of rows",
      [] {
        segment_reduce(ones({3}), "sum", ones({1, 1}, i64));
      },
      "segment_reduce([3] f32, [1, 1] i64): the lengths must have one axis, not shape [1, 1]");
  cases.error<DtypeError>(
      "segment_reduce floating lengths", [] { segment_reduce(ones({1}), "sum", ones({1})); },
      "segment_reduce([1] f32, [1] f32): the lengths are f32; they must be integers");
  cases.error<DtypeError>(
      "segment_reduce mean of integers", [] { segment_reduce(ones({1}, i64), "mean", tensor({1})); },
      "segment_reduce([1] i64, [1] i64): a mean of i64 is floating; cast first, e.g. x.to(f32)");
  cases.error<Error>(
      "segment_reduce name", [] { segment_reduce(ones({1}), "amax", tensor({1})); },
      "segment_reduce([1] f32, [1] i64): `amax` is none of sum, mean, max, min and prod");
}

}  // namespace

void add_segment_cases(Cases& cases) {
  add_reductions(cases);
  add_errors(cases);
}

}  // namespace weft::testing
