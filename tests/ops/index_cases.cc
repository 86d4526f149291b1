// Cases of indexing with tensors, and of the adjoints of it.
#include "tensor/adjoints/index.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/view.h"
#include "tests/ops/families.h"
#include "tests/reference/index.h"

namespace weft::testing {

namespace {

int64_t at(const Array& indices, const Index& index) { return static_cast<int64_t>(indices.at(index)); }

/// x[0] at each index of x[1], whose place on `axis` is what x[1] holds there.
Reference gathered(size_t axis) {
  return [axis](const Arrays& x) { return reference::gathered(x[0], x[1].shape, reference::each_named(x[1], axis)); };
}
/// The slices of x[0] along `axis` that x[1] names.
Reference selected(size_t axis) {
  return [axis](const Arrays& x) {
    Shape shape = x[0].shape;
    shape[axis] = x[1].shape[0];
    return reference::gathered(x[0], shape, reference::slice_named(x[1], axis));
  };
}

void add_gather(Cases& cases) {
  cases
      .add("gather rows",
           {{normal({4, 3}), index({2, 3}, 4)},
            {normal({4, 3}), index({5, 2}, 4)},
            {normal({4}), index({6}, 4)},
            {normal({3, 2, 2}), index({2, 2, 1}, 3)},
            {normal({4, 3}), index({0, 3}, 4)}},
           CALL(gather(x[0], 0, x[1])), gathered(0))
      .accepts(kAll);
  cases
      .add("gather columns", {{normal({3, 5}), index({3, 2}, 5)}, {normal({2, 4}), index({1, 7}, 4)}},
           CALL(gather(x[0], -1, x[1])), gathered(1))
      .accepts(kAll);
  cases
      .add("gather rows by an expanded index",
           {{normal({4, 6}), index({5, 1}, 4)}, {normal({4, 3, 7}), index({3, 2, 1}, 4)}},
           CALL(gather(x[0], 0, x[1].rank() == 2 ? expand(x[1], {5, 6}) : expand(x[1], {3, 2, 7}))),
           [](const Arrays& x) {
             Shape shape = x[1].shape;
             shape[shape.size() - 1] = x[0].shape.back();
             return reference::gathered(x[0], shape, [&](Index i) {
               const int64_t width = i.back();
               i.back() = 0;
               i[0] = at(x[1], i);
               i.back() = width;
               return i;
             });
           })
      .accepts(kAll);
  cases
      .add("gather with i32", {{normal({4, 3}), index({2, 3}, {0, 3, 1, 2, 2, 2}, i32)}}, CALL(gather(x[0], 0, x[1])),
           gathered(0))
      .accepts(kAll);
  cases
      .add("scatter add",
           {{normal({2, 3}), index({2, 3}, 4)},
            {normal({5, 3}), index({5, 3}, 4)},
            {normal({3, 1}), index({3, 1}, 4)},
            {normal({0, 2}), index({0, 2}, 4)}},
           CALL(adjoint::scatter_add(x[0], 0, x[1], {4, 3})),
           [](const Arrays& x) {
             return reference::scattered(x[0], {4, 3}, reference::each_named(x[1], 0));
           })
      .compares(kFloating);
  cases
      .add("scatter add along rows",
           {{normal({3, 5}), index({3, 5}, 4)}, {normal({2, 5}), index({2, 5}, 4)}, {normal({3, 0}), index({3, 0}, 4)}},
           CALL(adjoint::scatter_add(x[0], 1, x[1], {3, 4})),
           [](const Arrays& x) {
             return reference::scattered(x[0], {3, 4}, reference::each_named(x[1], 1));
           })
      .compares(kFloating);
  // A long list of integers into a short line has a loop of its own.
  cases
      .add("scatter add of many integers", {{integers({40003}, -3, 4), index({40003}, 37)}},
           CALL(adjoint::scatter_add(x[0], 0, x[1], {37})),
           [](const Arrays& x) { return reference::scattered(x[0], {37}, reference::each_named(x[1], 0)); })
      .compares(DTypes{i32, i64})
      .no_gradient();
}

/// A tensor without axes is one row.
void add_scalars(Cases& cases) {
  const Reference first = [](const Arrays& x) {
    return build(x[1].shape, [&](const Index&) { return x[0].values[0]; });
  };
  const Reference total = [](const Arrays& x) {
    double sum = 0;
    for (double value : x[0].values) sum += value;
    return Array{{}, {sum}};
  };
  cases
      .add("gather of a scalar", {{normal({}), index({}, 1)}, {normal({}), index({3}, 1)}, {normal({1}), index({}, 1)}},
           CALL(gather(x[0], 0, x[1])), first)
      .accepts(kAll);
  cases
      .add("index select of a scalar", {{normal({}), index({1}, 1)}, {normal({}), index({}, 1)}},
           CALL(index_select(x[0], -1, x[1])), [](const Arrays& x) { return x[0]; })
      .accepts(kAll);
  cases
      .add("scatter add to a scalar", {{normal({}), index({}, 1)}, {normal({3}), index({3}, 1)}},
           CALL(adjoint::scatter_add(x[0], -1, x[1], {})), total)
      .compares(kFloating);
  cases
      .add("index add to a scalar", {{normal({}), index({}, 1)}, {normal({3}), index({3}, 1)}},
           CALL(adjoint::index_add(x[0], 0, x[1], {})), total)
      .compares(kFloating);
}

void add_select(Cases& cases) {
  cases
      .add("index select",
           {{normal({4, 3}), index({5}, 4)},
            {normal({4}), index({2}, 4)},
            {normal({4, 2, 3}), index({0}, 4)},
            {normal({4, 1, 2, 2}), index({3}, 4)}},
           CALL(index_select(x[0], 0, x[1])), selected(0))
      .accepts(kAll);
  cases
      .add("index select columns", {{normal({3, 4}), index({6}, 4)}, {normal({2, 4, 3}), index({2}, 4)}},
           CALL(index_select(x[0], 1, x[1])), selected(1))
      .accepts(kAll);
  cases
      .add("index add",
           {{normal({2, 5}), index({5}, 4)}, {normal({2, 1}), index({1}, 4)}, {normal({2, 9}), index({9}, 4)}},
           CALL(adjoint::index_add(x[0], 1, x[1], {2, 4})),
           [](const Arrays& x) {
             return reference::scattered(x[0], {2, 4}, reference::slice_named(x[1], 1));
           })
      .compares(kFloating);
}

void add_embedding(Cases& cases) {
  const std::vector<Sample> samples = {{index({3}, 5), normal({5, 2})},
                                       {index({2, 3}, 5), normal({5, 4})},
                                       {index({}, 5), normal({5, 3})},
                                       {index({0}, 5), normal({5, 3})},
                                       {index({4}, {1, 1, 4, 1}, i32), normal({5, 3})}};
  const Reference rows = [](const Arrays& x) {
    Shape shape = x[0].shape;
    shape.push_back(x[1].shape[1]);
    return reference::gathered(x[1], shape, reference::row_named(x[0]));
  };
  cases.add("embedding", samples, CALL(embedding(x[0], x[1])), rows).accepts(kAll);
  for (const int64_t padding : {-1, 1})
    cases
        .add("embedding backward, padding " + std::string(padding < 0 ? "none" : "1"),
             {{normal({3, 2}), index({3}, 4)}, {normal({2, 3, 2}), index({2, 3}, 4)}, {normal({6, 2}), index({6}, 2)}},
             CALL(adjoint::embedding_backward(x[0], x[1], 4, padding)),
             [padding](const Arrays& x) {
               const reference::IndexMap row = reference::row_named(x[1]);
               return reference::scattered(x[0], {4, 2},
                                           [&](const Index& i) { return row(i)[0] == padding ? Index{} : row(i); });
             })
        .compares(kFloating);
  cases
      .add("one hot",
           {{index({3}, 4)}, {index({2, 2}, 4)}, {index({}, 4)}, {index({0}, 4)}, {index({3}, {0, 3, 1}, u8)}},
           CALL(one_hot(x[0], 4)),
           [](const Arrays& x) {
             Shape shape = x[0].shape;
             shape.push_back(4);
             return build(shape, [&](Index i) {
               const int64_t c = i.back();
               i.pop_back();
               return double(at(x[0], i) == c);
             });
           })
      .gives({Result::f32})
      .no_gradient();
}

void add_places(Cases& cases) {
  cases
      .add("unravel_index", {{index({2, 3}, 24)}, {index({}, 24)}, {index({0}, 24)}},
           CALL(unravel_index(x[0], {2, 3, 4})),
           [](const Arrays& x) {
             Arrays out = {x[0], x[0], x[0]};
             for (size_t i = 0; i < x[0].values.size(); ++i) {
               const auto at = static_cast<int64_t>(x[0].values[i]);
               out[0].values[i] = static_cast<double>(at / 12);
               out[1].values[i] = static_cast<double>(at / 4 % 3);
               out[2].values[i] = static_cast<double>(at % 4);
             }
             return out;
           })
      .gives({Result::i64})
      .no_gradient();
}

void add_gather_errors(Cases& cases) {
  cases.error<IndexError>(
      "unravel_index",
      [] {
        unravel_index(tensor({6}), {2, 3});
      },
      "unravel_index([1] i64): index 6 is out of range for the 6 elements of shape [2, 3]");
  cases.error<IndexError>(
      "gather index",
      [] {
        gather(ones({2, 2}), 0, tensor({{0, 2}}));
      },
      "gather([2, 2] f32, [1, 2] i64): index 2 is out of range for an axis of size 2");
  cases.error<IndexError>(
      "gather axis", [] { gather(ones({2}), 1, tensor({0})); },
      "gather([2] f32, [1] i64): axis 1 is out of range for 1 axis");
  cases.error<ShapeError>(
      "gather rank",
      [] {
        gather(ones({2, 2}), 0, tensor({0}));
      },
      "gather([2, 2] f32, [1] i64): the index has 1 axes, the tensor 2");
  cases.error<ShapeError>(
      "gather size",
      [] {
        gather(ones({2, 2}), 0, zeros({1, 3}, i64));
      },
      "gather([2, 2] f32, [1, 3] i64): the index of shape [1, 3] is larger than [2, 2] on axis 1");
  cases.error<DtypeError>(
      "gather dtype", [] { gather(ones({2}), 0, ones({2})); },
      "gather([2] f32, [2] f32): the indices are f32; they must be integers, e.g. x.to(i64)");
  cases.error<IndexError>(
      "scatter_add index", [] { adjoint::scatter_add(ones({1}), 0, tensor({3}), {3}); },
      "scatter_add([1] f32, [1] i64): index 3 is out of range for an axis of size 3");
  cases.error<ShapeError>(
      "scatter_add shapes", [] { adjoint::scatter_add(ones({2}), 0, tensor({1}), {3}); },
      "scatter_add([2] f32, [1] i64): shapes differ: [2] and [1]");
  cases.error<IndexError>(
      "gather axis of a scalar", [] { gather(ones({}), 1, tensor({0})); },
      "gather([] f32, [1] i64): axis 1 is out of range for 1 axis");
  cases.error<DtypeError>(
      "scatter_add of bool", [] { adjoint::scatter_add(ones({1}, boolean), 0, tensor({0}), {3}); },
      "scatter_add([1] bool, [1] i64): bool is not accepted here; it takes integers or floating dtypes; cast bool "
      "first");
}

void add_select_errors(Cases& cases) {
  cases.error<IndexError>(
      "index_select index", [] { index_select(ones({3}), 0, tensor({-1})); },
      "index_select([3] f32, [1] i64): index -1 is out of range for an axis of size 3");
  cases.error<ShapeError>(
      "index_select rank", [] { index_select(ones({3}), 0, tensor({{1}})); },
      "index_select([3] f32, [1, 1] i64): the index must have one axis, not shape [1, 1]");
  cases.error<IndexError>(
      "index_select axis", [] { index_select(ones({3}), 2, tensor({1})); },
      "index_select([3] f32, [1] i64): axis 2 is out of range for 1 axis");
  cases.error<ShapeError>(
      "index_add shape", [] { adjoint::index_add(ones({2}), 0, tensor({1}), {3}); },
      "index_add([2] f32, [1] i64): the slices must have shape [1], not [2]");
  cases.error<IndexError>(
      "index_add index", [] { adjoint::index_add(ones({1}), 0, tensor({9}), {3}); },
      "index_add([1] f32, [1] i64): index 9 is out of range for an axis of size 3");
  cases.error<ShapeError>(
      "index_select of a scalar",
      [] {
        index_select(ones({}), 0, tensor({0, 0}));
      },
      "index_select([] f32, [2] i64): a tensor without axes takes one index, not the 2 of shape [2]");
}

void add_embedding_errors(Cases& cases) {
  cases.error<IndexError>(
      "embedding index",
      [] {
        embedding(tensor({5}), ones({5, 2}));
      },
      "embedding([1] i64, [5, 2] f32): index 5 is out of range for an axis of size 5");
  cases.error<ShapeError>(
      "embedding weight", [] { embedding(tensor({0}), ones({5})); },
      "embedding([1] i64, [5] f32): the weight must be (rows, width), not [5]");
  cases.error<DtypeError>(
      "embedding dtype",
      [] {
        embedding(ones({1}), ones({5, 2}));
      },
      "embedding([1] f32, [5, 2] f32): the indices are f32; they must be integers, e.g. x.to(i64)");
  cases.error<IndexError>(
      "embedding padding",
      [] {
        embedding(tensor({0}), ones({5, 2}), 5);
      },
      "embedding([1] i64, [5, 2] f32): padding_idx 5 is out of range for 5 rows");
  cases.error<IndexError>(
      "embedding padding from the end",
      [] {
        embedding(tensor({0}), ones({5, 2}), -6);
      },
      "embedding([1] i64, [5, 2] f32): padding_idx -6 is out of range for 5 rows");
  cases.error<ShapeError>(
      "embedding_backward shape",
      [] {
        adjoint::embedding_backward(ones({2, 3}), tensor({0}), 4, -1);
      },
      "embedding_backward([2, 3] f32, [1] i64): the gradient must have shape [1, 3], not [2, 3]");
}

void add_one_hot_errors(Cases& cases) {
  cases.error<IndexError>(
      "one_hot class", [] { one_hot(tensor({4}), 3); }, "one_hot([1] i64): class 4 is out of range for 3 classes");
  cases.error<Error>(
      "one_hot classes", [] { one_hot(tensor({0}), 0); },
      "one_hot([1] i64): the number of classes 0 must be 1 or more");
  cases.error<IndexError>(
      "one_hot of the largest integer", [] { one_hot(tensor({INT64_MAX})); },
      "one_hot([1] i64): class 9223372036854775807 is too large: the number of classes would not fit into 64 bits");
  cases.error<IndexError>(
      "one_hot of negative classes",
      [] {
        one_hot(tensor({3, -1}));
      },
      "one_hot([2] i64): class -1 is negative");
  cases.error<IndexError>(
      "one_hot of a negative class", [] { one_hot(tensor({-1}), 3); },
      "one_hot([1] i64): class -1 is out of range for 3 classes");
  cases.error<ShapeError>(
      "one_hot size",
      [] {
        one_hot(tensor({0, 1, 2}), int64_t{1} << 62);
      },
      "one_hot([3] i64): the number of elements of [3, 4611686018427387904] does not fit into 64 bits");
  cases.error<Error>(
      "one_hot of nothing", [] { one_hot(zeros({0}, i64)); },
      "one_hot([0] i64): the number of classes of no indices must be given");
  cases.error<DtypeError>(
      "one_hot dtype", [] { one_hot(ones({2}), 3); },
      "one_hot([2] f32): the indices are f32; they must be integers, e.g. x.to(i64)");
}

}  // namespace

void add_index_cases(Cases& cases) {
  add_gather(cases);
  add_scalars(cases);
  add_select(cases);
  add_embedding(cases);
  add_places(cases);
  add_gather_errors(cases);
  add_select_errors(cases);
  add_embedding_errors(cases);
  add_one_hot_errors(cases);
}

}  // namespace weft::testing
