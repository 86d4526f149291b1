// Cases of tensors as several views, and of grids.
#include "tensor/functions/fill.h"
#include "tensor/functions/split.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

/// [begin, end) of one axis, for each piece.
Reference pieces(size_t axis, const std::vector<std::pair<int64_t, int64_t>>& bounds) {
  return [=](const Arrays& x) {
    Arrays out;
    for (const auto& [begin, end] : bounds) {
      Shape shape = x[0].shape;
      shape[axis] = end - begin;
      out.push_back(build(shape, [&, first = begin](Index i) { return i[axis] += first, x[0].at(i); }));
    }
    return out;
  };
}

void add_combinations(Cases& cases) {
  // The order of Python's itertools.combinations and combinations_with_replacement.
  const auto chosen = [](const std::vector<Index>& rows) -> Reference {
    return [=](const Arrays& x) {
      const Shape shape = {static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size())};
      return build(shape, [&](const Index& i) {
        return x[0].values[static_cast<size_t>(rows[static_cast<size_t>(i[0])][static_cast<size_t>(i[1])])];
      });
    };
  };
  cases
      .add("combinations", {{normal({4})}}, CALL(combinations(x[0])),
           chosen({{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}))
      .accepts(kAll);
  cases
      .add("combinations of three", {{normal({4})}}, CALL(combinations(x[0], 3)),
           chosen({{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}}))
      .accepts(kAll);
  cases
      .add("combinations with replacement", {{normal({3})}}, CALL(combinations(x[0], 2, true)),
           chosen({{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}))
      .accepts(kAll);
  cases
      .add("combinations of more than there are", {{normal({2})}, {normal({0})}},
           CALL({combinations(x[0], 3), combinations(x[0], 0)}),
           [](const Arrays&) {
             return Arrays{Array{{0, 3}, {}}, Array{{0}, {}}};
           })
      .accepts(kAll)
      .no_gradient();
  cases.error<ShapeError>(
      "combinations of a matrix",
      [] {
        combinations(ones({2, 2}));
      },
      "combinations([2, 2] f32): it takes a tensor with one axis, not shape [2, 2]");
  cases.error<Error>(
      "combinations of fewer than none", [] { combinations(ones({2}), -1); },
      "combinations([2] f32): the number of elements must be 0 or more, not -1");
}

}  // namespace

void add_split_cases(Cases& cases) {
  cases.add("split by sizes", {{normal({6, 2})}}, CALL(split(x[0], {2, 0, 4})), pieces(0, {{0, 2}, {2, 2}, {2, 6}}))
      .accepts(kAll)
      .view();
  cases
      .add("tensor_split in sections", {{normal({2, 7})}}, CALL(tensor_split(x[0], 3, -1)),
           pieces(1, {{0, 3}, {3, 5}, {5, 7}}))
      .accepts(kAll)
      .view();
  cases
      .add("tensor_split at positions", {{normal({7})}}, CALL(tensor_split(x[0], {1, 5})),
           pieces(0, {{0, 1}, {1, 5}, {5, 7}}))
      .accepts(kAll)
      .view();
  cases.add("hsplit", {{normal({2, 6})}}, CALL(hsplit(x[0], 2)), pieces(1, {{0, 3}, {3, 6}})).accepts(kAll).view();
  cases.add("hsplit of a line", {{normal({6})}}, CALL(hsplit(x[0], IntList{4})), pieces(0, {{0, 4}, {4, 6}}))
      .accepts(kAll)
      .view();
  cases.add("vsplit", {{normal({4, 2})}}, CALL(vsplit(x[0], 2)), pieces(0, {{0, 2}, {2, 4}})).accepts(kAll).view();
  cases.add("dsplit", {{normal({1, 2, 4})}}, CALL(dsplit(x[0], 2)), pieces(2, {{0, 2}, {2, 4}})).accepts(kAll).view();
  cases
      .add("unbind", {{normal({2, 3})}}, CALL(unbind(x[0], 1)),
           [](const Arrays& x) {
             Arrays out;
             for (int64_t j = 0; j < 3; ++j)
               out.push_back(build({2}, [&](const Index& i) { return x[0].at({i[0], j}); }));
             return out;
           })
      .accepts(kAll)
      .view();
  const auto grid = [](const Shape& shape, size_t first, size_t second) -> Reference {
    return [=](const Arrays& x) {
      const auto line = [&](size_t which, size_t axis) {
        return build(shape, [&](const Index& i) { return x[which].values[static_cast<size_t>(i[axis])]; });
      };
      return Arrays{line(0, first), line(1, second)};
    };
  };
  cases.add("meshgrid", {{normal({2}), normal({3})}}, CALL(meshgrid({x[0], x[1]})), grid({2, 3}, 0, 1)).accepts(kAll);
  cases.add("meshgrid xy", {{normal({2}), normal({3})}}, CALL(meshgrid({x[0], x[1]}, "xy")), grid({3, 2}, 1, 0))
      .accepts(kAll);
  cases
      .add("cartesian_prod", {{normal({2}), normal({3})}}, CALL(cartesian_prod({x[0], x[1]})),
           [](const Arrays& x) {
             return build({6, 2}, [&](const Index& i) {
               return i[1] == 0 ? x[0].values[static_cast<size_t>(i[0] / 3)]
                                : x[1].values[static_cast<size_t>(i[0] % 3)];
             });
           })
      .accepts(kAll);
  cases.error<ShapeError>(
      "split sum",
      [] {
        split(ones({6}), {2, 3});
      },
      "split([6] f32): sizes [2, 3] sum to 5, axis 0 has 6");
  cases.error<ShapeError>(
      "split negative",
      [] {
        split(ones({6}), {8, -2});
      },
      "split([6] f32): size -2 in [8, -2] is negative");
  cases.error<ShapeError>(
      "tensor_split sections", [] { tensor_split(ones({6}), 0); },
      "tensor_split([6] f32): sections 0 must be 1 or more");
  cases.error<IndexError>(
      "unbind axis", [] { unbind(ones({6}), 1); }, "unbind([6] f32): axis 1 is out of range for 1 axis");
  cases.error<ShapeError>(
      "meshgrid rank",
      [] {
        meshgrid({ones({2}), ones({2, 2})});
      },
      "meshgrid([2] f32, [2, 2] f32): each tensor must have one axis, not shape [2, 2]");
  cases.error<ShapeError>(
      "meshgrid of nothing", [] { meshgrid({}); }, "meshgrid(): 1 tensor or more is needed");
  cases.error<Error>(
      "meshgrid indexing", [] { meshgrid({ones({2})}, "yx"); },
      "meshgrid([2] f32): indexing `yx` is none of ij and xy");
  cases.error<Error>(
      "cartesian_prod of nothing", [] { cartesian_prod({}); }, "cartesian_prod(): 1 tensor or more is needed");
  add_combinations(cases);
}

}  // namespace weft::testing
