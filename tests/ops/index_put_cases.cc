// Cases of writes by index: index_copy, index_fill, index_add, take, put.
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index_put.h"
#include "tests/ops/families.h"
#include "tests/reference/index.h"

namespace weft::testing {

namespace {

using reference::place;

/// write(place in x[0], value of x[2]) for each slice along `axis` that x[1] names.
Reference slices_written(size_t axis, double (*write)(double old, double value)) {
  return [=](const Arrays& x) {
    Array out = x[0];
    for (const Index& from : indices_of(x[2].shape)) {
      Index to = from;
      to[axis] = place(x[1], {from[axis]}, x[0].shape[axis]);
      out.at(to) = write(out.at(to), x[2].at(from));
    }
    return out;
  };
}
double replace(double, double value) { return value; }
double sum(double old, double value) { return old + value; }

void add_slices(Cases& cases) {
  const std::vector<Sample> rows = {{normal({4, 3}), index({2}, {3, 0}), normal({2, 3})},
                                    {normal({4, 3}), index({5}, {3, 0, 3, 3, 1}), normal({5, 3})},
                                    {normal({4, 2, 2}), index({3}, 4), normal({3, 2, 2})},
                                    {normal({50}), index({5}, {3, 0, 49, 3, 3}), normal({5})},
                                    {normal({4}), index({0}, 4), normal({0})}};
  cases.add("index_copy of rows", rows, CALL(index_copy(x[0], 0, x[1], x[2])), slices_written(0, replace))
      .accepts(kAll);
  cases
      .add("index_copy of columns", {{normal({2, 5}), index({3}, {4, 0, 4}), normal({2, 3})}},
           CALL(index_copy(x[0], -1, x[1], x[2])), slices_written(1, replace))
      .accepts(kAll);
  cases.add("index_add to rows", rows, CALL(index_add(x[0], 0, x[1], x[2])), slices_written(0, sum))
      .compares(kFloating);
  cases
      .add("index_add to columns, scaled",
           {{normal({2, 5}), index({3}, {4, 0, 4}), normal({2, 3})}, {normal({3, 2}), index({20}, 2), normal({3, 20})}},
           CALL(index_add(x[0], 1, x[1], x[2], 3)), slices_written(1, [](double old, double v) { return old + 3 * v; }))
      .compares(kFloating);
  cases
      .add(
          "index_add in place", rows,
          [](const Inputs& x) -> Outputs {
            Tensor y = x[0].clone();
            return y.index_add_(0, x[1], x[2]);
          },
          slices_written(0, sum))
      .compares(kFloating)
      .in_place();
  cases
      .add(
          "index_copy in place to a column", {{normal({2, 5}), index({3}, {4, 0, 4}), normal({3})}},
          [](const Inputs& x) -> Outputs {
            const Tensor y = x[0].clone();
            y.select(0, 1).index_copy_(0, x[1], x[2]);
            return y;
          },
          [](const Arrays& x) {
            Array out = x[0];
            for (int64_t i = 0; i < 3; ++i) out.at({1, place(x[1], {i}, 5)}) = x[2].at({i});
            return out;
          })
      .accepts(kAll)
      .in_place();
  const Reference filled = [](const Arrays& x) {
    Array out = x[0];
    for (const Index& i : indices_of(out.shape))
      for (int64_t k = 0; k < x[1].size(0); ++k)
        if (place(x[1], {k}, 4) == i[0]) out.at(i) = 1;
    return out;
  };
  cases
      .add("index_fill", {{normal({4, 3}), index({2}, {-1, 0})}, {normal({4}), index({3}, 4)}},
           CALL(index_fill(x[0], 0, x[1], 1)), filled)
      .accepts(kAll);
  cases
      .add(
          "index_fill in place", {{normal({4, 3}), index({2}, {-1, 0})}},
          [](const Inputs& x) -> Outputs {
            Tensor y = x[0].clone();
            return y.index_fill_(0, x[1], 1);
          },
          filled)
      .accepts(kAll)
      .in_place();
}

void add_elements(Cases& cases) {
  cases
      .add("take",
           {{normal({3, 4}), index({2, 2}, {0, -1, 5, 11})},
            {normal({3, 4}), index({5}, 12)},
            {normal({6}), index({}, 6)},
            {normal({}), index({2}, {0, -1})},
            {normal({2, 3}), index({0}, 6)}},
           CALL(take(x[0], x[1])),
           [](const Arrays& x) {
             return build(x[1].shape, [&](const Index& i) {
               return x[0].values[static_cast<size_t>(place(x[1], i, static_cast<int64_t>(x[0].values.size())))];
             });
           })
      .accepts(kAll);
  cases
      .add("take_along_dim",
           {{normal({3, 4}), index({3, 2}, {0, -1, 2, 2, 1, 3})},
            {normal({1, 4}), index({3, 2}, 4)},
            {normal({3, 4}), index({1, 3}, 4)}},
           CALL(take_along_dim(x[0], x[1], 1)),
           [](const Arrays& x) {
             const int64_t rows = std::max(x[0].size(0), x[1].size(0));
             return build({rows, x[1].size(1)}, [&](const Index& i) {
               const int64_t j = place(x[1], {x[1].size(0) == 1 ? 0 : i[0], i[1]}, 4);
               return x[0].at({x[0].size(0) == 1 ? 0 : i[0], j});
             });
           })
      .accepts(kAll);
  cases
      .add("take_along_dim without an axis", {{normal({3, 4}), index({2, 2}, 12)}}, CALL(take_along_dim(x[0], x[1])),
           [](const Arrays& x) {
             return build({4}, [&](const Index& i) {
               return x[0].values[static_cast<size_t>(x[1].values[static_cast<size_t>(i[0])])];
             });
           })
      .accepts(kAll);
  const auto put_with = [](double (*write)(double, double)) -> Reference {
    return [write](const Arrays& x) {
      Array out = x[0];
      for (size_t i = 0; i < x[1].values.size(); ++i) {
        const auto n = static_cast<double>(out.values.size());
        const double k = x[1].values[i];
        double& place = out.values[static_cast<size_t>(k < 0 ? k + n : k)];
        place = write(place, x[2].values[i]);
      }
      return out;
    };
  };
  const std::vector<Sample> samples = {{normal({3, 4}), index({2, 2}, {0, -1, 5, 5}), normal({2, 2})},
                                       {normal({3, 4}), index({3}, 12), normal({3})},
                                       {normal({}), index({1}, 1), normal({1})}};
  cases.add("put", samples, CALL(put(x[0], x[1], x[2])), put_with(replace)).accepts(kAll);
  cases.add("put that accumulates", samples, CALL(put(x[0], x[1], x[2], true)), put_with(sum)).compares(kFloating);
  cases
      .add(
          "put in place to a transposed matrix", {{normal({3, 4}), index({2, 2}, {0, -1, 5, 5}), normal({2, 2})}},
          [](const Inputs& x) -> Outputs {
            const Tensor y = x[0].t().clone().contiguous();
            y.t().put_(x[1], x[2]);
            return y.t();
          },
          put_with(replace))
      .accepts(kAll)
      .in_place();
  cases
      .add(
          "put in place to a transposed matrix that accumulates",
          {{normal({3, 4}), index({2, 2}, {0, -1, 5, 5}), normal({2, 2})}},
          [](const Inputs& x) -> Outputs {
            const Tensor y = x[0].t().clone().contiguous();
            y.t().put_(x[1], x[2], true);
            return y.t();
          },
          put_with(sum))
      .compares(kFloating)
      .in_place();
}

void add_errors(Cases& cases) {
  cases.error<IndexError>(
      "index_copy index", [] { index_copy(ones({3}), 0, tensor({3}), ones({1})); },
      "index_copy([3] f32, [1] i64, [1] f32): index 3 is out of range for an axis of size 3");
  cases.error<ShapeError>(
      "index_copy shape",
      [] {
        index_copy(ones({3, 2}), 0, tensor({1}), ones({2, 2}));
      },
      "index_copy([3, 2] f32, [1] i64, [2, 2] f32): the slices must have shape [1, 2], not [2, 2]");
  cases.error<IndexError>(
      "index_copy axis", [] { index_copy(ones({3}), 1, tensor({0}), ones({1})); },
      "index_copy([3] f32, [1] i64, [1] f32): axis 1 is out of range for 1 axis");
  cases.error<DtypeError>(
      "index_copy index dtype", [] { index_copy(ones({3}), 0, ones({1}), ones({1})); },
      "index_copy([3] f32, [1] f32, [1] f32): the indices are f32; they must be integers, e.g. x.to(i64)");
  cases.error<ShapeError>(
      "index_copy index rank",
      [] {
        index_copy(ones({3}), 0, zeros({1, 1}, i64), ones({1}));
      },
      "index_copy([3] f32, [1, 1] i64, [1] f32): the index must have one axis, not shape [1, 1]");
  cases.error<DtypeError>(
      "index_add of bool", [] { index_add(ones({3}, boolean), 0, tensor({0}), ones({1}, boolean)); },
      "index_add([3] bool, [1] i64, [1] bool): bool is not accepted here; it takes integers or floating dtypes; cast "
      "bool first");
  cases.error<IndexError>(
      "index_add index", [] { index_add(ones({3}), 0, tensor({-1}), ones({1})); },
      "index_add([3] f32, [1] i64, [1] f32): index -1 is out of range for an axis of size 3");
  cases.error<IndexError>(
      "index_fill index", [] { index_fill(ones({3}), 0, tensor({-4}), 1.0); },
      "index_fill([3] f32, [1] i64): index -4 is out of range for an axis of size 3");
  cases.error<Error>(
      "index_fill value", [] { index_fill(ones({3}, i8), 0, tensor({0}), 200); },
      "index_fill([3] i8, [1] i64): the value 200 does not fit into i8, which holds -128 to 127");
  cases.error<IndexError>(
      "take index",
      [] {
        take(ones({2, 3}), tensor({6}));
      },
      "take([2, 3] f32, [1] i64): index 6 is out of range for an axis of size 6");
  cases.error<ShapeError>(
      "take_along_dim rank",
      [] {
        take_along_dim(ones({2, 3}), tensor({1}), 1);
      },
      "take_along_dim([2, 3] f32, [1] i64): the indices have 1 axes, the tensor 2");
  cases.error<ShapeError>(
      "put source",
      [] {
        put(ones({2, 3}), tensor({1, 2}), ones({3}));
      },
      "put([2, 3] f32, [2] i64, [3] f32): the source has 3 elements, the index 2");
  cases.error<IndexError>(
      "put index",
      [] {
        put(ones({2, 3}), tensor({-7}), ones({1}));
      },
      "put([2, 3] f32, [1] i64, [1] f32): index -7 is out of range for an axis of size 6");
}

}  // namespace

void add_index_put_cases(Cases& cases) {
  add_slices(cases);
  add_elements(cases);
  add_errors(cases);
}

}  // namespace weft::testing
