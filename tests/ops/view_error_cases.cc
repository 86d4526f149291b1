// What the view ops refuse, and the exact texts.
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

void add_reshape_errors(Cases& cases) {
  cases.error<ShapeError>(
      "view count",
      [] {
        ones({2, 3}).view({4});
      },
      "view([2, 3] f32): 6 elements cannot be viewed as [4] with 4");
  cases.error<ShapeError>(
      "view inferred",
      [] {
        ones({2, 3}).view({4, -1});
      },
      "view([2, 3] f32): 6 elements cannot be viewed as [4, -1]");
  cases.error<ShapeError>(
      "view two open sizes",
      [] {
        ones({2, 3}).view({-1, -1});
      },
      "view([2, 3] f32): only one size can be -1, got [-1, -1]");
  cases.error<ShapeError>(
      "view negative",
      [] {
        ones({2, 3}).view({-2, 3});
      },
      "view([2, 3] f32): size -2 in [-2, 3] is negative");
  cases.error<ShapeError>(
      "view ambiguous",
      [] {
        ones({0, 3}).view({0, -1});
      },
      "view([0, 3] f32): -1 in [0, -1] is ambiguous beside a size of 0");
  cases.error<ShapeError>(
      "view strides",
      [] {
        ones({2, 3}).t().view({6});
      },
      "view([3, 2] f32): view of shape [3, 2] with strides [1, 3] cannot be a view; use reshape(), which copies where "
      "it must");
  cases.error<ShapeError>(
      "view overflow",
      [] {
        ones({2}).view({int64_t{1} << 40, int64_t{1} << 40});
      },
      "view([2] f32): 1099511627776 * 1099511627776 does not fit into 64 bits");
  cases.error<ShapeError>(
      "reshape count",
      [] {
        ones({2, 3}).reshape({7});
      },
      "reshape([2, 3] f32): 6 elements cannot be viewed as [7] with 7");
  cases.error<IndexError>(
      "flatten order",
      [] {
        ones({2, 3}).flatten(1, 0);
      },
      "flatten([2, 3] f32): start axis 1 lies behind end axis 0");
  cases.error<IndexError>(
      "flatten axis",
      [] {
        ones({2, 3}).flatten(2);
      },
      "flatten([2, 3] f32): axis 2 is out of range for 2 axes");
  cases.error<IndexError>(
      "flatten axis of a scalar", [] { ones({}).flatten(1); }, "flatten([] f32): axis 1 is out of range for 1 axis");
  cases.error<ShapeError>(
      "unflatten",
      [] {
        ones({6}).unflatten(0, {4, -1});
      },
      "unflatten([6] f32): 6 elements cannot be viewed as [4, -1]");
  cases.error<IndexError>(
      "unflatten axis",
      [] {
        ones({6}).unflatten(1, {2, 3});
      },
      "unflatten([6] f32): axis 1 is out of range for 1 axis");
  cases.error<IndexError>(
      "squeeze axis",
      [] {
        ones({2, 1}).squeeze(2);
      },
      "squeeze([2, 1] f32): axis 2 is out of range for 2 axes");
  cases.error<IndexError>(
      "unsqueeze axis", [] { ones({2}).unsqueeze(-3); }, "unsqueeze([2] f32): axis -3 is out of range for 2 axes");
  cases.error<ShapeError>(
      "unsqueeze too many",
      [] {
        ones({1, 1, 1, 1, 1, 1, 1, 1}).unsqueeze(0);
      },
      "unsqueeze([1, 1, 1, 1, 1, 1, 1, 1] f32): [1, 1, 1, 1, 1, 1, 1, 1, 1] has 9 axes, at most 8 are possible");
}

void add_axis_errors(Cases& cases) {
  cases.error<IndexError>(
      "transpose of a scalar", [] { ones({}).transpose(-2, -1); },
      "transpose([] f32): axis -2 is out of range for 1 axis");
  cases.error<IndexError>(
      "squeeze of a scalar", [] { ones({}).squeeze(1); }, "squeeze([] f32): axis 1 is out of range for 1 axis");
  cases.error<IndexError>(
      "transpose axis",
      [] {
        ones({2, 3}).transpose(0, 2);
      },
      "transpose([2, 3] f32): axis 2 is out of range for 2 axes");
  cases.error<IndexError>(
      "transpose of a vector", [] { ones({2}).transpose(-2, -1); },
      "transpose([2] f32): axis -2 is out of range for 1 axis");
  cases.error<ShapeError>(
      "permute count",
      [] {
        ones({2, 3}).permute({0});
      },
      "permute([2, 3] f32): permutation [0] has 1 axes for [2, 3]");
  cases.error<ShapeError>(
      "permute twice",
      [] {
        ones({2, 3}).permute({0, 0});
      },
      "permute([2, 3] f32): permutation [0, 0] names axis 0 twice");
  cases.error<IndexError>(
      "permute axis",
      [] {
        ones({2, 3}).permute({0, 5});
      },
      "permute([2, 3] f32): axis 5 is out of range for 2 axes");
  cases.error<IndexError>(
      "movedim axis",
      [] {
        ones({2, 3}).movedim(0, 2);
      },
      "movedim([2, 3] f32): axis 2 is out of range for 2 axes");
  cases.error<ShapeError>(
      "flip twice",
      [] {
        ones({2, 3}).flip({0, -2});
      },
      "flip([2, 3] f32): flip names axis 0 twice");
  cases.error<IndexError>(
      "flip axis",
      [] {
        ones({2, 3}).flip({3});
      },
      "flip([2, 3] f32): axis 3 is out of range for 2 axes");
  cases.error<ShapeError>(
      "expand",
      [] {
        ones({2, 3}).expand({2, 4});
      },
      "expand([2, 3] f32): [2, 3] does not broadcast to [2, 4]: 3 and 4 on axis 1");
  cases.error<ShapeError>(
      "expand new axis",
      [] {
        ones({2}).expand({-1, 2});
      },
      "expand([2] f32): -1 at axis 0 of [-1, 2] is a new axis and has no size to keep");
  cases.error<ShapeError>(
      "broadcast",
      [] {
        ones({2, 1}).broadcast({3});
      },
      "broadcast([2, 1] f32): [2, 1] does not broadcast to the fewer axes of [3]");
  cases.error<ShapeError>(
      "broadcast like", [] { ones({2}).broadcast_like(ones({3})); },
      "broadcast_like([2] f32, [3] f32): [2] does not broadcast to [3]: 2 and 3 on axis 0");
  cases.error<ShapeError>(
      "diagonal of an axis",
      [] {
        ones({2, 3}).diagonal(0, 1, -1);
      },
      "diagonal([2, 3] f32): diagonal of axis 1 with itself");
  cases.error<IndexError>(
      "diagonal axis", [] { ones({2}).diagonal(); }, "diagonal([2] f32): axis 1 is out of range for 1 axis");
}

void add_range_errors(Cases& cases) {
  cases.error<ShapeError>(
      "slice step", [] { ones({2}).slice(0, 0, 1, 0); }, "slice([2] f32): step must not be 0");
  cases.error<IndexError>(
      "slice axis", [] { ones({2}).slice(1); }, "slice([2] f32): axis 1 is out of range for 1 axis");
  cases.error<IndexError>(
      "select index",
      [] {
        ones({2, 3}).select(1, 3);
      },
      "select([2, 3] f32): index 3 is out of range for axis 1 of size 3");
  cases.error<IndexError>(
      "select negative",
      [] {
        ones({2, 3})[-3];
      },
      "select([2, 3] f32): index -3 is out of range for axis 0 of size 2");
  cases.error<IndexError>(
      "select of a scalar", [] { ones({})[0]; }, "select([] f32): axis 0 is out of range for 0 axes");
  cases.error<ShapeError>(
      "shrink count",
      [] {
        ones({2, 3}).shrink({{0, 1}});
      },
      "shrink([2, 3] f32): 1 bounds for the axes of [2, 3]");
  cases.error<ShapeError>(
      "shrink bounds",
      [] {
        ones({2}).shrink({{0, 3}});
      },
      "shrink([2] f32): bounds [0, 3) do not lie in axis 0 of size 2");
  cases.error<IndexError>(
      "narrow", [] { ones({4}).narrow(0, 2, 3); }, "narrow([4] f32): start 2 and length 3 leave axis 0 of size 4");
  cases.error<IndexError>(
      "narrow negative", [] { ones({4}).narrow(0, -5, 2); },
      "narrow([4] f32): start -5 and length 2 leave axis 0 of size 4");
  cases.error<ShapeError>(
      "unfold size", [] { ones({4}).unfold(0, 5, 1); },
      "unfold([4] f32): windows of size 5 do not fit into axis 0 of size 4");
  cases.error<ShapeError>(
      "unfold step", [] { ones({4}).unfold(0, 2, 0); }, "unfold([4] f32): step must be positive, not 0");
  cases.error<ShapeError>(
      "pad count",
      [] {
        ones({2, 3}).pad({{1, 1}});
      },
      "pad([2, 3] f32): 1 amounts of padding for the axes of [2, 3]");
  cases.error<ShapeError>(
      "pad negative",
      [] {
        ones({2}).pad({{-1, 0}});
      },
      "pad([2] f32): negative padding (-1, 0) of axis 0; slice() crops, and so does pad(x, widths, PadMode::constant)");
  cases.error<ShapeError>(
      "as_strided outside", [] { ones({4}).as_strided({3}, {2}); },
      "as_strided([4] f32): elements 0 to 4 are not all among the 4 of [4]");
  cases.error<ShapeError>(
      "as_strided offset", [] { ones({4}).as_strided({2}, {1}, -1); }, "as_strided([4] f32): negative offset -1");
  cases.error<ShapeError>(
      "as_strided counts",
      [] {
        ones({4}).as_strided({2, 2}, {1});
      },
      "as_strided([4] f32): 1 strides for the 2 axes of [2, 2]");
  cases.error<ShapeError>(
      "split size", [] { ones({4}).split(0); }, "split([4] f32): size 0 of the pieces must be 1 or more");
  cases.error<ShapeError>(
      "chunk count", [] { ones({4}).chunk(0); }, "chunk([4] f32): count 0 of the pieces must be 1 or more");
  cases.error<IndexError>(
      "chunk axis", [] { ones({4}).chunk(2, 1); }, "chunk([4] f32): axis 1 is out of range for 1 axis");
  cases.error<Error>(
      "view undefined", [] { Tensor().view({1}); },
      "view(): a tensor is undefined (default-constructed, or an absent gradient)");
}

}  // namespace

void add_view_error_cases(Cases& cases) {
  add_reshape_errors(cases);
  add_axis_errors(cases);
  add_range_errors(cases);
}

}  // namespace weft::testing
