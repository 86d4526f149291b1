// Naive windows of pools over one to three axes.
#pragma once

#include <optional>
#include <stdexcept>

#include "tensor/core/pool_options.h"
#include "tests/reference/array.h"

namespace weft::testing::reference {

template <class Sizes> Shape pool_shape(const Shape& in, const PoolOptionsOf<Sizes>& o) {
  Shape out = {in[0], in[1]};
  for (int64_t i = 0; i < Sizes::kAxes; ++i) {
    const int64_t size = in[static_cast<size_t>(i + 2)], step = o.step()[i];
    if (step < 1) throw std::invalid_argument("reference::pool_shape: a stride is at least 1");
    const int64_t room = size + 2 * o.padding[i] - o.dilation[i] * (o.kernel_size[i] - 1) - 1;
    int64_t windows = room < 0 && !o.ceil_mode ? 0 : (o.ceil_mode ? room + step - 1 : room) / step + 1;
    if (o.ceil_mode && (windows - 1) * step >= size + o.padding[i]) --windows;
    out.push_back(windows);
  }
  return out;
}

template <class Sizes> Shape kernel_of(const PoolOptionsOf<Sizes>& o) {
  Shape kernel;
  for (int64_t i = 0; i < Sizes::kAxes; ++i) kernel.push_back(o.kernel_size[i]);
  return kernel;
}

/// One element that a window reads: its number in the window, and its offset in the input.
struct Tap {
  int64_t number;
  size_t offset;
};

/// The elements of an input of shape `in` that window `y` holds, in row-major order; padding is left out.
template <class Sizes> std::vector<Tap> window_of(const Shape& in, const Index& y, const PoolOptionsOf<Sizes>& o) {
  std::vector<Tap> out;
  int64_t number = 0;
  for (const Index& tap : indices_of(kernel_of(o))) {
    Index at = {y[0], y[1]};
    bool inside = true;
    for (int64_t i = 0; i < Sizes::kAxes; ++i) {
      const auto axis = static_cast<size_t>(i);
      at.push_back(y[axis + 2] * o.step()[i] - o.padding[i] + tap[axis] * o.dilation[i]);
      inside = inside && at.back() >= 0 && at.back() < in[axis + 2];
    }
    if (inside) out.push_back({number, offset_of(in, at)});
    ++number;
  }
  return out;
}

/// The first of the largest elements; nothing where the window holds padding alone.
inline std::optional<Tap> first_maximum(const Array& x, const std::vector<Tap>& window) {
  std::optional<Tap> best;
  for (const Tap& tap : window)
    if (!best || x.values[tap.offset] > x.values[best->offset]) best = tap;
  return best;
}

/// What flows back to each element of an input of shape `in`: share(index of the window, window, element) of each
/// window that holds it.
template <class Sizes, class Share>
Array flowed_back(const Shape& in, const Shape& out, const PoolOptionsOf<Sizes>& o, Share share) {
  Array dx = zeros(in);
  size_t y = 0;
  for (const Index& at : indices_of(out)) {
    const std::vector<Tap> window = window_of(in, at, o);
    for (const Tap& tap : window) dx.values[tap.offset] += share(y, window, tap);
    ++y;
  }
  return dx;
}

}  // namespace weft::testing::reference
