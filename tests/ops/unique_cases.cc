// Cases of the different values, and slices, of tensors.
#include <algorithm>
#include <numeric>

#include "tensor/functions/unique.h"
#include "tests/ops/families.h"
#include "tests/reference/rows.h"

namespace weft::testing {

namespace {

using Places = std::vector<size_t>;

/// Values, inverse and counts of all elements; of runs where `consecutive`.
Arrays unique_of(const Array& x, bool consecutive) {
  Row values = x.values, inverse(values.size()), found, counts;
  Places order = reference::order(values, false);
  if (consecutive) std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = 0; i < order.size(); ++i) {
    const double value = values[order[i]];
    if (found.empty() || found.back() != value) found.push_back(value), counts.push_back(0);
    counts.back() += 1;
    inverse[order[i]] = static_cast<double>(found.size() - 1);
  }
  const Shape shape = {static_cast<int64_t>(found.size())};
  return {{shape, found}, {x.shape, inverse}, {shape, counts}};
}

/// The same of the rows of a matrix, or of its columns, in the order of their elements.
Arrays unique_slices_of(const Array& x, size_t axis, bool consecutive) {
  const auto n = static_cast<size_t>(x.shape[axis]), m = static_cast<size_t>(x.shape[1 - axis]);
  std::vector<Row> slices(n, Row(m)), found;
  Places order(n);
  for (size_t i = 0; i < n; ++i) {
    order[i] = i;
    for (size_t j = 0; j < m; ++j) slices[i][j] = x.values[axis == 0 ? i * m + j : j * n + i];
  }
  if (!consecutive)
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return slices[a] < slices[b]; });
  Row inverse(n), counts;
  for (const size_t i : order) {
    if (found.empty() || found.back() != slices[i]) found.push_back(slices[i]), counts.push_back(0);
    counts.back() += 1;
    inverse[i] = static_cast<double>(found.size() - 1);
  }
  const size_t k = found.size();
  Array values{{static_cast<int64_t>(axis == 0 ? k : m), static_cast<int64_t>(axis == 0 ? m : k)}, Row(k * m)};
  for (size_t i = 0; i < k; ++i)
    for (size_t j = 0; j < m; ++j) values.values[axis == 0 ? i * m + j : j * k + i] = found[i][j];
  return {values, {{static_cast<int64_t>(n)}, inverse}, {{static_cast<int64_t>(k)}, counts}};
}

void add_sets(Cases& cases) {
  const std::vector<Sample> samples = {{distinct({5})},          {distinct({2, 3})},          {integers({7, 3}, 0, 4)},
                                       {integers({150}, 0, 20)}, {integers({2, 2, 3}, 1, 1)}, {special({40})},
                                       {distinct({})},           {distinct({0, 2})},          {integers({3}, 0, 0)}};
  const auto all = [](const UniqueResult& r) { return Outputs{r.values, r.inverse, r.counts}; };
  cases
      .add("unique", samples, CALL(all(unique(x[0], {.inverse = true, .counts = true}))),
           [](const Arrays& x) { return unique_of(x[0], false); })
      .accepts(kAll)
      .gives({Result::same, Result::i64})
      .no_vmap(1);
  cases
      .add("unique values", samples, CALL(unique(x[0]).values),
           [](const Arrays& x) { return Arrays{unique_of(x[0], false)[0]}; })
      .accepts(kAll)
      .no_vmap(1);
  cases
      .add("unique_consecutive", samples, CALL(all(unique_consecutive(x[0], {.inverse = true, .counts = true}))),
           [](const Arrays& x) { return unique_of(x[0], true); })
      .accepts(kAll)
      .gives({Result::same, Result::i64})
      .no_vmap(1);
  const std::vector<Sample> matrices = {{integers({9, 2}, 0, 2)}, {integers({2, 7}, 0, 2)}, {distinct({3, 4})},
                                        {distinct({0, 3})},       {distinct({2, 0})},       {integers({40, 3}, 0, 2)},
                                        {integers({34, 2}, 1, 1)}};
  for (const int64_t axis : {0, 1})
    for (const bool consecutive : {false, true})
      cases
          .add((consecutive ? "unique_consecutive along axis " : "unique along axis ") + std::to_string(axis), matrices,
               [=](const Inputs& x) {
                 const UniqueOptions options = {.inverse = true, .counts = true, .axis = axis - 2};
                 return all((consecutive ? unique_consecutive : unique)(x[0], options));
               },
               [=](const Arrays& x) { return unique_slices_of(x[0], static_cast<size_t>(axis), consecutive); })
          .accepts(kAll)
          .gives({Result::same, Result::i64})
          .no_vmap(1);
  Row alike(3 * 70, 1.0);  // but for the last elements of the first row and of the first column
  alike[69] = 2, alike[140] = 0;
  const std::pair<const char*, Sample> unlike_in_little[] = {
      {"unique of long rows that are almost alike", {given({3, 70}, alike)}},
      {"unique of rows with -0", {given({3, 2}, {-0.0, 1, 0, 0, 0, 1})}}};
  for (const auto& [name, rows] : unlike_in_little)
    cases
        .add(name, {rows}, CALL(all(unique(x[0], {.inverse = true, .counts = true, .axis = 0}))),
             [](const Arrays& x) { return unique_slices_of(x[0], 0, false); })
        .accepts(kAll)
        .gives({Result::same, Result::i64})
        .no_gradient()
        .no_vmap(1);
  cases
      .add("unique of a scalar along its axis", {{distinct({})}}, CALL(unique(x[0], {.axis = 0}).values),
           [](const Arrays& x) {
             return Arrays{{{1}, x[0].values}};
           })
      .accepts(kAll)
      .no_vmap(1);
}

}  // namespace

void add_unique_cases(Cases& cases) { add_sets(cases); }

}  // namespace weft::testing
