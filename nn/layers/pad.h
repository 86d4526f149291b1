// Layers that pad the last axes with zeros, a constant, or entries of x.
#pragma once

#include <array>
#include <span>
#include <string>
#include <utility>

#include "nn/module/layer.h"
#include "tensor/functions/pad_mode.h"

namespace weft::nn {

namespace detail {
Tensor pad_last(const Tensor& x, std::span<const int64_t> widths, PadMode mode, const Scalar& value);
/// The options of a layer that pads, as they are printed.
std::string shown_padding(std::span<const int64_t> widths, const Scalar& value);
}  // namespace detail

/// Pads the last `kAxes` axes of x at both ends; see pad(). Widths are in PyTorch's order, last axis first: (left,
/// right, top, bottom, ...). Negative widths crop. ShapeError if x has fewer axes, or if an axis is too short for the
/// mode.
template <class Self, size_t kAxes> class PadLayer : public Layer<Self> {
 public:
  using Widths = std::array<int64_t, 2 * kAxes>;
  Tensor forward(const Tensor& x) const { return detail::pad_last(x, widths_, mode_, value_); }
  Self remake() const { return from_widths(std::make_index_sequence<2 * kAxes>()); }

 protected:
  PadLayer(const Widths& widths, PadMode mode, const Scalar& value = 0) : widths_(widths), mode_(mode), value_(value) {
    this->describe(detail::shown_padding(widths, value));
  }
  static Widths same_widths(int64_t all) {
    Widths out;
    out.fill(all);
    return out;
  }

 private:
  template <size_t... Is> Self from_widths(std::index_sequence<Is...>) const {
    if constexpr (requires { Self(widths_[Is]..., value_); })
      return Self(widths_[Is]..., value_);
    else
      return Self(widths_[Is]...);
  }

  Widths widths_;
  PadMode mode_;
  Scalar value_;
};

/// The constructors: Name1d(all) or Name1d(left, right); Name2d(all) or Name2d(left, right, top, bottom); Name3d(all)
/// or Name3d(left, right, top, bottom, front, back).
#define WEFT_PAD_LAYERS(Name, mode)                                                                                \
  class Name##1d : public PadLayer<Name##1d, 1>{                                                                   \
    public : explicit Name##1d(int64_t all) :                                                                      \
        PadLayer(same_widths(all), mode){} Name##1d(int64_t left, int64_t right) : PadLayer({left, right}, mode){} \
  };                                                                                                               \
  class Name##2d : public PadLayer<Name##2d, 2>{                                                                   \
    public : explicit Name##2d(int64_t all) : PadLayer(same_widths(all), mode){} Name##2d(                         \
        int64_t left, int64_t right, int64_t top, int64_t bottom) : PadLayer({left, right, top, bottom}, mode){}   \
  };                                                                                                               \
  class Name##3d : public PadLayer<Name##3d, 3> {                                                                  \
   public:                                                                                                         \
    explicit Name##3d(int64_t all) : PadLayer(same_widths(all), mode) {}                                           \
    Name##3d(int64_t left, int64_t right, int64_t top, int64_t bottom, int64_t front, int64_t back)                \
        : PadLayer({left, right, top, bottom, front, back}, mode) {}                                               \
  }

/// Pads with zeros. The result is a view of x.
WEFT_PAD_LAYERS(ZeroPad, PadMode::constant);
/// Pads with x mirrored at its edges; the edge entries are not repeated.
WEFT_PAD_LAYERS(ReflectionPad, PadMode::reflect);
/// Pads by repeating the edge entries.
WEFT_PAD_LAYERS(ReplicationPad, PadMode::replicate);
/// Pads with the entries from the opposite end of the axis.
WEFT_PAD_LAYERS(CircularPad, PadMode::circular);
#undef WEFT_PAD_LAYERS

class ConstantPad1d : public PadLayer<ConstantPad1d, 1> {
 public:
  ConstantPad1d(int64_t all, const Scalar& value) : PadLayer(same_widths(all), PadMode::constant, value) {}
  ConstantPad1d(int64_t left, int64_t right, const Scalar& value) : PadLayer({left, right}, PadMode::constant, value) {}
};

class ConstantPad2d : public PadLayer<ConstantPad2d, 2> {
 public:
  ConstantPad2d(int64_t all, const Scalar& value) : PadLayer(same_widths(all), PadMode::constant, value) {}
  ConstantPad2d(int64_t left, int64_t right, int64_t top, int64_t bottom, const Scalar& value)
      : PadLayer({left, right, top, bottom}, PadMode::constant, value) {}
};

class ConstantPad3d : public PadLayer<ConstantPad3d, 3> {
 public:
  ConstantPad3d(int64_t all, const Scalar& value) : PadLayer(same_widths(all), PadMode::constant, value) {}
  ConstantPad3d(int64_t left, int64_t right, int64_t top, int64_t bottom, int64_t front, int64_t back,
                const Scalar& value)
      : PadLayer({left, right, top, bottom, front, back}, PadMode::constant, value) {}
};

}  // namespace weft::nn
