// Cases of searches in sorted sequences and of membership.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/functions/fill.h"
#include "tensor/functions/search.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Reference places(bool right) {
  return [=](const Arrays& in) {
    return build(in[1].shape, [&](const Index& at) {
      const double v = in[1].at(at);
      double out = 0;
      Index from = at;
      if (in[0].rank() == 1) from = {0};
      for (from.back() = 0; from.back() < in[0].size(-1); ++from.back()) {
        const double s = in[0].at(from);
        out += (std::isnan(v) ? right || !std::isnan(s) : right ? s <= v : s < v) ? 1 : 0;
      }
      return out;
    });
  };
}

void add_searches(Cases& cases) {
  Row ascending;
  for (int i = 0; i < 37; ++i) ascending.push_back(i / 3);
  const std::vector<Sample> samples = {{given({5}, {0, 1, 1, 3, 4}), integers({4, 3}, -1, 5)},
                                       {given({37}, ascending), integers({50}, 0, 13)},
                                       {given({2, 3}, {0, 1, 2, 2, 2, 5}), integers({2, 4}, 0, 6)},
                                       {given({4}, {0, 1, 1, 2}), given({}, {1})},
                                       {given({1}, {1}), special({20})},
                                       {given({0}, {}), integers({3}, 0, 2)},
                                       {given({3}, {1, 2, 3}), given({0}, {})}};
  for (const bool right : {false, true})
    cases
        .add(right ? "searchsorted right" : "searchsorted", samples, CALL(searchsorted(x[0], x[1], right)),
             places(right))
        .compares(kFloating | DTypes{i64, i32})
        .gives({Result::i64})
        .no_gradient()
        .no_layouts();
  for (const bool right : {false, true})
    cases
        .add(right ? "searchsorted NaN right" : "searchsorted NaN",
             {{given({3}, {1, 2, kNan}), given({4}, {1, 2.5, kNan, 9})}}, CALL(searchsorted(x[0], x[1], right)),
             places(right))
        .compares(kFloating)
        .gives({Result::i64})
        .no_gradient()
        .no_layouts();
  cases
      .add("bucketize", {{integers({4, 3}, -1, 5), given({5}, {0, 1, 1, 3, 4})}}, CALL(bucketize(x[0], x[1])),
           [](const Arrays& x) {
             return places(false)({x[1], x[0]});
           })
      .compares(kFloating)
      .gives({Result::i64})
      .no_gradient()
      .no_layouts();
}

void add_isin(Cases& cases) {
  for (const bool invert : {false, true})
    cases
        .add(invert ? "isin inverted" : "isin",
             {{integers({4, 3}, -1, 5), given({2, 2}, {4, 0, 0, 2})},
              {given({}, {2}), given({}, {2})},
              {integers({3}, 0, 2), given({0}, {})},
              {given({0}, {}), given({1}, {1})}},
             CALL(isin(x[0], x[1], invert)),
             [invert](const Arrays& x) {
               Array out = x[0];
               for (double& v : out.values)
                 v = (std::count(x[1].values.begin(), x[1].values.end(), v) > 0) != invert ? 1 : 0;
               return out;
             })
        .compares(kFloating | DTypes{i64, u8})
        .gives({Result::boolean})
        .no_gradient();
  cases
      .add("isin NaN", {{given({3}, {1, kNan, 3}), given({2}, {kNan, 3})}}, CALL(isin(x[0], x[1])),
           constant({3}, {0, 0, 1}))
      .compares(DTypes{f32, f64})
      .gives({Result::boolean})
      .no_gradient();
}

void add_errors(Cases& cases) {
  const Tensor x = ones({2, 3});
  cases.error<ShapeError>(
      "searchsorted shapes",
      [=] {
        searchsorted(x, ones({3, 3}));
      },
      "searchsorted([2, 3] f32, [3, 3] f32): the sorted sequence must have one axis, or the values' axes but the last: "
      "[2, 3] and [3, 3]");
  cases.error<ShapeError>(
      "searchsorted scalar", [=] { searchsorted(ones({}), ones({3})); },
      "searchsorted([] f32, [3] f32): the sorted sequence must have one axis, or the values' axes but the last: [] and "
      "[3]");
  cases.error<ShapeError>(
      "bucketize boundaries", [=] { bucketize(x, x); },
      "bucketize([2, 3] f32, [2, 3] f32): the boundaries must have one axis, not shape [2, 3]");
}

}  // namespace

void add_search_cases(Cases& cases) {
  add_searches(cases);
  add_isin(cases);
  add_errors(cases);
}

}  // namespace weft::testing
