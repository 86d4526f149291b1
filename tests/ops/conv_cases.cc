// Cases of convolution over one to three axes, of its gradients as ops of their own, and of its transpose.
#include <optional>

#include "tensor/adjoints/conv.h"
#include "tensor/functions/conv.h"
#include "tensor/functions/conv_scaled.h"
#include "tests/ops/families.h"
#include "tests/reference/conv.h"

namespace weft::testing {

namespace {

Tensor call(const Inputs& in, const Conv1dOptions& o) { return conv1d(in[0], in[1], in[2], o); }
Tensor call(const Inputs& in, const Conv2dOptions& o) { return conv2d(in[0], in[1], in[2], o); }
Tensor call(const Inputs& in, const Conv3dOptions& o) { return conv3d(in[0], in[1], in[2], o); }
Tensor call(const Inputs& in, const ConvTranspose1dOptions& o) { return conv_transpose1d(in[0], in[1], in[2], o); }
Tensor call(const Inputs& in, const ConvTranspose2dOptions& o) { return conv_transpose2d(in[0], in[1], in[2], o); }
Tensor call(const Inputs& in, const ConvTranspose3dOptions& o) { return conv_transpose3d(in[0], in[1], in[2], o); }

/// A convolution and both of its gradients, of x and weight of these shapes, with and without a bias.
template <class Sizes>
void add(Cases& cases, const std::string& name, const Shape& x, const Shape& weight, const ConvOptionsOf<Sizes>& o) {
  const Shape out = reference::conv_shape(x, weight, o);
  cases
      .add(
          "conv " + name,
          {{normal(x), normal(weight), normal({weight[0]})},
           {normal(x), normal(weight), absent()},
           {integers(x, -2, 2), integers(weight, -2, 2), absent()}},
          [o](const Inputs& in) { return call(in, o); },
          [=](const Arrays& in) { return reference::conv(in[0], in[1], in[2], out, o); })
      .accepts(kFloating)
      .loose(4);
  cases
      .add(
          "conv backward data " + name, {{normal(out), normal(weight)}},
          [=](const Inputs& in) { return adjoint::conv_backward_data(in[0], in[1], x, o); },
          [=](const Arrays& in) { return reference::conv_backward_data(in[0], in[1], x, o); })
      .accepts(kFloating)
      .loose(4);
  cases
      .add(
          "conv backward weights " + name, {{normal(x), normal(out)}},
          [=](const Inputs& in) { return adjoint::conv_backward_weights(in[0], in[1], View::contiguous(weight), o); },
          [=](const Arrays& in) { return reference::conv_backward_weights(in[0], in[1], weight, o); })
      .accepts(kFloating)
      .loose(4);
}

/// A transposed convolution of x and weight of these shapes, which gives `out`.
template <class Sizes>
void add_transposed(Cases& cases, const std::string& name, const Shape& x, const Shape& weight, const Shape& out,
                    const ConvTransposeOptionsOf<Sizes>& o) {
  const ConvOptionsOf<Sizes> forward = {o.stride, o.padding, o.dilation, o.groups};
  cases
      .add(
          "conv transpose " + name,
          {{normal(x), normal(weight), normal({out[1]})},
           {normal(x), normal(weight), absent()},
           {integers(x, -2, 2), integers(weight, -2, 2), absent()}},
          [o](const Inputs& in) { return call(in, o); },
          [=](const Arrays& in) {
            Array y = reference::conv_backward_data(in[0], in[1], out, forward);
            const Array bias = reference::biases(out, in[2]);
            for (size_t i = 0; i < y.values.size(); ++i) y.values[i] += bias.values[i];
            return y;
          })
      .accepts(kFloating)
      .loose(4);
}

/// A convolution with what follows it, in all parts and in few; a weight that is prepacked is used twice.
OpCase& add_scaled(Cases& cases, const std::string& name, const Shape& x, const Shape& weight, const Conv2dOptions& o,
                   bool relu) {
  const Shape out = reference::conv_shape(x, weight, o);
  return cases
      .add(
          "conv2d scaled " + name,
          {{normal(x), normal(weight), normal({weight[0]}), normal({weight[0]}), normal(out)},
           {normal(x), normal(weight), normal({weight[0]}), absent(), absent()},
           {normal(x), normal(weight), absent(), normal({weight[0]}), absent()},
           {normal(x), normal(weight), absent(), absent(), normal(out)}},
          [=](const Inputs& in) {
            const PrepackedConvWeight prepacked;
            const ConvScaling scaling{in[2], in[3], in[4], relu};
            conv2d_scaled(in[0], in[1], scaling, o, &prepacked);
            return conv2d_scaled(in[0], in[1], scaling, o, &prepacked);
          },
          [=](const Arrays& in) {
            Array y = reference::conv(in[0], in[1], Array{{}, {}, true}, out, o);
            const size_t pixels = static_cast<size_t>(out[2] * out[3]), filters = static_cast<size_t>(out[1]);
            for (size_t i = 0; i < y.values.size(); ++i) {
              const size_t filter = i / pixels % filters;
              double& v = y.values[i];
              if (!in[2].absent) v *= in[2].values[filter];
              if (!in[3].absent) v += in[3].values[filter];
              if (!in[4].absent) v += in[4].values[i];
              if (relu) v = std::max(v, 0.0);
            }
            return y;
          })
      .accepts(kFloating)
      .loose(8);
}

/// The element of x, of `size` elements, that is read at `at`; none where zeros are.
std::optional<int64_t> read_by(PadMode mode, int64_t at, int64_t size) {
  if (at >= 0 && at < size) return at;
  switch (mode) {
    case PadMode::reflect: return at < 0 ? -at : 2 * (size - 1) - at;
    case PadMode::replicate: return at < 0 ? 0 : size - 1;
    case PadMode::circular: return at < 0 ? at + size : at - size;
    case PadMode::constant: break;
  }
  return std::nullopt;
}

/// Padding that is `same` or holds entries of x: the convolution without padding of an x that has `around` around it.
template <class Sizes>
void add_padded(Cases& cases, const std::string& name, const Shape& x, const Shape& weight,
                const std::vector<Padding>& around, const ConvOptionsOf<Sizes>& o) {
  const ConvOptionsOf<Sizes> plain = {o.stride, 0, o.dilation, o.groups};
  Shape wide = x;
  for (size_t i = 0; i < around.size(); ++i) wide[i + 2] += around[i].first + around[i].second;
  const Shape out = reference::conv_shape(wide, weight, plain);
  cases
      .add(
          "conv " + name, {{normal(x), normal(weight), normal({weight[0]})}, {normal(x), normal(weight), absent()}},
          [o](const Inputs& in) { return call(in, o); },
          [=](const Arrays& in) {
            const Array padded = build(wide, [&](Index at) {
              for (size_t i = 0; i < around.size(); ++i) {
                const auto from = read_by(o.padding_mode, at[i + 2] - around[i].first, x[i + 2]);
                if (!from) return 0.0;
                at[i + 2] = *from;
              }
              return in[0].at(at);
            });
            return reference::conv(padded, in[1], in[2], out, plain);
          })
      .accepts(kFloating)
      .loose(4);
}

void add_paddings(Cases& cases) {
  using One = Conv1dOptions;
  using Two = Conv2dOptions;
  using Three = Conv3dOptions;
  add_padded(cases, "1d same", {2, 2, 5}, {3, 2, 3}, {{1, 1}}, One{.padding = SamePadding()});
  add_padded(cases, "1d same of an even window", {2, 2, 5}, {2, 2, 4}, {{1, 2}}, One{.padding = SamePadding()});
  add_padded(cases, "2d same dilated", {1, 2, 4, 5}, {2, 1, 2, 3}, {{1, 2}, {1, 1}},
             Two{.padding = SamePadding(), .dilation = {3, 1}, .groups = 2});
  add_padded(cases, "2d reflect", {2, 2, 4, 3}, {2, 2, 3, 2}, {{2, 2}, {1, 1}},
             Two{.stride = 2, .padding = {2, 1}, .padding_mode = PadMode::reflect});
  add_padded(cases, "2d replicate", {1, 2, 3, 3}, {2, 2, 2, 2}, {{1, 1}, {2, 2}},
             Two{.padding = {1, 2}, .padding_mode = PadMode::replicate});
  add_padded(cases, "2d same circular", {1, 2, 3, 4}, {2, 2, 3, 2}, {{1, 1}, {0, 1}},
             Two{.padding = SamePadding(), .padding_mode = PadMode::circular});
  add_padded(cases, "3d same", {1, 1, 3, 2, 3}, {2, 1, 2, 1, 3}, {{0, 1}, {0, 0}, {1, 1}},
             Three{.padding = SamePadding()});
}

/// Without a batch axis the result has none: the same numbers as for a batch of one.
void add_unbatched(Cases& cases) {
  const auto naive = [](const Shape& x, const Shape& weight, const auto& o) {
    return [=](const Arrays& in) {
      Array y = reference::conv(reshaped(in[0], x), in[1], Array{{}, {}, true}, reference::conv_shape(x, weight, o), o);
      y.shape.erase(0);
      return y;
    };
  };
  cases
      .add("conv1d unbatched", {{normal({2, 6}), normal({3, 2, 3})}}, CALL(conv1d(x[0], x[1])),
           naive({1, 2, 6}, {3, 2, 3}, Conv1dOptions{}))
      .accepts(kFloating)
      .loose(4);
  cases
      .add("conv2d unbatched", {{normal({2, 4, 3}), normal({3, 2, 2, 3})}}, CALL(conv2d(x[0], x[1])),
           naive({1, 2, 4, 3}, {3, 2, 2, 3}, Conv2dOptions{}))
      .accepts(kFloating)
      .loose(4);
  cases
      .add("conv3d unbatched", {{normal({2, 3, 4, 3}), normal({3, 2, 2, 2, 3})}}, CALL(conv3d(x[0], x[1])),
           naive({1, 2, 3, 4, 3}, {3, 2, 2, 2, 3}, Conv3dOptions{}))
      .accepts(kFloating)
      .loose(4);
}

}  // namespace

void add_conv_cases(Cases& cases) {
  using One = Conv1dOptions;
  using Two = Conv2dOptions;
  using Three = Conv3dOptions;
  add(cases, "3x3", {2, 2, 4, 5}, {3, 2, 3, 3}, Two{});
  add(cases, "1x1", {2, 3, 2, 3}, {2, 3, 1, 1}, Two{});
  add(cases, "windows of padding alone", {1, 2, 1, 4, 3}, {3, 2, 1, 3, 2},
      Three{.stride = {3, 1, 1}, .padding = {1, 1, 0}});
  add(cases, "padded", {1, 2, 3, 3}, {2, 2, 3, 3}, Two{.padding = 1});
  add(cases, "strided", {1, 2, 5, 6}, {2, 2, 2, 3}, Two{.stride = {2, 1}, .padding = {1, 0}});
  add(cases, "strided windows of one pixel", {2, 3, 5, 4}, {4, 3, 1, 1}, Two{.stride = {2, 3}});
  add(cases, "dilated", {1, 1, 5, 5}, {2, 1, 2, 2}, Two{.padding = 1, .dilation = {2, 3}});
  add(cases, "groups", {1, 4, 3, 3}, {4, 2, 2, 2}, Two{.groups = 2});
  add(cases, "depthwise", {2, 3, 3, 3}, {3, 1, 2, 2}, Two{.stride = 2, .padding = 1, .groups = 3});
  add(cases, "of nothing", {0, 2, 3, 3}, {2, 2, 2, 2}, Two{});
  add(cases, "1d", {2, 3, 7}, {4, 3, 3}, One{});
  add(cases, "1d 1", {2, 3, 4}, {4, 3, 1}, One{});
  add(cases, "1d strided", {2, 2, 8}, {3, 2, 4}, One{.stride = 3, .padding = 2, .dilation = 2});
  add(cases, "1d groups", {2, 4, 6}, {6, 2, 3}, One{.padding = 1, .groups = 2});
  add(cases, "1d depthwise", {2, 17, 9}, {17, 1, 5}, One{.padding = 2, .groups = 17});
  add(cases, "1d of nothing", {2, 0, 6}, {3, 0, 3}, One{});
  add(cases, "3d", {2, 2, 3, 4, 3}, {3, 2, 2, 3, 2}, Three{});
  add(cases, "3d strided", {1, 2, 4, 5, 4}, {2, 2, 2, 2, 3}, Three{.stride = {2, 1, 2}, .padding = {1, 0, 1}});
  add(cases, "3d dilated", {1, 1, 4, 3, 5}, {2, 1, 2, 2, 2}, Three{.padding = 1, .dilation = {2, 1, 3}});
  add(cases, "3d groups", {1, 4, 2, 3, 3}, {4, 2, 2, 2, 1}, Three{.groups = 2});
  // Lines of many pixels, windows of more elements than are taken at once, many channels of sequences.
  add(cases, "depthwise of long lines", {1, 18, 2, 15}, {18, 1, 3, 3}, Two{.padding = 1, .groups = 18});
  add(cases, "depthwise of wide windows", {1, 3, 2, 17}, {3, 1, 1, 7}, Two{.padding = {0, 3}, .groups = 3});
  add(cases, "groups of few filters", {1, 6, 4, 5}, {9, 2, 3, 2}, Two{.padding = {2, 1}, .groups = 3});
  add(cases, "dilated groups of few filters", {2, 4, 6}, {4, 2, 3}, One{.padding = 1, .dilation = 2, .groups = 2});
  add(cases, "1d of many channels", {2, 16, 5}, {17, 16, 3}, One{.padding = 1});
  add(cases, "3d depthwise", {1, 3, 3, 3, 3}, {3, 1, 2, 2, 2}, Three{.stride = 2, .padding = 1, .groups = 3});
  add_unbatched(cases);
  add_paddings(cases);
  add_scaled(cases, "3x3", {2, 2, 4, 5}, {3, 2, 3, 3}, Two{.padding = 1}, false);
  add_scaled(cases, "relu", {2, 4, 3, 4}, {4, 2, 2, 2}, Two{.stride = {1, 2}, .groups = 2}, true);
  add_scaled(cases, "of nothing", {0, 2, 3, 3}, {2, 2, 2, 2}, Two{}, true);
  add_scaled(cases, "without history", {2, 3, 5, 4}, {4, 3, 3, 3}, Two{.padding = 1}, true).no_gradient();
  add_scaled(cases, "with a prepacked weight", {2, 32, 16, 16}, {32, 32, 3, 3}, Two{.padding = 1}, true)
      .no_gradient()
      .compares(DTypes{f32})
      .loose(32);  // Winograd's filtering

  using OneBack = ConvTranspose1dOptions;
  using TwoBack = ConvTranspose2dOptions;
  using ThreeBack = ConvTranspose3dOptions;
  add_transposed(cases, "1d", {2, 3, 4}, {3, 2, 3}, {2, 2, 6}, OneBack{});
  add_transposed(cases, "1d strided", {2, 2, 4}, {2, 3, 3}, {2, 3, 8},
                 OneBack{.stride = 2, .padding = 1, .output_padding = 1});
  add_transposed(cases, "1d groups", {1, 4, 3}, {4, 1, 2}, {1, 2, 5}, OneBack{.groups = 2, .dilation = 2});
  add_transposed(cases, "1d whole strides more", {2, 2, 4}, {2, 3, 2}, {2, 3, 11},
                 OneBack{.padding = 1, .output_padding = 4, .dilation = 5});
  add_transposed(cases, "2d", {2, 3, 3, 2}, {3, 2, 2, 3}, {2, 2, 4, 4}, TwoBack{});
  add_transposed(cases, "2d 1x1", {2, 3, 3, 2}, {3, 2, 1, 1}, {2, 2, 3, 2}, TwoBack{});
  add_transposed(cases, "2d strided", {1, 2, 3, 3}, {2, 3, 4, 4}, {1, 3, 6, 6}, TwoBack{.stride = 2, .padding = 1});
  add_transposed(cases, "2d uneven stride", {1, 2, 3, 2}, {2, 2, 3, 3}, {1, 2, 7, 4},
                 TwoBack{.stride = {2, 3}, .padding = {0, 1}});
  add_transposed(cases, "2d groups", {2, 4, 2, 3}, {4, 2, 2, 2}, {2, 4, 4, 7},
                 TwoBack{.stride = 2, .output_padding = {0, 1}, .groups = 2});
  add_transposed(cases, "2d groups, whole strides more", {1, 4, 2, 3}, {4, 1, 2, 2}, {1, 2, 7, 8},
                 TwoBack{.stride = {2, 1}, .output_padding = {1, 2}, .groups = 2, .dilation = 3});
  add_transposed(cases, "2d depthwise", {1, 3, 3, 3}, {3, 1, 2, 2}, {1, 3, 5, 5}, TwoBack{.groups = 3, .dilation = 2});
  add_transposed(cases, "2d of nothing", {0, 3, 2, 2}, {3, 2, 2, 2}, {0, 2, 3, 3}, TwoBack{});
  add_transposed(cases, "3d", {1, 2, 2, 3, 2}, {2, 3, 2, 2, 1}, {1, 3, 3, 4, 2}, ThreeBack{});
  add_transposed(cases, "3d strided", {1, 2, 2, 2, 2}, {2, 2, 2, 3, 2}, {1, 2, 4, 3, 5},
                 ThreeBack{.stride = 2, .padding = {0, 1, 0}, .output_padding = {0, 0, 1}});
}

}  // namespace weft::testing
