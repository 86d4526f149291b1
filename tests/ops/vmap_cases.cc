// Cases of vmap itself: each is run under vmap again by the checks, so that they nest.
#include "tensor/batching/vmap.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/softmax.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tests/ops/families.h"
#include "tests/reference/rows.h"

namespace weft::testing {

namespace {

/// A product of tensor 0's rows with tensor 1, which is the same for all of them.
Reference rows_times_shared() {
  return
      [](const Arrays& x) { return build(x[0].shape, [&](const Index& i) { return x[0].at(i) * x[1].at({i[1]}); }); };
}

void add_errors(Cases& cases) {
  const auto same = [](const Tensor& x) { return x; };
  cases.error<ShapeError>(
      "vmap sizes",
      [] {
        vmap([](const Tensor& a, const Tensor& b) { return a + b; })(ones({2, 3}), ones({4, 3}));
      },
      "vmap([2, 3] f32, [4, 3] f32): argument 1 has 4 samples along axis 0, those before it 2");
  cases.error<IndexError>(
      "vmap axis",
      [=] {
        vmap(same, 2)(ones({2, 3}));
      },
      "vmap([2, 3] f32): axis 2 is out of range for 2 axes");
  cases.error<ShapeError>(
      "vmap scalar", [=] { vmap(same)(ones({})); },
      "vmap([] f32): argument 0 has no axis to take samples along; give it nullopt");
  cases.error<Error>(
      "vmap nothing batched", [=] { vmap(same, std::nullopt)(ones({2})); },
      "vmap([2] f32): no argument has a batch axis");
  cases.error<Error>(
      "vmap axes",
      [=] {
        vmap(same, {0, 0})(ones({2}));
      },
      "vmap([2] f32): vmap: 2 batch axes for 1 arguments");
  cases.error<Error>(
      "vmap result axes",
      [=] {
        vmap(same, 0, {0, 1})(ones({2}));
      },
      "vmap: 2 batch axes for 1 results");
  cases.error<Error>(
      "vmap whole result", [=] { vmap(same, 0, std::nullopt)(ones({2})); },
      "vmap: result 0 differs between samples and needs a batch axis");
  cases.error<DeviceError>(
      "vmap item",
      [] {
        vmap([](const Tensor& x) { return x * x.sum().item<double>(); })(ones({2, 3}));
      },
      "item([] f32 vmap:0): inside vmap a tensor has other values in each sample, so that they cannot be read, nor "
      "shapes and "
      "branches depend on them; use where(), or return the tensor and read it outside");
  cases.error<DeviceError>(
      "vmap writes outside",
      [] {
        Tensor total = zeros({3});
        vmap([&](const Tensor& x) { return total.add_(x); })(ones({2, 3}));
      },
      "add_([3] f32, [3] f32 vmap:0): it would write what differs between vmap's samples to a tensor that does not; "
      "use the "
      "form that returns a new tensor, or write to zeros_like() of an argument");
  cases.error<Error>(
      "vmap kept",
      [] {
        Tensor kept;
        vmap([&](const Tensor& x) { return kept = x; })(ones({2, 3}));
        (void)exp(kept);
      },
      "exp([3] f32 vmap:0): a tensor was kept from inside a vmap that has ended; return it from the function instead");
}

}  // namespace

void add_vmap_cases(Cases& cases) {
  cases.add("vmap softmax of rows", {{normal({3, 4})}, {normal({1, 5})}, {normal({0, 2})}},
            CALL(vmap([](const Tensor& row) { return softmax(row, 0) * row.sum(); })(x[0])),
            rowwise(1, [](const std::vector<double>& row) {
              double largest = row[0], total = 0;
              for (double value : row) largest = std::max(largest, value);
              std::vector<double> out;
              for (double value : row) out.push_back(std::exp(value - largest)), total += out.back();
              for (double& value : out) value *= reference::sum(row) / total;
              return out;
            }));
  cases
      .add("vmap with a shared tensor", {{normal({3, 4}), normal({4})}, {normal({2, 1}), normal({1})}},
           CALL(vmap([&](const Tensor& row) { return row * x[1]; })(x[0])), rows_times_shared())
      .compares(kFloating);
  cases
      .add("vmap in vmap", {{normal({2, 3}), normal({3})}, {normal({4, 2}), normal({2})}},
           CALL(vmap([&](const Tensor& row) {
             return vmap([](const Tensor& a, const Tensor& b) { return a * b; })(row, x[1]);
           })(x[0])),
           rows_times_shared())
      .compares(kFloating);
  cases
      .add("vmap writes to a row", {{normal({3, 4}), normal({4})}, {normal({2, 2}), normal({2})}},
           CALL(vmap([&](const Tensor& row) {
             Tensor out = zeros_like(row);
             out.add_(row);
             return out.mul_(x[1]);
           })(x[0])),
           rows_times_shared())
      .compares(kFloating);
  cases
      .add("vmap writes to parts of a row", {{normal({3, 4}), normal({4})}, {normal({2, 2}), normal({2})}},
           CALL(vmap([&](const Tensor& row) {
             Tensor out = ones_like(row);
             const Tensor a = row.detach(), b = x[1].detach();
             out.slice(0, std::nullopt, std::nullopt, 2).mul_(a.slice(0, std::nullopt, std::nullopt, 2));
             out.slice(0, 1, std::nullopt, 2).copy_(a.slice(0, 1, std::nullopt, 2));
             out.flip({0}).mul_(b.flip({0}));
             return out;
           })(x[0])),
           rows_times_shared())
      .compares(kFloating)
      .no_gradient();
  cases
      .add("vmap along other axes", {{normal({3, 4}), normal({4})}},
           CALL(vmap([](const Tensor& column, const Tensor& b) { return column * b; }, {1, 0}, 1)(x[0], x[1])),
           rows_times_shared())
      .compares(kFloating);
  add_errors(cases);
}

}  // namespace weft::testing
