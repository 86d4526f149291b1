#include "tensor/kernels/cpu/window/product_conv.h"

#include <type_traits>

#include "tensor/core/integer_division.h"
#include "tensor/kernels/cpu/gemm/gemm.h"

namespace weft::kernels::cpu {
namespace {

/// Calls f(column, input pixel or -1) for each tap of pixel j of an output line (n, depth, height): `column` counts
/// taps.
template <class F> void for_each_tap(const ConvShape& s, int64_t line, int64_t j, F&& f) {
  const int64_t n = line / (s.out[0] * s.out[1]);
  const Size3 first(line / s.out[1] % s.out[0] * s.stride[0] - s.padding[0],
                    line % s.out[1] * s.stride[1] - s.padding[1], j * s.stride[2] - s.padding[2]);
  int64_t column = 0;
  for (int64_t a = 0; a < s.kernel[0]; ++a) {
    const int64_t d = first[0] + a * s.dilation[0];
    for (int64_t b = 0; b < s.kernel[1]; ++b) {
      const int64_t h = first[1] + b * s.dilation[1];
      const bool inside = d >= 0 && d < s.in[0] && h >= 0 && h < s.in[1];
      for (int64_t c = 0; c < s.kernel[2]; ++c, ++column) {
        const int64_t w = first[2] + c * s.dilation[2];
        f(column, inside && w >= 0 && w < s.in[2] ? ((n * s.in[0] + d) * s.in[1] + h) * s.in[2] + w : -1);
      }
    }
  }
}

/// Lines of output pixels whose windows are laid out at once: about a megabyte of f32.
int64_t lines_per_piece(const ConvShape& s) {
  const int64_t line = s.out[2] * s.taps() * s.group_channels();
  return std::max<int64_t>(1, std::min(s.out_lines(), (int64_t{1} << 18) / line));
}

/// columns (pixels, taps * channels of a group): the windows of the output lines [begin, end).
template <class T>
void lay_out_windows(const ConvShape& s, const T* x, int64_t group, int64_t begin, int64_t end, T* columns) {
  const int64_t channels = s.group_channels(), row = s.taps() * channels;
  parallel_for((end - begin) * s.out[2], std::max<int64_t>(1, 16384 / row), [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      for_each_tap(s, begin + p / s.out[2], p % s.out[2], [&](int64_t tap, int64_t pixel) {
        T* out = columns + p * row + tap * channels;
        if (pixel < 0)
          std::fill_n(out, channels, T{});
        else
          std::copy_n(x + pixel * s.channels + group * channels, channels, out);
      });
    }
  });
}

/// Calls f(line) for the output lines [begin, end); those of one image stay on one thread.
template <class F> void for_image_lines(const ConvShape& s, int64_t begin, int64_t end, const F& f) {
  const int64_t lines = s.out[0] * s.out[1];  // of an image
  const int64_t first_image = begin / lines, images = (end - 1) / lines - first_image + 1;
  parallel_for(images, 1, [&](int64_t first, int64_t last) {
    const int64_t from = std::max(begin, (first_image + first) * lines);
    const int64_t to = std::min(end, (first_image + last) * lines);
    for (int64_t line = from; line < to; ++line) f(line);
  });
}

/// Adds the windows of the output lines [begin, end) back into the image.
template <class T>
void add_windows(const ConvShape& s, const T* columns, int64_t group, int64_t begin, int64_t end, T* grad_x) {
  const int64_t channels = s.group_channels(), row = s.taps() * channels;
  for_image_lines(s, begin, end, [&](int64_t line) {
    for (int64_t j = 0; j < s.out[2]; ++j)
      for_each_tap(s, line, j, [&](int64_t tap, int64_t pixel) {
        if (pixel < 0) return;
        const T* in = columns + ((line - begin) * s.out[2] + j) * row + tap * channels;
        T* out = grad_x + pixel * s.channels + group * channels;
        for (int64_t c = 0; c < channels; ++c) out[c] += in[c];
      });
  });
}

/// Channels so few, and lines so long, that windows are laid out tap by tap, a line of pixels at a time.
template <class T> bool goes_by_taps(const ConvShape& s) {
  const int64_t channels = s.group_channels();
  return channels * static_cast<int64_t>(sizeof(T)) <= 48 && s.out[2] >= 4 * channels;
}

/// Calls f(tap, first pixel of the image, begin, end) for each tap of an output line: pixels [begin, end) of the line
/// read inside of the image, s.stride[2] apart.
template <class F> void for_each_tap_line(const ConvShape& s, int64_t line, F&& f) {
  int64_t tap = 0;
  for (int64_t a = 0; a < s.kernel[0]; ++a)
    for (int64_t b = 0; b < s.kernel[1]; ++b)
      for (int64_t c = 0; c < s.kernel[2]; ++c, ++tap) {
        const int64_t n = line / (s.out[0] * s.out[1]), w = c * s.dilation[2] - s.padding[2];
        const int64_t d = line / s.out[1] % s.out[0] * s.stride[0] - s.padding[0] + a * s.dilation[0];
        const int64_t h = line % s.out[1] * s.stride[1] - s.padding[1] + b * s.dilation[1];
        if (d < 0 || d >= s.in[0] || h < 0 || h >= s.in[1]) {
          f(tap, int64_t{0}, int64_t{0}, int64_t{0});
          continue;
        }
        const int64_t begin = std::clamp<int64_t>(internal::divide_up(-w, s.stride[2]), 0, s.out[2]);
        const int64_t end = std::clamp(internal::divide_up(s.in[2] - w, s.stride[2]), begin, s.out[2]);
        const int64_t first = begin == end ? 0 : ((n * s.in[0] + d) * s.in[1] + h) * s.in[2] + w + begin * s.stride[2];
        f(tap, first, begin, end);
      }
}

/// lay_out_windows as columns (taps * channels of a group, pixels).
template <class T>
void lay_out_taps(const ConvShape& s, const T* x, int64_t group, int64_t begin, int64_t end, T* columns) {
  const int64_t channels = s.group_channels(), width = s.out[2], pixels = (end - begin) * width;
  const int64_t step = s.stride[2] * s.channels;
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, width * s.taps() * channels));
  parallel_for(end - begin, grain, [&](int64_t first, int64_t last) {
    for (int64_t line = first; line < last; ++line)
      for_each_tap_line(s, begin + line, [&](int64_t tap, int64_t pixel, int64_t from, int64_t to) {
        for (int64_t c = 0; c < channels; ++c) {
          T* out = columns + (tap * channels + c) * pixels + line * width;
          const T* in = x + pixel * s.channels + group * channels + c;
          std::fill_n(out, from, T{});
          if (step == 1)
            std::copy_n(in, to - from, out + from);
          else
            for (int64_t j = from; j < to; ++j) out[j] = in[(j - from) * step];
          std::fill_n(out + to, width - to, T{});
        }
      });
  });
}

/// add_windows of columns (taps * channels of a group, pixels).
template <class T>
void add_taps(const ConvShape& s, const T* columns, int64_t group, int64_t begin, int64_t end, T* grad_x) {
  const int64_t channels = s.group_channels(), width = s.out[2], pixels = (end - begin) * width;
  const int64_t step = s.stride[2] * s.channels;
  for_image_lines(s, begin, end, [&](int64_t line) {
    for_each_tap_line(s, line, [&](int64_t tap, int64_t pixel, int64_t from, int64_t to) {
      for (int64_t c = 0; c < channels; ++c) {
        const T* in = columns + (tap * channels + c) * pixels + (line - begin) * width + from;
        T* out = grad_x + pixel * s.channels + group * channels + c;
        const int64_t count = to - from;
        if (step == 1)
          for (int64_t j = 0; j < count; ++j) out[j] += in[j];
        else
          for (int64_t j = 0; j < count; ++j) out[j * step] += in[j];
      }
    });
  });
}

/// The tap of a group's weight that is `at` elements from its first one: (channels, filters).
template <class T>
Matrix<T> weight_tap(const ConvShape& s, T* weight, const WeightStrides& strides, int64_t group, int64_t at) {
  return {weight + group * s.group_filters() * strides[0] + at, s.group_channels(), s.group_filters(), strides[1],
          strides[0]};
}

/// The weight of a group as a matrix (taps * channels, filters), rows in the order of the windows.
template <class T>
void pack_weight(const ConvShape& s, const T* weight, const WeightStrides& strides, int64_t group, T* packed) {
  for_each_weight_tap(s, strides, [&](int64_t tap, int64_t at) {
    const Matrix<const T> m = weight_tap(s, weight, strides, group, at);
    copy_matrix<T, T>(m, row_major(packed + tap * m.rows * m.columns, m.rows, m.columns));
  });
}

/// The pixels of output lines [begin, end) and the filters of a group, as a matrix.
template <class T> Matrix<T> out_lines(const ConvShape& s, T* out, int64_t group, int64_t begin, int64_t end) {
  return {out + begin * s.out[2] * s.filters + group * s.group_filters(), (end - begin) * s.out[2], s.group_filters(),
          s.filters, 1};
}

/// Calls f(windows, begin, end) for pieces of the output; a pointwise convolution's windows are x itself, in one piece.
template <class T, class F> void for_each_piece(const ConvShape& s, const T* x, int64_t group, F&& f) {
  const int64_t lines = s.out_lines(), row = s.taps() * s.group_channels();
  if (s.is_pointwise())
    return f(Matrix<const T>{x + group * s.group_channels(), s.out_pixels(), row, s.channels, 1}, int64_t{0}, lines);
  const int64_t step = lines_per_piece(s);
  Scratch<T> columns(checked_multiply(step * s.out[2], row));
  for (int64_t begin = 0; begin < lines; begin += step) {
    const int64_t end = std::min(lines, begin + step);
    const int64_t pixels = (end - begin) * s.out[2];
    if (goes_by_taps<T>(s)) {
      lay_out_taps(s, x, group, begin, end, columns.data());
      f(Matrix<const T>(row_major(columns.data(), row, pixels)).transposed(), begin, end);
    } else {
      lay_out_windows(s, x, group, begin, end, columns.data());
      f(Matrix<const T>(row_major(columns.data(), pixels, row)), begin, end);
    }
  }
}

}  // namespace

template <class T>
void product_conv(const ConvShape& s, const T* x, const T* weight, const WeightStrides& strides, const T* bias,
                  T* out) {
  const int64_t rows = s.taps() * s.group_channels(), columns = s.group_filters();
  if constexpr (std::is_same_v<T, float>)
    if (s.is_pointwise() && s.groups == 1 && bias != nullptr &&
        biased_gemm(row_major(x, s.pixels(), rows), {weight, rows, columns, strides[1], strides[0]}, bias,
                    row_major(out, s.out_pixels(), columns)))
      return;
  if (bias != nullptr)
    parallel_for(s.out_pixels(), std::max<int64_t>(1, 16384 / s.filters), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) std::copy_n(bias, s.filters, out + p * s.filters);
    });
  Scratch<T> packed(s.is_pointwise() ? 0 : rows * columns);
  for (int64_t g = 0; g < s.groups; ++g) {
    Matrix<const T> w{weight + g * columns * strides[0], rows, columns, strides[1], strides[0]};
    if (!s.is_pointwise()) {
      pack_weight(s, weight, strides, g, packed.data());
      w = row_major(packed.data(), rows, columns);
    }
    for_each_piece(s, x, g, [&](Matrix<const T> windows, int64_t begin, int64_t end) {
      gemm<T>(windows, w, out_lines(s, out, g, begin, end), bias != nullptr);
    });
  }
}

template <class T>
void product_conv_backward_data(const ConvShape& s, const T* grad, const T* weight, const WeightStrides& strides,
                                T* grad_x) {
  const int64_t rows = s.taps() * s.group_channels(), columns = s.group_filters();
  const int64_t lines = s.out_lines();
  if (s.is_pointwise()) {
    for (int64_t g = 0; g < s.groups; ++g)
      gemm<T>(out_lines(s, grad, g, 0, lines),
              {weight + g * columns * strides[0], columns, rows, strides[0], strides[1]},
              {grad_x + g * rows, s.out_pixels(), rows, s.channels, 1});
    return;
  }
  const int64_t image = s.in[0] * s.in[1] * s.in[2] * s.channels;
  parallel_for(s.batch, 1,
               [&](int64_t begin, int64_t end) { std::fill(grad_x + begin * image, grad_x + end * image, T{}); });
  const int64_t step = lines_per_piece(s);
  Scratch<T> packed(rows * columns), windows(checked_multiply(step * s.out[2], rows));
  for (int64_t g = 0; g < s.groups; ++g) {
    pack_weight(s, weight, strides, g, packed.data());
    const Matrix<const T> w = row_major(packed.data(), rows, columns);
    for (int64_t begin = 0; begin < lines; begin += step) {
      const int64_t end = std::min(lines, begin + step);
      const Matrix<const T> from = out_lines(s, grad, g, begin, end);
      if (goes_by_taps<T>(s)) {
        gemm<T>(w, from.transposed(), row_major(windows.data(), rows, from.rows));
        add_taps(s, windows.data(), g, begin, end, grad_x);
      } else {
        gemm<T>(from, w.transposed(), row_major(windows.data(), from.rows, rows));
        add_windows(s, windows.data(), g, begin, end, grad_x);
      }
    }
  }
}

template <class T>
void product_conv_backward_weights(const ConvShape& s, const T* x, const T* grad, T* grad_weight,
                                   const WeightStrides& strides) {
  const int64_t rows = s.taps() * s.group_channels(), columns = s.group_filters();
  Scratch<T> packed(rows * columns);
  const Matrix<T> sum = row_major(packed.data(), rows, columns);
  for (int64_t g = 0; g < s.groups; ++g) {
    for_each_piece(s, x, g, [&](Matrix<const T> windows, int64_t begin, int64_t end) {
      gemm<T>(windows.transposed(), out_lines(s, grad, g, begin, end), sum, begin > 0);
    });
    for_each_weight_tap(s, strides, [&](int64_t tap, int64_t at) {
      const Matrix<T> out = weight_tap(s, grad_weight, strides, g, at);
      copy_matrix<T, T>(sum.block(tap * out.rows, 0, out.rows, out.columns), out);
    });
  }
}

#define WEFT_CONV(T)                                                                                           \
  template void product_conv<T>(const ConvShape&, const T*, const T*, const WeightStrides&, const T*, T*);     \
  template void product_conv_backward_data<T>(const ConvShape&, const T*, const T*, const WeightStrides&, T*); \
  template void product_conv_backward_weights<T>(const ConvShape&, const T*, const T*, T*, const WeightStrides&);
WEFT_CONV(float)
WEFT_CONV(double)
#undef WEFT_CONV

}  // namespace weft::kernels::cpu
