// Cases of 2-D convolution and of its gradients as ops of their own.
#include "tensor/adjoints/conv.h"
#include "tensor/functions/conv.h"
#include "tensor/functions/fill.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

/// Calls visit(output index, input index, weight index) for every product that a convolution sums.
template <class Visit>
void each_product(const Shape& x, const Shape& weight, const Shape& out, const Conv2dOptions& o, Visit visit) {
  const int64_t filters = weight[0] / o.groups;
  for (const Index& y : indices_of(out))
    for (const Index& tap : indices_of({weight[1], weight[2], weight[3]})) {
      const int64_t row = y[2] * o.stride.height - o.padding.height + tap[1] * o.dilation.height;
      const int64_t column = y[3] * o.stride.width - o.padding.width + tap[2] * o.dilation.width;
      if (row < 0 || row >= x[2] || column < 0 || column >= x[3]) continue;
      visit(y, Index{y[0], y[1] / filters * weight[1] + tap[0], row, column}, Index{y[1], tap[0], tap[1], tap[2]});
    }
}

double& element(Array& a, const Index& index) {
  int64_t place = 0;
  for (size_t i = 0; i < index.size(); ++i) place = place * a.shape[i] + index[i];
  return a.values[static_cast<size_t>(place)];
}
Array zeros_of(const Shape& shape) {
  return build(shape, [](const Index&) { return 0.0; });
}

Shape output_of(const Shape& x, const Shape& weight, const Conv2dOptions& o) {
  auto size = [](int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
    return (in + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  };
  return {x[0], weight[0], size(x[2], weight[2], o.stride.height, o.padding.height, o.dilation.height),
          size(x[3], weight[3], o.stride.width, o.padding.width, o.dilation.width)};
}

/// A convolution and both of its gradients, of x and weight of these shapes, with and without a bias.
void add(Cases& cases, const std::string& name, const Shape& x, const Shape& weight, const Conv2dOptions& o) {
  const Shape out = output_of(x, weight, o);
  cases
      .add(
          "conv " + name,
          {{normal(x), normal(weight), normal({weight[0]})},
           {normal(x), normal(weight), absent()},
           {integers(x, -2, 2), integers(weight, -2, 2), absent()}},
          [o](const Inputs& in) { return conv2d(in[0], in[1], in[2], o); },
          [=](const Arrays& in) {
    Array y = build(out, [&](const Index& i) { return in[2].absent ? 0.0 : in[2].at({i[1]}); });
    each_product(x, weight, out, o, [&](const Index& to, const Index& from, const Index& tap) {
      element(y, to) += in[0].at(from) * in[1].at(tap);
    });
    return y;
          })
      .accepts(kFloating)
      .loose(4);
  cases
      .add(
          "conv backward data " + name, {{normal(out), normal(weight)}},
          [=](const Inputs& in) { return adjoint::conv2d_backward_data(in[0], in[1], x, o); },
          [=](const Arrays& in) {
    Array dx = zeros_of(x);
    each_product(x, weight, out, o, [&](const Index& from, const Index& to, const Index& tap) {
      element(dx, to) += in[0].at(from) * in[1].at(tap);
    });
    return dx;
          })
      .accepts(kFloating)
      .loose(4);
  cases
      .add(
          "conv backward weights " + name, {{normal(x), normal(out)}},
          [=](const Inputs& in) { return adjoint::conv2d_backward_weights(in[0], in[1], View::contiguous(weight), o); },
          [=](const Arrays& in) {
    Array dw = zeros_of(weight);
    each_product(x, weight, out, o, [&](const Index& g, const Index& from, const Index& to) {
      element(dw, to) += in[0].at(from) * in[1].at(g);
    });
    return dw;
          })
      .accepts(kFloating)
      .loose(4);
}

void add_errors(Cases& cases) {
  cases.error<ShapeError>(
      "conv2d input",
      [] {
    conv2d(ones({4, 4}), ones({2, 3, 3, 3}));
      },
      "conv2d([4, 4] f32, [2, 3, 3, 3] f32): x must be (N, C, H, W) or (C, H, W), not [4, 4]");
  cases.error<ShapeError>(
      "conv2d weight",
      [] {
    conv2d(ones({1, 3, 4, 4}), ones({2, 3, 3}));
      },
      "conv2d([1, 3, 4, 4] f32, [2, 3, 3] f32): weight must be (O, C / groups, kh, kw), not [2, 3, 3]");
  cases.error<ShapeError>(
      "conv2d channels",
      [] {
    conv2d(ones({1, 3, 4, 4}), ones({2, 2, 3, 3}));
      },
      "conv2d([1, 3, 4, 4] f32, [2, 2, 3, 3] f32): x has 3 channels, weight [2, 2, 3, 3] with 1 groups takes 2");
  cases.error<ShapeError>(
      "conv2d groups",
      [] {
    conv2d(ones({1, 4, 4, 4}), ones({3, 2, 3, 3}), {.groups = 2});
      },
      "conv2d([1, 4, 4, 4] f32, [3, 2, 3, 3] f32): 3 output channels do not divide into 2 groups");
  cases.error<ShapeError>(
      "conv2d size",
      [] {
    conv2d(ones({1, 1, 2, 2}), ones({1, 1, 3, 3}));
      },
      "conv2d([1, 1, 2, 2] f32, [1, 1, 3, 3] f32): the kernel of weight [1, 1, 3, 3] is larger than the padded input "
      "[1, 1, 2, 2]");
  cases.error<ShapeError>(
      "conv2d empty kernel",
      [] {
    conv2d(ones({1, 1, 2, 2}), ones({1, 1, 0, 1}));
      },
      "conv2d([1, 1, 2, 2] f32, [1, 1, 0, 1] f32): the kernel of weight [1, 1, 0, 1] is empty");
  cases.error<ShapeError>(
      "conv2d bias",
      [] {
    conv2d(ones({1, 1, 2, 2}), ones({3, 1, 1, 1}), ones({2}));
      },
      "conv2d([1, 1, 2, 2] f32, [3, 1, 1, 1] f32, [2] f32): bias must have shape [3], not [2]");
  cases.error<Error>(
      "conv2d stride",
      [] {
    conv2d(ones({1, 1, 2, 2}), ones({1, 1, 1, 1}), {.stride = 0});
      },
      "conv2d([1, 1, 2, 2] f32, [1, 1, 1, 1] f32): stride 0, 0 must be at least 1");
  cases.error<Error>(
      "conv2d padding",
      [] {
    conv2d(ones({1, 1, 2, 2}), ones({1, 1, 1, 1}), {.padding = {0, -1}});
      },
      "conv2d([1, 1, 2, 2] f32, [1, 1, 1, 1] f32): padding 0, -1 must not be negative");
  cases.error<Error>(
      "conv2d dilation",
      [] {
    conv2d(ones({1, 1, 2, 2}), ones({1, 1, 1, 1}), {.dilation = 0});
      },
      "conv2d([1, 1, 2, 2] f32, [1, 1, 1, 1] f32): dilation 0, 0 must be at least 1");
  cases.error<Error>(
      "conv2d no groups",
      [] {
    conv2d(ones({1, 1, 2, 2}), ones({1, 1, 1, 1}), {.groups = 0});
      },
      "conv2d([1, 1, 2, 2] f32, [1, 1, 1, 1] f32): groups 0 must be at least 1");
  cases.error<DtypeError>(
      "conv2d of integers",
      [] {
    conv2d(ones({1, 1, 2, 2}, i64), ones({1, 1, 1, 1}, i64));
      },
      "conv2d([1, 1, 2, 2] i64, [1, 1, 1, 1] i64): i64 is not accepted here; it takes floating dtypes; cast first, "
      "e.g. x.to(f32)");
  cases.error<ShapeError>(
      "conv2d_backward_data shape",
      [] {
    adjoint::conv2d_backward_data(ones({1, 1, 3, 3}), ones({1, 1, 1, 1}), {1, 1, 2, 2}, {});
      },
      "conv2d_backward_data([1, 1, 3, 3] f32, [1, 1, 1, 1] f32): the gradient must have shape [1, 1, 2, 2], not [1, 1, "
      "3, 3]");
  cases.error<ShapeError>(
      "conv2d_backward_weights shape",
      [] {
    adjoint::conv2d_backward_weights(ones({1, 1, 2, 2}), ones({1, 2, 2, 2}), View::contiguous({1, 1, 1, 1}), {});
      },
      "conv2d_backward_weights([1, 1, 2, 2] f32, [1, 2, 2, 2] f32): the gradient must have shape [1, 1, 2, 2], not [1, "
      "2, 2, 2]");
}

}  // namespace

void add_conv_cases(Cases& cases) {
  add(cases, "3x3", {2, 2, 4, 5}, {3, 2, 3, 3}, {});
  add(cases, "1x1", {2, 3, 2, 3}, {2, 3, 1, 1}, {});
  add(cases, "padded", {1, 2, 3, 3}, {2, 2, 3, 3}, {.padding = 1});
  add(cases, "strided", {1, 2, 5, 6}, {2, 2, 2, 3}, {.stride = {2, 1}, .padding = {1, 0}});
  add(cases, "dilated", {1, 1, 5, 5}, {2, 1, 2, 2}, {.padding = 1, .dilation = {2, 3}});
  add(cases, "groups", {1, 4, 3, 3}, {4, 2, 2, 2}, {.groups = 2});
  add(cases, "depthwise", {2, 3, 3, 3}, {3, 1, 2, 2}, {.stride = 2, .padding = 1, .groups = 3});
  add(cases, "of nothing", {0, 2, 3, 3}, {2, 2, 2, 2}, {});
  add_errors(cases);
}

}  // namespace weft::testing
