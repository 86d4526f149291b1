// Cases of resampling: interpolation, and pooling to a given size.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "tensor/adjoints/resample.h"
#include "tensor/functions/adaptive_pool.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/interpolate.h"
#include "tests/ops/families.h"
#include "tests/reference/resample.h"

namespace weft::testing {

namespace {

/// What pixel `i` of an axis reads: pixels and weights.
using Axis = std::function<std::map<int64_t, double>(int64_t i, int64_t in, int64_t out)>;

double center(int64_t i, int64_t in, int64_t out, bool align, double scale) {
  if (align) return out > 1 ? static_cast<double>(i * (in - 1)) / static_cast<double>(out - 1) : 0;
  return (static_cast<double>(i) + 0.5) * (scale > 0 ? 1 / scale : static_cast<double>(in) / static_cast<double>(out)) -
         0.5;
}

Axis nearest_axis(double shift, double scale = 0) {
  return [=](int64_t i, int64_t in, int64_t out) {
    const double step = scale > 0 ? 1 / scale : static_cast<double>(in) / static_cast<double>(out);
    const auto at = static_cast<int64_t>(std::floor((static_cast<double>(i) + shift) * step + 1e-9));
    return std::map<int64_t, double>{{std::min(at, in - 1), 1.0}};
  };
}

Axis linear_axis(bool align = false, double scale = 0) {
  return [=](int64_t i, int64_t in, int64_t out) {
    const double at = std::clamp(center(i, in, out, align, scale), 0.0, static_cast<double>(in - 1));
    std::map<int64_t, double> out_taps;
    for (int64_t p = 0; p < in; ++p)
      if (const double w = 1 - std::abs(at - static_cast<double>(p)); w > 0) out_taps[p] = w;
    return out_taps;
  };
}

Axis cubic_axis(bool align = false) {
  return [=](int64_t i, int64_t in, int64_t out) {
    const double at = center(i, in, out, align, 0);
    std::map<int64_t, double> taps;
    for (int64_t p = -4; p < in + 4; ++p)
      if (const double w = reference::keys(at - static_cast<double>(p)); w != 0)
        taps[std::clamp<int64_t>(p, 0, in - 1)] += w;
    return taps;
  };
}

std::pair<int64_t, int64_t> window(int64_t i, int64_t in, int64_t out) {
  return {i * in / out, ((i + 1) * in + out - 1) / out};
}
Axis area_axis() {
  return [](int64_t i, int64_t in, int64_t out) {
    std::map<int64_t, double> taps;
    const auto [begin, end] = window(i, in, out);
    for (int64_t p = begin; p < end; ++p) taps[p] = 1 / static_cast<double>(end - begin);
    return taps;
  };
}

/// Each of the last axes mapped to the sizes of `size`.
Reference resampled(const Shape& size, const Axis& axis) {
  return [=](const Arrays& x) {
    Array y = x[0];
    for (size_t k = 0; k < size.size(); ++k) {
      const size_t a = y.shape.size() - size.size() + k;
      Shape shape = y.shape;
      shape[a] = size[k];
      y = build(shape, [&, from = y](const Index& to) {
        double sum = 0;
        for (const auto& [p, w] : axis(to[a], from.shape[a], size[k])) {
          Index at = to;
          at[a] = p;
          sum += w * from.at(at);
        }
        return sum;
      });
    }
    return y;
  };
}

void add(Cases& cases, const std::string& name, const Shape& in, const InterpolateOptions& o, const Shape& size,
         const Axis& axis) {
  cases.add("interpolate " + name, {{normal(in)}, {normal(in)}}, CALL(interpolate(x[0], o)), resampled(size, axis))
      .accepts(kFloating)
      .loose(4);
}

void add_interpolate(Cases& cases) {
  using Mode = Interpolation;
  add(cases, "nearest 1d", {2, 3, 4}, {.size = {7}}, {7}, nearest_axis(0));
  add(cases, "nearest 2d", {2, 3, 4, 5}, {.size = {8, 6}, .mode = Mode::nearest}, {8, 6}, nearest_axis(0));
  add(cases, "nearest 2d twice", {2, 17, 3, 2}, {.scale = 2.0}, {6, 4}, nearest_axis(0, 2));
  add(cases, "nearest 2d smaller", {2, 2, 5, 6}, {.size = {2, 4}}, {2, 4}, nearest_axis(0));
  add(cases, "nearest 3d", {1, 2, 2, 3, 4}, {.size = {3, 5, 2}}, {3, 5, 2}, nearest_axis(0));
  add(cases, "nearest of nothing", {0, 2, 3, 4}, {.size = {5, 5}}, {5, 5}, nearest_axis(0));
  add(cases, "nearest_exact 2d", {1, 2, 4, 5}, {.size = {7, 3}, .mode = Mode::nearest_exact}, {7, 3},
      nearest_axis(0.5));
  add(cases, "nearest_exact 1d", {1, 2, 6}, {.scale = 0.5, .mode = Mode::nearest_exact}, {3}, nearest_axis(0.5, 0.5));
  add(cases, "linear", {2, 3, 4}, {.size = {7}, .mode = Mode::linear}, {7}, linear_axis());
  add(cases, "linear unbatched", {3, 4}, {.size = {7}, .mode = Mode::linear}, {7}, linear_axis());
  add(cases, "linear aligned", {2, 3, 4}, {.size = {7}, .mode = Mode::linear, .align_corners = true}, {7},
      linear_axis(true));
  add(cases, "bilinear", {2, 3, 3, 4}, {.size = {5, 7}, .mode = Mode::bilinear}, {5, 7}, linear_axis());
  add(cases, "bilinear of many channels", {1, 18, 3, 2}, {.size = {4, 5}, .mode = Mode::bilinear}, {4, 5},
      linear_axis());
  add(cases, "bilinear unbatched", {3, 3, 4}, {.size = {5}, .mode = Mode::bilinear}, {5, 5}, linear_axis());
  add(cases, "bilinear smaller", {2, 2, 6, 5}, {.size = {4, 2}, .mode = Mode::bilinear}, {4, 2}, linear_axis());
  add(cases, "bilinear aligned", {1, 2, 3, 4}, {.size = {6, 5}, .mode = Mode::bilinear, .align_corners = true}, {6, 5},
      linear_axis(true));
  add(cases, "bilinear aligned to one", {1, 2, 3, 4}, {.size = {1, 5}, .mode = Mode::bilinear, .align_corners = true},
      {1, 5}, linear_axis(true));
  add(cases, "bilinear by a scale that keeps a size", {1, 2, 3, 4}, {.scale = 1.3, .mode = Mode::bilinear}, {3, 5},
      [](int64_t i, int64_t in, int64_t out) { return linear_axis(false, in == out ? 1 : 1.3)(i, in, out); });
  add(cases, "bilinear by a scale", {1, 2, 3, 4}, {.scale = 1.7, .mode = Mode::bilinear}, {5, 6},
      linear_axis(false, 1.7));
  add(cases, "bilinear same size", {1, 2, 3, 4}, {.size = {3, 4}, .mode = Mode::bilinear}, {3, 4}, linear_axis());
  add(cases, "trilinear", {1, 2, 2, 3, 4}, {.size = {4, 5, 3}, .mode = Mode::trilinear}, {4, 5, 3}, linear_axis());
  add(cases, "trilinear aligned", {1, 2, 4, 3, 2}, {.size = {2, 5, 3}, .mode = Mode::trilinear, .align_corners = true},
      {2, 5, 3}, linear_axis(true));
  add(cases, "bicubic", {2, 2, 4, 5}, {.size = {7, 8}, .mode = Mode::bicubic}, {7, 8}, cubic_axis());
  add(cases, "bicubic smaller", {1, 2, 6, 5}, {.size = {4, 3}, .mode = Mode::bicubic}, {4, 3}, cubic_axis());
  add(cases, "bicubic aligned", {1, 2, 4, 3}, {.size = {5, 6}, .mode = Mode::bicubic, .align_corners = true}, {5, 6},
      cubic_axis(true));
  add(cases, "area 2d", {2, 3, 5, 6}, {.size = {3, 4}, .mode = Mode::area}, {3, 4}, area_axis());
  add(cases, "area 1d larger", {2, 3, 3}, {.size = {7}, .mode = Mode::area}, {7}, area_axis());
  // What is not read does not spread: an infinity stays where it is.
  cases
      .add("interpolate infinities", {{given({1, 1, 1, 3}, {1, INFINITY, 2})}},
           CALL(interpolate(x[0], {.size = {1, 3}, .mode = Mode::bilinear})), [](const Arrays& x) { return x[0]; })
      .accepts(kFloating)
      .no_gradient();
}

void add_means(Cases& cases) {
  const auto add_mean = [&](const std::string& name, const Shape& in, const Shape& size, const Call& call) {
    cases.add("adaptive avg pool " + name, {{normal(in)}, {normal(in)}}, call, resampled(size, area_axis()))
        .accepts(kFloating)
        .loose(4);
  };
  add_mean("1d", {2, 3, 7}, {3}, CALL(adaptive_avg_pool1d(x[0], 3)));
  add_mean("1d unbatched", {3, 6}, {2}, CALL(adaptive_avg_pool1d(x[0], 2)));
  add_mean("2d", {2, 3, 5, 6}, {3, 4}, CALL(adaptive_avg_pool2d(x[0], {3, 4})));
  add_mean("2d to one", {2, 17, 4, 3}, {1, 1}, CALL(adaptive_avg_pool2d(x[0], 1)));
  add_mean("2d tiles", {1, 2, 4, 6}, {2, 2}, CALL(adaptive_avg_pool2d(x[0], 2)));
  add_mean("2d larger", {1, 2, 3, 2}, {4, 5}, CALL(adaptive_avg_pool2d(x[0], {4, 5})));
  add_mean("2d of nothing", {0, 2, 3, 2}, {2, 2}, CALL(adaptive_avg_pool2d(x[0], 2)));
  add_mean("3d", {1, 2, 4, 3, 5}, {2, 3, 2}, CALL(adaptive_avg_pool3d(x[0], {2, 3, 2})));
}

/// The maxima of the windows of the last axes and where they are.
Reference maxima(const Shape& size) {
  return [size](const Arrays& x) {
    const Shape& in = x[0].shape;
    const size_t first = in.size() - size.size();
    Shape out = in;
    for (size_t k = 0; k < size.size(); ++k) out[first + k] = size[k];
    const auto place_of = [&](const Index& y) {
      Shape sizes;
      for (size_t a = first; a < in.size(); ++a) {
        const auto [begin, end] = window(y[a], in[a], out[a]);
        sizes.push_back(end - begin);
      }
      Index best;
      for (const Index& step : indices_of(sizes)) {
        Index at = y;
        for (size_t a = first; a < in.size(); ++a) at[a] = window(y[a], in[a], out[a]).first + step[a - first];
        if (best.empty() || x[0].at(at) > x[0].at(best)) best = at;
      }
      return best;
    };
    return Arrays{build(out, [&](const Index& y) { return x[0].at(place_of(y)); }), build(out, [&](const Index& y) {
                    int64_t place = 0;
                    const Index best = place_of(y);
                    for (size_t a = first; a < in.size(); ++a) place = place * in[a] + best[a];
                    return static_cast<double>(place);
                  })};
  };
}

void add_maxima(Cases& cases) {
  const auto add_max = [&](const std::string& name, const Shape& in, const Shape& size, const Call& call,
                           const Call& with_indices) {
    cases
        .add("adaptive max pool " + name, {{distinct(in)}, {integers(in, -3, 3)}}, call,
             [size](const Arrays& x) { return maxima(size)(x)[0]; })
        .accepts(kFloating);
    cases
        .add("adaptive max pool with indices " + name, {{distinct(in)}, {integers(in, -3, 3)}}, with_indices,
             maxima(size))
        .accepts(kFloating)
        .gives({Result::same, Result::i64});
  };
  const auto both = [](const ValuesAndIndices& r) { return Outputs{r.values, r.indices}; };
  add_max("1d", {2, 3, 7}, {3}, CALL(adaptive_max_pool1d(x[0], 3)),
          CALL(both(adaptive_max_pool1d_with_indices(x[0], 3))));
  add_max("2d", {2, 3, 5, 6}, {3, 4}, CALL(adaptive_max_pool2d(x[0], {3, 4})),
          CALL(both(adaptive_max_pool2d_with_indices(x[0], {3, 4}))));
  add_max("2d unbatched", {3, 5, 4}, {1, 2}, CALL(adaptive_max_pool2d(x[0], {1, 2})),
          CALL(both(adaptive_max_pool2d_with_indices(x[0], {1, 2}))));
  add_max("2d larger", {1, 2, 3, 2}, {4, 3}, CALL(adaptive_max_pool2d(x[0], {4, 3})),
          CALL(both(adaptive_max_pool2d_with_indices(x[0], {4, 3}))));
  add_max("1d of many channels", {2, 9, 7}, {3}, CALL(adaptive_max_pool1d(x[0], 3)),
          CALL(both(adaptive_max_pool1d_with_indices(x[0], 3))));
  add_max("2d of many channels", {2, 18, 5, 7}, {3, 4}, CALL(adaptive_max_pool2d(x[0], {3, 4})),
          CALL(both(adaptive_max_pool2d_with_indices(x[0], {3, 4}))));
  // Windows whose lines fill registers.
  add_max("1d wide", {1, 2, 90}, {2}, CALL(adaptive_max_pool1d(x[0], 2)),
          CALL(both(adaptive_max_pool1d_with_indices(x[0], 2))));
  add_max("2d wide", {1, 9, 20, 21}, {1, 1}, CALL(adaptive_max_pool2d(x[0], 1)),
          CALL(both(adaptive_max_pool2d_with_indices(x[0], 1))));
  // Windows of one size, adjacent.
  add_max("1d even", {2, 9, 6}, {3}, CALL(adaptive_max_pool1d(x[0], 3)),
          CALL(both(adaptive_max_pool1d_with_indices(x[0], 3))));
  add_max("2d even", {2, 9, 4, 6}, {2, 3}, CALL(adaptive_max_pool2d(x[0], {2, 3})),
          CALL(both(adaptive_max_pool2d_with_indices(x[0], {2, 3}))));
  add_max("2d even unbatched", {3, 4, 3}, {1, 3}, CALL(adaptive_max_pool2d(x[0], {1, 3})),
          CALL(both(adaptive_max_pool2d_with_indices(x[0], {1, 3}))));
  add_max("3d even", {1, 2, 4, 3, 2}, {2, 1, 2}, CALL(adaptive_max_pool3d(x[0], {2, 1, 2})),
          CALL(both(adaptive_max_pool3d_with_indices(x[0], {2, 1, 2}))));
  add_max("3d", {1, 2, 4, 3, 5}, {2, 3, 2}, CALL(adaptive_max_pool3d(x[0], {2, 3, 2})),
          CALL(both(adaptive_max_pool3d_with_indices(x[0], {2, 3, 2}))));
}

void add_errors(Cases& cases) {
  const auto wrong = [&](const std::string& name, const Shape& in, const InterpolateOptions& o,
                         const std::string& text) {
    cases.error<Error>(
        "interpolate " + name, [=] { interpolate(ones(in), o); }, "interpolate(" + in.to_string() + " f32): " + text);
  };
  const Shape image = {1, 2, 4, 4};
  wrong("without a size", image, {}, "a size or a scale must be given");
  wrong("with both", image, {.size = {2}, .scale = 2.0}, "both a size and a scale are given; give one");
  wrong("aligned nearest", image, {.size = {2}, .align_corners = true},
        "align_corners is for linear and cubic modes, not for nearest");
  wrong("rank of trilinear", {2, 4, 4}, {.size = {2}, .mode = Interpolation::trilinear},
        "x must have 3 axes after its channels, not shape [2, 4, 4]");
  wrong("rank", {4}, {.size = {2}}, "x must have one to three axes after its channels, not shape [4]");
  wrong("rank of a mode", image, {.size = {2}, .mode = Interpolation::linear},
        "x must have 1 axis after its channels, not shape [1, 2, 4, 4]");
  wrong("number of sizes", {1, 2, 4, 4, 4}, {.size = {2, 2}, .mode = Interpolation::trilinear},
        "size has 2 numbers for 3 axes");
  wrong("number of scales", image, {.scale = {1, 2, 3}, .mode = Interpolation::bilinear},
        "scale has 3 numbers for 2 axes");
  wrong("size 0", image, {.size = {2, 0}}, "size 0 must be 1 or more");
  wrong("scale 0", image, {.scale = 0.0}, "scale 0 must be positive and finite");
  wrong("infinite scale", image, {.scale = INFINITY}, "scale inf must be positive and finite");
  wrong("small scale", image, {.scale = 0.1}, "scale 0.1 leaves nothing of an axis of 4");
  wrong("large scale", image, {.scale = 1e300}, "an axis of 4 times 1e+300 does not fit into 64 bits");
  wrong("empty axis", {1, 2, 0, 4}, {.size = {2, 2}}, "x has an axis of size 0: there is nothing to interpolate");
  cases.error<DtypeError>(
      "interpolate integers",
      [] {
        interpolate(ones({1, 1, 2}, i64), {.scale = 2.0});
      },
      "interpolate([1, 1, 2] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. x.to(f32)");
  cases.error<ShapeError>(
      "adaptive_avg_pool2d rank",
      [] {
        adaptive_avg_pool2d(ones({4, 4}), 2);
      },
      "adaptive_avg_pool2d([4, 4] f32): x must be (N, C, H, W) or (C, H, W), not [4, 4]");
  cases.error<ShapeError>(
      "adaptive_avg_pool1d size",
      [] {
        adaptive_avg_pool1d(ones({1, 4}), 0);
      },
      "adaptive_avg_pool1d([1, 4] f32): size 0 must be 1 or more");
  cases.error<ShapeError>(
      "adaptive_max_pool3d empty",
      [] {
        adaptive_max_pool3d(ones({1, 4, 0, 2}), 2);
      },
      "adaptive_max_pool3d([1, 4, 0, 2] f32): x has an axis of size 0: there is nothing to pool");
  cases.error<DtypeError>(
      "adaptive_max_pool2d integers",
      [] {
        adaptive_max_pool2d(ones({1, 4, 2}, i64), 2);
      },
      "adaptive_max_pool2d([1, 4, 2] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. "
      "x.to(f32)");
  cases.error<ShapeError>(
      "resample shape",
      [] {
        adjoint::resample(ones({1, 1, 2, 3}), AxisMap{.in = 3, .out = 3}, AxisMap{});
      },
      "resample([1, 1, 2, 3] f32): x must be (N, C, 3, 1), not [1, 1, 2, 3]");
}

}  // namespace

void add_resample_cases(Cases& cases) {
  add_interpolate(cases);
  add_means(cases);
  add_maxima(cases);
  add_errors(cases);
}

}  // namespace weft::testing
