// A digit is a few strokes in the unit square (x to the right, y down): polylines and arcs of ellipses. Each example
// jitters the strokes' own numbers, bends the plane, maps it into the image, and inks every pixel by its distance to
// the nearest segment, which makes the edges smooth.
#include "data/synthetic_digits.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/sampler.h"
#include "tensor/core/error.h"
#include "tensor/functions/fill.h"

namespace weft::data {

namespace {

constexpr int kSide = 28;
constexpr int kPixels = kSide * kSide;
constexpr float kPi = std::numbers::pi_v<float>;

struct Point {
  float x = 0, y = 0;
};

/// The random numbers of one example.
class Draws {
 public:
  Draws(RandomKey key, float strength) : key_(key), strength_(strength) {}
  float unit() {
    if (used_ == 4) {
      block_ = uniform_block(key_, next_++);
      used_ = 0;
    }
    return block_[used_++];
  }
  /// The middle of the range where there is no distortion.
  float between(float low, float high) { return 0.5f * (low + high) + around(0.5f * (high - low)); }
  /// Triangular: mostly small, at most `most`.
  float around(float most) { return strength_ * most * (unit() + unit() - 1); }
  /// True with probability p; always false where there is no distortion.
  bool chance(float p) { return unit() < p * std::min(strength_, 1.0f); }
  /// Four numbers that are near to normal, of deviation 1: sums of four bytes.
  std::array<float, 4> noise() {
    std::array<float, 4> out;
    const auto bits = random_block(key_, next_++);
    for (size_t i = 0; i < 4; ++i) {
      const uint32_t pairs = (bits[i] & 0x00ff00ffu) + ((bits[i] >> 8) & 0x00ff00ffu);
      out[i] = (static_cast<float>((pairs & 0xffff) + (pairs >> 16)) - 510.0f) * (1 / 147.8f);
    }
    return out;
  }

 private:
  RandomKey key_;
  float strength_;
  std::array<float, 4> block_ = {};
  uint64_t next_ = 0;
  size_t used_ = 4;
};

/// Collects the segments of a digit.
class Pen {
 public:
  explicit Pen(Draws& draws) : draws_(draws) {}

  void line(std::initializer_list<Point> points) {
    constexpr int kParts = 3;  // so that bending the plane bends lines
    start();
    Point last;
    bool first = true;
    for (const Point& ideal : points) {
      const Point p = {ideal.x + draws_.around(0.07f), ideal.y + draws_.around(0.07f)};
      if (first) to(p);
      for (int i = 1; i <= kParts && !first; ++i) {
        const float t = static_cast<float>(i) / kParts;
        to({last.x + t * (p.x - last.x), last.y + t * (p.y - last.y)});
      }
      last = p;
      first = false;
    }
  }
  /// Part of an ellipse; degrees, clockwise from the right.
  void arc(Point center, float rx, float ry, float from, float to_angle) {
    center = {center.x + draws_.around(0.04f), center.y + draws_.around(0.04f)};
    rx *= 1 + draws_.around(0.25f);
    ry *= 1 + draws_.around(0.18f);
    from += draws_.around(25);
    to_angle += draws_.around(25);
    start();
    const int parts = std::max(4, static_cast<int>((to_angle - from) / 24));
    for (int i = 0; i <= parts; ++i) {
      const float angle = (from + (to_angle - from) * static_cast<float>(i) / static_cast<float>(parts)) * (kPi / 180);
      to({center.x + rx * std::cos(angle), center.y + ry * std::sin(angle)});
    }
  }

  template <class Map> void map(const Map& map) {
    for (auto& [a, b] : segments_) a = map(a), b = map(b);
  }
  const std::vector<std::pair<Point, Point>>& segments() const { return segments_; }

 private:
  void start() { down_ = false; }
  void to(Point p) {
    if (down_) segments_.push_back({last_, p});
    last_ = p;
    down_ = true;
  }
  Draws& draws_;
  std::vector<std::pair<Point, Point>> segments_;
  Point last_;
  bool down_ = false;
};

void draw_digit(int digit, Draws& draws, Pen& pen) {
  const bool variant = draws.chance(0.35f);
  switch (digit) {
    case 0: return pen.arc({0.5f, 0.5f}, 0.27f, 0.42f, -90, 270);
    case 1:
      if (!variant)
        pen.line({{0.36f, 0.26f}, {0.54f, 0.08f}, {0.54f, 0.92f}});
      else
        pen.line({{0.52f, 0.08f}, {0.5f, 0.92f}});
      if (draws.chance(0.2f)) pen.line({{0.34f, 0.92f}, {0.74f, 0.92f}});
      return;
    case 2:
      pen.arc({0.48f, 0.31f}, 0.27f, 0.22f, 190, 395);
      return pen.line({{0.7f, 0.44f}, {0.24f, 0.9f}, {0.8f, 0.9f}});
    case 3: pen.arc({0.46f, 0.29f}, 0.25f, 0.2f, 205, 445); return pen.arc({0.46f, 0.7f}, 0.28f, 0.22f, 275, 515);
    case 4:
      if (!variant) return pen.line({{0.62f, 0.92f}, {0.62f, 0.08f}, {0.2f, 0.64f}, {0.84f, 0.64f}});
      pen.line({{0.3f, 0.1f}, {0.26f, 0.52f}, {0.74f, 0.52f}});
      return pen.line({{0.72f, 0.1f}, {0.67f, 0.92f}});
    case 5:
      pen.line({{0.76f, 0.1f}, {0.34f, 0.1f}, {0.29f, 0.47f}});
      return pen.arc({0.48f, 0.66f}, 0.27f, 0.25f, 228, 505);
    case 6: pen.arc({0.74f, 0.67f}, 0.5f, 0.6f, 180, 252); return pen.arc({0.5f, 0.69f}, 0.25f, 0.23f, 0, 360);
    case 7:
      pen.line({{0.2f, 0.12f}, {0.8f, 0.12f}, {0.42f, 0.92f}});
      if (variant) pen.line({{0.34f, 0.52f}, {0.72f, 0.52f}});
      return;
    case 8: pen.arc({0.5f, 0.29f}, 0.21f, 0.2f, -90, 270); return pen.arc({0.5f, 0.7f}, 0.25f, 0.22f, -90, 270);
    default:
      pen.arc({0.5f, 0.32f}, 0.24f, 0.23f, 0, 360);
      if (variant) return pen.line({{0.74f, 0.32f}, {0.7f, 0.92f}});
      return pen.arc({0.26f, 0.33f}, 0.48f, 0.58f, 0, 72);
  }
}

/// Bends the plane and maps the unit square into the image.
void place(Draws& draws, Pen& pen) {
  const float bend_x = draws.around(0.07f), bend_y = draws.around(0.07f);
  const float phase_x = kPi * draws.between(-1, 1), phase_y = kPi * draws.between(-1, 1);
  const float angle = draws.around(0.32f), slant = draws.around(0.4f);
  const float width = 17 * (1 + draws.around(0.25f)), height = 20 * (1 + draws.around(0.04f));
  const float cosine = std::cos(angle), sine = std::sin(angle);
  const float left = 13.5f + draws.around(2.7f), top = 13.5f + draws.around(2.7f);
  pen.map([=](Point p) {
    const float x = p.x + bend_x * std::sin(kPi * 1.5f * p.y + phase_x) - 0.5f;
    const float y = p.y + bend_y * std::sin(kPi * 1.5f * p.x + phase_y) - 0.5f;
    const float u = width * (x - slant * y), v = height * y;
    return Point{left + cosine * u - sine * v, top + sine * u + cosine * v};
  });
}

/// Squared distances of the pixels near a segment, where they are smaller than what is there.
void stroke(Point a, Point b, float reach, float* squared) {
  const auto first = [&](float u, float v) {
    return std::clamp(static_cast<int>(std::floor(std::min(u, v) - reach)), 0, kSide);
  };
  const auto last = [&](float u, float v) {
    return std::clamp(static_cast<int>(std::ceil(std::max(u, v) + reach)) + 1, 0, kSide);
  };
  const int left = first(a.x, b.x), right = last(a.x, b.x), bottom = last(a.y, b.y);
  const float dx = b.x - a.x, dy = b.y - a.y;
  const float scale = 1 / std::max(dx * dx + dy * dy, 1e-12f);
  for (int row = first(a.y, b.y); row < bottom; ++row) {
    const float py = static_cast<float>(row) - a.y;
    for (int column = left; column < right; ++column) {
      const float px = static_cast<float>(column) - a.x;
      const float t = std::min(std::max((px * dx + py * dy) * scale, 0.0f), 1.0f);
      const float ex = px - t * dx, ey = py - t * dy;
      float& best = squared[row * kSide + column];
      best = std::min(best, ex * ex + ey * ey);
    }
  }
}

void draw_example(int digit, Draws& draws, float* image) {
  Pen pen(draws);
  draw_digit(digit, draws, pen);
  place(draws, pen);
  const float radius = draws.between(0.5f, 1.5f), ink = draws.between(0.65f, 1.0f);
  const float noise = std::fabs(draws.around(0.25f));
  constexpr float kEdge = 0.9f;  // half the width of the soft rim
  constexpr float kFar = 1e6f;
  std::fill(image, image + kPixels, kFar);
  for (const auto& [a, b] : pen.segments()) stroke(a, b, radius + 1, image);
  for (int i = 0; i < kPixels; i += 4) {
    const std::array<float, 4> grain = draws.noise();
    for (int k = 0; k < 4; ++k) {
      const float cover = std::min(std::max((radius + kEdge - std::sqrt(image[i + k])) * (0.5f / kEdge), 0.0f), 1.0f);
      image[i + k] = std::min(std::max(cover * (ink + noise * grain[static_cast<size_t>(k)]), 0.0f), 1.0f);
    }
  }
}

}  // namespace

TensorDataset<2> synthetic_digits(const DigitsOptions& options) {
  ErrorFrame frame("synthetic_digits");
  if (options.count < 0) throw Error(text("a count of ", options.count));
  if (!(options.distortion >= 0 && options.distortion <= 2))
    throw Error(text("distortion is in [0, 2], not ", options.distortion));
  Tensor images = empty({options.count, 1, kSide, kSide}), labels = empty({options.count}, i64);
  std::vector<int64_t> ten;
  for (int64_t i = 0; i < options.count; ++i) {
    if (i % 10 == 0) ten = shuffled_order(split_key({options.seed, 1}, static_cast<uint64_t>(i / 10)), 10);
    const int64_t digit = ten[static_cast<size_t>(i % 10)];
    Draws draws(split_key({options.seed, 0}, static_cast<uint64_t>(i)), static_cast<float>(options.distortion));
    draw_example(static_cast<int>(digit), draws, images.data<float>() + i * kPixels);
    labels.data<int64_t>()[i] = digit;
  }
  return TensorDataset(images, labels);
}

}  // namespace weft::data
