#include "tensor/kernels/cpu/window/tap_conv.h"

#include <vector>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/kernels/cpu/gemm/packed_gemm.h"

namespace weft::kernels::cpu {
namespace {

/// Elements of images that are gathered at once.
constexpr int64_t kGathered = 1 << 19;

/// Some taps, and the pixels that each connects, one after the other: those of a tap are [first, first + rows).
struct TapGroup {
  struct Tap {
    int64_t a, b, first, rows;
  };
  std::vector<Tap> taps;
  std::vector<int64_t> in, out;

  int64_t rows() const { return static_cast<int64_t>(in.size()); }
};

void add_tap(TapGroup& group, const ConvShape& s, int64_t a, int64_t b) {
  const int64_t first = group.rows();
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t i = 0; i < s.out[1]; ++i) {
      const int64_t h = i * s.stride[1] - s.padding[1] + a * s.dilation[1];
      if (h < 0 || h >= s.in[1]) continue;
      for (int64_t j = 0; j < s.out[2]; ++j) {
        const int64_t w = j * s.stride[2] - s.padding[2] + b * s.dilation[2];
        if (w < 0 || w >= s.in[2]) continue;
        group.in.push_back((n * s.in[1] + h) * s.in[2] + w);
        group.out.push_back((n * s.out[1] + i) * s.out[2] + j);
      }
    }
  group.taps.push_back({a, b, first, group.rows() - first});
}

/// Calls f(group) for all taps, as many at a time as may be gathered at once (so many elements).
template <class F> void for_tap_groups(const ConvShape& s, int64_t gathered, F&& f) {
  const int64_t most = gathered / std::max(s.channels, s.filters);
  TapGroup group;
  for (int64_t a = 0; a < s.kernel[1]; ++a)
    for (int64_t b = 0; b < s.kernel[2]; ++b) {
      add_tap(group, s, a, b);
      const bool last = a + 1 == s.kernel[1] && b + 1 == s.kernel[2];
      if (!last && group.rows() + s.out_pixels() <= most) continue;
      f(group);
      group = {};
    }
}

int64_t rows_per_thread(int64_t columns) { return std::max<int64_t>(1, 16384 / columns); }

/// rows[r] = image[pixels[r]].
template <class T> void gather(const std::vector<int64_t>& pixels, const T* image, int64_t columns, T* rows) {
  parallel_for(static_cast<int64_t>(pixels.size()), rows_per_thread(columns), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      std::copy_n(image + pixels[static_cast<size_t>(r)] * columns, columns, rows + r * columns);
  });
}

/// f(k, j, width) for each of `items` and columns [j, j + width): of bf16 all of them, items in parallel; of f32 a
/// block for each thread, as the bits of packed_gemm_block do not depend on it.
template <class T, class F> void for_column_blocks(int64_t items, int64_t columns, const F& f) {
  constexpr int64_t kPanel = 64;
  if constexpr (is_half<T>) {
    parallel_for(items, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) f(k, int64_t{0}, columns);
    });
  } else {
    const int64_t width = ceil_div(ceil_div(columns, kPanel), region_threads()) * kPanel;
    parallel_for(ceil_div(columns, width) * items, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t j = i / items * width;
        f(i % items, j, std::min(width, columns - j));
      }
    });
  }
}

/// The weight tap by tap as matrices (channels, filters) that products take as they are: the weight itself where
/// channels or filters are contiguous, else a buffer (channels, taps, filters).
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

/// to = columns [j, j + width) of a b; of halves all columns.
void columns_of_product(const Matrix<const float>& a, const Matrix<const float>& b, int64_t j,
                        const Matrix<float>& to) {
  packed_gemm_block<float>(a, b, 0, j, to);
}
void columns_of_product(const Matrix<const BFloat16>& a, const Matrix<const BFloat16>& b, int64_t,
                        const Matrix<float>& to) {
  widening_gemm(a, b, to);
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

/// to[scattered] += from[gathered] w(tap) over the taps of a group; `from` and `to` are images with so many values a
/// pixel as w has rows and columns.
template <class T, class WeightOf>
void add_products(const TapGroup& group, const std::vector<int64_t>& gathered, const T* from,
                  const std::vector<int64_t>& scattered, float* to, const WeightOf& weight_of) {
  const Matrix<const T> some = weight_of(group.taps[0]);
  const int64_t depth = some.rows, columns = some.columns;
  const Scratch<T> rows(group.rows() * depth);
  gather(gathered, from, depth, rows.data());
  for_column_blocks<T>(1, columns, [&](int64_t, int64_t j, int64_t width) {
    for (const TapGroup::Tap& tap : group.taps) {
      if (tap.rows == 0) continue;
      const Scratch<float> sums(tap.rows * width);
      columns_of_product(row_major<const T>(rows.data() + tap.first * depth, tap.rows, depth), weight_of(tap), j,
                         row_major(sums.data(), tap.rows, width));
      for (int64_t r = 0; r < tap.rows; ++r) {
        float* pixel = to + scattered[static_cast<size_t>(tap.first + r)] * columns + j;
        for (int64_t c = 0; c < width; ++c) pixel[c] += sums.data()[r * width + c];
      }
    }
  });
}

/// The gradient of a tap that reads padding only.
template <class T> void clear(const Matrix<T>& m) {
  for (int64_t i = 0; i < m.rows; ++i)
    for (int64_t j = 0; j < m.columns; ++j) m.data[i * m.row_stride + j * m.column_stride] = T(0);
}

/// out = columns [j, j + out.columns) of a b, where out has a row or column stride of 1; of halves all columns.
void columns_of_gradient(const Matrix<const float>& a, const Matrix<const float>& b, int64_t j,
                         const Matrix<float>& out) {
  if (out.column_stride == 1) return packed_gemm_block<float>(a, b, 0, j, out);
  packed_gemm_block<float>(b.transposed(), a.transposed(), j, 0, out.transposed());
}
void columns_of_gradient(const Matrix<const BFloat16>& a, const Matrix<const BFloat16>& b, int64_t,
                         const Matrix<BFloat16>& out) {
  gemm<BFloat16>(a, b, out);
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
  const SumImage<T> sum(result, s.out_pixels() * s.filters);
  float* out = sum.data();
  parallel_for(s.out_pixels(), rows_per_thread(s.filters), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      if (bias != nullptr)
        std::copy_n(bias, s.filters, out + p * s.filters);
      else
        std::fill_n(out + p * s.filters, s.filters, 0.0f);
    }
  });
  for_tap_groups(s, kGathered, [&](const TapGroup& group) {
    add_products(group, group.in, x, group.out, out,
                 [&](const TapGroup::Tap& tap) { return w.template tap<const T>(weight, tap.a, tap.b); });
  });
  sum.finish();
}

template <class T>
void tap_conv_backward_data(const ConvShape& s, const T* grad, const T* weight, const WeightStrides& strides,
                            T* result) {
  const TapWeight<T> w(s, strides);
  w.pack(weight);
  const SumImage<T> sum(result, s.pixels() * s.channels);
  float* grad_x = sum.data();
  parallel_for(s.pixels() * s.channels, 32768,
               [&](int64_t begin, int64_t end) { std::fill_n(grad_x + begin, end - begin, 0.0f); });
  for_tap_groups(s, kGathered, [&](const TapGroup& group) {
    add_products(group, group.out, grad, group.in, grad_x,
                 [&](const TapGroup::Tap& tap) { return w.template tap<const T>(weight, tap.a, tap.b).transposed(); });
  });
  sum.finish();
}

template <class T>
void tap_conv_backward_weights(const ConvShape& s, const T* x, const T* grad, T* grad_weight,
                               const WeightStrides& strides) {
  const TapWeight<T> w(s, strides);
  // Products of bf16 run in parallel, one for each tap.
  for_tap_groups(s, is_half<T> ? 8 * kGathered : kGathered, [&](const TapGroup& group) {
    const Scratch<T> in(group.rows() * s.channels), out(group.rows() * s.filters);
    gather(group.in, x, s.channels, in.data());
    gather(group.out, grad, s.filters, out.data());
    for_column_blocks<T>(std::ssize(group.taps), s.filters, [&](int64_t k, int64_t j, int64_t width) {
      const TapGroup::Tap& tap = group.taps[static_cast<size_t>(k)];
      const Matrix<T> gradient = w.tap(grad_weight, tap.a, tap.b).block(0, j, s.channels, width);
      if (tap.rows == 0) return clear(gradient);
      columns_of_gradient(row_major<const T>(in.data() + tap.first * s.channels, tap.rows, s.channels).transposed(),
                          row_major<const T>(out.data() + tap.first * s.filters, tap.rows, s.filters), j, gradient);
    });
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
