// Cases of repeating, rolling, turning, and of diagonals as matrices.
#include "tensor/functions/fill.h"
#include "tensor/functions/tile.h"
#include "tensor/functions/view.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

OpCase& add(Cases& cases, const std::string& name, const Shape& in, Call call, Reference reference) {
  return cases.add(name, {{normal(in)}}, std::move(call), std::move(reference)).accepts(kAll);
}

void add_repeats(Cases& cases) {
  add(cases, "repeat", {2, 3}, CALL(x[0].repeat({2, 1, 2})), picked({2, 2, 6}, [](const Index& i) {
        return Index{i[1], i[2] % 3};
      }));
  add(cases, "repeat of nothing", {2, 3}, CALL(x[0].repeat({2, 0})), picked({4, 0}, [](const Index& i) { return i; }));
  add(cases, "repeat of a scalar", {}, CALL(x[0].repeat({3})), picked({3}, [](const Index&) { return Index{}; }));
  add(cases, "repeat of eight axes", {1, 1, 1, 1, 1, 1, 2, 1}, CALL(x[0].repeat({1, 1, 1, 1, 1, 1, 2, 2})),
      picked({1, 1, 1, 1, 1, 1, 4, 2}, [](const Index& i) { return Index{0, 0, 0, 0, 0, 0, i[6] % 2, 0}; }));
  add(cases, "tile", {2, 3}, CALL(tile(x[0], {3})), picked({2, 9}, [](const Index& i) {
        return Index{i[0], i[1] % 3};
      }));
  add(cases, "repeat_interleave", {2, 3}, CALL(x[0].repeat_interleave(2, 1)), picked({2, 6}, [](const Index& i) {
        return Index{i[0], i[1] / 2};
      }));
  add(cases, "repeat_interleave of all", {2, 2}, CALL(x[0].repeat_interleave(3)), picked({12}, [](const Index& i) {
        return Index{i[0] / 6, i[0] / 3 % 2};
      }));
  cases
      .add("repeat_interleave by counts",
           {{normal({3, 2}), index({3}, {2, 0, 1})},
            {normal({2, 2}), index({2}, {0, 0})},
            {normal({0, 2}), index({0}, std::vector<double>{})}},
           CALL(repeat_interleave(x[0], x[1], 0)),
           [](const Arrays& x) {
             Array out{{0, 2}, {}};
             for (int64_t i = 0; i < x[0].shape[0]; ++i)
               for (int64_t k = 0; k < static_cast<int64_t>(x[1].at({i})); ++k, ++out.shape[0])
                 for (int64_t j = 0; j < 2; ++j) out.values.push_back(x[0].at({i, j}));
             return out;
           })
      .accepts(kAll)
      .no_vmap(2);
}

void add_moves(Cases& cases) {
  add(cases, "roll", {3, 4}, CALL(x[0].roll({1, -5}, {0, 1})), picked({3, 4}, [](const Index& i) {
        return Index{(i[0] + 2) % 3, (i[1] + 5) % 4};
      }));
  add(cases, "roll of all", {3, 2}, CALL(x[0].roll({1})), picked({3, 2}, [](const Index& i) {
        const int64_t k = (i[0] * 2 + i[1] + 5) % 6;
        return Index{k / 2, k % 2};
      }));
  add(cases, "roll by a whole turn", {3}, CALL(x[0].roll({3}, {0})), picked({3}, [](const Index& i) { return i; }));
  add(cases, "roll of nothing", {0, 2}, CALL(x[0].roll({1}, {0})), picked({0, 2}, [](const Index& i) { return i; }));
  add(cases, "rot90", {2, 3}, CALL(rot90(x[0])),
      picked({3, 2},
             [](const Index& i) {
               return Index{i[1], 2 - i[0]};
             }))
      .view();
  add(cases, "rot90 twice", {2, 3}, CALL(rot90(x[0], 2)),
      picked({2, 3},
             [](const Index& i) {
               return Index{1 - i[0], 2 - i[1]};
             }))
      .view();
  add(cases, "rot90 backward", {2, 3}, CALL(rot90(x[0], -1)),
      picked({3, 2},
             [](const Index& i) {
               return Index{1 - i[1], i[0]};
             }))
      .view();
  for (const bool member : {true, false})
    add(
        cases, member ? "roll as a member by a number" : "roll by a number", {3, 4},
        [member](const Inputs& x) -> Outputs { return member ? x[0].roll(7, 1) : roll(x[0], -1, -1); },
        picked({3, 4}, [](const Index& i) {
          return Index{i[0], (i[1] + 1) % 4};
        }));
  add(cases, "roll flattened by a number", {2, 3}, CALL(roll(x[0], -1)), picked({2, 3}, [](const Index& i) {
        const int64_t at = (3 * i[0] + i[1] + 1) % 6;
        return Index{at / 3, at % 3};
      }));
  add(cases, "fliplr", {2, 3}, CALL(fliplr(x[0])),
      picked({2, 3},
             [](const Index& i) {
               return Index{i[0], 2 - i[1]};
             }))
      .view();
  add(cases, "flipud", {2, 3}, CALL(flipud(x[0])),
      picked({2, 3},
             [](const Index& i) {
               return Index{1 - i[0], i[1]};
             }))
      .view();
  add(cases, "movedim of several axes", {2, 3, 4}, CALL(x[0].movedim({0, 1}, {-1, 0})),
      picked({3, 4, 2},
             [](const Index& i) {
               return Index{i[2], i[0], i[1]};
             }))
      .view();
  add(cases, "squeeze of several axes", {1, 3, 1, 1}, CALL(x[0].squeeze({0, 1, -1})),
      picked({3, 1},
             [](const Index& i) {
               return Index{0, i[0], 0, 0};
             }))
      .view();
  add(cases, "swapaxes", {2, 3}, CALL(swapaxes(x[0], 0, -1)),
      picked({3, 2},
             [](const Index& i) {
               return Index{i[1], i[0]};
             }))
      .view();
}

void add_diagonals(Cases& cases) {
  const auto diagonal_of = [](const Shape& shape, size_t row, size_t column, int64_t offset) -> Reference {
    return [=](const Arrays& x) {
      return build(shape, [&](Index i) {
        if (i[column] != i[row] + offset) return 0.0;
        const int64_t place = offset < 0 ? i[column] : i[row];
        Index at;
        for (size_t k = 0; k < i.size(); ++k)
          if (k != row && k != column) at.push_back(i[k]);
        return at.push_back(place), x[0].at(at);
      });
    };
  };
  add(cases, "diag of a vector", {3}, CALL(diag(x[0], 1)), diagonal_of({4, 4}, 0, 1, 1));
  add(cases, "diag of a matrix", {3, 4}, CALL(diag(x[0], -1)), picked({2}, [](const Index& i) {
        return Index{i[0] + 1, i[0]};
      }));
  add(cases, "diagflat", {2, 2}, CALL(x[0].diagflat(-1)), [](const Arrays& x) {
    return build({5, 5},
                 [&](const Index& i) { return i[0] == i[1] + 1 ? x[0].values[static_cast<size_t>(i[1])] : 0.0; });
  });
  add(cases, "diag_embed", {2, 3}, CALL(diag_embed(x[0])), diagonal_of({2, 3, 3}, 1, 2, 0));
  add(cases, "diag_embed below in front", {2, 3}, CALL(diag_embed(x[0], -1, 0, 2)), diagonal_of({4, 2, 4}, 0, 2, -1));
  for (const bool lower : {true, false})
    cases
        .add(
            lower ? "tril_indices" : "triu_indices", {{index({1}, 1)}},
            [lower](const Inputs& x) -> Outputs {
              return lower ? tril_indices(3, 4, 1, x[0].device()) : triu_indices(3, 4, 1, x[0].device());
            },
            [lower](const Arrays&) {
              std::vector<double> rows, columns;
              for (int64_t i = 0; i < 3; ++i)
                for (int64_t j = 0; j < 4; ++j)
                  if (lower ? j - i <= 1 : j - i >= 1) {
                    rows.push_back(static_cast<double>(i));
                    columns.push_back(static_cast<double>(j));
                  }
              const auto n = static_cast<int64_t>(rows.size());
              rows.insert(rows.end(), columns.begin(), columns.end());
              return Array{{2, n}, rows};
            })
        .gives({Result::i64})
        .no_gradient();
}

void add_errors(Cases& cases) {
  cases.error<ShapeError>(
      "repeat counts",
      [] {
        repeat(ones({2, 3}), {2});
      },
      "repeat([2, 3] f32): 1 counts for 2 axes; tile() takes fewer");
  cases.error<ShapeError>(
      "repeat negative", [] { repeat(ones({2}), {-1}); }, "repeat([2] f32): count -1 in [-1] is negative");
  cases.error<ShapeError>(
      "repeat_interleave negative", [] { repeat_interleave(ones({2}), -1); },
      "repeat_interleave([2] f32): count -1 is negative");
  cases.error<ShapeError>(
      "repeat_interleave counts",
      [] {
        repeat_interleave(ones({3}), tensor({1, 2}), 0);
      },
      "repeat_interleave([3] f32, [2] i64): the counts have shape [2], axis 0 has size 3");
  cases.error<ShapeError>(
      "roll without axes",
      [] {
        roll(ones({3}), {1, 2});
      },
      "roll([3] f32): without axes there is one shift, not 2");
  cases.error<ShapeError>(
      "roll counts",
      [] {
        roll(ones({3}), {1, 2}, {0});
      },
      "roll([3] f32): 2 shifts for 1 axes");
  cases.error<IndexError>(
      "rot90 axes",
      [] {
        rot90(ones({3, 3}), 1, 0, -2);
      },
      "rot90([3, 3] f32): the two axes must differ, both are 0");
  cases.error<ShapeError>(
      "fliplr rank", [] { fliplr(ones({3})); }, "fliplr([3] f32): 2 axes or more are needed, not shape [3]");
  cases.error<ShapeError>(
      "flipud rank", [] { flipud(ones({})); }, "flipud([] f32): 1 axis or more is needed, not shape []");
  cases.error<ShapeError>(
      "movedim counts",
      [] {
        movedim(ones({2, 3}), {0, 1}, {0});
      },
      "movedim([2, 3] f32): 2 sources for 1 destinations");
  cases.error<IndexError>(
      "movedim twice",
      [] {
        movedim(ones({2, 3}), {0, 0}, {0, 1});
      },
      "movedim([2, 3] f32): an axis is named twice in [0, 0] to [0, 1]");
  cases.error<ShapeError>(
      "diag rank",
      [] {
        diag(ones({2, 2, 2}));
      },
      "diag([2, 2, 2] f32): a vector or a matrix is needed, not shape [2, 2, 2]");
  cases.error<IndexError>(
      "diag_embed axes", [] { diag_embed(ones({2}), 0, 1, -1); },
      "diag_embed([2] f32): the two axes must differ, both are 1");
}

}  // namespace

void add_tile_cases(Cases& cases) {
  add_repeats(cases);
  add_moves(cases);
  add_diagonals(cases);
  add_errors(cases);
}

}  // namespace weft::testing
