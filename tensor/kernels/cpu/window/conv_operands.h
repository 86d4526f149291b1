// The operands of a convolution as its kernels take them.
#pragma once

#include <optional>
#include <type_traits>

#include "tensor/kernels/cpu/window/conv_shape.h"

namespace weft::kernels::cpu {

/// Of operands with five axes.
inline ConvShape shape_of(const Operand& x, const Operand& weight, const Operand& out, const ConvOptions& options) {
  const auto sizes = [](const Operand& o) { return Size3(o.size(2), o.size(3), o.size(4)); };
  return {options, x.size(0), x.size(1), sizes(x), weight.size(0), sizes(weight), sizes(out)};
}

/// Strides for libraries, which look at those of axes of size 1 too.
inline WeightStrides weight_strides(const Shape& shape, const Strides& strides) {
  WeightStrides result;
  for (size_t i = 0; i < result.size(); ++i) result[i] = shape[i] == 1 ? 1 : strides[i];
  return result;
}

/// A weight as T with strides that do not overlap: its own memory, or a copy, row-major unless the weight is dense.
template <class S, class T> class WeightIn {
 public:
  explicit WeightIn(const Operand& w) {
    const Strides strides = w.view->is_dense() ? w.strides() : row_major_strides(w.shape());
    if constexpr (std::is_same_v<S, T>)
      if (w.view->is_dense()) {
        data_ = w.data<T>();
        strides_ = weight_strides(w.shape(), strides);
        return;
      }
    copy_.emplace(w.numel());
    copy_image<S, T>(w.data<S>(), w.strides(), copy_->data(), strides, w.shape());
    data_ = copy_->data();
    strides_ = weight_strides(w.shape(), strides);
  }
  const T* data() const { return data_; }
  const WeightStrides& strides() const { return strides_; }

 private:
  std::optional<Scratch<T>> copy_;
  const T* data_;
  WeightStrides strides_;
};

}  // namespace weft::kernels::cpu
