// Cases of x.index({...}) and of writes to it.
#include "tensor/functions/advanced_index.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tests/ops/families.h"
#include "tests/reference/index.h"

namespace weft::testing {

namespace {

using reference::place;

/// The element of x[0] at map(x, index) for each index of `shape`.
template <class IndexMap> Reference picked(const Shape& shape, IndexMap map) {
  return [=](const Arrays& x) { return build(shape, [&](const Index& i) { return x[0].at(map(x, i)); }); };
}

void add_views(Cases& cases) {
  const auto view = [&](const char* name, const Shape& shape, const std::vector<TensorIndex>& indices,
                        const Shape& result, const std::function<Index(const Index&)>& place) {
    cases
        .add(std::string("index ") + name, {{normal(shape)}}, CALL(x[0].index(indices)),
             picked(result, [=](const Arrays&, const Index& i) { return place(i); }))
        .accepts(kAll)
        .view();
  };
  view("with nothing", {2, 3}, {}, {2, 3}, [](const Index& i) { return i; });
  view("with an integer and a slice", {2, 3, 4}, {1, Slice(0, None, 2)}, {2, 4}, [](const Index& i) {
    return Index{1, 2 * i[0], i[1]};
  });
  view("with an ellipsis", {2, 3, 4}, {Ellipsis, -1}, {2, 3}, [](const Index& i) { return Index{i[0], i[1], 3}; });
  view("with an ellipsis in between", {2, 3, 4, 2}, {1, Ellipsis, Slice(1, None), 0}, {3, 3}, [](const Index& i) {
    return Index{1, i[0], i[1] + 1, 0};
  });
  view("with an empty ellipsis", {2, 3}, {1, Ellipsis, 0}, {}, [](const Index&) { return Index{1, 0}; });
  view("with new axes", {2, 3}, {None, 0, None, Slice()}, {1, 1, 3}, [](const Index& i) { return Index{0, i[2]}; });
  view("with a negative step", {5}, {Slice(None, None, -2)}, {3}, [](const Index& i) { return Index{4 - 2 * i[0]}; });
  view("with clamped bounds", {5}, {Slice(-100, 3)}, {3}, [](const Index& i) { return i; });
  view("with an empty slice", {5, 2}, {Slice(4, 2)}, {0, 2}, [](const Index& i) { return i; });
}

void add_gathers(Cases& cases) {
  cases
      .add("index with a tensor", {{normal({4, 3}), index({5}, {0, -1, 3, 2, -4})}, {normal({4, 3}), index({5}, 4)}},
           CALL(x[0].index({x[1]})),
           picked({5, 3},
                  [](const Arrays& x, const Index& i) {
                    return Index{place(x[1], {i[0]}, 4), i[1]};
                  }))
      .accepts(kAll);
  cases
      .add("index with a tensor behind a slice", {{normal({2, 5, 3}), index({2, 2}, {0, -1, 3, 3}, i32)}},
           CALL(x[0].index({Slice(), x[1]})),
           picked({2, 2, 2, 3},
                  [](const Arrays& x, const Index& i) {
                    return Index{i[0], place(x[1], {i[1], i[2]}, 5), i[3]};
                  }))
      .accepts(kAll);
  cases
      .add("index with tensors that broadcast", {{normal({4, 3, 2}), index({2, 1}, 4), index({3}, {-1, 0, 1})}},
           CALL(x[0].index({x[1], x[2]})),
           picked({2, 3, 2},
                  [](const Arrays& x, const Index& i) {
                    return Index{place(x[1], {i[0], 0}, 4), place(x[2], {i[1]}, 3), i[2]};
                  }))
      .accepts(kAll);
  cases
      .add("index with tensors apart", {{normal({4, 3, 2}), index({5}, 4), index({5}, 2)}},
           CALL(x[0].index({x[1], Slice(1, None), x[2]})),
           picked({5, 2},
                  [](const Arrays& x, const Index& i) {
                    return Index{place(x[1], {i[0]}, 4), i[1] + 1, place(x[2], {i[0]}, 2)};
                  }))
      .accepts(kAll);
  cases
      .add("index with tensors in the middle", {{normal({2, 3, 4, 2}), index({2}, 3), index({2}, 4)}},
           CALL(x[0].index({Slice(), x[1], x[2]})),
           picked({2, 2, 2},
                  [](const Arrays& x, const Index& i) {
                    return Index{i[0], place(x[1], {i[1]}, 3), place(x[2], {i[1]}, 4), i[2]};
                  }))
      .accepts(kAll);
  cases
      .add("index with tensors of strided columns", {{normal({4, 6}), index({5}, 4), index({5}, {0, 1, 2, -1, 0})}},
           CALL(x[0].index({Slice(), Slice(1, None, 2)}).index({x[1], x[2]})),
           picked({5},
                  [](const Arrays& x, const Index& i) {
                    return Index{place(x[1], i, 4), 1 + 2 * place(x[2], i, 3)};
                  }))
      .accepts(kAll);
  cases
      .add("index with a tensor after an integer", {{normal({2, 3, 4}), index({3}, {3, 0, -2})}},
           CALL(x[0].index({-1, Ellipsis, x[1]})),
           picked({3, 3},
                  [](const Arrays& x, const Index& i) {
                    return Index{1, i[0], place(x[1], {i[1]}, 4)};
                  }))
      .accepts(kAll);
  cases
      .add("index with a tensor and a new axis", {{normal({3, 2}), index({2}, 3)}}, CALL(x[0].index({x[1], None})),
           picked({2, 1, 2},
                  [](const Arrays& x, const Index& i) {
                    return Index{place(x[1], {i[0]}, 3), i[2]};
                  }))
      .accepts(kAll);
  cases
      .add("index with an empty tensor", {{normal({3, 2}), index({0}, 3)}}, CALL(x[0].index({x[1]})),
           picked({0, 2}, [](const Arrays&, const Index& i) { return i; }))
      .accepts(kAll);
  cases
      .add("index with true", {{normal({3, 2})}}, CALL(x[0].index({true})),
           picked({1, 3, 2},
                  [](const Arrays&, const Index& i) {
                    return Index{i[1], i[2]};
                  }))
      .accepts(kAll);
  cases
      .add("index with false", {{normal({3, 2})}}, CALL(x[0].index({false, 0})),
           picked({0, 2}, [](const Arrays&, const Index& i) { return i; }))
      .accepts(kAll);
}

/// The rows of x[0] whose entry of the 1-d mask holds.
Array kept_rows(const Arrays& x) {
  Array out{x[0].shape, {}};
  out.shape[0] = 0;
  for (int64_t i = 0; i < x[0].size(0); ++i) {
    if (x[1].at({i}) == 0) continue;
    ++out.shape[0];
    for (int64_t j = 0; j < x[0].size(1); ++j) out.values.push_back(x[0].at({i, j}));
  }
  return out;
}

void add_masks(Cases& cases) {
  cases
      .add("index with a mask",
           {{normal({4, 3}), mask({4, 3})}, {normal({2, 7}), mask({2, 7})}, {normal({0, 3}), mask({0, 3})}},
           CALL(x[0].index({x[1]})),
           [](const Arrays& x) {
             Array out{{0}, {}};
             for (const Index& i : indices_of(x[0].shape))
               if (x[1].at(i) != 0) out.values.push_back(x[0].at(i)), ++out.shape[0];
             return out;
           })
      .accepts(kAll)
      .no_vmap(2);
  cases
      .add("index with a mask of rows", {{normal({5, 3}), mask({5})}, {normal({1, 2}), mask({1})}},
           CALL(x[0].index({x[1]})), kept_rows)
      .accepts(kAll)
      .no_vmap(2);
  cases
      .add("index with a mask of columns", {{normal({2, 5}), mask({5})}}, CALL(x[0].index({Ellipsis, x[1]}).t()),
           [](const Arrays& x) {
             Array out{{0, 2}, {}};
             for (int64_t j = 0; j < 5; ++j) {
               if (x[1].at({j}) == 0) continue;
               ++out.shape[0];
               for (int64_t i = 0; i < 2; ++i) out.values.push_back(x[0].at({i, j}));
             }
             return out;
           })
      .accepts(kAll)
      .no_vmap(2);
  cases
      .add("index with a mask and a tensor", {{normal({3, 4}), index({3}, {1, 0, 1}), index({2}, {0, -1})}},
           CALL(x[0].index({x[1] != 0, x[2]})),
           picked({2},
                  [](const Arrays& x, const Index& i) {
                    return Index{2 * i[0], place(x[2], i, 4)};
                  }))
      .accepts(kAll)
      .no_layouts()
      .no_vmap(2);
}

/// x[0] with what `write` does to a copy of it.
Reference written(const std::function<void(const Arrays&, Array&)>& write) {
  return [write](const Arrays& x) {
    Array out = x[0];
    write(x, out);
    return out;
  };
}

void add_puts(Cases& cases) {
  cases
      .add("index_put to a view", {{normal({3, 4}), normal({3})}, {normal({3, 4}), normal({})}},
           CALL(index_put(x[0], {Slice(), 1}, x[1])), written([](const Arrays& x, Array& out) {
             for (int64_t i = 0; i < 3; ++i) out.at({i, 1}) = broadcast_at(x[1], {i});
           }))
      .accepts(kAll);
  cases
      .add("index_put of a number to a view", {{normal({3, 4})}}, CALL(index_put(x[0], {1, Slice(None, None, 2)}, 1)),
           written([](const Arrays&, Array& out) {
             out.at({1, 0}) = out.at({1, 2}) = 1;
           }))
      .accepts(kAll);
  const auto last_wins = written([](const Arrays& x, Array& out) {
    for (int64_t i = 0; i < x[1].size(0); ++i)
      for (int64_t j = 0; j < 3; ++j) out.at({place(x[1], {i}, 4), j}) = broadcast_at(x[2], {i, j});
  });
  cases
      .add("index_put of rows",
           {{normal({4, 3}), index({2}, {2, 0}), normal({2, 3})},
            {normal({4, 3}), index({5}, {2, 0, -2, 3, 0}), normal({5, 3})},
            {normal({4, 3}), index({3}, {1, 1, 1}), normal({3, 1})},
            {normal({4, 3}), index({0}, 4), normal({0, 3})},
            {normal({4, 3}), index({3}, 4), normal({})}},
           CALL(index_put(x[0], {x[1]}, x[2])), last_wins)
      .accepts(kAll);
  cases
      .add(
          "index_put of rows of a temporary in place",
          {{normal({4, 3}), index({2}, {2, 0}), normal({2, 3})},
           {normal({4, 3}), index({5}, {2, 0, -2, 3, 0}), normal({5, 3})}},
          [](const Inputs& x) -> Outputs {
            Tensor y = x[0].clone();
            return y.index_put_({x[1]}, x[2]);
          },
          last_wins)
      .accepts(kAll)
      .in_place();
  cases
      .add(
          "index_put of elements of columns",
          {{normal({4, 6}), index({3}, {0, 3, 0}), index({3}, {2, -1, 2}), normal({3})}},
          [](const Inputs& x) -> Outputs {
            const Tensor y = x[0].clone();
            y.index({Slice(), Slice(1, None, 2)}).index_put_({x[1], x[2]}, x[3]);
            return y;
          },
          written([](const Arrays& x, Array& out) {
            for (int64_t i = 0; i < 3; ++i) out.at({place(x[1], {i}, 4), 1 + 2 * place(x[2], {i}, 3)}) = x[3].at({i});
          }))
      .accepts(kAll)
      .in_place();
  const auto sums = written([](const Arrays& x, Array& out) {
    for (int64_t i = 0; i < x[1].size(0); ++i) out.at({place(x[1], {i}, 4), place(x[2], {i}, 3)}) += x[3].at({i});
  });
  cases
      .add("index_put that accumulates",
           {{normal({4, 3}), index({5}, {0, 3, 0, -1, 0}), index({5}, {2, -1, 2, 0, 2}), normal({5})},
            {normal({4, 3}), index({4}, 4), index({4}, 3), normal({4})},
            {normal({4, 3}), index({1}, {2}), index({1}, {-2}), normal({1})}},
           CALL(index_put(x[0], {x[1], x[2]}, x[3], true)), sums)
      .compares(kFloating);
  cases
      .add(
          "index_put that accumulates in a few of many columns of a view",
          {{normal({9, 5, 3}), index({2}, {8, -1}), index({2}, {2, 2}), normal({3, 2})}},
          [](const Inputs& x) -> Outputs {
            const Tensor y = x[0].clone();
            y.permute({2, 0, 1}).index_put_({Slice(), x[1], x[2]}, x[3], true);
            return y;
          },
          written([](const Arrays& x, Array& out) {
            for (const Index& i : indices_of(x[3].shape)) out.at({8, 2, i[0]}) += x[3].at(i);
          }))
      .compares(kFloating)
      .in_place();
  cases
      .add(
          "index_put that accumulates in a transposed view",
          {{normal({4, 3}), index({5}, {0, 3, 0, -1, 0}), index({5}, {2, -1, 2, 0, 2}), normal({5})},
           {normal({4, 3}), index({1}, {3}), index({1}, {0}), normal({1})}},
          [](const Inputs& x) -> Outputs {
            const Tensor y = x[0].clone();
            y.t().index_put_({x[2], x[1]}, x[3], true);
            return y;
          },
          sums)
      .compares(kFloating)
      .in_place();
  cases
      .add("index_put that accumulates a row with leading ones, by number",
           {{normal({4, 3}), normal({1, 3})}, {normal({4, 3}), normal({1, 1, 1})}},
           CALL(index_put(x[0], {1}, x[1], true)), written([](const Arrays& x, Array& out) {
             for (int64_t j = 0; j < 3; ++j) out.at({1, j}) += x[1].values[x[1].values.size() == 1 ? 0 : size_t(j)];
           }))
      .compares(kFloating);
  cases
      .add("index_put of a number where a mask holds", {{normal({4, 3}), mask({4, 3})}, {normal({4, 3}), mask({4})}},
           CALL(index_put(x[0], {x[1]}, 1)), written([](const Arrays& x, Array& out) {
             for (const Index& i : indices_of(out.shape)) {
               const Index place(i.begin(), i.begin() + static_cast<int64_t>(x[1].shape.size()));
               if (x[1].at(place) != 0) out.at(i) = 1;
             }
           }))
      .accepts(kAll);
  cases
      .add("index_put of values where a mask holds", {{normal({2, 3}), index({2, 3}, {1, 0, 1, 0, 0, 1}), normal({3})}},
           CALL(index_put(x[0], {x[1] != 0}, x[2])), written([](const Arrays& x, Array& out) {
             out.at({0, 0}) = x[2].at({0}), out.at({0, 2}) = x[2].at({1}), out.at({1, 2}) = x[2].at({2});
           }))
      .accepts(kAll)
      .no_layouts()
      .no_vmap(2);
}

void add_errors(Cases& cases) {
  cases.error<DtypeError>(
      "index_put adds a floating number to integers",
      [] {
        ones({3}, i64).index_put_({tensor({0, 1})}, 1.5, true);
      },
      "index_put_([3] i64): a floating value cannot be written to i64; cast it first");
  cases.error<IndexError>(
      "index with too many",
      [] {
        ones({2, 3}).index({0, 0, 0});
      },
      "index([2, 3] f32): 3 indices for a tensor of 2 axes");
  cases.error<IndexError>(
      "index with two ellipses",
      [] {
        ones({2, 3}).index({Ellipsis, Ellipsis});
      },
      "index([2, 3] f32): there can be only one Ellipsis");
  cases.error<IndexError>(
      "index out of range",
      [] {
        ones({2, 3}).index({Slice(), tensor({1, 3})});
      },
      "index([2, 3] f32): index 3 is out of range for an axis of size 3");
  cases.error<IndexError>(
      "index below the range",
      [] {
        ones({2, 3}).index({tensor({-3})});
      },
      "index([2, 3] f32): index -3 is out of range for an axis of size 2");
  cases.error<IndexError>(
      "index of nothing",
      [] {
        ones({0, 3}).index({tensor({0})});
      },
      "index([0, 3] f32): index 0 is out of range for an axis of size 0");
  cases.error<DtypeError>(
      "index with floats",
      [] {
        ones({2, 3}).index({ones({2})});
      },
      "index([2, 3] f32): the indices are f32; they must be integers, e.g. x.to(i64)");
  cases.error<ShapeError>(
      "index with a mask of another size",
      [] {
        ones({2, 3}).index({ones({2, 2}, boolean)});
      },
      "index([2, 3] f32): the mask of shape [2, 2] does not fit axis 1 of size 3");
  cases.error<IndexError>(
      "index with a mask of too many axes",
      [] {
        ones({2}).index({ones({2, 1}, boolean)});
      },
      "index([2] f32): 2 indices for a tensor of 1 axes");
  cases.error<ShapeError>(
      "index with tensors that do not broadcast",
      [] {
        ones({2, 3}).index({tensor({0, 1}), tensor({0, 1, 2})});
      },
      "index([2, 3] f32): shapes [2] and [3] do not broadcast: 2 and 3 on axis -1");
  cases.error<ShapeError>(
      "index_put of too many",
      [] {
        ones({2, 3}).index_put_({tensor({0})}, ones({2, 3}));
      },
      "index_put_([2, 3] f32, [2, 3] f32): [2, 3] does not broadcast to [1, 3]: 2 and 1 on axis 0");
  cases.error<Error>(
      "index_put of a large number", [] { ones({2}, u8).index_put_({tensor({0})}, 300); },
      "index_put_([2] u8): the value 300 does not fit into u8, which holds 0 to 255");
  cases.error<IndexError>(
      "index_put out of range", [] { ones({2}).index_put_({tensor({2})}, 1.0); },
      "index_put_([2] f32): index 2 is out of range for an axis of size 2");
}

}  // namespace

void add_advanced_index_cases(Cases& cases) {
  add_views(cases);
  add_gathers(cases);
  add_masks(cases);
  add_puts(cases);
  add_errors(cases);
}

}  // namespace weft::testing
