// Cases of masks, positions and triangles.
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/nonzero.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

void add_fills(Cases& cases) {
  const Reference filled = [](const Arrays& x) {
    return build(broadcast_of(x[0].shape, x[1].shape),
                 [&](const Index& i) { return broadcast_at(x[1], i) != 0 ? 1.0 : broadcast_at(x[0], i); });
  };
  const std::vector<Sample> samples = {{normal({4, 3}), mask({4, 3})}, {normal({2, 4, 3}), mask({4, 1})},
                                       {normal({3}), mask({2, 3})},    {normal({}), mask({})},
                                       {normal({0, 3}), mask({3})},    {special({4, 5}), mask({4, 5})}};
  cases.add("masked_fill", samples, CALL(masked_fill(x[0], x[1], 1)), filled).accepts(kAll);
  cases
      .add(
          "masked_fill in place", {{normal({4, 3}), mask({4, 3})}, {normal({2, 4, 3}), mask({4, 1})}},
          [](const Inputs& x) -> Outputs {
            Tensor y = x[0].clone();
            return y.masked_fill_(x[1], 1);
          },
          filled)
      .accepts(kAll)
      .in_place();
  cases
      .add("masked_fill with a tensor",
           {{normal({4, 3}), mask({4, 3}), normal({})}, {normal({3}), mask({2, 3}), normal({})}},
           CALL(masked_fill(x[0], x[1], x[2])),
           [](const Arrays& x) {
             return build(broadcast_of(x[0].shape, x[1].shape), [&](const Index& i) {
               return broadcast_at(x[1], i) != 0 ? x[2].values[0] : broadcast_at(x[0], i);
             });
           })
      .accepts(kAll);
}

void add_selects(Cases& cases) {
  cases
      .add("masked_select",
           {{normal({4, 3}), mask({4, 3})},
            {normal({3}), mask({2, 3})},
            {normal({70}), mask({70})},
            {normal({0}), mask({0})},
            {normal({2, 3}), mask({})}},
           CALL(masked_select(x[0], x[1])),
           [](const Arrays& x) {
             Array out{{0}, {}};
             for (const Index& i : indices_of(broadcast_of(x[0].shape, x[1].shape)))
               if (broadcast_at(x[1], i) != 0) out.values.push_back(broadcast_at(x[0], i)), ++out.shape[0];
             return out;
           })
      .accepts(kAll)
      .no_vmap(2);
  const Reference put = [](const Arrays& x) {
    Array out = x[0];
    size_t next = 0, place = 0;
    for (const Index& i : indices_of(out.shape)) {
      if (broadcast_at(x[1], i) != 0) out.values[place] = x[2].values[next++];
      ++place;
    }
    return out;
  };
  const std::vector<Sample> samples = {{normal({4, 3}), mask({4, 3}), normal({12})},
                                       {normal({4, 3}), mask({3}), normal({3, 5})},
                                       {normal({2, 3}), mask({2, 1}), normal({6})}};
  cases.add("masked_scatter", samples, CALL(masked_scatter(x[0], x[1], x[2])), put).accepts(kAll);
  cases
      .add(
          "masked_scatter in place", samples,
          [](const Inputs& x) -> Outputs {
            Tensor y = x[0].clone();
            return y.masked_scatter_(x[1], x[2]);
          },
          put)
      .accepts(kAll)
      .in_place();
}

void add_positions(Cases& cases) {
  const Reference coordinates = [](const Arrays& x) {
    Array out{{0, x[0].rank()}, {}};
    for (const Index& i : indices_of(x[0].shape)) {
      if (x[0].at(i) == 0) continue;
      ++out.shape[0];
      for (const int64_t k : i) out.values.push_back(static_cast<double>(k));
    }
    return out;
  };
  const std::vector<Sample> samples = {{mask({4, 3})}, {mask({2, 3, 2})}, {mask({9})}, {mask({0, 2})}, {mask({})}};
  cases.add("nonzero of a mask", samples, CALL(nonzero(x[0])), coordinates)
      .gives({Result::i64})
      .no_gradient()
      .no_vmap(1);
  cases.add("argwhere", {{mask({4, 3})}}, CALL(argwhere(x[0])), coordinates)
      .gives({Result::i64})
      .no_gradient()
      .no_vmap(1);
  cases.add("nonzero", {{integers({4, 3}, 0, 1)}, {special({6, 4})}}, CALL(nonzero(x[0])), coordinates)
      .accepts(kAll)
      .gives({Result::i64})
      .no_gradient()
      .no_vmap(1);
  cases
      .add("flatnonzero", {{mask({4, 3})}, {mask({0})}, {mask({})}}, CALL(flatnonzero(x[0])),
           [](const Arrays& x) {
             Array out{{0}, {}};
             for (size_t i = 0; i < x[0].values.size(); ++i)
               if (x[0].values[i] != 0) out.values.push_back(static_cast<double>(i)), ++out.shape[0];
             return out;
           })
      .gives({Result::i64})
      .no_gradient()
      .no_vmap(1);
  cases
      .add("where of a condition", {{mask({4, 3})}}, CALL(where(x[0])),
           [](const Arrays& x) {
             Arrays out{Array{{0}, {}}, Array{{0}, {}}};
             for (const Index& i : indices_of(x[0].shape))
               for (size_t k = 0; k < 2 && x[0].at(i) != 0; ++k) {
                 out[k].values.push_back(static_cast<double>(i[k]));
                 ++out[k].shape[0];
               }
             return out;
           })
      .gives({Result::i64})
      .no_gradient()
      .no_vmap(1);
}

void add_triangles(Cases& cases) {
  const std::vector<Sample> samples = {{normal({4, 3})}, {normal({3, 5})}, {normal({2, 3, 3})},
                                       {normal({0, 3})}, {normal({2, 0})}, {special({5, 5})}};
  for (const int64_t k : {-2, 0, 1, 100}) {
    const std::string suffix = " " + std::string(k < 0 ? "minus " : "") + std::to_string(k < 0 ? -k : k);
    const auto keep = [](bool (*inside)(int64_t row, int64_t column, int64_t k), int64_t diagonal) -> Reference {
      return [=](const Arrays& x) {
        return build(x[0].shape,
                     [&](const Index& i) { return inside(i[i.size() - 2], i.back(), diagonal) ? x[0].at(i) : 0.0; });
      };
    };
    cases
        .add("tril" + suffix, samples, CALL(tril(x[0], k)),
             keep([](int64_t row, int64_t column, int64_t d) { return column - row <= d; }, k))
        .accepts(kAll);
    cases
        .add("triu" + suffix, samples, CALL(triu(x[0], k)),
             keep([](int64_t row, int64_t column, int64_t d) { return column - row >= d; }, k))
        .accepts(kAll);
  }
}

void add_errors(Cases& cases) {
  cases.error<DtypeError>(
      "masked_fill mask", [] { masked_fill(ones({2}), ones({2}), 0); },
      "masked_fill([2] f32, [2] f32): the mask is f32; it must be bool, e.g. x > 0");
  cases.error<ShapeError>(
      "masked_fill shapes", [] { masked_fill(ones({2}), ones({3}, boolean), 0); },
      "masked_fill([2] f32, [3] bool): shapes [2] and [3] do not broadcast: 2 and 3 on axis -1");
  cases.error<Error>(
      "masked_fill value", [] { masked_fill(ones({2}, u8), ones({2}, boolean), -1); },
      "masked_fill([2] u8, [2] bool): the value -1 does not fit into u8, which holds 0 to 255");
  cases.error<ShapeError>(
      "masked_fill with values", [] { masked_fill(ones({2}), ones({2}, boolean), ones({2})); },
      "masked_fill([2] f32, [2] bool, [2] f32): the value must have no axes, not shape [2]");
  cases.error<DtypeError>(
      "masked_select mask", [] { masked_select(ones({2}), ones({2}, i64)); },
      "masked_select([2] f32, [2] i64): the mask is i64; it must be bool, e.g. x > 0");
  cases.error<ShapeError>(
      "masked_select shapes", [] { masked_select(ones({2}), ones({3}, boolean)); },
      "masked_select([2] f32, [3] bool): shapes [2] and [3] do not broadcast: 2 and 3 on axis -1");
  cases.error<ShapeError>(
      "masked_scatter of too few", [] { masked_scatter(ones({3}), ones({3}, boolean), ones({2})); },
      "masked_scatter([3] f32, [3] bool, [2] f32): the mask is true for 3 elements, the source has only 2");
  cases.error<DtypeError>(
      "masked_scatter mask", [] { masked_scatter(ones({3}), ones({3}), ones({3})); },
      "masked_scatter([3] f32, [3] f32, [3] f32): the mask is f32; it must be bool, e.g. x > 0");
  cases.error<ShapeError>(
      "tril of a vector", [] { tril(ones({3})); }, "tril([3] f32): a matrix has 2 axes or more, not shape [3]");
  cases.error<ShapeError>(
      "triu of a number", [] { triu(ones({})); }, "triu([] f32): a matrix has 2 axes or more, not shape []");
}

}  // namespace

void add_masked_cases(Cases& cases) {
  add_fills(cases);
  add_selects(cases);
  add_positions(cases);
  add_triangles(cases);
  add_errors(cases);
}

}  // namespace weft::testing
