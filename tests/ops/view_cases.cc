// Cases of the view ops, against the index oracle of the View tests.
#include <numeric>

#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"
#include "tests/ops/families.h"
#include "tests/tensor/view_oracle.h"

namespace weft::testing {

namespace {

/// A view as a reference: what the oracle says about the cells of the input.
Reference through(const std::function<oracle::Cells(const oracle::Cells&)>& view) {
  return [view](const Arrays& x) {
    const oracle::Cells cells = view(oracle::contiguous(x[0].shape.to_vector(), 0));
    Array out{Shape(cells.shape), {}};
    for (int64_t cell : cells.cells)
      out.values.push_back(cell == oracle::kZero ? 0.0 : x[0].values[static_cast<size_t>(cell)]);
    return out;
  };
}
/// Only the shape changes.
Reference reshaped(const Shape& shape) {
  return [shape](const Arrays& x) { return Array{shape, x[0].values}; };
}

oracle::Cells swapped(const oracle::Cells& cells, size_t a, size_t b) {
  oracle::List axes(cells.shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[a], axes[b]);
  return oracle::permute(cells, axes);
}
/// The axis as Python's range would walk it.
Reference sliced(size_t axis, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  return through([=](const oracle::Cells& x) {
    return oracle::pick(x, axis, oracle::python_slice(x.shape[axis], start, end, step));
  });
}

/// A view of one input in each of the shapes, for all dtypes.
OpCase& add(Cases& cases, const std::string& name, const std::vector<Shape>& shapes, Call call, Reference reference) {
  std::vector<Sample> samples;
  for (const Shape& shape : shapes) samples.push_back({normal(shape)});
  return cases.add(name, samples, std::move(call), std::move(reference)).accepts(kAll).view();
}

void add_shape_cases(Cases& cases) {
  add(cases, "view", {{4, 3}, {12}, {2, 1, 6}}, CALL(x[0].contiguous().view({2, -1})), reshaped({2, 6}));
  add(cases, "view to a scalar", {{1}, {1, 1}}, CALL(x[0].view({})), reshaped({}));
  add(cases, "view of nothing", {{0, 3}, {2, 0}}, CALL(x[0].contiguous().view({0, 5})), reshaped({0, 5}));
  add(cases, "reshape", {{4, 3}, {12}, {3, 2, 2}}, CALL(x[0].reshape({3, 4})), reshaped({3, 4}));
  add(cases, "view_as", {{4, 3}, {12}, {3, 2, 2}}, CALL(x[0].contiguous().view_as(ones({3, 4}))), reshaped({3, 4}));
  add(cases, "reshape_as", {{4, 3}, {12}, {3, 2, 2}}, CALL(x[0].reshape_as(ones({3, 4}))), reshaped({3, 4}));
  add(cases, "reshape that copies", {{4, 3}}, CALL(x[0].t().reshape({2, 6})), [](const Arrays& x) {
    return reshaped({2, 6})(through([](const auto& c) { return swapped(c, 0, 1); })(x));
  }).is_view = false;
  add(cases, "flatten", {{2, 3, 2}}, CALL(x[0].flatten(1)), reshaped({2, 6}));
  add(cases, "flatten a scalar", {{}}, CALL(x[0].flatten()), reshaped({1}));
  add(cases, "unflatten", {{6, 2}}, CALL(x[0].contiguous().unflatten(0, {2, -1})), reshaped({2, 3, 2}));
  add(cases, "squeeze", {{2, 1, 3}}, CALL(x[0].squeeze(1)), reshaped({2, 3}));
  add(cases, "squeeze of a size above 1", {{2, 1, 3}}, CALL(x[0].squeeze(-1)), reshaped({2, 1, 3}));
  add(cases, "squeeze all", {{1, 2, 1, 3}, {2, 3}}, CALL(x[0].squeeze_all()), reshaped({2, 3}));
  add(cases, "unsqueeze", {{2, 3}}, CALL(x[0].unsqueeze(-2)), reshaped({2, 1, 3}));
  add(cases, "unsqueeze in front", {{2, 3}}, CALL(x[0].unsqueeze(-3)), reshaped({1, 2, 3}));
}

/// A tensor without axes takes axis 0 and -1.
void add_scalar_cases(Cases& cases) {
  add(cases, "squeeze of a scalar", {{}}, CALL(x[0].squeeze(-1)), reshaped({}));
  add(cases, "transpose of a scalar", {{}}, CALL(x[0].transpose(0, -1)), reshaped({}));
  add(cases, "movedim of a scalar", {{}}, CALL(x[0].movedim(0, -1)), reshaped({}));
  add(cases, "flip of a scalar", {{}}, CALL(x[0].flip(0)), reshaped({}));
  add(cases, "unfold of a scalar", {{}}, CALL(x[0].unfold(0, 1, 2)), reshaped({1})).is_view = false;
}

void add_axis_cases(Cases& cases) {
  add(cases, "transpose", {{2, 3, 4}, {2, 0, 3}, {1, 2, 2, 3}}, CALL(x[0].transpose(0, -1)),
      through([](const auto& x) { return swapped(x, 0, x.shape.size() - 1); }));
  add(cases, "t", {{2, 3}, {3, 2, 2}}, CALL(x[0].t()),
      through([](const auto& x) { return swapped(x, x.shape.size() - 2, x.shape.size() - 1); }));
  add(cases, "permute", {{2, 3, 4}, {3, 1, 2}}, CALL(x[0].permute({2, 0, -2})), through([](const auto& x) {
        return oracle::permute(x, {2, 0, 1});
      }));
  add(cases, "movedim", {{2, 3, 4}}, CALL(x[0].movedim(0, -1)), through([](const auto& x) {
        return oracle::permute(x, {1, 2, 0});
      }));
  add(cases, "flip", {{3, 4}, {2, 1}, {0, 2}}, CALL(x[0].flip({0, -1})), through([](const oracle::Cells& x) {
        const auto rows = oracle::pick(x, 0, oracle::python_slice(x.shape[0], {}, {}, -1));
        return oracle::pick(rows, 1, oracle::python_slice(x.shape[1], {}, {}, -1));
      }));
  add(cases, "expand", {{3, 1}, {1, 1}, {1}}, CALL(x[0].expand({2, 3, 4})), through([](const auto& x) {
        return oracle::broadcast(x, {2, 3, 4});
      }))
      .samples = {{normal({3, 1})}, {normal({1, 1})}, {normal({})}, {normal({4})}, {normal({2, 1, 4})}};
  add(cases, "expand keeping a size", {{3, 1}}, CALL(x[0].expand({-1, 4})), through([](const auto& x) {
        return oracle::broadcast(x, {3, 4});
      }));
  add(cases, "broadcast to nothing", {{1, 3}, {}}, CALL(x[0].broadcast({0, 3})), through([](const auto& x) {
        return oracle::broadcast(x, {0, 3});
      }));
  add(cases, "broadcast left", {{3, 2}}, CALL(x[0].broadcast_left({2, 2})), through([](const auto& x) {
        return oracle::broadcast(x, {2, 2, 3, 2});
      }));
  add(cases, "diagonal", {{3, 3}, {2, 4}, {3, 4, 2}}, CALL(x[0].diagonal()),
      through([](const auto& x) { return oracle::diagonal(x, 0, 0, 1); }));
  add(cases, "diagonal above", {{3, 4}, {2, 4, 3}}, CALL(x[0].diagonal(1, -2, -1)),
      through([](const auto& x) { return oracle::diagonal(x, 1, x.shape.size() - 2, x.shape.size() - 1); }));
  add(cases, "diagonal beside the matrix", {{2, 2}}, CALL(x[0].diagonal(5)),
      through([](const auto& x) { return oracle::diagonal(x, 5, 0, 1); }));
}

void add_range_cases(Cases& cases) {
  add(cases, "slice", {{6, 2}, {5}}, CALL(x[0].slice(0, 1, -1, 2)), sliced(0, 1, -1, 2));
  add(cases, "slice backwards", {{5, 2}}, CALL(x[0].slice(0, std::nullopt, std::nullopt, -2)),
      sliced(0, std::nullopt, std::nullopt, -2));
  add(cases, "slice out of range", {{2, 4}}, CALL(x[0].slice(1, -100, 100)), sliced(1, -100, 100, 1));
  add(cases, "slice of nothing", {{4}}, CALL(x[0].slice(0, 3, 1)), sliced(0, 3, 1, 1));
  add(cases, "select", {{3, 4}, {3}, {4, 2, 2}}, CALL(x[0].select(0, -2)),
      through([](const oracle::Cells& x) { return oracle::select(x, 0, x.shape[0] - 2); }));
  add(cases, "shrink", {{4, 3}}, CALL(x[0].shrink({{1, 3}, {0, 2}})), through([](const auto& x) {
        return oracle::pick(oracle::pick(x, 0, {1, 2}), 1, {0, 1});
      }));
  add(cases, "narrow", {{3, 5}}, CALL(x[0].narrow(-1, 1, 3)), sliced(1, 1, 4, 1));
  add(cases, "narrow from the end", {{3, 5}}, CALL(x[0].narrow(1, -4, 3)), sliced(1, 1, 4, 1));
  add(cases, "unfold", {{7, 2}, {6}}, CALL(x[0].unfold(0, 3, 2)),
      through([](const auto& x) { return oracle::unfold(x, 0, 3, 2); }));
  add(cases, "unfold that overlaps", {{2, 5}}, CALL(x[0].unfold(1, 3, 1)),
      through([](const auto& x) { return oracle::unfold(x, 1, 3, 1); }));
  add(cases, "pad", {{2, 3}, {1, 1}}, CALL(x[0].pad({{1, 0}, {2, 1}})),
      through([](const auto& x) { return oracle::pad(oracle::pad(x, 0, 1, 0), 1, 2, 1); }));
  add(cases, "pad of nothing", {{0}}, CALL(x[0].pad({{1, 2}})),
      through([](const auto& x) { return oracle::pad(x, 0, 1, 2); }));
  add(cases, "as strided", {{3, 4}, {12}}, CALL(x[0].contiguous().as_strided({3, 2}, {3, 2}, 1)),
      through([](const auto& x) {
        return oracle::as_strided(x, {3, 2}, {3, 2}, 1);
      }));
  add(cases, "as strided that overlaps", {{6}}, CALL(x[0].contiguous().as_strided({3, 2}, {1, 1}, 2)),
      through([](const auto& x) {
        return oracle::as_strided(x, {3, 2}, {1, 1}, 2);
      }));
}

void add_chains(Cases& cases) {
  auto chain = [](const oracle::Cells& x) { return swapped(oracle::pad(oracle::pick(x, 1, {2, 0}), 0, 1, 1), 0, 1); };
  add(cases, "padded views of views", {{2, 3}}, CALL(x[0].slice(1, 2, std::nullopt, -2).pad({{1, 1}, {0, 0}}).t()),
      through(chain));
  add(cases, "flatten of a padded view", {{2, 3}}, CALL(x[0].pad({{1, 1}, {0, 1}}).flatten()), [](const Arrays& x) {
    return reshaped({16})(through([](const auto& c) { return oracle::pad(oracle::pad(c, 0, 1, 1), 1, 0, 1); })(x));
  }).is_view = false;
  cases
      .add("split", {{normal({5, 2})}, {normal({6})}}, CALL(Outputs(x[0].split(2))),
           [](const Arrays& x) {
             Arrays out;
             for (int64_t at = 0; at < x[0].shape[0]; at += 2) out.push_back(sliced(0, at, at + 2, 1)(x)[0]);
             return out;
           })
      .accepts(kAll)
      .view();
  cases
      .add("chunk", {{normal({2, 7})}}, CALL(Outputs(x[0].chunk(3, -1))),
           [](const Arrays& x) {
             Arrays out;
             for (int64_t at = 0; at < 7; at += 3) out.push_back(sliced(1, at, at + 3, 1)(x)[0]);
             return out;
           })
      .accepts(kAll)
      .view();
  cases
      .add("broadcast like", {{normal({3, 1}), normal({2, 3, 2})}}, CALL(x[0].broadcast_like(x[1])),
           through([](const auto& x) {
             return oracle::broadcast(x, {2, 3, 2});
           }))
      .accepts(kAll)
      .view();
}

}  // namespace

void add_view_cases(Cases& cases) {
  add_shape_cases(cases);
  add_axis_cases(cases);
  add_scalar_cases(cases);
  add_range_cases(cases);
  add_chains(cases);
}

}  // namespace weft::testing
