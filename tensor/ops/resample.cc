#include "tensor/ops/resample.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tensor/core/interpolation.h"
#include "tensor/ops/window.h"

namespace weft {
namespace {

using Kind = AxisMap::Kind;

/// Adds a pixel to what the last target pixel reads; pixels next to each other that are the same become one.
void add(Taps& taps, int64_t at, double weight) {
  if (weight == 0) return;
  if (static_cast<int64_t>(taps.at.size()) > taps.first.back() && taps.at.back() == at) {
    taps.weight.back() += weight;
    return;
  }
  taps.at.push_back(at);
  taps.weight.push_back(weight);
}
void end_target(Taps& taps) { taps.first.push_back(static_cast<int64_t>(taps.at.size())); }

/// A pixel of the axis: what lies outside is the border.
int64_t clamped(double at, int64_t size) {
  return static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(size - 1)));
}

void add_linear(Taps& taps, const AxisMap& map, int64_t i) {
  const auto [low, part] = linear_place(map, i);
  add(taps, clamped(low, map.in), 1 - part);
  add(taps, clamped(low + 1, map.in), part);
}

void add_cubic(Taps& taps, const AxisMap& map, int64_t i) {
  const double at = center_of(map, i), low = std::floor(at), part = at - low;
  const std::array<double, 4> weights = {cubic_outer(part + 1), cubic_inner(part), cubic_inner(1 - part),
                                         cubic_outer(2 - part)};
  for (int tap = 0; tap < 4; ++tap) add(taps, clamped(low + tap - 1, map.in), weights[static_cast<size_t>(tap)]);
}

void add_area(Taps& taps, const AxisMap& map, int64_t i) {
  const auto [begin, end] = shared_range(i, map.out, map.in);
  for (int64_t at = begin; at < end; ++at) add(taps, at, 1 / static_cast<double>(end - begin));
}

Taps transposed(const Taps& taps, int64_t targets) {
  Taps out;
  std::vector<int64_t> next(static_cast<size_t>(targets), 0);
  for (int64_t at : taps.at) ++next[static_cast<size_t>(at)];
  for (int64_t& count : next) {
    out.first.push_back(out.first.back() + count);
    count = out.first[out.first.size() - 2];
  }
  out.at.resize(taps.at.size());
  out.weight.resize(taps.at.size());
  for (size_t i = 0; i + 1 < taps.first.size(); ++i)
    for (auto k = static_cast<size_t>(taps.first[i]); k < static_cast<size_t>(taps.first[i + 1]); ++k) {
      const auto place = static_cast<size_t>(next[static_cast<size_t>(taps.at[k])]++);
      out.at[place] = static_cast<int64_t>(i);
      out.weight[place] = taps.weight[k];
    }
  return out;
}

}  // namespace

std::string attribute_text(const AxisMap& map) {
  static constexpr std::array<const char*, 6> kNames = {"identity", "nearest", "nearest_exact",
                                                        "linear",   "cubic",   "area"};
  return text(kNames[static_cast<size_t>(map.kind)], "(", map.in, " to ", map.out,
              map.scale > 0 ? text(", scale ", map.scale) : "", map.align_corners ? ", aligned corners" : "",
              map.transposed ? ", transposed" : "", ")");
}

void nearest_pixels(const AxisMap& map, int64_t begin, int64_t count, int64_t* pixels) {
  const bool exact = map.kind == Kind::nearest_exact;
  if (map.scale > 0) {
    for (int64_t i = 0; i < count; ++i)
      pixels[i] = clamped((static_cast<double>(begin + i) + (exact ? 0.5 : 0.0)) * map.scale, map.in);
    return;
  }
  // floor(i in / out), or of i + 1/2, without a division for each.
  const __int128 first = (static_cast<__int128>(begin) * 2 + (exact ? 1 : 0)) * map.in;
  const __int128 divisor = static_cast<__int128>(map.out) * 2;
  auto pixel = static_cast<int64_t>(first / divisor);
  auto rest = static_cast<int64_t>(first % divisor);
  const int64_t whole = map.in / map.out, part = map.in % map.out * 2, end = checked_multiply(map.out, 2);
  for (int64_t i = 0; i < count; ++i) {
    pixels[i] = pixel;
    const bool carries = rest >= end - part;
    pixel += whole + (carries ? 1 : 0);
    rest += carries ? part - end : part;
  }
}

Taps taps_of(const AxisMap& map) {
  Taps taps;
  taps.first.reserve(static_cast<size_t>(map.out) + 1);
  if (map.kind == Kind::nearest || map.kind == Kind::nearest_exact) {
    taps.at.resize(static_cast<size_t>(map.out));
    nearest_pixels(map, 0, map.out, taps.at.data());
    taps.weight.assign(taps.at.size(), 1);
    for (int64_t i = 0; i < map.out; ++i) taps.first.push_back(i + 1);
  } else {
    for (int64_t i = 0; i < map.out; ++i) {
      if (map.kind == Kind::identity) add(taps, i, 1);
      if (map.kind == Kind::linear) add_linear(taps, map, i);
      if (map.kind == Kind::cubic) add_cubic(taps, map, i);
      if (map.kind == Kind::area) add_area(taps, map, i);
      end_target(taps);
    }
  }
  return map.transposed ? transposed(taps, map.in) : taps;
}

namespace op {

Spec Resample::infer(const Operand& x) const {
  if (x.rank() != 4 || x.size(2) != lines.source() || x.size(3) != columns.source())
    throw ShapeError(text("x must be (N, C, ", lines.source(), ", ", columns.source(), "), not ", x.shape()));
  const Shape shape = {x.size(0), x.size(1), lines.target(), columns.target()};
  return {x.view->is_contiguous() ? View::contiguous(shape) : channels_last_view(shape), x.dtype};
}

}  // namespace op
}  // namespace weft
