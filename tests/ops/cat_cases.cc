// Cases of joining tensors.
#include "tensor/functions/cat.h"
#include "tensor/functions/fill.h"
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

}  // namespace

void add_cat_cases(Cases& cases) {
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
  cases.error<Error>(
      "cat of nothing", [] { cat({}); }, "cat(): it takes at least one tensor");
  cases.error<Error>(
      "stack of nothing", [] { stack({}); }, "stack(): it takes at least one tensor");
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

}  // namespace weft::testing
