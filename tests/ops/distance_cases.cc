// Cases of normalized vectors, and of the similarity and distance of pairs of vectors.
#include <algorithm>
#include <cmath>
#include <functional>

#include "tensor/functions/distance.h"
#include "tensor/functions/fill.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

void add_normalize(Cases& cases) {
  const auto unit = rowwise(1, [](const std::vector<double>& row) {
    double sum = 0;
    for (double a : row) sum += a * a;
    std::vector<double> out;
    for (double a : row) out.push_back(a / std::max(std::sqrt(sum), 1e-12));
    return out;
  });
  cases.add("normalize", {{normal({3, 4})}, {normal({2, 3, 2})}, {normal({0, 3})}}, CALL(normalize(x[0])), unit)
      .compares(kFloating)
      .loose(10);
  cases
      .add("normalize of zeros", {{given({2, 2}, {0, 0, 3, 4})}}, CALL(normalize(x[0], 1, -1)),
           [](const Arrays&) {
             return Array{{2, 2}, {0, 0, 3.0 / 7, 4.0 / 7}};
           })
      .compares(DTypes{f32, f64})
      .no_gradient();
}

void add_pairs_of_rows(Cases& cases) {
  const auto reduced = [](const Arrays& x,
                          const std::function<double(const std::vector<double>&, const std::vector<double>&)>& f) {
    const Shape common = broadcast_of(x[0].shape, x[1].shape);
    Shape shape = common;
    shape.erase(shape.size() - 1);
    return build(shape, [&](Index i) {
      std::vector<double> a, b;
      i.push_back(0);
      for (; i.back() < common.back(); ++i.back())
        a.push_back(broadcast_at(x[0], i)), b.push_back(broadcast_at(x[1], i));
      return f(a, b);
    });
  };
  const std::vector<Sample> samples = {
      {normal({3, 4}), normal({3, 4})}, {normal({3, 4}), normal({1, 4})},    {normal({0, 4}), normal({0, 4})},
      {normal({5}), normal({5})},       {normal({2, 1, 3}), normal({4, 3})}, {normal({2, 1}), normal({2, 3})},
      {normal({}), normal({3})}};
  const Reference cosine = [=](const Arrays& x) {
    return reduced(x, [](const auto& a, const auto& b) {
      double ab = 0, aa = 0, bb = 0;
      for (size_t i = 0; i < a.size(); ++i) ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
      return ab / std::sqrt(aa * bb);
    });
  };
  cases.add("cosine_similarity", samples, CALL(cosine_similarity(x[0], x[1], -1)), cosine)
      .compares(kFloating)
      .loose(20)
      .large_parts();
  // The dtypes promote before norms are taken.
  for (const DType other : {bf16, i8})
    cases
        .add(text("cosine_similarity of ", other, " beside"), {{given({2, 3}, {1, 2, 2, 3, 0, 4}), normal({2, 3})}},
             CALL(cosine_similarity(x[0].to(other), x[1])), cosine)
        .compares(DTypes{f32, f64})
        .loose(20)
        .no_gradient();
  cases
      .add("pairwise_distance", samples, CALL(pairwise_distance(x[0], x[1], 3, 1e-3)),
           [=](const Arrays& x) {
             return reduced(x, [](const auto& a, const auto& b) {
               double sum = 0;
               for (size_t i = 0; i < a.size(); ++i) sum += std::pow(std::abs(a[i] - b[i] + 1e-3), 3);
               return std::cbrt(sum);
             });
           })
      .compares(kFloating)
      .loose(20);
  cases
      .add("pairwise_distance keeps the axis", {{given({2, 2}, {3, 4, 0, 1}), given({2}, {0, 0})}},
           CALL(pairwise_distance(x[0], x[1], 2, 0, keepdim)),
           [](const Arrays&) {
             return Array{{2, 1}, {5, 1}};
           })
      .compares(kFloating);
}

void add_errors(Cases& cases) {
  cases.error<ShapeError>(
      "cosine_similarity shapes",
      [] {
        cosine_similarity(ones({2, 3}), ones({2, 4}));
      },
      "cosine_similarity([2, 3] f32, [2, 4] f32): shapes [2, 3] and [2, 4] do not broadcast: 3 and 4 on axis -1");
  cases.error<ShapeError>(
      "pairwise_distance shapes",
      [] {
        pairwise_distance(ones({2, 3}), ones({2, 4}));
      },
      "pairwise_distance([2, 3] f32, [2, 4] f32): shapes [2, 3] and [2, 4] do not broadcast: 3 and 4 on axis -1");
}

}  // namespace

void add_distance_cases(Cases& cases) {
  add_normalize(cases);
  add_pairs_of_rows(cases);
  add_errors(cases);
}

}  // namespace weft::testing
