// Cases of joining tensors.
#include "tensor/functions/cat.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

Reference joined(size_t axis) {
  return [axis](const Arrays& x) {
    Shape shape = x[0].shape;
    shape[axis] = 0;
    for (const Array& part : x) shape[axis] += part.shape[axis];
    return build(shape, [&](Index i) {
      size_t part = 0;
      while (i[axis] >= x[part].shape[axis]) i[axis] -= x[part++].shape[axis];
      return x[part].at(i);
    });
  };
}
/// Along a new axis: each part is the same with an axis of size 1.
Reference stacked(int64_t axis) {
  return [axis](const Arrays& x) {
    Arrays parts = x;
    const int64_t at = axis < 0 ? axis + x[0].rank() + 1 : axis;
    for (Array& part : parts) part.shape.insert(static_cast<size_t>(at), 1);
    return joined(static_cast<size_t>(at))(parts);
  };
}

void add_cat(Cases& cases) {
  cases
      .add("cat",
           {{normal({2, 3}), normal({4, 3})},
            {normal({2, 3})},
            {normal({0, 3}), normal({2, 3})},
            {normal({2}), normal({1}), normal({3})},
            {normal({1, 2, 3}), normal({2, 2, 3})},
            {normal({2, 3, 2, 2}), normal({1, 3, 2, 2})},
            {normal({0}), normal({0})}},
           CALL(cat(x)), joined(0))
      .accepts(kAll);
  cases
      .add("cat columns",
           {{normal({2, 3}), normal({2, 1})},
            {normal({2, 3, 2, 2}), normal({2, 1, 2, 2}), normal({2, 2, 2, 2})},
            {normal({3, 0}), normal({3, 2})}},
           CALL(cat(x, 1)), joined(1))
      .accepts(kAll);
  // A list that began empty.
  cases
      .add("cat with empty ones",
           {{normal({0}), normal({2, 3}), normal({0}), normal({1, 3})}, {normal({0, 3}), normal({0})}}, CALL(cat(x)),
           [](const Arrays& x) {
             Arrays rows;
             for (const Array& part : x)
               if (part.rank() == 2) rows.push_back(part);
             return joined(0)(rows);
           })
      .accepts(kAll);
  cases
      .add("cat promotes to the dtype of empty ones", {{}}, CALL(cat({zeros({0}), ones({1, 2}, i64)}, 1)),
           constant({1, 2}, {1, 1}))
      .gives({Result::f32})
      .no_vmap();
}

void add_stack(Cases& cases) {
  cases
      .add(
          "stack",
          {{normal({2, 3}), normal({2, 3})}, {normal({}), normal({})}, {normal({3})}, {normal({0, 2}), normal({0, 2})}},
          CALL(stack(x)), stacked(0))
      .accepts(kAll);
  cases
      .add("stack last", {{normal({2, 3}), normal({2, 3})}, {normal({4}), normal({4}), normal({4})}},
           CALL(stack(x, -1)), stacked(-1))
      .accepts(kAll);
}

void add_numpy_stacks(Cases& cases) {
  const auto shaped = [](const Shape& shape) -> Reference {
    return [=](const Arrays& x) { return Arrays{Array{shape, x[0].values}}; };
  };
  cases.add("atleast_1d", {{normal({})}}, CALL(atleast_1d(x[0])), shaped({1})).accepts(kAll).view();
  cases.add("atleast_2d of a vector", {{normal({3})}}, CALL(atleast_2d(x[0])), shaped({1, 3})).accepts(kAll).view();
  cases.add("atleast_3d of a matrix", {{normal({2, 3})}}, CALL(atleast_3d(x[0])), shaped({2, 3, 1}))
      .accepts(kAll)
      .view();
  cases.add("atleast_3d of a vector", {{normal({3})}}, CALL(atleast_3d(x[0])), shaped({1, 3, 1})).accepts(kAll).view();
  cases.add("atleast_3d of 4 axes", {{normal({1, 2, 1, 2})}}, CALL(atleast_3d(x[0])), shaped({1, 2, 1, 2}))
      .accepts(kAll);
  cases.add("hstack", {{normal({2, 3}), normal({2, 1})}}, CALL(hstack(x)), joined(1)).accepts(kAll);
  cases.add("hstack of lines", {{normal({3}), normal({2})}}, CALL(hstack(x)), joined(0)).accepts(kAll);
  cases.add("vstack", {{normal({2, 3}), normal({1, 3})}, {normal({0, 3}), normal({2, 3})}}, CALL(vstack(x)), joined(0))
      .accepts(kAll);
  cases.add("vstack of lines", {{normal({3}), normal({3})}}, CALL(vstack(x)), stacked(0)).accepts(kAll);
  cases.add("dstack", {{normal({2, 2, 1}), normal({2, 2, 3})}}, CALL(dstack(x)), joined(2)).accepts(kAll);
  cases.add("dstack of matrices", {{normal({2, 3}), normal({2, 3})}}, CALL(dstack(x)), stacked(2)).accepts(kAll);
  cases.add("column_stack", {{normal({2, 3}), normal({2, 1})}}, CALL(column_stack(x)), joined(1)).accepts(kAll);
  cases.add("column_stack of lines", {{normal({3}), normal({3})}}, CALL(column_stack(x)), stacked(1)).accepts(kAll);
}

void add_block_diag(Cases& cases) {
  cases
      .add("block_diag", {{normal({2, 3}), normal({2}), normal({})}, {normal({1, 0}), normal({2, 2})}},
           CALL(block_diag(x)),
           [](const Arrays& x) {
             Shape shape = {0, 0};
             for (const Array& part : x) {
               shape[0] += part.rank() == 2 ? part.shape[0] : 1;
               shape[1] += part.rank() > 0 ? part.shape.back() : 1;
             }
             Array out = build(shape, [](const Index&) { return 0.0; });
             int64_t row = 0, column = 0;
             for (const Array& part : x) {
               const int64_t rows = part.rank() == 2 ? part.shape[0] : 1,
                             columns = part.rank() > 0 ? part.shape.back() : 1;
               for (int64_t i = 0; i < rows * columns; ++i)
                 out.values[static_cast<size_t>((row + i / columns) * shape[1] + column + i % columns)] =
                     part.values[static_cast<size_t>(i)];
               row += rows;
               column += columns;
             }
             return out;
           })
      .accepts(kAll);
  cases.error<ShapeError>(
      "block_diag of three axes",
      [] {
        block_diag({ones({1, 2, 3})});
      },
      "block_diag([1, 2, 3] f32): matrices are joined, not shape [1, 2, 3]");
}

void add_errors(Cases& cases) {
  cases.error<Error>(
      "cat of nothing", [] { cat({}); }, "cat(): 1 tensor or more is needed");
  cases.error<Error>(
      "stack of nothing", [] { stack({}); }, "stack(): 1 tensor or more is needed");
  cases.error<ShapeError>(
      "cat shapes",
      [] {
        cat({ones({2, 3}), ones({2, 4})});
      },
      "cat([2, 3] f32, [2, 4] f32): shapes [2, 3] and [2, 4] differ on more than axis 0");
  cases.error<ShapeError>(
      "cat ranks",
      [] {
        cat({ones({2, 3}), ones({3})});
      },
      "cat([2, 3] f32, [3] f32): shapes [2, 3] and [3] differ on more than axis 0");
  cases.error<ShapeError>(
      "cat scalars",
      [] {
        cat({ones({}), ones({})});
      },
      "cat([] f32, [] f32): tensors without axes cannot be joined; use stack");
  cases.error<IndexError>(
      "cat axis", [] { cat({ones({2})}, 1); }, "cat([2] f32): axis 1 is out of range for 1 axis");
  cases.error<ShapeError>(
      "stack shapes",
      [] {
        stack({ones({2}), ones({3})});
      },
      "stack([2] f32, [3] f32): shapes differ: [2] and [3]");
  cases.error<IndexError>(
      "stack axis", [] { stack({ones({2})}, 2); }, "stack([2] f32): axis 2 is out of range for 2 axes");
  cases.error<Error>(
      "cat undefined",
      [] {
        cat({ones({2}), Tensor()});
      },
      "cat([2] f32): a tensor is undefined (default-constructed, or an absent gradient)");
}

}  // namespace

void add_cat_cases(Cases& cases) {
  add_cat(cases);
  add_stack(cases);
  add_numpy_stacks(cases);
  add_block_diag(cases);
  add_errors(cases);
}

}  // namespace weft::testing
