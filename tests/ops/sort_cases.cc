// Cases of sorts and selections, and of quantiles.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/functions/fill.h"
#include "tensor/functions/quantile.h"
#include "tensor/functions/sort.h"
#include "tensor/functions/unique.h"
#include "tests/ops/families.h"
#include "tests/reference/rows.h"

namespace weft::testing {

namespace {

using Places = std::vector<size_t>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The places that `choose` picks from each row along `axis`, as values and indices; one place without an axis where
/// `dropped`.
Reference chosen(int64_t axis, bool dropped, const std::function<Places(const Row&)>& choose) {
  return [=](const Arrays& in) {
    Array x = in[0];
    const bool scalar = x.rank() == 0;
    if (scalar) x.shape = {1};
    const size_t a = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
    const auto places_at = [&](const Index& index) { return choose(reference::row_at(x, index, a)); };
    Shape shape = x.shape;
    shape[a] = static_cast<int64_t>(choose(Row(static_cast<size_t>(x.shape[a]))).size());
    const auto place = [&](const Index& index) { return places_at(index)[static_cast<size_t>(index[a])]; };
    Array values = build(shape, [&](Index index) {
      index[a] = static_cast<int64_t>(place(index));
      return x.at(index);
    });
    Array indices = build(shape, [&](const Index& index) { return static_cast<double>(place(index)); });
    if (scalar) values.shape = indices.shape = {};
    if (dropped && !scalar) values.shape.erase(a), indices.shape.erase(a);
    return Arrays{values, indices};
  };
}
std::function<Places(const Row&)> first_of_order(bool descending, size_t count) {
  return [=](const Row& row) {
    Places out = reference::order(row, descending);
    out.resize(std::min(count, out.size()));
    return out;
  };
}
std::function<Places(const Row&)> kth(size_t k) {
  return [=](const Row& row) { return Places{reference::order(row, false)[k - 1]}; };
}
Places median_place(const Row& row) {
  const size_t nan = static_cast<size_t>(std::count_if(row.begin(), row.end(), [](double v) { return std::isnan(v); }));
  return {reference::order(row, false)[nan == 0 ? (row.size() - 1) / 2 : row.size() - nan]};
}
Places nanmedian_place(const Row& row) {
  const size_t nan = static_cast<size_t>(std::count_if(row.begin(), row.end(), [](double v) { return std::isnan(v); }));
  return {reference::order(row, false)[nan == row.size() ? 0 : (row.size() - nan - 1) / 2]};
}
Places mode_place(const Row& row) {
  const Places order = reference::order(row, false);
  size_t best = 0, most = 0, run = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    run = i > 0 && row[order[i]] == row[order[i - 1]] ? run + 1 : 1;
    if (run > most) most = run, best = order[i];
  }
  return {best};
}

/// Values that are given, without a check of gradients.
InputSpec fixed(const Shape& shape, Row values) {
  InputSpec out = given(shape, std::move(values));
  out.differentiable = false;
  return out;
}

Outputs list(const ValuesAndIndices& found) { return Outputs{found.values, found.indices}; }

const std::vector<Sample> kRows = {{distinct({3, 4})},         {distinct({2, 3, 2})}, {distinct({5})},
                                   {distinct({1, 7})},         {special({19, 4})},    {integers({4, 65}, 0, 2)},
                                   {integers({3, 9}, -5, 90)}, {distinct({})}};
/// With rows of size 0, and rows long enough for the other ways of sorting.
std::vector<Sample> rows_and(std::vector<Sample> more) {
  more.insert(more.begin(), kRows.begin(), kRows.end());
  return more;
}

void add_sorts(Cases& cases) {
  const std::vector<Sample> samples =
      rows_and({{distinct({0, 3})}, {distinct({3, 0})}, {integers({1, 300}, -100, 100)}, {normal({2, 1, 150})}});
  cases.add("sort", samples, CALL(list(sort(x[0]))), chosen(-1, false, first_of_order(false, 1000)))
      .accepts(kAll)
      .gives({Result::same, Result::i64});
  cases.add("sort descending", samples, CALL(list(sort(x[0], -1, true))), chosen(-1, false, first_of_order(true, 1000)))
      .accepts(kAll)
      .gives({Result::same, Result::i64});
  cases.add("sort first axis", kRows, CALL(list(sort(x[0], 0))), chosen(0, false, first_of_order(false, 1000)))
      .accepts(kAll)
      .gives({Result::same, Result::i64});
  const auto only = [](int output, const Reference& both) {
    return [=](const Arrays& in) { return Arrays{both(in)[static_cast<size_t>(output)]}; };
  };
  cases.add("argsort", kRows, CALL(argsort(x[0], 0, true)), only(1, chosen(0, false, first_of_order(true, 1000))))
      .accepts(kAll)
      .gives({Result::i64})
      .no_gradient();
  cases.add("msort", kRows, CALL(msort(x[0])), only(0, chosen(0, false, first_of_order(false, 1000)))).accepts(kAll);
}

void add_selections(Cases& cases) {
  const std::vector<Sample> long_rows = {
      {distinct({3, 4})},           {distinct({2, 9, 2})},       {special({19, 4})},   {special({40, 3})},
      {integers({4, 165}, 0, 200)}, {integers({700, 2}, 0, 90)}, {normal({2, 1, 400})}};
  for (const bool largest : {true, false})
    for (const int64_t k : {int64_t{1}, int64_t{2}})
      cases
          .add(std::string(largest ? "topk largest " : "topk smallest ") + std::to_string(k), long_rows,
               CALL(list(topk(x[0], k, -1, largest))),
               chosen(-1, false, first_of_order(largest, static_cast<size_t>(k))))
          .accepts(kAll)
          .gives({Result::same, Result::i64});
  cases
      .add("topk first axis", {{distinct({4, 3})}, {special({30, 9})}, {integers({700, 3}, 0, 90)}, {distinct({3, 0})}},
           CALL(list(topk(x[0], 3, 0))), chosen(0, false, first_of_order(true, 3)))
      .accepts(kAll)
      .gives({Result::same, Result::i64});
  cases
      .add("topk of many", {{normal({2, 400})}, {integers({3, 500}, 0, 90)}}, CALL(list(topk(x[0], 300))),
           chosen(-1, false, first_of_order(true, 300)))
      .accepts(kAll)
      .gives({Result::same, Result::i64});
  cases
      .add("topk none", {{distinct({3, 4})}, {distinct({2, 0})}}, CALL(list(topk(x[0], 0))),
           chosen(-1, false, first_of_order(true, 0)))
      .accepts(kAll)
      .gives({Result::same, Result::i64});
  cases.add("topk of a scalar", {{distinct({})}}, CALL(list(topk(x[0], 1))), chosen(0, false, first_of_order(true, 1)))
      .accepts(kAll)
      .gives({Result::same, Result::i64});

  cases
      .add("kthvalue", {{distinct({3, 4})}, {distinct({2, 3, 2})}, {special({19, 4})}, {integers({4, 65}, 0, 2)}},
           CALL(list(kthvalue(x[0], 2))), chosen(-1, true, kth(2)))
      .accepts(kAll)
      .gives({Result::same, Result::i64});
  cases
      .add("kthvalue kept", rows_and({{distinct({3, 0})}}), CALL(list(kthvalue(x[0], 1, 0, keepdim))),
           chosen(0, false, kth(1)))
      .accepts(kAll)
      .gives({Result::same, Result::i64});
  cases.add("median along an axis", kRows, CALL(list(median(x[0], -1))), chosen(-1, true, median_place))
      .accepts(kAll)
      .gives({Result::same, Result::i64});
  cases.add("median kept", kRows, CALL(list(median(x[0], 0, keepdim))), chosen(0, false, median_place))
      .accepts(kAll)
      .gives({Result::same, Result::i64});
  const Row some = {1, kNan, 3, 2, kNan, kNan, kNan, kNan, 7, 8, 6, 5};
  cases
      .add("nanmedian along an axis", rows_and({{fixed({3, 4}, some)}}), CALL(list(nanmedian(x[0], -1))),
           chosen(-1, true, nanmedian_place))
      .compares(kFloating)
      .gives({Result::same, Result::i64});
  const auto of_all = [](Places (*place)(const Row&)) {
    return reduction({}, false, [=](const Row& row) { return row[place(row)[0]]; });
  };
  cases.add("median of all", kRows, CALL(median(x[0])), of_all(median_place)).accepts(kAll);
  cases.add("nanmedian of all", kRows, CALL(nanmedian(x[0])), of_all(nanmedian_place)).accepts(kAll);
  cases.add("mode", kRows, CALL(list(mode(x[0]))), chosen(-1, true, mode_place))
      .accepts(kAll)
      .gives({Result::same, Result::i64});
  cases.add("mode kept", kRows, CALL(list(mode(x[0], 0, keepdim))), chosen(0, false, mode_place))
      .accepts(kAll)
      .gives({Result::same, Result::i64});
}

/// NumPy's quantile of a row; NaN where it is empty.
double quantile_of(Row row, double q, QuantileMode mode) {
  if (row.empty()) return kNan;
  for (double v : row)
    if (std::isnan(v)) return v;
  std::sort(row.begin(), row.end());
  const double rank = q * static_cast<double>(row.size() - 1);
  const double low = row[static_cast<size_t>(std::floor(rank))], high = row[static_cast<size_t>(std::ceil(rank))];
  switch (mode) {
    case QuantileMode::lower: return low;
    case QuantileMode::higher: return high;
    case QuantileMode::nearest: return row[static_cast<size_t>(std::nearbyint(rank))];
    case QuantileMode::midpoint: return low == high ? low : (low + high) / 2;
    case QuantileMode::linear: break;
  }
  return low == high ? low : low + (high - low) * (rank - std::floor(rank));
}
double nanquantile_of(Row row, double q, QuantileMode mode) {
  std::erase_if(row, [](double v) { return std::isnan(v); });
  return quantile_of(row, q, mode);
}

void add_quantiles(Cases& cases) {
  const Row some = {1, kNan, 3, 2, kNan, kNan, kNan, kNan, 7, 8, 6, 5};
  const std::vector<Sample> samples = {{distinct({3, 4})}, {distinct({5})},          {distinct({2, 3, 2})},
                                       {distinct({})},     {integers({6, 5}, 0, 3)}, {fixed({3, 4}, some)}};
  constexpr std::pair<const char*, QuantileMode> kModes[] = {{"linear", QuantileMode::linear},
                                                             {"lower", QuantileMode::lower},
                                                             {"higher", QuantileMode::higher},
                                                             {"nearest", QuantileMode::nearest},
                                                             {"midpoint", QuantileMode::midpoint}};
  for (const auto& named : kModes)
    for (const double q : {0.3, 0.5}) {
      const QuantileMode mode = named.second;
      const std::string suffix = " " + std::string(named.first) + (q == 0.5 ? " half" : "");
      cases
          .add("quantile" + suffix, samples, CALL(quantile(x[0], q, {.axis = -1, .mode = mode})),
               reduction({-1}, false, [=](const Row& row) { return quantile_of(row, q, mode); }))
          .loose(4);
      cases
          .add("nanquantile" + suffix, samples, CALL(nanquantile(x[0], q, {.axis = 0, .keepdim = true, .mode = mode})),
               reduction({0}, true, [=](const Row& row) { return nanquantile_of(row, q, mode); }))
          .loose(4);
    }
  cases
      .add("quantile of all", samples, CALL(quantile(x[0], 0.25, {.keepdim = true})),
           reduction({}, true, [](const Row& row) { return quantile_of(row, 0.25, QuantileMode::linear); }))
      .loose(4);
  cases
      .add("quantile of ranks", {{distinct({3, 4}), given({2}, {0.3, 0.6})}, {distinct({5}), given({}, {0.3})}},
           CALL(quantile(x[0], x[1], {.axis = -1})),
           [](const Arrays& x) {
             Array out;
             for (const double q : x[1].values) {
               const Array one = reduction(
                   {-1}, false, [=](const Row& row) { return quantile_of(row, q, QuantileMode::linear); })(x)[0];
               out.shape = one.shape;
               out.values.insert(out.values.end(), one.values.begin(), one.values.end());
             }
             if (!x[1].shape.empty()) out.shape.insert(0, 2);
             return Arrays{out};
           })
      .compares(DTypes{f32, f64})
      .loose(4);
  cases
      .add("quantile several", samples, CALL(quantile(x[0], tensor({0.0, 0.6, 1.0}, f64), {.axis = 0})),
           [](const Arrays& x) {
             Array out;
             for (const double q : {0.0, 0.6, 1.0}) {
               const Array one = reduction(
                   {0}, false, [=](const Row& row) { return quantile_of(row, q, QuantileMode::linear); })(x)[0];
               out.shape = one.shape;
               out.values.insert(out.values.end(), one.values.begin(), one.values.end());
             }
             out.shape.insert(0, 3);
             return Arrays{out};
           })
      .loose(4);
}

void add_errors(Cases& cases) {
  const Tensor x = ones({2, 3});
  const std::pair<const char*, std::function<void(int64_t)>> along[] = {
      {"sort", [=](int64_t axis) { sort(x, axis); }},
      {"argsort", [=](int64_t axis) { argsort(x, axis); }},
      {"topk", [=](int64_t axis) { topk(x, 1, axis); }},
      {"kthvalue", [=](int64_t axis) { kthvalue(x, 1, axis); }},
      {"mode", [=](int64_t axis) { mode(x, axis); }},
      {"median", [=](int64_t axis) { median(x, axis); }},
      {"nanmedian", [=](int64_t axis) { nanmedian(x, axis); }},
      {"quantile", [=](int64_t axis) { quantile(x, 0.5, {.axis = axis}); }},
      {"nanquantile", [=](int64_t axis) { nanquantile(x, 0.5, {.axis = axis}); }}};
  for (const auto& [name, f] : along) {
    cases.error<IndexError>(
        std::string(name) + " axis", [f = f] { f(2); },
        std::string(name) + "([2, 3] f32): axis 2 is out of range for 2 axes");
    cases.error<IndexError>(
        std::string(name) + " negative axis", [f = f] { f(-3); },
        std::string(name) + "([2, 3] f32): axis -3 is out of range for 2 axes");
  }
  const Tensor none = ones({2, 0});
  const std::pair<const char*, std::function<void()>> of_nothing[] = {
      {"mode", [=] { mode(none); }},
      {"median", [=] { median(none, 1); }},
      {"nanmedian", [=] { nanmedian(none, 1); }},
      {"quantile", [=] { quantile(none, 0.5, {.axis = 1}); }},
      {"nanquantile", [=] { nanquantile(none, 0.5, {.axis = 1}); }}};
  for (const auto& [name, f] : of_nothing)
    cases.error<ShapeError>(std::string(name) + " of nothing", f,
                            std::string(name) + "([2, 0] f32): axis 1 has size 0: nothing to choose from");
  cases.error<IndexError>(
      "topk k", [=] { topk(x, 4); }, "topk([2, 3] f32): k = 4 is out of range for 3 elements on axis 1");
  cases.error<IndexError>(
      "topk negative k", [=] { topk(x, -1, 0); }, "topk([2, 3] f32): k = -1 is out of range for 2 elements on axis 0");
  cases.error<IndexError>(
      "topk of a scalar", [] { topk(ones({}), 2); }, "topk([] f32): k = 2 is out of range for 1 elements on axis 0");
  cases.error<IndexError>(
      "kthvalue k", [=] { kthvalue(x, 0); },
      "kthvalue([2, 3] f32): k = 0 is not in 1 .. 3, the number of elements on axis 1");
  cases.error<IndexError>(
      "kthvalue large k", [=] { kthvalue(x, 3, 0); },
      "kthvalue([2, 3] f32): k = 3 is not in 1 .. 2, the number of elements on axis 0");
  cases.error<Error>(
      "quantile q", [=] { quantile(x, 1.5); }, "quantile([2, 3] f32): q = 1.5 is not in [0, 1]");
  cases.error<Error>(
      "nanquantile q", [=] { nanquantile(x, -0.5); }, "nanquantile([2, 3] f32): q = -0.5 is not in [0, 1]");
  cases.error<Error>(
      "quantile q NaN", [=] { quantile(x, kNan); }, "quantile([2, 3] f32): q = nan is not in [0, 1]");
  cases.error<ShapeError>(
      "quantile shape of q",
      [=] {
        quantile(x, ones({1, 2}));
      },
      "quantile([2, 3] f32, [1, 2] f32): q must be a number or have one axis, not shape [1, 2]");
  cases.error<DtypeError>(
      "quantile of integers", [] { quantile(ones({2}, i64), 0.5); },
      "quantile([2] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. x.to(f32)");
  cases.error<Error>(
      "sort undefined", [] { sort(Tensor()); },
      "sort(): a tensor is undefined (default-constructed, or an absent gradient)");
  cases.error<ShapeError>(
      "median of nothing at all", [] { median(ones({0})); },
      "median([0] f32): axis 0 has size 0: nothing to choose from");
  cases.error<IndexError>(
      "unique axis", [=] { unique(x, {.axis = 2}); }, "unique([2, 3] f32): axis 2 is out of range for 2 axes");
  cases.error<Error>(
      "unique undefined", [] { unique(Tensor()); },
      "unique(): a tensor is undefined (default-constructed, or an absent gradient)");
}

}  // namespace

void add_sort_cases(Cases& cases) {
  add_sorts(cases);
  add_selections(cases);
  add_quantiles(cases);
  add_errors(cases);
}

}  // namespace weft::testing
