// Cases of bags of rows of a table.
#include <cmath>

#include "tensor/functions/embedding_bag.h"
#include "tensor/functions/fill.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

/// indices, weight, offsets; empty bags in front, between and behind, bags of one, of many and of more than are summed
/// in their own type, and rows wider than the registers of a sum.
std::vector<Sample> samples(InputSpec (*table)(const Shape&)) {
  return {{index({5}, {0, 3, 3, 4, 1}), table({5, 3}), index({3}, {0, 2, 4})},
          {index({4}, {2, 2, 0, 2}, i32), table({3, 4}), index({5}, {0, 0, 1, 1, 4})},
          {index({7}, {1, 0, 2, 1, 3, 3, 0}), table({4, 70}), index({2}, {0, 6}, i32)},
          {index({3}, {0, 0, 1}), table({2, 1}), index({1}, std::vector<double>{0})},
          {index({21}, 3), table({3, 50}), index({3}, {0, 1, 19})},
          {index({0}, 2), table({2, 3}), index({2}, {0, 0})},
          {index({0}, 2), table({2, 3}), index({0}, 1)}};
}
InputSpec any(const Shape& shape) { return normal(shape); }

/// f(bag, column, position) for each index of each bag but padding.
template <class F> void for_members(const Arrays& x, int64_t padding, const F& f) {
  const int64_t total = x[0].shape[0], bags = x[2].shape[0];
  for (int64_t b = 0; b < bags; ++b) {
    const auto begin = static_cast<int64_t>(x[2].at({b}));
    const int64_t end = b + 1 < bags ? static_cast<int64_t>(x[2].at({b + 1})) : total;
    for (int64_t i = begin; i < end; ++i)
      if (static_cast<int64_t>(x[0].at({i})) != padding)
        for (int64_t d = 0; d < x[1].shape[1]; ++d) f(b, d, i);
  }
}
Array zeros_for(const Arrays& x) {
  return build({x[2].shape[0], x[1].shape[1]}, [](const Index&) { return 0.0; });
}

Reference summed(int64_t padding) {
  return [padding](const Arrays& x) {
    Array out = zeros_for(x);
    for_members(x, padding, [&](int64_t b, int64_t d, int64_t i) {
      out.at({b, d}) += x[1].at({static_cast<int64_t>(x[0].at({i})), d}) * (x.size() > 3 ? x[3].at({i}) : 1);
    });
    return out;
  };
}
Reference largest(int64_t padding) {
  return [padding](const Arrays& x) {
    Array out = zeros_for(x), seen = out;
    for_members(x, padding, [&](int64_t b, int64_t d, int64_t i) {
      const double value = x[1].at({static_cast<int64_t>(x[0].at({i})), d});
      double& best = out.at({b, d});
      best = seen.at({b, d})++ == 0 || value > best || std::isnan(value) ? value : best;
    });
    return out;
  };
}

void add_errors(Cases& cases) {
  cases.error<IndexError>(
      "embedding bag index",
      [] {
        embedding_bag_sum(tensor({0, 5}), ones({5, 2}), tensor({0}));
      },
      "embedding_bag_sum([2] i64, [5, 2] f32): index 5 is out of range for an axis of size 5");
  cases.error<IndexError>(
      "embedding bag negative index",
      [] {
        embedding_bag_max(tensor({0, -1}), ones({5, 2}), tensor({0}));
      },
      "embedding_bag_max([2] i64, [5, 2] f32): index -1 is out of range for an axis of size 5");
  cases.error<IndexError>(
      "embedding bag that begins late",
      [] {
        embedding_bag_sum(tensor({0, 1}), ones({5, 2}), tensor({1}));
      },
      "embedding_bag_sum([2] i64, [5, 2] f32): bag 0 of [1, 2): offsets begin at 0, rise and end before 2");
  cases.error<IndexError>(
      "embedding bags that fall",
      [] {
        embedding_bag_sum(tensor({0, 1, 2}), ones({5, 2}), tensor({0, 2, 1}));
      },
      "embedding_bag_sum([3] i64, [5, 2] f32): bag 1 of [2, 1): offsets begin at 0, rise and end before 3");
  cases.error<IndexError>(
      "embedding bag behind the end",
      [] {
        embedding_bag_sum(tensor({0, 1}), ones({5, 2}), tensor({0, 3}));
      },
      "embedding_bag_sum([2] i64, [5, 2] f32): bag 1 of [3, 2): offsets begin at 0, rise and end before 2");
  cases.error<IndexError>(
      "embedding bag padding",
      [] {
        embedding_bag_sum(tensor({0}), ones({5, 2}), tensor({0}), {}, 5);
      },
      "embedding_bag_sum([1] i64, [5, 2] f32): padding_idx 5 is out of range for 5 rows");
  cases.error<ShapeError>(
      "embedding bag rows",
      [] {
        embedding_bag_sum(ones({2, 2}, i64), ones({5, 2}), tensor({0}));
      },
      "embedding_bag_sum([2, 2] i64, [5, 2] f32): the indices must be a row, not of shape [2, 2]");
  cases.error<ShapeError>(
      "embedding bag weight", [] { embedding_bag_sum(tensor({0}), ones({5}), tensor({0})); },
      "embedding_bag_sum([1] i64, [5] f32): the weight must be (rows, width), not [5]");
  cases.error<DtypeError>(
      "embedding bag offsets",
      [] {
        embedding_bag_sum(tensor({0}), ones({5, 2}), tensor({0.0}));
      },
      "embedding_bag_sum([1] i64, [5, 2] f32): offsets must be integers, not f32");
  cases.error<ShapeError>(
      "embedding bag offsets of two axes",
      [] {
        embedding_bag_sum(tensor({0}), ones({5, 2}), ones({1, 2}, i64));
      },
      "embedding_bag_sum([1] i64, [5, 2] f32): offsets must have one axis, not shape [1, 2]");
  cases.error<ShapeError>(
      "embedding bag factors",
      [] {
        embedding_bag_sum(tensor({0}), ones({5, 2}), tensor({0}), ones({2}));
      },
      "embedding_bag_sum([1] i64, [5, 2] f32): shapes differ: [1] and [2]");
}

}  // namespace

void add_embedding_bag_cases(Cases& cases) {
  for (const int64_t padding : {-1, 1}) {
    const std::string name = padding < 0 ? "" : ", padding";
    cases
        .add("embedding bag" + name, samples(any), CALL(embedding_bag_sum(x[0], x[1], x[2], {}, padding)),
             summed(padding))
        .compares(kFloating);
    std::vector<Sample> weighted = samples(any);
    for (Sample& sample : weighted) sample.push_back(normal(sample[0].shape));
    cases
        .add("embedding bag with factors" + name, weighted, CALL(embedding_bag_sum(x[0], x[1], x[2], x[3], padding)),
             summed(padding))
        .compares(kFloating);
    cases
        .add("embedding bag max" + name, samples(distinct), CALL(embedding_bag_max(x[0], x[1], x[2], padding)),
             largest(padding))
        .compares(kFloating);
  }
  cases
      .add("embedding bag of integers",
           {{index({5}, {0, 3, 3, 4, 1}), integers({5, 3}, -3, 3), index({2}, {0, 2}), integers({5}, -2, 2)}},
           CALL(Outputs{embedding_bag_sum(x[0], x[1], x[2], x[3]), embedding_bag_max(x[0], x[1], x[2])}),
           [](const Arrays& x) {
             return Arrays{summed(-1)(x)[0], largest(-1)(x)[0]};
           })
      .compares(DTypes{i32, i64})
      .no_gradient();
  cases  // rows of the next bag are prefetched
      .add("embedding bag, large table", {{index({12}, 280), normal({280, 500}), index({5}, {0, 3, 3, 7, 12})}},
           CALL(Outputs{embedding_bag_sum(x[0], x[1], x[2]), embedding_bag_max(x[0], x[1], x[2])}),
           [](const Arrays& x) {
             return Arrays{summed(-1)(x)[0], largest(-1)(x)[0]};
           })
      .compares(kFloating)
      .no_gradient();
  cases
      .add("embedding bag max of NaN",
           {{index({4}, {0, 1, 2, 3}), given({4, 2}, {NAN, 1, 2, NAN, NAN, NAN, 1, 3}), index({2}, {0, 2})}},
           CALL(embedding_bag_max(x[0], x[1], x[2])), largest(-1))
      .compares(kFloating)
      .no_gradient();
  add_errors(cases);
}

}  // namespace weft::testing
