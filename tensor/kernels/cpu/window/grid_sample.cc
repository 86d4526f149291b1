// Images read at the points of a grid, and the gradients of that. Images are channels-last, copied where they are not,
// so that what a point reads is a few runs of channels.
#include "tensor/ops/grid_sample.h"

#include <algorithm>
#include <type_traits>

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/pointwise/fill.h"
#include "tensor/kernels/cpu/reduce/row_math.h"
#include "tensor/kernels/cpu/window/conv_shape.h"
#include "tensor/kernels/cpu/window/grid_sample_narrow.h"
#include "tensor/kernels/cpu/window/grid_sample_taps.h"
#include "tensor/kernels/cpu/window/mix_rows.h"
#include "tensor/kernels/cpu/window/pool_loops.h"

namespace weft::kernels::cpu {
namespace {

using grid::PointTaps;
using grid::Sampling;

/// f(image, first point, end) for parts of the points of each image's grid.
template <class F> void for_point_blocks(int64_t images, int64_t points, const F& f) {
  constexpr int64_t kGrain = 1024;
  parallel_for(images * points, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end;) {
      const int64_t image = p / points, next = std::min((image + 1) * points, end);
      f(image, p - image * points, next - image * points);
      p = next;
    }
  });
}

/// y (points, C) of the points [first, end) of an image x (pixels, C).
template <class T>
void sample_points(const Sampling<T>& s, const T* x, const T* coordinates, int64_t first, int64_t end, T* y) {
  constexpr int64_t kBlock = Sampling<T>::kSquares;
  typename Sampling<T>::Squares squares;
  for (int64_t p = first; p < end; ++p) {
    const int64_t k = (p - first) % kBlock;
    if (k == 0) s.squares(coordinates + p * s.axes, std::min(kBlock, end - p), squares);
    T* const to = y + p * s.channels;
    PointTaps<T> taps;
    if (squares.inside[k]) {
      s.square(squares, k, taps.at, taps.weight);
      mix_rows<4>(x, s.channels, taps.at, taps.weight, 4, s.channels, to);
      continue;
    }
    s.template taps<false>(coordinates + p * s.axes, taps);
    mix_rows(x, s.channels, taps.at, taps.weight, taps.count, s.channels, to);
  }
}

/// What gradients are made of and go to: of one image, (points, C), (pixels, C), (points, axes). Of the image's
/// gradient `count` channels from `channel` on.
template <class T> struct ImageGradients {
  const T *g, *x, *coordinates;
  T *of_image, *of_grid;
  int64_t channel, count;

  void clear(const Sampling<T>& s) const {
    for (int64_t p = 0; p < s.pixels; ++p) std::fill_n(of_image + p * s.channels + channel, count, T(0));
  }
  /// The gradient of a point along each of the axes: pixels are mixed by the weights' derivatives first, since a sum
  /// over channels costs more than a tap, and are read once for all axes.
  template <int kAxes>
  [[gnu::always_inline]] void slopes_at(const Sampling<T>& s, const PointTaps<T>& taps, const T* row, T* out) const {
    simd::Vec<T> sums[kAxes] = {};
    for_lanes<T>(
        s.channels, [&](int64_t j, auto lanes) __attribute__((always_inline)) {
          simd::Vec<T> mixed[kAxes] = {};
          for (int k = 0; k < taps.count; ++k) {
            const simd::Vec<T> pixel = lanes_at(x + taps.at[k] * s.channels + j, lanes);
            for (int axis = 0; axis < kAxes; ++axis) mixed[axis] += taps.slope[axis][k] * pixel;
          }
          const simd::Vec<T> gradient = lanes_at(row + j, lanes);
          for (int axis = 0; axis < kAxes; ++axis) sums[axis] += gradient * mixed[axis];
        });
    for (int axis = 0; axis < kAxes; ++axis) out[axis] = simd::fold_lanes<Add, T, simd::kLanes<T>>(sums[axis]);
  }
  /// Adds the gradients of the points [first, end): the pixels that a point reads are prefetched once for both.
  template <bool kImage, bool kGrid> void add(const Sampling<T>& s, int64_t first, int64_t end) const {
    for (int64_t p = first; p < end; ++p) {
      PointTaps<T> taps;
      s.template taps<kGrid>(coordinates + p * s.axes, taps);
      const T* const row = g + p * s.channels;
      if constexpr (kGrid) {
        if (taps.count == 0)
          std::fill_n(of_grid + p * s.axes, s.axes, T(0));
        else if (s.axes == 2)
          slopes_at<2>(s, taps, row, of_grid + p * 2);
        else
          slopes_at<3>(s, taps, row, of_grid + p * 3);
      }
      if constexpr (kImage)
        for (int k = 0; k < taps.count; ++k) {
          T* const pixel = of_image + taps.at[k] * s.channels + channel;
          const auto weight = simd::splat<T, simd::kLanes<T>>(taps.weight[k]);
          for_lanes<T>(count, [&](int64_t j, auto lanes) {
            put_lanes(pixel + j, lanes_at(pixel + j, lanes) + weight * lanes_at(row + channel + j, lanes), lanes);
          });
        }
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

enum class Direction { forward, backward };

/// Whether the lanes of registers should hold points, because channels are too few to fill them. The limit is lower
/// where points cost more (bicubic sampling, volumes, gradients of these), and where channels are contiguous anyway.
template <class T> bool is_narrow(const Sampling<T>& s, const Operand& x, const Operand& points, Direction direction) {
  int64_t most = s.is_bicubic() ? simd::kLanes<T> / 2 : simd::kLanes<T>;
  if (s.axes == 3) most /= (direction == Direction::backward ? 4 : 2) * (x.stride(1) == 1 && s.channels > 1 ? 2 : 1);
  return s.channels < most && grid::has_short_offsets(x) && grid::lies_in_steps(points);
}

template <class S, class T>
void sample(const Sampling<T>& s, const Operand& x, const T* coordinates, const Operand& out) {
  if (is_narrow(s, x, out, Direction::forward))
    return s.with_neighbors([&]<int K, int D>() { grid::sample_narrow<K, D, S>(s, x, coordinates, out); });
  const int64_t images = x.size(0), grid = s.points * s.axes, points = s.points * s.channels;
  if (divides_by_images(images))
    return parallel_for(images, 1, [&](int64_t n, int64_t end) {
      const OneImage<S, T> in(x), result(out);
      for (; n < end; ++n) {
        sample_points(s, in.read(n), coordinates + n * grid, 0, s.points, result.room(n));
        result.write(n);
      }
    });
  const ImageIn<S, T> in(x);
  ImageOut<S, T> result(out);
  for_point_blocks(images, s.points, [&](int64_t n, int64_t first, int64_t end) {
    sample_points(s, in.data() + n * s.pixels * s.channels, coordinates + n * grid, first, end,
                  result.data() + n * points);
  });
  result.finish();
}

/// The gradients of images that are one thread's each.
template <class S, class T, bool kImage, bool kGrid>
void gradients_of_images(const Sampling<T>& s, const Operand& g, const Operand& x, const T* coordinates,
                         const Operand& dx, T* of_grid) {
  parallel_for(x.size(0), 1, [&](int64_t n, int64_t end) {
    const OneImage<S, T> gradient(g), in(x), result(kImage ? dx : x);
    for (; n < end; ++n) {
      const int64_t grid = n * s.points * s.axes;
      const ImageGradients<T> image{gradient.read(n),
                                    kGrid ? in.read(n) : nullptr,
                                    coordinates + grid,
                                    kImage ? result.room(n) : nullptr,
                                    kGrid ? of_grid + grid : nullptr,
                                    0,
                                    s.channels};
      if constexpr (kImage) image.clear(s);
      image.template add<kImage, kGrid>(s, 0, s.points);
      if constexpr (kImage) result.write(n);
    }
  });
}

/// The gradient of few images: some of the channels are a thread's.
template <class S, class T>
void gradient_of_channels(const Sampling<T>& s, const Operand& g, const T* coordinates, const Operand& dx) {
  const int64_t images = g.size(0), most = std::max<int64_t>(1, s.channels * static_cast<int64_t>(sizeof(T)) / 64);
  const int64_t parts = std::min<int64_t>(most, region_threads());
  const ImageIn<S, T> gradient(g);
  ImageOut<S, T> result(dx);
  parallel_for(images * parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / parts, first = i % parts * s.channels / parts;
      const ImageGradients<T> image{
          gradient.data() + n * s.points * s.channels, nullptr, coordinates + n * s.points * s.axes,
          result.data() + n * s.pixels * s.channels,   nullptr, first,
          (i % parts + 1) * s.channels / parts - first};
      image.clear(s);
      image.template add<true, false>(s, 0, s.points);
    }
  });
  result.finish();
}

/// The gradient of few images' grids.
template <class S, class T>
void gradient_of_grid(const Sampling<T>& s, const Operand& g, const Operand& x, const T* coordinates, T* of_grid) {
  const ImageIn<S, T> gradient(g), in(x);
  for_point_blocks(x.size(0), s.points, [&](int64_t n, int64_t first, int64_t end) {
    const int64_t grid = n * s.points * s.axes;
    const ImageGradients<T> image{gradient.data() + n * s.points * s.channels,
                                  in.data() + n * s.pixels * s.channels,
                                  coordinates + grid,
                                  nullptr,
                                  of_grid + grid,
                                  0,
                                  0};
    image.template add<false, true>(s, first, end);
  });
}

template <class S, class T>
void gradients(const Sampling<T>& s, const Operand& g, const Operand& x, const T* coordinates, const Operand* dx,
               T* of_grid) {
  if (is_narrow(s, x, g, Direction::backward) && grid::has_short_offsets(dx == nullptr ? x : *dx)) {
    s.with_neighbors([&]<int K, int D>() {
      if (dx != nullptr) grid::narrow_gradient_of_images<K, D, S>(s, g, coordinates, *dx);
      if constexpr (K > 1)
        if (of_grid != nullptr) grid::narrow_gradient_of_grid<K, D, S>(s, g, x, coordinates, of_grid);
    });
  } else if (!divides_by_images(x.size(0))) {
    if (dx != nullptr) gradient_of_channels<S>(s, g, coordinates, *dx);
    if (of_grid != nullptr) gradient_of_grid<S>(s, g, x, coordinates, of_grid);
  } else if (dx == nullptr) {
    gradients_of_images<S, T, false, true>(s, g, x, coordinates, x, of_grid);
  } else if (of_grid == nullptr) {
    gradients_of_images<S, T, true, false>(s, g, x, coordinates, *dx, nullptr);
  } else {
    gradients_of_images<S, T, true, true>(s, g, x, coordinates, *dx, of_grid);
  }
}

/// f of the coordinates as dense numbers of the type that is computed in.
template <class S, class F> void with_grid(const Operand& grid, const F& f) {
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
    with_grid<S>(grid,
                 [&](const T* coordinates) { sample<S>(Sampling<T>(*x5, grid, options), *x5, coordinates, *out5); });
  });
}

void op::GridSampleBackward::cpu(const Operand& g, const Operand& x, const Operand& grid, const Operand& dx,
                                 const Operand& dgrid) const {
  visit_floating(x.dtype, [&]<class S>() {
    using T = Compute<S>;
    const FiveAxes g5(g), x5(x), dx5(wanted & 1 ? dx : x);
    const Sampling<T> sampling(*x5, grid, options);
    const bool image = wanted & 1 && dx.numel() > 0, steps = options.mode == Interpolation::nearest;
    if (wanted & 2 && steps) fill(dgrid, 0);  // whatever x and g are
    const bool some_grid = wanted & 2 && !steps && dgrid.numel() > 0;
    with_grid<S>(grid, [&](const T* coordinates) {
      const Operand* const of_image = image ? &*dx5 : nullptr;
      if (!some_grid) return image ? gradients<S, T>(sampling, *g5, *x5, coordinates, of_image, nullptr) : void();
      const RowView view(dgrid, 0, dgrid.rank() - 1);
      RowWriter<S> writer(view, 0, 1);
      gradients<S, T>(sampling, *g5, *x5, coordinates, of_image, writer.row());
      writer.next();
    });
  });
}

}  // namespace weft
