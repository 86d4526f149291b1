// Cases of extremes with their positions.
#include "tensor/functions/arg_reduce.h"
#include "tensor/functions/fill.h"
#include "tests/ops/families.h"
#include "tests/reference/rows.h"

namespace weft::testing {

namespace {

template <bool largest> double position_of(const Row& row) {
  return static_cast<double>(reference::first_extreme(row, largest));
}
template <bool largest> double value_of(const Row& row) { return row[reference::first_extreme(row, largest)]; }

template <bool largest> Reference both(int64_t axis, bool kept) {
  return [=](const Arrays& x) {
    return Arrays{reduction({axis}, kept, value_of<largest>)(x)[0],
                  reduction({axis}, kept, position_of<largest>)(x)[0]};
  };
}
Outputs list(const ValuesAndIndices& found) { return Outputs{found.values, found.indices}; }

void add_positions(Cases& cases) {
  const std::vector<Sample> samples = {{distinct({3, 4})}, {integers({5, 6}, 0, 2)}, {integers({2, 3, 4}, 0, 1)},
                                       {special({19, 2})}, {distinct({0, 3})},       {distinct({})}};
  cases.add("argmax", samples, CALL(argmax(x[0], -1)), reduction({-1}, false, position_of<true>))
      .accepts(kAll)
      .gives({Result::i64})
      .no_gradient();
  cases.add("argmin", samples, CALL(argmin(x[0], -1, keepdim)), reduction({-1}, true, position_of<false>))
      .accepts(kAll)
      .gives({Result::i64})
      .no_gradient();
  const std::vector<Sample> whole = {
      {special({5, 4})}, {integers({3, 4}, 0, 3)}, {distinct({})}, {distinct({37})}, {integers({2, 2, 3}, 0, 1)}};
  cases.add("argmax of all", whole, CALL(argmax(x[0])), reduction({}, false, position_of<true>))
      .accepts(kAll)
      .gives({Result::i64})
      .no_gradient();
  cases
      .add("argmin of all kept", whole, CALL(argmin(x[0], std::nullopt, keepdim)),
           reduction({}, true, position_of<false>))
      .accepts(kAll)
      .gives({Result::i64})
      .no_gradient();
}

void add_values(Cases& cases) {
  const std::vector<Sample> samples = {{distinct({3, 4})}, {distinct({2, 3, 2})}, {distinct({5})},
                                       {distinct({4, 1})}, {distinct({1, 7})},    {distinct({3, 2, 2, 2})},
                                       {distinct({9, 2})}, {distinct({2, 0})},    {integers({4, 5}, 0, 2)},
                                       {special({19, 2})}, {distinct({})}};
  cases.add("max with indices", samples, CALL(list(max_with_indices(x[0], 0))), both<true>(0, false))
      .accepts(kAll)
      .gives({Result::same, Result::i64});
  cases.add("min with indices", samples, CALL(list(min_with_indices(x[0], 0, keepdim))), both<false>(0, true))
      .accepts(kAll)
      .gives({Result::same, Result::i64});
}

void add_errors(Cases& cases) {
  cases.error<IndexError>(
      "argmax axis",
      [] {
        argmax(ones({2, 3}), 2);
      },
      "argmax([2, 3] f32): axis 2 is out of range for 2 axes");
  cases.error<IndexError>(
      "argmin axis",
      [] {
        argmin(ones({2, 3}), -3);
      },
      "argmin([2, 3] f32): axis -3 is out of range for 2 axes");
  cases.error<ShapeError>(
      "argmax of nothing", [] { argmax(ones({0})); }, "argmax([0] f32): axis 0 has size 0: nothing to choose from");
  cases.error<ShapeError>(
      "argmin of nothing",
      [] {
        argmin(ones({2, 0}), 1);
      },
      "argmin([2, 0] f32): axis 1 has size 0: nothing to choose from");
  cases.error<IndexError>(
      "max_with_indices axis", [] { max_with_indices(ones({2}), 1); },
      "max_with_indices([2] f32): axis 1 is out of range for 1 axis");
  cases.error<ShapeError>(
      "max_with_indices of nothing",
      [] {
        max_with_indices(ones({0, 2}), 0);
      },
      "max_with_indices([0, 2] f32): axis 0 has size 0: nothing to choose from");
  cases.error<IndexError>(
      "min_with_indices of a scalar", [] { min_with_indices(ones({}), 1); },
      "min_with_indices([] f32): axis 1 is out of range for 1 axis");
  cases.error<IndexError>(
      "argmax of a scalar", [] { argmax(ones({}), -2); }, "argmax([] f32): axis -2 is out of range for 1 axis");
  cases.error<Error>(
      "argmax undefined", [] { argmax(Tensor(), 0); },
      "argmax(): a tensor is undefined (default-constructed, or an absent gradient)");
}

}  // namespace

void add_arg_reduce_cases(Cases& cases) {
  add_positions(cases);
  add_values(cases);
  add_errors(cases);
}

}  // namespace weft::testing
