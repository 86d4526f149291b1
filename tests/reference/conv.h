// Naive convolutions over one to three axes, and their gradients.
#pragma once

#include <algorithm>

#include "tensor/core/conv_options.h"
#include "tests/reference/array.h"

namespace weft::testing::reference {

/// Calls visit(place in out, place in x, place in weight) for every product that a convolution sums.
template <class Sizes, class Visit>
void each_product(const Shape& x, const Shape& weight, const Shape& out, const ConvOptionsOf<Sizes>& o, Visit visit) {
  const int64_t filters = weight[0] / std::max<int64_t>(1, o.groups);
  const std::vector<Index> taps = indices_of(Shape(weight.begin() + 1, weight.end()));
  size_t to = 0;
  for (const Index& y : indices_of(out)) {
    size_t w = static_cast<size_t>(y[1]) * taps.size();
    for (const Index& tap : taps) {
      int64_t from = y[0] * x[1] + y[1] / filters * weight[1] + tap[0];
      bool inside = true;
      for (int64_t i = 0; i < Sizes::kAxes && inside; ++i) {
        const auto axis = static_cast<size_t>(i);
        const int64_t at = y[axis + 2] * o.stride[i] - o.padding[i] + tap[axis + 1] * o.dilation[i];
        inside = at >= 0 && at < x[axis + 2];
        from = from * x[axis + 2] + at;
      }
      if (inside) visit(to, static_cast<size_t>(from), w);
      ++w;
    }
    ++to;
  }
}

template <class Sizes> Shape conv_shape(const Shape& x, const Shape& weight, const ConvOptionsOf<Sizes>& o) {
  Shape out = {x[0], weight[0]};
  for (int64_t i = 0; i < Sizes::kAxes; ++i) {
    const auto at = static_cast<size_t>(i + 2);
    out.push_back((x[at] + 2 * o.padding[i] - o.dilation[i] * (weight[at] - 1) - 1) / o.stride[i] + 1);
  }
  return out;
}

/// The bias of every element of a result, or zeros.
inline Array biases(const Shape& shape, const Array& bias) {
  return build(shape, [&](const Index& i) { return bias.at_or({i[1]}, 0); });
}

/// The result has shape `out`; the bias may be absent.
template <class Sizes>
Array conv(const Array& x, const Array& weight, const Array& bias, const Shape& out, const ConvOptionsOf<Sizes>& o) {
  Array y = biases(out, bias);
  each_product(x.shape, weight.shape, out, o,
               [&](size_t to, size_t from, size_t tap) { y.values[to] += x.values[from] * weight.values[tap]; });
  return y;
}

/// The gradient of an input of shape `x`.
template <class Sizes>
Array conv_backward_data(const Array& g, const Array& weight, const Shape& x, const ConvOptionsOf<Sizes>& o) {
  Array dx = zeros(x);
  each_product(x, weight.shape, g.shape, o,
               [&](size_t from, size_t to, size_t tap) { dx.values[to] += g.values[from] * weight.values[tap]; });
  return dx;
}

/// The gradient of a weight of this shape.
template <class Sizes>
Array conv_backward_weights(const Array& x, const Array& g, const Shape& weight, const ConvOptionsOf<Sizes>& o) {
  Array dw = zeros(weight);
  each_product(x.shape, weight, g.shape, o,
               [&](size_t of_g, size_t of_x, size_t tap) { dw.values[tap] += x.values[of_x] * g.values[of_g]; });
  return dw;
}

}  // namespace weft::testing::reference
