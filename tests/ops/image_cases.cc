// Cases of what rearranges images: columns, shuffles, unpooling, sampling at any place.
#include <algorithm>
#include <cmath>
#include <map>

#include "tensor/adjoints/grid_sample.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/fold.h"
#include "tensor/functions/grid_sample.h"
#include "tensor/functions/max_unpool.h"
#include "tensor/functions/pixel_shuffle.h"
#include "tests/ops/families.h"
#include "tests/reference/resample.h"

namespace weft::testing {

namespace {

int64_t windows(int64_t size, const FoldOptions& o, int64_t axis) {
  return (size + 2 * o.padding[axis] - o.dilation[axis] * (o.kernel_size[axis] - 1) - 1) / o.stride[axis] + 1;
}

/// Calls visit(image index, columns index) for every element of every window that lies in the image `in` (N, C, H, W).
template <class Visit> void each_element(const Shape& in, const FoldOptions& o, Visit visit) {
  const int64_t rows = windows(in[2], o, 0), columns = windows(in[3], o, 1), kh = o.kernel_size.height,
                kw = o.kernel_size.width;
  for (const Index& i : indices_of({in[0], in[1], kh, kw, rows, columns})) {
    const int64_t h = i[4] * o.stride.height - o.padding.height + i[2] * o.dilation.height;
    const int64_t w = i[5] * o.stride.width - o.padding.width + i[3] * o.dilation.width;
    if (h >= 0 && h < in[2] && w >= 0 && w < in[3])
      visit(Index{i[0], i[1], h, w}, Index{i[0], (i[1] * kh + i[2]) * kw + i[3], i[4] * columns + i[5]});
  }
}

void add_fold(Cases& cases, const std::string& name, const Shape& in, const FoldOptions& o) {
  const Shape columns = {in[0], in[1] * o.kernel_size.height * o.kernel_size.width,
                         windows(in[2], o, 0) * windows(in[3], o, 1)};
  cases
      .add("im2col " + name, {{normal(in)}, {integers(in, -5, 5)}}, CALL(im2col(x[0], o)),
           [=](const Arrays& x) {
             std::map<Index, double> values;
             each_element(in, o, [&](const Index& at, const Index& to) { values[to] = x[0].at(at); });
             return build(columns, [&](const Index& i) { return values[i]; });
           })
      .accepts(kAll);
  cases
      .add("fold " + name, {{normal(columns)}, {integers(columns, -3, 3)}}, CALL(fold(x[0], {in[2], in[3]}, o)),
           [=](const Arrays& x) {
             std::map<Index, double> sums;
             each_element(in, o, [&](const Index& at, const Index& from) { sums[at] += x[0].at(from); });
             return build(in, [&](const Index& i) { return sums[i]; });
           })
      .compares(kFloating)
      .loose(4);
}

void add_shuffles(Cases& cases) {
  cases
      .add("pixel_shuffle", {{normal({2, 8, 2, 3})}, {integers({2, 8, 2, 3}, -9, 9)}}, CALL(pixel_shuffle(x[0], 2)),
           [](const Arrays& x) {
             return build({2, 2, 4, 6}, [&](const Index& i) {
               return x[0].at({i[0], i[1] * 4 + i[2] % 2 * 2 + i[3] % 2, i[2] / 2, i[3] / 2});
             });
           })
      .accepts(kAll);
  cases
      .add("pixel_shuffle of an image", {{normal({9, 2, 1})}}, CALL(pixel_shuffle(x[0], 3)),
           [](const Arrays& x) {
             return build({1, 6, 3}, [&](const Index& i) {
               return x[0].at({i[1] % 3 * 3 + i[2] % 3, i[1] / 3, i[2] / 3});
             });
           })
      .accepts(kAll);
  cases
      .add("pixel_unshuffle", {{normal({2, 2, 4, 6})}, {normal({0, 2, 4, 6})}}, CALL(pixel_unshuffle(x[0], 2)),
           [](const Arrays& x) {
             return build({x[0].shape[0], 8, 2, 3}, [&](const Index& i) {
               return x[0].at({i[0], i[1] / 4, i[2] * 2 + i[1] / 2 % 2, i[3] * 2 + i[1] % 2});
             });
           })
      .accepts(kAll);
  cases
      .add("channel_shuffle", {{normal({2, 6, 3})}, {normal({1, 6, 2, 2})}}, CALL(channel_shuffle(x[0], 2)),
           [](const Arrays& x) {
             return build(x[0].shape, [&](Index i) { return i[1] = i[1] % 2 * 3 + i[1] / 2, x[0].at(i); });
           })
      .accepts(kAll);
}

void add_unpools(Cases& cases) {
  // Windows of 2, the last one smaller; places of a plane of 4 x 5.
  const auto spread = [](const Shape& out, int64_t axes) {
    return [=](const Arrays& x) {
      Array y = build(out, [](const Index&) { return 0.0; });
      const auto first = static_cast<size_t>(out.rank() - axes);
      int64_t pixels = 1, count = 1;
      for (size_t a = first; a < out.size(); ++a) pixels *= out[a], count *= x[0].shape[a];
      for (size_t i = 0; i < x[0].values.size(); ++i)
        y.values[static_cast<size_t>(static_cast<int64_t>(i) / count * pixels + static_cast<int64_t>(x[1].values[i]))] =
            x[0].values[i];
      return y;
    };
  };
  cases
      .add("max_unpool1d", {{normal({2, 1, 3}), index({2, 1, 3}, {0, 3, 4, 1, 2, 5})}},
           CALL(max_unpool1d(x[0], x[1], {.kernel_size = 2})), spread({2, 1, 6}, 1))
      .compares(kFloating);
  cases
      .add("max_unpool2d", {{normal({1, 2, 2, 2}), index({1, 2, 2, 2}, {0, 3, 9, 14, 6, 2, 15, 19})}},
           CALL(max_unpool2d(x[0], x[1], {.kernel_size = 2}, {4, 5})), spread({1, 2, 4, 5}, 2))
      .compares(kFloating);
  cases
      .add("max_unpool2d unbatched", {{normal({1, 1, 2}), index({1, 1, 2}, {5, 2})}},
           CALL(max_unpool2d(x[0], x[1], {.kernel_size = {2, 3}, .stride = Size2(1, 2)})), spread({1, 2, 5}, 2))
      .compares(kFloating);
  cases
      .add("max_unpool3d", {{normal({1, 1, 1, 2, 1}), index({1, 1, 1, 2, 1}, {7, 9})}},
           CALL(max_unpool3d(x[0], x[1], {.kernel_size = 2})), spread({1, 1, 2, 4, 2}, 3))
      .compares(kFloating);
}

// ---- sampling ----

double mirrored(double at, double low, double high) {
  if (high <= low) return 0;
  while (at < low || at > high) at = at < low ? 2 * low - at : 2 * high - at;
  return at;
}

double padded(double at, int64_t size, const GridSampleOptions& o) {
  const double last = static_cast<double>(size - 1), edge = o.align_corners ? 0 : 0.5;
  if (o.padding == GridPadding::zeros) return at;
  if (o.padding == GridPadding::reflection) at = mirrored(at, -edge, last + edge);
  return std::clamp(at, 0.0, last);
}

/// The pixels of an axis that a place reads, and their weights; what lies outside reads nothing.
std::map<int64_t, double> taps_of(double g, int64_t size, const GridSampleOptions& o) {
  const auto n = static_cast<double>(size);
  const double at = o.align_corners ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
  std::map<int64_t, double> taps;
  const auto add = [&](double pixel, double weight) {
    if (pixel >= 0 && pixel < n) taps[static_cast<int64_t>(pixel)] += weight;
  };
  if (o.mode == Interpolation::bicubic) {
    for (int tap = -1; tap <= 2; ++tap) {
      const double p = std::floor(at) + tap;
      add(padded(p, size, o), reference::keys(at - p));
    }
    return taps;
  }
  const double inside = padded(at, size, o), low = std::floor(inside);
  if (o.mode == Interpolation::nearest) {
    add(std::nearbyint(inside), 1);
  } else {
    add(low, 1 - (inside - low));
    add(low + 1, inside - low);
  }
  return taps;
}

Reference sampled(const GridSampleOptions& o) {
  return [o](const Arrays& x) {
    const Array &image = x[0], &grid = x[1];
    const size_t axes = image.shape.size() - 2;
    Shape out = {image.shape[0], image.shape[1]};
    for (size_t i = 0; i < axes; ++i) out.push_back(grid.shape[i + 1]);
    return build(out, [&](const Index& y) {
      Index place = {y[0]};
      place.insert(place.end(), y.begin() + 2, y.end());
      std::vector<std::pair<Index, double>> reads = {{{y[0], y[1]}, 1.0}};
      for (size_t a = 0; a < axes; ++a) {
        Index at = place;
        at.push_back(static_cast<int64_t>(axes - 1 - a));
        std::vector<std::pair<Index, double>> next;
        for (const auto& [index, weight] : reads)
          for (const auto& [pixel, part] : taps_of(grid.at(at), image.shape[a + 2], o)) {
            next.emplace_back(index, weight * part);
            next.back().first.push_back(pixel);
          }
        reads = std::move(next);
      }
      double sum = 0;
      for (const auto& [index, weight] : reads) sum += weight * image.at(index);
      return sum;
    });
  };
}

/// Places in and around the image, none near a kink: the same in every dtype.
InputSpec places(const Shape& shape) {
  std::vector<double> values;
  int64_t count = 1;
  for (int64_t s : shape) count *= s;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(std::round(1.4 * std::sin(2.3 * static_cast<double>(i) + 0.4) * 64) / 64 + 0.0078125);
  return given(shape, values);
}

void add_samples(Cases& cases) {
  using Mode = Interpolation;
  for (const auto& [mode, mode_name] :
       {std::pair{Mode::bilinear, "bilinear"}, {Mode::nearest, "nearest"}, {Mode::bicubic, "bicubic"}})
    for (const auto& [padding, padding_name] : {std::pair{GridPadding::zeros, "zeros"},
                                                {GridPadding::border, "border"},
                                                {GridPadding::reflection, "reflection"}})
      for (bool align : {false, true}) {
        const GridSampleOptions o{.mode = mode, .padding = padding, .align_corners = align};
        const std::string name =
            std::string("grid_sample ") + mode_name + " " + padding_name + (align ? " aligned" : "");
        std::vector<Sample> samples = {{normal({2, 3, 4, 5}), places({2, 2, 3, 2})},
                                       {normal({1, 2, 3, 4}), places({1, 3, 1, 2})},
                                       {normal({1, 2, 1, 3}), places({1, 2, 2, 2})},
                                       // registers of channels, and more than a block of places
                                       {normal({2, 18, 3, 2}), places({2, 2, 3, 2})}};
        if (mode != Mode::bicubic) samples.push_back({normal({1, 1, 3, 4}), places({1, 11, 13, 2})});
        cases.add(name, samples, CALL(grid_sample(x[0], x[1], o)), sampled(o)).loose(16);
        if (mode != Mode::bicubic)
          cases
              .add(name + " 3d",
                   {{normal({1, 2, 3, 4, 3}), places({1, 2, 1, 2, 3})},
                    {normal({1, 17, 2, 3, 2}), places({1, 1, 2, 1, 3})}},
                   CALL(grid_sample(x[0], x[1], o)), sampled(o))
              .loose(16);
      }
  // On the outer pixels the grid's gradient is 0, as outside of the image.
  for (const GridPadding padding : {GridPadding::border, GridPadding::reflection})
    for (const int64_t channels : {2, 17}) {
      const GridSampleOptions o{.padding = padding, .align_corners = true};
      cases
          .add(text("grid_sample backward on the outer pixels ", padding == GridPadding::border, " ", channels),
               {{normal({1, channels, 3, 4}), given({1, 2, 2, 2}, {-1, -1, 1, 1, -1, 1, 1, -1}),
                 normal({1, channels, 2, 2})}},
               CALL(adjoint::grid_sample_backward(x[2], x[0], x[1], o, 0b10)[1]),
               constant({1, 2, 2, 2}, std::vector<double>(8, 0.0)))
          .compares(DTypes{f32, f64})
          .no_gradient()
          .no_layouts();
    }
  cases
      .add("grid_sample backward of no channels", {{normal({2, 0, 3, 2}), places({2, 2, 3, 2}), normal({2, 0, 2, 3})}},
           CALL(adjoint::grid_sample_backward(x[2], x[0], x[1], {}, 0b10)[1]),
           [](const Arrays& x) { return build(x[1].shape, [](const Index&) { return 0.0; }); })
      .no_gradient();
  for (bool align : {false, true}) {
    const auto line = [align](int64_t i, int64_t n) {
      if (n == 1) return 0.0;
      const double end = align ? 1 : 1 - 1 / static_cast<double>(n);
      return -end + 2 * end * static_cast<double>(i) / static_cast<double>(n - 1);
    };
    cases
        .add(std::string("affine_grid") + (align ? " aligned" : ""), {{normal({2, 2, 3})}},
             CALL(affine_grid(x[0], {2, 1, 3, 4}, align)),
             [=](const Arrays& x) {
               return build({2, 3, 4, 2}, [&](const Index& i) {
                 return x[0].at({i[0], i[3], 0}) * line(i[2], 4) + x[0].at({i[0], i[3], 1}) * line(i[1], 3) +
                        x[0].at({i[0], i[3], 2});
               });
             })
        .compares(DTypes{f32, f64})
        .loose(8);
  }
}

void add_errors(Cases& cases) {
  cases.error<ShapeError>(
      "im2col rank",
      [] {
        im2col(ones({3, 3}), {.kernel_size = 2});
      },
      "im2col([3, 3] f32): x must be (N, C, H, W) or (C, H, W), not [3, 3]");
  cases.error<Error>(
      "im2col kernel",
      [] {
        im2col(ones({1, 3, 3}), {});
      },
      "im2col([1, 3, 3] f32): kernel size 0 must be 1 or more");
  cases.error<ShapeError>(
      "im2col window",
      [] {
        im2col(ones({1, 3, 3}), {.kernel_size = {2, 4}});
      },
      "im2col([1, 3, 3] f32): the window of 4 is larger than its axis of 3");
  cases.error<ShapeError>(
      "im2col dilated window",
      [] {
        im2col(ones({1, 3, 3}), {.kernel_size = 2, .dilation = {2, 3}});
      },
      "im2col([1, 3, 3] f32): the window of 2, dilated by 3 to 4, is larger than its axis of 3");
  cases.error<ShapeError>(
      "fold rows",
      [] {
        fold(ones({1, 6, 4}), {3, 3}, {.kernel_size = 2});
      },
      "fold([1, 6, 4] f32): 6 rows are no multiple of the 4 elements of a window");
  cases.error<ShapeError>(
      "fold windows",
      [] {
        fold(ones({1, 8, 5}), {3, 3}, {.kernel_size = 2});
      },
      "fold([1, 8, 5] f32): an image of 3 x 3 has 2 x 2 windows, not 5");
  cases.error<ShapeError>(
      "fold rank",
      [] {
        fold(ones({4}), {3, 3}, {.kernel_size = 2});
      },
      "fold([4] f32): columns must be (N, C kh kw, windows) or (C kh kw, windows), not [4]");
  cases.error<ShapeError>(
      "pixel_shuffle channels",
      [] {
        pixel_shuffle(ones({1, 6, 2, 2}), 2);
      },
      "pixel_shuffle([1, 6, 2, 2] f32): 6 channels are no multiple of 2 x 2");
  cases.error<ShapeError>(
      "pixel_shuffle rank",
      [] {
        pixel_shuffle(ones({6, 2}), 2);
      },
      "pixel_shuffle([6, 2] f32): x must be (..., C, H, W), not [6, 2]");
  cases.error<Error>(
      "pixel_shuffle factor",
      [] {
        pixel_shuffle(ones({6, 2, 2}), 0);
      },
      "pixel_shuffle([6, 2, 2] f32): upscale_factor 0 must be 1 or more");
  cases.error<ShapeError>(
      "pixel_unshuffle size",
      [] {
        pixel_unshuffle(ones({1, 3, 4}), 2);
      },
      "pixel_unshuffle([1, 3, 4] f32): an image of 3 x 4 does not divide into pixels of 2 x 2");
  cases.error<ShapeError>(
      "channel_shuffle groups",
      [] {
        channel_shuffle(ones({1, 3, 4}), 2);
      },
      "channel_shuffle([1, 3, 4] f32): 3 channels do not divide into 2 groups");
  cases.error<ShapeError>(
      "grid_sample grid",
      [] {
        grid_sample(ones({1, 1, 2, 2}), ones({1, 2, 2, 3}));
      },
      "grid_sample([1, 1, 2, 2] f32, [1, 2, 2, 3] f32): grid must be (1, H, W, 2), not [1, 2, 2, 3]");
  cases.error<ShapeError>(
      "grid_sample rank",
      [] {
        grid_sample(ones({1, 2, 2}), ones({1, 2, 2}));
      },
      "grid_sample([1, 2, 2] f32, [1, 2, 2] f32): x must be (N, C, H, W) or (N, C, D, H, W), not [1, 2, 2]");
  cases.error<Error>(
      "grid_sample mode",
      [] {
        grid_sample(ones({1, 1, 2, 2}), ones({1, 2, 2, 2}), {.mode = Interpolation::area});
      },
      "grid_sample([1, 1, 2, 2] f32, [1, 2, 2, 2] f32): the mode must be bilinear, nearest or bicubic, not area");
  cases.error<ShapeError>(
      "affine_grid theta",
      [] {
        affine_grid(ones({2, 2, 2}), {2, 1, 3, 3});
      },
      "affine_grid([2, 2, 2] f32): theta must have shape [2, 2, 3], not [2, 2, 2]");
}

}  // namespace

void add_image_cases(Cases& cases) {
  add_fold(cases, "2x2", {2, 2, 3, 4}, {.kernel_size = 2});
  add_fold(cases, "padded", {1, 2, 4, 3}, {.kernel_size = {3, 2}, .padding = {1, 1}, .stride = {2, 1}});
  add_fold(cases, "dilated", {1, 1, 5, 6}, {.kernel_size = 2, .dilation = {3, 2}, .padding = {0, 1}, .stride = {1, 2}});
  add_shuffles(cases);
  add_unpools(cases);
  add_samples(cases);
  add_errors(cases);
}

}  // namespace weft::testing
