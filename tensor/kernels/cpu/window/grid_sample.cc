// Images read at any places, and the gradients of that. Images are channels-last, copied where they are not, so that
// what a place reads is a few runs of channels.
#include "tensor/ops/grid_sample.h"

#include <cmath>
#include <type_traits>

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/reduce/row_math.h"
#include "tensor/kernels/cpu/window/conv_shape.h"
#include "tensor/kernels/cpu/window/mix_rows.h"
#include "tensor/runtime/threads.h"

namespace weft::kernels::cpu {
namespace {

/// A place along an axis, in pixels, and its derivative by the grid's value.
template <class T> struct Place { T at, slope; };

/// The pixels of the image that a place reads along an axis, with weights and the weights' derivatives by the grid's
/// value.
template <class T> struct AxisTaps {
  static constexpr int kMost = 4;
  int count = 0;
  int64_t at[kMost + 1];
  T weight[kMost + 1], slope[kMost + 1];
};

template <class T> class Axis {
 public:
  Axis(int64_t size, const GridSampleOptions& options) : last_(static_cast<T>(size - 1)), options_(options) {}

  /// Fills `out`, which is not returned: a copy of what was just written piece by piece would wait for it.
  [[gnu::always_inline]] void taps(T value, AxisTaps<T>& out) const {
    const Place<T> place = in_pixels(value);
    if (options_.mode == Interpolation::bicubic) return add_cubic(out, place);
    const auto [at, slope] = padded(place);
    if (options_.mode == Interpolation::nearest) return add(out, std::nearbyint(at), 1, 0);
    const T low = std::floor(at), part = at - low;
    add(out, low, 1 - part, -slope);
    add(out, low + 1, part, slope);
  }

  /// Whether linear interpolation at a value of the grid reads two pixels, `low` and the next one, with the weights
  /// 1 - part and part. (low is 0 where not.)
  [[gnu::always_inline]] bool pair(T value, T& low, T& part) const {
    const T at = padded(in_pixels(value)).at, floor = std::floor(at);
    const bool inside = floor >= 0 && floor < last_;
    part = at - floor;
    low = inside ? floor : T(0);
    return inside;
  }

 private:
  [[gnu::always_inline]] Place<T> in_pixels(T value) const {
    const T scale = options_.align_corners ? last_ / 2 : (last_ + 1) / 2;
    return {(value + 1) * scale - (options_.align_corners ? T(0) : T(0.5)), scale};
  }

  /// Cubic convolution (Keys, 1981) with a = -0.75: weights at distances below 1, and from 1 to 2.
  static T inner(T t) { return (t * T(1.25) - T(2.25)) * t * t + 1; }
  static T outer(T t) { return ((t * T(-0.75) + T(3.75)) * t - 6) * t + 3; }
  static T inner_slope(T t) { return (t * T(3.75) - T(4.5)) * t; }
  static T outer_slope(T t) { return (t * T(-2.25) + T(7.5)) * t - 6; }

  void add_cubic(AxisTaps<T>& out, const Place<T>& place) const {
    const T low = std::floor(place.at), t = place.at - low;
    const T weights[] = {outer(t + 1), inner(t), inner(1 - t), outer(2 - t)};
    const T slopes[] = {outer_slope(t + 1), inner_slope(t), -inner_slope(1 - t), -outer_slope(2 - t)};
    for (int i = 0; i < 4; ++i)
      add(out, padded({low + static_cast<T>(i - 1), 0}).at, weights[i], slopes[i] * place.slope);
  }

  /// A pixel outside of the image, or NaN, is not read: it is written, and not counted, as a branch would be guessed
  /// wrong too often.
  [[gnu::always_inline]] void add(AxisTaps<T>& out, T pixel, T weight, T slope) const {
    const bool inside = pixel >= 0 && pixel <= last_;
    out.at[out.count] = static_cast<int64_t>(inside ? pixel : T(0));
    out.weight[out.count] = weight;
    out.slope[out.count] = slope;
    out.count += inside;
  }

  /// The place brought into the image as the padding says.
  Place<T> padded(Place<T> place) const {
    if (options_.padding == GridPadding::zeros) return place;
    if (options_.padding == GridPadding::reflection) place = reflected(place);
    if (place.at < 0) return {0, 0};
    if (place.at > last_) return {last_, 0};
    return place;
  }

  /// Its mirror image between the centres of the outer pixels, or between their edges.
  Place<T> reflected(const Place<T>& place) const {
    const T edge = options_.align_corners ? T(0) : T(0.5), span = last_ + 2 * edge;
    if (span <= 0) return {place.at * 0, 0};
    const T from = place.at + edge, wave = from - std::floor(from / (2 * span)) * (2 * span);
    const T turn = wave < span ? 1 : wave > span ? -1 : 0;
    return {span - edge - std::abs(wave - span), place.slope * turn};
  }

  T last_;
  GridSampleOptions options_;
};

/// All pixels that a place reads: their numbers in the image, weights, and the weights' derivatives by the place's
/// column, row and depth.
template <class T> struct PlaceTaps {
  static constexpr int kMost = 16;  // 4 x 4, or 2 x 2 x 2
  int count = 0;
  int64_t at[kMost];
  T weight[kMost], slope[3][kMost];
};

/// Where a grid's places read; x is (N, C, D, H, W).
template <class T> class Sampling {
 public:
  Sampling(const Operand& x, const Operand& grid, const GridSampleOptions& options)
      : channels(x.size(1)),
        pixels(x.size(2) * x.size(3) * x.size(4)),
        axes(grid.size(grid.rank() - 1)),
        points(grid.numel() / std::max<int64_t>(1, axes * grid.size(0))),
        height_(x.size(3)),
        width_(x.size(4)),
        is_plane_(axes == 2 && options.mode == Interpolation::bilinear),
        depths_(x.size(2), options),
        lines_(height_, options),
        columns_(width_, options) {}

  /// With their derivatives where `slopes`.
  template <bool slopes> [[gnu::always_inline]] void taps(const T* place, PlaceTaps<T>& out) const {
    AxisTaps<T> w, h, d;
    columns_.taps(place[0], w);
    lines_.taps(place[1], h);
    if (axes == 3)
      depths_.taps(place[2], d);
    else
      d.count = 1, d.at[0] = 0, d.weight[0] = 1, d.slope[0] = 0;
    for (int i = 0; i < d.count; ++i)
      for (int j = 0; j < h.count; ++j)
        for (int k = 0; k < w.count; ++k) {
          const int tap = out.count++;
          out.at[tap] = (d.at[i] * height_ + h.at[j]) * width_ + w.at[k];
          out.weight[tap] = d.weight[i] * h.weight[j] * w.weight[k];
          if (!slopes) continue;
          out.slope[0][tap] = d.weight[i] * h.weight[j] * w.slope[k];
          out.slope[1][tap] = d.weight[i] * h.slope[j] * w.weight[k];
          out.slope[2][tap] = d.slope[i] * h.weight[j] * w.weight[k];
        }
  }

  /// The places [0, count), kBlock at most, that read a square of four pixels: where inside[k], it begins at pixel
  /// first[k], and parts are the weights of its second column and row. None where the mode is another.
  static constexpr int64_t kBlock = 64;
  struct Squares {
    bool inside[kBlock];
    int64_t first[kBlock];
    T column_part[kBlock], row_part[kBlock];
  };
  void squares(const T* places, int64_t count, Squares& out) const {
    if (!is_plane_) return std::fill_n(out.inside, count, false), void();
    for (int64_t k = 0; k < count; ++k) {
      T column, row;
      const bool wide = columns_.pair(places[2 * k], column, out.column_part[k]);
      const bool high = lines_.pair(places[2 * k + 1], row, out.row_part[k]);
      out.inside[k] = wide & high;
      out.first[k] = static_cast<int64_t>(row) * width_ + static_cast<int64_t>(column);
    }
  }
  /// The square of place k.
  [[gnu::always_inline]] void square(const Squares& from, int64_t k, int64_t* at, T* weight) const {
    const T w = from.column_part[k], h = from.row_part[k];
    at[0] = from.first[k], at[1] = at[0] + 1, at[2] = at[0] + width_, at[3] = at[2] + 1;
    weight[0] = (1 - h) * (1 - w), weight[1] = (1 - h) * w, weight[2] = h * (1 - w), weight[3] = h * w;
  }

  int64_t channels, pixels;  // of the image
  int64_t axes, points;      // of an image's grid

 private:
  int64_t height_, width_;
  bool is_plane_;  // and linear
  Axis<T> depths_, lines_, columns_;
};

/// f(image, first place, end) for parts of the images' places.
template <class F> void place_blocks(int64_t images, int64_t points, const F& f) {
  constexpr int64_t kGrain = 1024;
  parallel_for(images * points, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end;) {
      const int64_t image = p / points, next = std::min((image + 1) * points, end);
      f(image, p - image * points, next - image * points);
      p = next;
    }
  });
}

/// y (points, C) of the places [first, end) of an image x (pixels, C).
template <class T>
void sample_places(const Sampling<T>& s, const T* x, const T* places, int64_t first, int64_t end, T* y) {
  constexpr int64_t kBlock = Sampling<T>::kBlock;
  typename Sampling<T>::Squares squares;
  for (int64_t p = first; p < end; ++p) {
    const int64_t k = (p - first) % kBlock;
    if (k == 0) s.squares(places + p * s.axes, std::min(kBlock, end - p), squares);
    T* const to = y + p * s.channels;
    PlaceTaps<T> taps;
    if (squares.inside[k]) {
      s.square(squares, k, taps.at, taps.weight);
      mix_rows<4>(x, s.channels, taps.at, taps.weight, 4, s.channels, to);
      continue;
    }
    s.template taps<false>(places + p * s.axes, taps);
    mix_rows(x, s.channels, taps.at, taps.weight, taps.count, s.channels, to);
  }
}

/// What gradients are made of and go to: of one image, (points, C), (pixels, C), (points, axes). Of the image's
/// gradient `count` channels from `channel` on.
template <class T> struct ImageGradients {
  const T *g, *x, *places;
  T *of_image, *of_places;
  int64_t channel, count;

  void clear(const Sampling<T>& s) const {
    for (int64_t p = 0; p < s.pixels; ++p) std::fill_n(of_image + p * s.channels + channel, count, T(0));
  }
  /// Adds the gradients of the places [first, end): what one place reads is asked for once for both.
  template <bool kImage, bool kPlaces> void add(const Sampling<T>& s, int64_t first, int64_t end) const {
    for (int64_t p = first; p < end; ++p) {
      PlaceTaps<T> taps;
      s.template taps<kPlaces>(places + p * s.axes, taps);
      const T* const row = g + p * s.channels;
      T sums[3] = {};
      for (int k = 0; k < taps.count; ++k) {
        const int64_t at = taps.at[k] * s.channels;
        if constexpr (kPlaces) {
          const T* const pixel = x + at;
          const T dot = static_cast<T>(detail::sum_lanes<T>(s.channels, [&](int64_t j, auto lanes) {
            return lanes_at(row + j, lanes) * lanes_at(pixel + j, lanes);
          }));
          for (int axis = 0; axis < 3; ++axis) sums[axis] += dot * taps.slope[axis][k];
        }
        if constexpr (kImage) {
          T* const pixel = of_image + at + channel;
          const auto weight = simd::splat<T, simd::kLanes<T>>(taps.weight[k]);
          for_lanes<T>(count, [&](int64_t j, auto lanes) {
            put_lanes(pixel + j, lanes_at(pixel + j, lanes) + weight * lanes_at(row + channel + j, lanes), lanes);
          });
        }
      }
      if constexpr (kPlaces) std::copy_n(sums, s.axes, of_places + p * s.axes);
    }
  }
};

/// An operand's images one after the other as dense channels-last memory of T: its own where it is that, else a copy,
/// which stays in the cache between its making and its use.
template <class S, class T> class OneImage {
 public:
  explicit OneImage(const Operand& x)
      : x_(x),
        shape_(x.shape()),
        size_(x.numel() / std::max<int64_t>(1, x.size(0))),
        direct_(std::is_same_v<S, T> && is_channels_last(x)),
        copy_(direct_ ? 0 : size_) {
    shape_[0] = 1;
  }
  T* room(int64_t n) const {
    if constexpr (std::is_same_v<S, T>)
      if (direct_) return x_.data<T>() + n * size_;
    return copy_.data();
  }
  const T* read(int64_t n) const {
    if (!direct_) copy_image<S, T>(at(n), x_.strides(), copy_.data(), channels_last_strides(shape_), shape_);
    return room(n);
  }
  void write(int64_t n) const {
    if (!direct_) copy_image<T, S>(copy_.data(), channels_last_strides(shape_), at(n), x_.strides(), shape_);
  }

 private:
  S* at(int64_t n) const { return x_.data<S>() + n * x_.stride(0); }
  const Operand& x_;
  Shape shape_;
  int64_t size_;
  bool direct_;
  Scratch<T> copy_;
};

/// Whether each image is one thread's from its first copy to its last: where threads have as many, or nearly.
bool takes_whole_images(int64_t images) {
  const int64_t threads = region_threads();
  return images % threads == 0 || images >= 4 * threads;
}

template <class S, class T> void sample(const Sampling<T>& s, const Operand& x, const T* places, const Operand& out) {
  const int64_t images = x.size(0), grid = s.points * s.axes, points = s.points * s.channels;
  if (takes_whole_images(images))
    return parallel_for(images, 1, [&](int64_t n, int64_t end) {
      const OneImage<S, T> in(x), result(out);
      for (; n < end; ++n) {
        sample_places(s, in.read(n), places + n * grid, 0, s.points, result.room(n));
        result.write(n);
      }
    });
  const ImageIn<S, T> in(x);
  ImageOut<S, T> result(out);
  place_blocks(images, s.points, [&](int64_t n, int64_t first, int64_t end) {
    sample_places(s, in.data() + n * s.pixels * s.channels, places + n * grid, first, end, result.data() + n * points);
  });
  result.finish();
}

/// The gradients of images that are one thread's each.
template <class S, class T, bool kImage, bool kPlaces>
void gradients_of_images(const Sampling<T>& s, const Operand& g, const Operand& x, const T* places, const Operand& dx,
                         T* of_places) {
  parallel_for(x.size(0), 1, [&](int64_t n, int64_t end) {
    const OneImage<S, T> gradient(g), in(x), result(kImage ? dx : x);
    for (; n < end; ++n) {
      const int64_t grid = n * s.points * s.axes;
      const ImageGradients<T> image{gradient.read(n),
                                    kPlaces ? in.read(n) : nullptr,
                                    places + grid,
                                    kImage ? result.room(n) : nullptr,
                                    kPlaces ? of_places + grid : nullptr,
                                    0,
                                    s.channels};
      if constexpr (kImage) image.clear(s);
      image.template add<kImage, kPlaces>(s, 0, s.points);
      if constexpr (kImage) result.write(n);
    }
  });
}

/// The gradient of few images: some of the channels are a thread's.
template <class S, class T>
void gradient_of_channels(const Sampling<T>& s, const Operand& g, const T* places, const Operand& dx) {
  const int64_t images = g.size(0), most = std::max<int64_t>(1, s.channels * static_cast<int64_t>(sizeof(T)) / 64);
  const int64_t parts = std::min<int64_t>(most, region_threads());
  const ImageIn<S, T> gradient(g);
  ImageOut<S, T> result(dx);
  parallel_for(images * parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / parts, first = i % parts * s.channels / parts;
      const ImageGradients<T> image{
          gradient.data() + n * s.points * s.channels, nullptr, places + n * s.points * s.axes,
          result.data() + n * s.pixels * s.channels,   nullptr, first,
          (i % parts + 1) * s.channels / parts - first};
      image.clear(s);
      image.template add<true, false>(s, 0, s.points);
    }
  });
  result.finish();
}

/// The gradient of few images' places.
template <class S, class T>
void gradient_of_places(const Sampling<T>& s, const Operand& g, const Operand& x, const T* places, T* of_places) {
  const ImageIn<S, T> gradient(g), in(x);
  place_blocks(x.size(0), s.points, [&](int64_t n, int64_t first, int64_t end) {
    const int64_t grid = n * s.points * s.axes;
    const ImageGradients<T> image{gradient.data() + n * s.points * s.channels,
                                  in.data() + n * s.pixels * s.channels,
                                  places + grid,
                                  nullptr,
                                  of_places + grid,
                                  0,
                                  0};
    image.template add<false, true>(s, first, end);
  });
}

template <class S, class T>
void gradients(const Sampling<T>& s, const Operand& g, const Operand& x, const T* places, const Operand* dx,
               T* of_places) {
  if (!takes_whole_images(x.size(0))) {
    if (dx != nullptr) gradient_of_channels<S>(s, g, places, *dx);
    if (of_places != nullptr) gradient_of_places<S>(s, g, x, places, of_places);
  } else if (dx == nullptr) {
    gradients_of_images<S, T, false, true>(s, g, x, places, x, of_places);
  } else if (of_places == nullptr) {
    gradients_of_images<S, T, true, false>(s, g, x, places, *dx, nullptr);
  } else {
    gradients_of_images<S, T, true, true>(s, g, x, places, *dx, of_places);
  }
}

/// f of the places as dense numbers of the type that is computed in.
template <class S, class F> void with_places(const Operand& grid, const F& f) {
  const RowView view(grid, 0, grid.rank() - 1);
  RowReader<S> reader(view, 0, 1);
  f(reader.row());
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::GridSample::cpu(const Operand& x, const Operand& grid, const Operand& out) const {
  if (out.numel() == 0) return;
  visit_floating(x.dtype, [&]<class S>() {
    using T = Compute<S>;
    const FiveAxes x5(x), out5(out);
    with_places<S>(grid, [&](const T* places) { sample<S>(Sampling<T>(*x5, grid, options), *x5, places, *out5); });
  });
}

void op::GridSampleBackward::cpu(const Operand& g, const Operand& x, const Operand& grid, const Operand& dx,
                                 const Operand& dgrid) const {
  visit_floating(x.dtype, [&]<class S>() {
    using T = Compute<S>;
    const FiveAxes g5(g), x5(x), dx5(wanted & 1 ? dx : x);
    const Sampling<T> sampling(*x5, grid, options);
    const bool image = wanted & 1 && dx.numel() > 0, some_places = wanted & 2 && dgrid.numel() > 0;
    with_places<S>(grid, [&](const T* places) {
      const Operand* const of_image = image ? &*dx5 : nullptr;
      if (!some_places) return image ? gradients<S, T>(sampling, *g5, *x5, places, of_image, nullptr) : void();
      const RowView view(dgrid, 0, dgrid.rank() - 1);
      RowWriter<S> writer(view, 0, 1);
      gradients<S, T>(sampling, *g5, *x5, places, of_image, writer.row());
      writer.next();
    });
  });
}

}  // namespace weft
