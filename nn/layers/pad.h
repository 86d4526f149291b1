// Layers that add zeros around the last axes.
#pragma once

#include <array>

#include "nn/module/layer.h"
#include "tensor/functions/view.h"

namespace weft::nn {

/// Zeros in front of and behind each of the last `kAxes` axes, as a view. Widths in PyTorch's order: the last axis
/// first (left, right, top, bottom, ...).
template <class Self, int kAxes> class ZeroPad : public Layer<Self> {
 public:
  Tensor forward(const Tensor& x) const {
    if (x.rank() < kAxes) throw ShapeError(text("x must have ", kAxes, " axes or more, not shape ", x.shape()));
    std::vector<Padding> widths(static_cast<size_t>(x.rank()));
    for (size_t i = 0; i < kAxes; ++i) widths[widths.size() - 1 - i] = {widths_[2 * i], widths_[2 * i + 1]};
    return pad(x, widths);
  }

 protected:
  explicit ZeroPad(const std::array<int64_t, 2 * kAxes>& widths) : widths_(widths) {
    for (int64_t width : widths)
      if (width < 0) throw ShapeError(text("padding must be 0 or more, not ", width));
  }

 private:
  std::array<int64_t, 2 * kAxes> widths_;
};

class ZeroPad1d : public ZeroPad<ZeroPad1d, 1> {
 public:
  explicit ZeroPad1d(int64_t all) : ZeroPad({all, all}) {}
  ZeroPad1d(int64_t left, int64_t right) : ZeroPad({left, right}) {}
};

class ZeroPad2d : public ZeroPad<ZeroPad2d, 2> {
 public:
  explicit ZeroPad2d(int64_t all) : ZeroPad({all, all, all, all}) {}
  ZeroPad2d(int64_t left, int64_t right, int64_t top, int64_t bottom) : ZeroPad({left, right, top, bottom}) {}
};

class ZeroPad3d : public ZeroPad<ZeroPad3d, 3> {
 public:
  explicit ZeroPad3d(int64_t all) : ZeroPad({all, all, all, all, all, all}) {}
  ZeroPad3d(int64_t left, int64_t right, int64_t top, int64_t bottom, int64_t front, int64_t back)
      : ZeroPad({left, right, top, bottom, front, back}) {}
};

}  // namespace weft::nn
