// Cases of layer normalization.
#include "tensor/adjoints/layer_norm.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/layer_norm.h"
#include "tensor/ops/layer_norm.h"
#include "tests/ops/families.h"
#include "tests/reference/norm.h"

namespace weft::testing {

namespace {

constexpr double kEps = 1e-2;  // large enough to be seen

Reference layer_normed(int64_t axes) {
  return [axes](const Arrays& x) {
    return reference::normalized(x[0], x[1], x[2], reference::last_axes(x[0].shape, axes), kEps);
  };
}

Shape last_axes(const Tensor& x, int64_t axes) { return Shape(x.shape().end() - axes, x.shape().end()); }

void add_layer_norm(Cases& cases) {
  cases
      .add("layer norm",
           {{normal({3, 4}), normal({4}), normal({4})},
            {normal({5}), normal({5}), normal({5})},
            {normal({2, 3, 4}), normal({4}), absent()},
            {normal({3, 4}), absent(), absent()},
            {normal({3, 4}), absent(), normal({4})},
            {normal({0, 4}), normal({4}), normal({4})},
            {normal({2, 19}), normal({19}), normal({19})},
            {normal({2, 2, 2, 3}), normal({3}), normal({3})}},
           CALL(layer_norm(x[0], last_axes(x[0], 1), x[1], x[2], kEps)), layer_normed(1))
      .accepts(kFloating)
      .loose(20);
  cases
      .add("layer norm of equal values",
           {{given({2, 80}, reference::Row(160, 200001.34))}, {given({1, 200}, reference::Row(200, 1234567.8))}},
           CALL(layer_norm(x[0], last_axes(x[0], 1), {}, {}, kEps)),
           [](const Arrays& x) { return reference::zeros(x[0].shape); })
      .compares(DTypes{f32})
      .no_gradient();
  cases
      .add("layer norm of two axes",
           {{normal({3, 2, 2}), normal({2, 2}), normal({2, 2})}, {normal({2, 3, 2, 2}), absent(), absent()}},
           CALL(layer_norm(x[0], last_axes(x[0], 2), x[1], x[2], kEps)), layer_normed(2))
      .accepts(kFloating)
      .loose(20);
  cases.error<ShapeError>(
      "layer_norm axes",
      [] {
        layer_norm(ones({2, 3}), {1, 2, 3});
      },
      "layer_norm([2, 3] f32): the last axes must be [1, 2, 3]");
  cases.error<ShapeError>(
      "layer_norm no axes",
      [] {
        layer_norm(ones({2, 3}), {});
      },
      "layer_norm([2, 3] f32): normalized_shape needs one axis or more");
  cases.error<ShapeError>(
      "layer_norm weight",
      [] {
        layer_norm(ones({2, 3}), {3}, ones({2}));
      },
      "layer_norm([2, 3] f32, [2] f32): weight and bias must be [3] f32, not [2] f32");
  cases.error<DtypeError>(
      "layer_norm of integers",
      [] {
        layer_norm(ones({2, 3}, i64), {3});
      },
      "layer_norm([2, 3] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. x.to(f32)");
}

void add_negative_eps(Cases& cases) {
  cases
      .add("layer norm with a negative eps", {{given({2, 4}, {-3, 1, 2, 4, 0, 5, -2, 1}), absent(), absent()}},
           CALL(layer_norm(x[0], {4}, {}, {}, -0.5)),
           [](const Arrays& x) {
             return reference::normalized(x[0], x[1], x[2], reference::last_axes(x[0].shape, 1), -0.5);
           })
      .accepts(kFloating)
      .loose(20);
}

void add_layer_norm_backward(Cases& cases, const std::string& name, int64_t axes, const std::vector<Sample>& samples) {
  cases
      .add(
          "layer norm backward" + name, samples,
          [axes](const Inputs& x) {
            const auto [y, mean, rstd] = dispatch::apply(op::LayerNorm{axes, kEps}, x[1], x[2], Tensor());
            const auto [dx, dweight, dbias] = adjoint::layer_norm_backward(x[0], x[1], axes, x[2], mean, rstd, kEps);
            return Outputs{dx, dweight, dbias};
          },
          [axes](const Arrays& x) {
            return reference::normalized_gradient(x[0], x[1], x[2], reference::last_axes(x[1].shape, axes), kEps);
          })
      .accepts(kFloating)
      .loose(20);
}

void add_backward(Cases& cases) {
  add_layer_norm_backward(cases, "", 1,
                          {{normal({3, 4}), normal({3, 4}), normal({4})},
                           {normal({5}), normal({5}), normal({5})},
                           {normal({2, 2, 3}), normal({2, 2, 3}), absent()},
                           {normal({2, 19}), normal({2, 19}), normal({19})},
                           {normal({0, 4}), normal({0, 4}), normal({4})}});
  add_layer_norm_backward(cases, " of two axes", 2, {{normal({3, 2, 2}), normal({3, 2, 2}), normal({2, 2})}});
}

}  // namespace

void add_layer_norm_cases(Cases& cases) {
  add_layer_norm(cases);
  add_negative_eps(cases);
  add_backward(cases);
}

}  // namespace weft::testing
