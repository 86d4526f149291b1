// Cases of copies with a part replaced.
#include "tensor/functions/fill.h"
#include "tensor/functions/strided_scatter.h"
#include "tensor/functions/view.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

/// x[0], where `inside` gives the place in x[1] of an index that is replaced, or nothing.
Reference replaced(const std::function<std::optional<Index>(const Index&)>& inside) {
  return [inside](const Arrays& x) {
    return build(x[0].shape, [&](const Index& i) {
      const std::optional<Index> place = inside(i);
      return place ? broadcast_at(x[1], *place) : x[0].at(i);
    });
  };
}

}  // namespace

void add_strided_scatter_cases(Cases& cases) {
  cases
      .add("as_strided_scatter", {{normal({3, 4}), normal({2, 2})}},
           CALL(as_strided_scatter(x[0], x[1], {2, 2}, {4, 2}, 1)),
           replaced([](const Index& i) -> std::optional<Index> {
             if (i[0] > 1 || i[1] % 2 == 0) return std::nullopt;
             return Index{i[0], i[1] / 2};
           }))
      .accepts(kAll);
  cases
      .add("as_strided_scatter of nothing", {{normal({2, 2}), normal({0, 3})}},
           CALL(as_strided_scatter(x[0], x[1], {0, 3}, {1, 1})), [](const Arrays& x) { return x[0]; })
      .accepts(kAll);
  cases
      .add("select_scatter", {{normal({3, 4}), normal({3})}, {normal({3, 4}), normal({})}},
           CALL(select_scatter(x[0], x[1], 1, -1)), replaced([](const Index& i) -> std::optional<Index> {
             if (i[1] != 3) return std::nullopt;
             return Index{i[0]};
           }))
      .accepts(kAll);
  cases
      .add("slice_scatter", {{normal({5, 2}), normal({2, 2})}, {normal({5, 2}), normal({2})}},
           CALL(slice_scatter(x[0], x[1], 0, 1, 4, 2)), replaced([](const Index& i) -> std::optional<Index> {
             if (i[0] != 1 && i[0] != 3) return std::nullopt;
             return Index{i[0] / 2, i[1]};
           }))
      .accepts(kAll);
  cases
      .add("diagonal_scatter", {{normal({3, 4}), normal({3})}}, CALL(diagonal_scatter(x[0], x[1], 1)),
           replaced([](const Index& i) -> std::optional<Index> {
             if (i[1] != i[0] + 1) return std::nullopt;
             return Index{i[0]};
           }))
      .accepts(kAll);
  cases.error<ShapeError>(
      "as_strided_scatter source", [] { as_strided_scatter(ones({4}), ones({3}), {2}, {1}); },
      "as_strided_scatter([4] f32, [3] f32): the source has shape [3], the part [2]");
  cases.error<ShapeError>(
      "as_strided_scatter overlap",
      [] {
        as_strided_scatter(ones({4}), ones({2, 2}), {2, 2}, {1, 1});
      },
      "as_strided_scatter([4] f32, [2, 2] f32): the part of shape [2, 2] with strides [1, 1] overlaps itself");
  cases.error<ShapeError>(
      "as_strided_scatter bounds", [] { as_strided_scatter(ones({4}), ones({3}), {3}, {2}); },
      "as_strided_scatter([4] f32, [3] f32): elements 0 to 4 are not all among the 4 of [4]");
  cases.error<ShapeError>(
      "select_scatter source",
      [] {
        select_scatter(ones({3, 4}), ones({4}), 1, 0);
      },
      "select_scatter([3, 4] f32, [4] f32): [4] does not broadcast to [3]: 4 and 3 on axis 0");
}

}  // namespace weft::testing
