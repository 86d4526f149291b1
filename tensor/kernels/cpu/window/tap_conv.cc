#include "tensor/kernels/cpu/window/tap_conv.h"

#include <vector>

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/gemm/gemm.h"

namespace weft::kernels::cpu {
namespace {

/// Input and output pixels that one element of the window connects.
struct TapPixels {
  std::vector<int64_t> in, out;
};

TapPixels pixels_of_tap(const ConvShape& s, int64_t a, int64_t b) {
  TapPixels result;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t i = 0; i < s.out[1]; ++i) {
      const int64_t h = i * s.stride[1] - s.padding[1] + a * s.dilation[1];
      if (h < 0 || h >= s.in[1]) continue;
      for (int64_t j = 0; j < s.out[2]; ++j) {
        const int64_t w = j * s.stride[2] - s.padding[2] + b * s.dilation[2];
        if (w < 0 || w >= s.in[2]) continue;
        result.in.push_back((n * s.in[1] + h) * s.in[2] + w);
        result.out.push_back((n * s.out[1] + i) * s.out[2] + j);
      }
    }
  return result;
}

int64_t rows_per_thread(int64_t columns) { return std::max<int64_t>(1, 16384 / columns); }

/// rows[r] = image[pixels[r]].
template <class T> void gather(const std::vector<int64_t>& pixels, const T* image, int64_t columns, T* rows) {
  parallel_for(static_cast<int64_t>(pixels.size()), rows_per_thread(columns), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      std::copy_n(image + pixels[static_cast<size_t>(r)] * columns, columns, rows + r * columns);
  });
}

/// image[pixels[r]] += rows[r]; no pixel comes twice.
void scatter_add(const float* rows, const std::vector<int64_t>& pixels, int64_t columns, float* image) {
  parallel_for(static_cast<int64_t>(pixels.size()), rows_per_thread(columns), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float* out = image + pixels[static_cast<size_t>(r)] * columns;
      for (int64_t c = 0; c < columns; ++c) out[c] += rows[r * columns + c];
    }
  });
}

/// The weight tap by tap as matrices (channels, filters) that products take as they are: the weight itself where
/// channels or filters are neighbours in memory, else a buffer (channels, taps, filters).
template <class T> class TapWeight {
 public:
  TapWeight(const ConvShape& s, const WeightStrides& strides)
      : s_(s),
        strides_(strides),
        own_(strides[0] == 1 || strides[1] == 1),
        buffer_(own_ ? 0 : s.channels * s.taps() * s.filters) {}

  template <class U> Matrix<U> tap(U* weight, int64_t a, int64_t b) const {
    if (own_) return {weight + a * strides_[3] + b * strides_[4], s_.channels, s_.filters, strides_[1], strides_[0]};
    return {buffer_.data() + (a * s_.kernel[2] + b) * s_.filters, s_.channels, s_.filters, s_.taps() * s_.filters, 1};
  }
  void pack(const T* weight) const {
    if (own_) return;
    each_part([&](int64_t offset, Matrix<T> part, int64_t row_stride) {
      copy_matrix<T, T>({weight + offset, part.rows, part.columns, row_stride, strides_[0]}, part);
    });
  }
  void unpack(T* weight) const {
    if (own_) return;
    each_part([&](int64_t offset, Matrix<T> part, int64_t row_stride) {
      copy_matrix<T, T>(part, {weight + offset, part.rows, part.columns, row_stride, strides_[0]});
    });
  }

 private:
  /// Calls f(offset in the weight, part of the buffer, the weight's stride along the part's rows).
  template <class F> void each_part(F&& f) const {
    const int64_t taps = s_.taps();
    if (strides_[1] == taps * strides_[4] && strides_[3] == s_.kernel[2] * strides_[4])  // (channels, taps) is one axis
      return f(int64_t{0}, row_major(buffer_.data(), s_.channels * taps, s_.filters), strides_[4]);
    for (int64_t a = 0; a < s_.kernel[1]; ++a)
      for (int64_t b = 0; b < s_.kernel[2]; ++b)
        f(a * strides_[3] + b * strides_[4],
          Matrix<T>{buffer_.data() + (a * s_.kernel[2] + b) * s_.filters, s_.channels, s_.filters, taps * s_.filters,
                    1},
          strides_[1]);
  }

  const ConvShape& s_;
  const WeightStrides& strides_;
  bool own_;
  Scratch<T> buffer_;
};

void product(const Matrix<const float>& a, const Matrix<const float>& b, const Matrix<float>& c) {
  gemm<float>(a, b, c);
}
void product(const Matrix<const BFloat16>& a, const Matrix<const BFloat16>& b, const Matrix<float>& c) {
  widening_gemm(a, b, c);
}

/// image, to be summed in, and where it was summed in f32: the image itself, or a buffer that is rounded at the end.
template <class T> class SumImage {
 public:
  SumImage(T* image, int64_t count) : image_(image), count_(count), buffer_(is_half<T> ? count : 0) {}
  float* data() const {
    if constexpr (is_half<T>)
      return buffer_.data();
    else
      return image_;
  }
  void finish() const {
    if constexpr (is_half<T>)
      parallel_for(count_, 32768,
                   [&](int64_t begin, int64_t end) { narrow(buffer_.data() + begin, image_ + begin, end - begin); });
  }

 private:
  T* image_;
  int64_t count_;
  Scratch<float> buffer_;
};

/// Calls f(a, b, pixels) for every element of the window.
template <class F> void for_each_tap(const ConvShape& s, F&& f) {
  for (int64_t a = 0; a < s.kernel[1]; ++a)
    for (int64_t b = 0; b < s.kernel[2]; ++b) f(a, b, pixels_of_tap(s, a, b));
}

}  // namespace

bool prefers_taps(const ConvShape& s) {
  return s.is_flat() && s.groups == 1 && s.channels >= 128 && s.filters >= 128 && s.out[1] * s.out[2] <= 16;
}

template <class T>
void tap_conv(const ConvShape& s, const T* x, const T* weight, const WeightStrides& strides, const float* bias,
              T* result) {
  const TapWeight<T> w(s, strides);
  w.pack(weight);
  const Scratch<T> from(s.out_pixels() * s.channels);
  const Scratch<float> to(s.out_pixels() * s.filters);
  const SumImage<T> sum(result, s.out_pixels() * s.filters);
  float* out = sum.data();
  for (int64_t p = 0; p < s.out_pixels(); ++p) {
    if (bias != nullptr)
      std::copy_n(bias, s.filters, out + p * s.filters);
    else
      std::fill_n(out + p * s.filters, s.filters, 0.0f);
  }
  for_each_tap(s, [&](int64_t a, int64_t b, const TapPixels& pixels) {
    const auto rows = static_cast<int64_t>(pixels.in.size());
    gather(pixels.in, x, s.channels, from.data());
    product(row_major<const T>(from.data(), rows, s.channels), w.template tap<const T>(weight, a, b),
            row_major(to.data(), rows, s.filters));
    scatter_add(to.data(), pixels.out, s.filters, out);
  });
  sum.finish();
}

template <class T>
void tap_conv_backward_data(const ConvShape& s, const T* grad, const T* weight, const WeightStrides& strides,
                            T* result) {
  const TapWeight<T> w(s, strides);
  w.pack(weight);
  const Scratch<T> from(s.out_pixels() * s.filters);
  const Scratch<float> to(s.out_pixels() * s.channels);
  const SumImage<T> sum(result, s.pixels() * s.channels);
  float* grad_x = sum.data();
  std::fill_n(grad_x, s.pixels() * s.channels, 0.0f);
  for_each_tap(s, [&](int64_t a, int64_t b, const TapPixels& pixels) {
    const auto rows = static_cast<int64_t>(pixels.in.size());
    gather(pixels.out, grad, s.filters, from.data());
    product(row_major<const T>(from.data(), rows, s.filters), w.template tap<const T>(weight, a, b).transposed(),
            row_major(to.data(), rows, s.channels));
    scatter_add(to.data(), pixels.in, s.channels, grad_x);
  });
  sum.finish();
}

template <class T>
void tap_conv_backward_weights(const ConvShape& s, const T* x, const T* grad, T* grad_weight,
                               const WeightStrides& strides) {
  const TapWeight<T> w(s, strides);
  const Scratch<T> in(s.out_pixels() * s.channels), out(s.out_pixels() * s.filters);
  for_each_tap(s, [&](int64_t a, int64_t b, const TapPixels& pixels) {
    const auto rows = static_cast<int64_t>(pixels.in.size());
    gather(pixels.in, x, s.channels, in.data());
    gather(pixels.out, grad, s.filters, out.data());
    gemm<T>(row_major<const T>(in.data(), rows, s.channels).transposed(),
            row_major<const T>(out.data(), rows, s.filters), w.tap(grad_weight, a, b), false);
  });
  w.unpack(grad_weight);
}

#define WEFT_TAP_CONV(T)                                                                                \
  template void tap_conv(const ConvShape&, const T*, const T*, const WeightStrides&, const float*, T*); \
  template void tap_conv_backward_data(const ConvShape&, const T*, const T*, const WeightStrides&, T*); \
  template void tap_conv_backward_weights(const ConvShape&, const T*, const T*, T*, const WeightStrides&);
WEFT_TAP_CONV(float)
WEFT_TAP_CONV(BFloat16)
#undef WEFT_TAP_CONV

}  // namespace weft::kernels::cpu
