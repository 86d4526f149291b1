// The sizes of a convolution over one to three axes, and operands brought into the order its kernels work in.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "tensor/core/conv_options.h"
#include "tensor/core/operand.h"
#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/matrix.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/ops/window.h"

namespace weft::kernels::cpu {

enum class ConvDirection : uint8_t { forward, backward_data, backward_weights };

/// The options of a convolution and the sizes of what it is applied to: depth, height and width, 1 for axes that are
/// not there.
struct ConvShape : ConvOptions {
  int64_t batch, channels;
  Size3 in;
  int64_t filters;
  Size3 kernel, out;

  int64_t group_channels() const { return channels / groups; }
  int64_t group_filters() const { return filters / groups; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t pixels() const { return batch * in[0] * in[1] * in[2]; }
  /// Lines of the result: (n, depth, height).
  int64_t out_lines() const { return batch * out[0] * out[1]; }
  int64_t out_pixels() const { return out_lines() * out[2]; }
  /// No axis but height and width.
  bool is_flat() const { return in[0] == 1 && kernel[0] == 1 && out[0] == 1 && padding[0] == 0; }
  /// Some sum has no terms or there is nothing to sum into: not a case for a library.
  bool is_empty() const { return channels == 0 || filters == 0 || taps() == 0 || pixels() == 0 || out_pixels() == 0; }
  /// Each output pixel reads just the input pixel at its place.
  bool is_pointwise() const { return taps() == 1 && stride == Size3(1) && padding == Size3(0); }
};

/// Strides of a weight under its logical (O, C / groups, kd, kh, kw) shape.
using WeightStrides = std::array<int64_t, 5>;

/// Calls f(tap, the weight's element of the first filter and channel) for each element of the window.
template <class F> void for_each_weight_tap(const ConvShape& s, const WeightStrides& strides, F&& f) {
  int64_t tap = 0;
  for (int64_t a = 0; a < s.kernel[0]; ++a)
    for (int64_t b = 0; b < s.kernel[1]; ++b)
      for (int64_t c = 0; c < s.kernel[2]; ++c, ++tap) f(tap, a * strides[2] + b * strides[3] + c * strides[4]);
}

/// What a convolution computes of its results before it writes them: relu(y scale + shift + residual), without the
/// parts that are null, and relu only where it is set. scale and shift have a value for each filter; the residual has
/// the layout of y.
struct ConvFinish {
  const float* scale = nullptr;
  const float* shift = nullptr;
  const float* residual = nullptr;
  bool relu = false;

  /// That of the filters from `filter` on.
  ConvFinish from(int64_t filter) const {
    const auto moved = [&](const float* p) { return p == nullptr ? nullptr : p + filter; };
    return {moved(scale), moved(shift), moved(residual), relu};
  }
};

/// An operand (N, C, [[D,] H,] W) as (N, C, D, H, W): the axes that are not there have size 1.
class FiveAxes {
 public:
  explicit FiveAxes(const Operand& x) : view_(*x.view), operand_(x) {
    while (view_.rank() < 5) view_ = view_.unsqueeze(2);
    operand_.view = &view_;
  }
  FiveAxes(const FiveAxes&) = delete;
  FiveAxes& operator=(const FiveAxes&) = delete;
  const Operand& operator*() const { return operand_; }
  const Operand* operator->() const { return &operand_; }

 private:
  View view_;
  Operand operand_;
};

/// Whether strides are channels-last without gaps; strides of axes of size 1 do not count.
inline bool is_channels_last(const Operand& x) {
  const Strides wanted = channels_last_strides(x.shape());
  for (int64_t i = 0; i < 5; ++i)
    if (x.size(i) != 1 && x.stride(i) != wanted[static_cast<size_t>(i)]) return false;
  return true;
}

/// Whether a and b lay out `shape` in the same order without gaps; strides of axes of size 1 do not count.
inline bool same_dense_order(const Strides& a, const Strides& b, const Shape& shape) {
  int64_t last = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (a[i] != b[i] || a[i] <= 0) return false;
    last += (shape[i] - 1) * a[i];
  }
  return last + 1 == checked_numel(shape);
}

/// to = from, converted: (N, C, D, H, W) with any strides, of elements that do not overlap.
template <class From, class To>
void copy_image(const From* from, const Strides& from_strides, To* to, const Strides& to_strides, const Shape& shape) {
  if (same_dense_order(from_strides, to_strides, shape))
    return parallel_for(checked_numel(shape), 32768,
                        [&](int64_t begin, int64_t end) { copy_run(from + begin, to + begin, end - begin); });
  const int64_t batch = shape[0], channels = shape[1];
  int64_t depth = shape[2], height = shape[3], width = shape[4];
  if (batch * depth > 1 && from_strides[3] == width * from_strides[4] && to_strides[3] == width * to_strides[4])
    width *= height, height = 1;  // whole images are matrices (pixels, channels)
  const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(1, width * channels));
  parallel_for(batch * depth * height, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / (depth * height), d = i / height % depth, h = i % height;
      const Matrix<const From> in{from + n * from_strides[0] + d * from_strides[2] + h * from_strides[3], width,
                                  channels, from_strides[4], from_strides[1]};
      const Matrix<To> out{to + n * to_strides[0] + d * to_strides[2] + h * to_strides[3], width, channels,
                           to_strides[4], to_strides[1]};
      copy_matrix_serial<From, To>(in, out);
    }
  });
}

/// An operand as dense channels-last memory of T: its own where it is that, else a copy. S is the operand's element
/// type.
template <class S, class T> class ImageIn {
 public:
  explicit ImageIn(const Operand& x) {
    if constexpr (std::is_same_v<S, T>)
      if (is_channels_last(x)) {
        data_ = x.data<T>();
        return;
      }
    copy_.emplace(x.numel());
    copy_image<S, T>(x.data<S>(), x.strides(), copy_->data(), channels_last_strides(x.shape()), x.shape());
    data_ = copy_->data();
  }
  const T* data() const { return data_; }

 private:
  std::optional<Scratch<T>> copy_;
  const T* data_;
};

/// The same for a result: `finish()` writes a copy back to the operand.
template <class S, class T> class ImageOut {
 public:
  explicit ImageOut(const Operand& x) : target_(x) {
    if constexpr (std::is_same_v<S, T>)
      if (is_channels_last(x)) {
        data_ = x.data<T>();
        return;
      }
    copy_.emplace(x.numel());
    data_ = copy_->data();
  }
  T* data() const { return data_; }
  void finish() {
    if (copy_)
      copy_image<T, S>(data_, channels_last_strides(target_.shape()), target_.data<S>(), target_.strides(),
                       target_.shape());
  }

 private:
  const Operand& target_;
  std::optional<Scratch<T>> copy_;
  T* data_;
};

}  // namespace weft::kernels::cpu
