// Cases of products of vectors and matrices, against einsum's loop where one names them.
#include "tensor/functions/binary.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/products.h"
#include "tests/ops/families.h"
#include "tests/reference/matmul.h"

namespace weft::testing {

namespace {

Array as_row(const Array& a) { return reshaped(a, {1, a.size(0)}); }
Array as_column(const Array& a) { return reshaped(a, {a.size(0), 1}); }

Arrays naive_kron(const Arrays& x) {
  const int64_t rank = std::max(x[0].rank(), x[1].rank());
  Array a = x[0], b = x[1];
  while (a.rank() < rank) a.shape.insert(0, 1);
  while (b.rank() < rank) b.shape.insert(0, 1);
  Shape shape;
  for (int64_t i = 0; i < rank; ++i) shape.push_back(a.size(i) * b.size(i));
  return build(shape, [&](const Index& at) {
    Index left = at, right = at;
    for (size_t i = 0; i < at.size(); ++i) left[i] = at[i] / b.shape[i], right[i] = at[i] % b.shape[i];
    return a.at(left) * b.at(right);
  });
}

/// Along the last axis.
Arrays naive_cross(const Arrays& x) {
  return build(broadcast_of(x[0].shape, x[1].shape), [&](const Index& at) {
    const auto element = [&](const Array& a, int64_t i) {
      Index place = at;
      place.back() = i % 3;
      return broadcast_at(a, place);
    };
    const int64_t i = at.back();
    return element(x[0], i + 1) * element(x[1], i + 2) - element(x[0], i + 2) * element(x[1], i + 1);
  });
}

Reference naive_power(int64_t n) {
  return [=](const Arrays& x) {
    Array out = build(x[0].shape, [](const Index& at) { return at[0] == at[1]; });
    for (int64_t i = 0; i < n; ++i) out = product(out, x[0]);
    return Arrays{out};
  };
}

void add_vectors(Cases& cases) {
  const auto inner_product = [](const Arrays& x) { return reshaped(product(as_row(x[0]), as_column(x[1])), {}); };
  const std::vector<Sample> pairs = {
      {normal({4}), normal({4})}, {normal({1}), normal({1})}, {normal({0}), normal({0})}};
  cases.add("dot", pairs, CALL(dot(x[0], x[1])), inner_product).accepts(kNumbers).loose(4);
  cases.add("vdot", pairs, CALL(vdot(x[0], x[1])), inner_product).accepts(kNumbers).loose(4);
  cases
      .add("outer", {{normal({3}), normal({4})}, {normal({0}), normal({2})}, {normal({1}), normal({1})}},
           CALL(outer(x[0], x[1])), [](const Arrays& x) { return product(as_column(x[0]), as_row(x[1])); })
      .compares(kNumbers);
  cases
      .add("inner", {{normal({2, 3}), normal({4, 3})}}, CALL(inner(x[0], x[1])),
           [](const Arrays& x) { return product(x[0], transposed(x[1])); })
      .accepts(kNumbers)
      .loose(4);
  cases
      .add("inner with a scalar", {{normal({2, 3}), normal({})}}, CALL(inner(x[0], x[1])),
           pointwise([](double a, double b) { return a * b; }))
      .compares(kNumbers);
  cases
      .add("cross",
           {{normal({3}), normal({3})},
            {normal({2, 3}), normal({2, 3})},
            {normal({4, 1, 3}), normal({2, 3})},
            {normal({0, 3}), normal({3})}},
           CALL(cross(x[0], x[1])), naive_cross)
      .accepts(kNumbers)
      .loose(4);
  cases
      .add("vecdot", {{normal({2, 3}), normal({2, 3})}, {normal({2, 3}), normal({3})}, {normal({0, 3}), normal({3})}},
           CALL(vecdot(x[0], x[1])),
           [](const Arrays& x) {
             Shape shape = broadcast_of(x[0].shape, x[1].shape);
             shape.resize(shape.size() - 1);
             return build(shape, [&](const Index& at) {
               double sum = 0;
               for (int64_t i = 0; i < 3; ++i) {
                 Index place = at;
                 place.push_back(i);
                 sum += broadcast_at(x[0], place) * broadcast_at(x[1], place);
               }
               return sum;
             });
           })
      .compares(kNumbers)
      .gives({Result::summed})
      .loose(4);
  cases
      .add("vander", {{normal({3})}, {normal({2, 4})}, {given({3}, {0, -1, 2})}}, CALL(vander(x[0])),
           [](const Arrays& x) {
             Shape shape = x[0].shape;
             shape.push_back(x[0].size(-1));
             return build(shape, [&](const Index& at) {
               return std::pow(x[0].at(Index(at.begin(), at.end() - 1)), static_cast<double>(at.back()));
             });
           })
      .accepts(kNumbers)
      .gives({Result::summed})
      .loose(8);
}

void add_matrices(Cases& cases) {
  const auto plain = [](const Arrays& x) { return product(x[0], x[1]); };
  cases.add("mm", {{normal({3, 4}), normal({4, 2})}, {normal({2, 0}), normal({0, 2})}}, CALL(mm(x[0], x[1])), plain)
      .accepts(kNumbers)
      .loose(4);
  cases
      .add("mv", {{normal({3, 4}), normal({4})}, {normal({0, 2}), normal({2})}}, CALL(mv(x[0], x[1])),
           [](const Arrays& x) { return reshaped(product(x[0], as_column(x[1])), {x[0].size(0)}); })
      .accepts(kNumbers)
      .loose(4);
  cases
      .add("bmm", {{normal({1, 3, 4}), normal({1, 4, 2})}}, CALL(bmm(x[0], x[1])),
           [](const Arrays& x) {
             return reshaped(product(reshaped(x[0], {3, 4}), reshaped(x[1], {4, 2})), {1, 3, 2});
           })
      .accepts(kNumbers)
      .loose(4);
  cases
      .add("trace", {{normal({3, 3})}, {normal({2, 4})}, {normal({0, 0})}}, CALL(trace(x[0])),
           [](const Arrays& x) {
             double sum = 0;
             for (int64_t i = 0; i < std::min(x[0].size(0), x[0].size(1)); ++i) sum += x[0].at({i, i});
             return build({}, [=](const Index&) { return sum; });
           })
      .accepts(kAll)
      .gives({Result::summed})
      .loose(4);
  cases
      .add("kron",
           {{normal({2, 3}), normal({3, 2})},
            {normal({2}), normal({3, 2})},
            {normal({2, 1, 2}), normal({2})},
            {normal({}), normal({2})},
            {normal({2, 1, 2, 1, 2}), normal({2, 3, 1})},
            {normal({0, 2}), normal({2, 2})}},
           CALL(kron(x[0], x[1])), naive_kron)
      .compares(kNumbers)
      .large_parts();  // gradients sum over products
  cases
      .add("tensordot", {{normal({2, 3, 4}), normal({3, 4, 2})}}, CALL(tensordot(x[0], x[1])),
           [](const Arrays& x) {
             return product(reshaped(x[0], {2, 12}), reshaped(x[1], {12, 2}));
           })
      .accepts(kNumbers)
      .loose(8);
  cases
      .add("tensordot over no axis", {{normal({2, 3}), normal({2})}}, CALL(tensordot(x[0], x[1], 0)),
           [](const Arrays& x) {
             return reshaped(product(reshaped(x[0], {6, 1}), as_row(x[1])), {2, 3, 2});
           })
      .accepts(kNumbers);
  cases
      .add("tensordot over named axes", {{normal({2, 3, 4}), normal({4, 2, 3})}},
           CALL(tensordot(x[0], x[1], {0, 1}, {1, -1})),
           [](const Arrays& x) {
             return build({4, 4}, [&](const Index& at) {
               double sum = 0;
               for (int64_t i = 0; i < 2; ++i)
                 for (int64_t k = 0; k < 3; ++k) sum += x[0].at({i, k, at[0]}) * x[1].at({at[1], i, k});
               return sum;
             });
           })
      .accepts(kNumbers)
      .loose(4);
  const Sample chain = {normal({3, 5}), normal({5, 2}), normal({2, 4}), normal({4, 1})};
  const auto whole = [](const Arrays& x) { return product(product(product(x[0], x[1]), x[2]), x[3]); };
  cases.add("multi_dot", {chain}, CALL(multi_dot(x)), whole).accepts(kNumbers).loose(20);
  cases.add("chain_matmul", {chain}, CALL(chain_matmul(x)), whole).accepts(kNumbers).loose(20);
  cases
      .add("multi_dot of vectors", {{normal({3}), normal({3, 4}), normal({4})}}, CALL(multi_dot(x)),
           [](const Arrays& x) { return reshaped(product(product(as_row(x[0]), x[1]), as_column(x[2])), {}); })
      .accepts(kNumbers)
      .loose(8);
  cases.add("multi_dot of one", {{normal({3, 2})}}, CALL(multi_dot(x)), [](const Arrays& x) { return x[0]; })
      .accepts(kAll);
  for (const int64_t n : {0, 1, 2, 3, 7})
    cases
        .add("matrix_power " + std::to_string(n), {{normal({3, 3})}, {normal({1, 1})}, {normal({0, 0})}},
             CALL(matrix_power(x[0], n)), naive_power(n))
        .compares(DTypes{f32, f64, i64})
        .loose(100);
  cases
      .add("matrix_power of the inverse", {{given({2, 2}, {2, 1, 1, 3})}}, CALL(matrix_power(x[0], -2)),
           [](const Arrays&) {
             const Array inverse{{2, 2}, {0.6, -0.2, -0.2, 0.4}};
             return product(inverse, inverse);
           })
      .compares(DTypes{f32, f64})
      .no_layouts();
}

void add_errors(Cases& cases) {
  const Tensor v = ones({3}), m = ones({2, 3}), s = ones({});
  cases.error<ShapeError>(
      "dot of matrices", [=] { dot(m, v); }, "dot([2, 3] f32, [3] f32): it takes two vectors, not shape [2, 3]");
  cases.error<ShapeError>(
      "dot of lengths", [=] { dot(v, ones({4})); }, "dot([3] f32, [4] f32): inner sizes differ: 3 and 4");
  cases.error<ShapeError>(
      "vdot of a scalar", [=] { vdot(s, v); }, "vdot([] f32, [3] f32): it takes two vectors, not shape []");
  cases.error<ShapeError>(
      "outer of a matrix", [=] { outer(v, m); }, "outer([3] f32, [2, 3] f32): it takes two vectors, not shape [2, 3]");
  cases.error<ShapeError>(
      "inner of lengths", [=] { inner(m, ones({2})); },
      "inner([2, 3] f32, [2] f32): axis 1 of the first has size 3, axis 0 of the second 2");
  cases.error<ShapeError>(
      "mv of matrices", [=] { mv(m, m); },
      "mv([2, 3] f32, [2, 3] f32): it takes a matrix and a vector, not shape [2, 3]");
  cases.error<ShapeError>(
      "mm of a vector", [=] { mm(m, v); }, "mm([2, 3] f32, [3] f32): it takes two matrices, not shape [3]");
  cases.error<ShapeError>(
      "mm inner", [=] { mm(m, m); }, "mm([2, 3] f32, [2, 3] f32): inner sizes differ: 3 and 2");
  cases.error<ShapeError>(
      "bmm of matrices", [=] { bmm(m, m); },
      "bmm([2, 3] f32, [2, 3] f32): it takes two tensors (B, M, K) and (B, K, N), not shape [2, 3]");
  cases.error<ShapeError>(
      "bmm batch",
      [] {
        bmm(ones({2, 1, 3}), ones({3, 3, 1}));
      },
      "bmm([2, 1, 3] f32, [3, 3, 1] f32): batch sizes differ: 2 and 3");
  cases.error<IndexError>(
      "tensordot count", [=] { tensordot(m, v, 2); },
      "tensordot([2, 3] f32, [3] f32): cannot sum over 2 axes of tensors with 2 and 1");
  cases.error<ShapeError>(
      "tensordot lists",
      [=] {
        tensordot(m, m, {0, 1}, {0});
      },
      "tensordot([2, 3] f32, [2, 3] f32): 2 and 1 axes are given; they are summed in pairs");
  cases.error<IndexError>(
      "tensordot twice",
      [=] {
        tensordot(m, m, {0, -2}, {0, 1});
      },
      "tensordot([2, 3] f32, [2, 3] f32): axis -2 is given twice");
  cases.error<ShapeError>(
      "tensordot sizes", [=] { tensordot(m, m, {0}, {1}); },
      "tensordot([2, 3] f32, [2, 3] f32): axis 0 of the first has size 2, axis 1 of the second 3");
  cases.error<ShapeError>(
      "cross size", [=] { cross(v, ones({2})); },
      "cross([3] f32, [2] f32): axis -1 must have size 3; the shapes are [3] and [2]");
  cases.error<IndexError>(
      "cross axis", [=] { cross(v, v, 1); }, "cross([3] f32, [3] f32): axis 1 is out of range for 1 axis");
  cases.error<ShapeError>(
      "trace of a vector", [=] { trace(v); }, "trace([3] f32): it takes a matrix, not shape [3]");
  cases.error<Error>(
      "multi_dot of nothing", [] { multi_dot({}); }, "multi_dot(): 1 matrix or more is needed");
  cases.error<ShapeError>(
      "multi_dot inner",
      [=] {
        multi_dot({m, m});
      },
      "multi_dot([2, 3] f32, [2, 3] f32): inner sizes of matrices 0 and 1 differ: 3 and 2");
  cases.error<ShapeError>(
      "multi_dot ranks",
      [=] {
        multi_dot({m, v, m});
      },
      "multi_dot([2, 3] f32, [3] f32, [2, 3] f32): it takes matrices (the first and the last may be vectors), not "
      "shape [3]");
  cases.error<ShapeError>(
      "chain_matmul of a vector",
      [=] {
        chain_matmul({m, v});
      },
      "chain_matmul([2, 3] f32, [3] f32): it takes matrices, not shape [3]");
  cases.error<ShapeError>(
      "matrix_power of a rectangle", [=] { matrix_power(m, 2); },
      "matrix_power([2, 3] f32): it takes square matrices (..., n, n), not shape [2, 3]");
  cases.error<Error>(
      "matrix_power of a singular matrix",
      [] {
        matrix_power(ones({2, 2}), -1);
      },
      "matrix_power([2, 2] f32): the matrix is singular");
  cases.error<ShapeError>(
      "vander of a scalar", [=] { vander(s); }, "vander([] f32): 1 axis or more is needed");
  cases.error<ShapeError>(
      "vander columns", [=] { vander(v, 0); }, "vander([3] f32): 1 column or more is needed, not 0");
}

}  // namespace

void add_products_cases(Cases& cases) {
  add_vectors(cases);
  add_matrices(cases);
  add_errors(cases);
}

}  // namespace weft::testing
