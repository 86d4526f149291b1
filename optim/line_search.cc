#include "optim/line_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::optim {
namespace {

constexpr double kEnough = 1e-4;  // sufficient decrease: this part of what the slope at the start predicts
constexpr double kFlat = 0.9;     // curvature: the slope is at most this part of that at the start

/// The minimum in [low, high] of the cubic with the values and slopes of two points; the midpoint if it has none.
double cubic_minimum(const LinePoint& a, const LinePoint& b, double low, double high) {
  const LinePoint &left = a.length <= b.length ? a : b, &right = a.length <= b.length ? b : a;
  const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.length - b.length);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double minimum =
      right.length - (right.length - left.length) * ((right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2));
  return std::min(std::max(minimum, low), high);
}

class Search {
 public:
  Search(const std::function<LinePoint(double)>& at, const LinePoint& start, int64_t most)
      : at_(at), start_(start), most_(most) {}

  LinePoint run(double first, double narrow) {
    if (!bracket(first)) zoom(narrow);
    return low_;
  }

 private:
  bool falls_enough(const LinePoint& point) const {
    return point.loss <= start_.loss + kEnough * point.length * start_.slope;  // false for NaN
  }
  bool is_flat(const LinePoint& point) const { return std::abs(point.slope) <= -kFlat * start_.slope; }
  void set_ends(const LinePoint& a, const LinePoint& b) {
    first_is_low_ = !(b.loss < a.loss);
    low_ = first_is_low_ ? a : b;
    high_ = first_is_low_ ? b : a;
  }

  /// Increases the length until two points bracket a minimum. Returns whether the last one meets the conditions.
  bool bracket(double first) {
    LinePoint previous = start_, now = at_(first);
    for (; count_ < most_; ++count_) {
      if (!falls_enough(now) || (count_ > 1 && now.loss >= previous.loss)) return set_ends(previous, now), false;
      if (is_flat(now)) return low_ = now, true;
      if (now.slope >= 0) return set_ends(previous, now), false;
      const double nearest = now.length + 0.01 * (now.length - previous.length);
      const LinePoint next = at_(cubic_minimum(previous, now, nearest, now.length * 10));
      previous = std::exchange(now, next);
    }
    return set_ends(start_, now), false;
  }

  /// The next length to try inside the bracket; not close to an end of it twice in a row.
  double between() {
    const LinePoint &a = first_is_low_ ? low_ : high_, &b = first_is_low_ ? high_ : low_;
    const double left = std::min(a.length, b.length), right = std::max(a.length, b.length);
    const double length = cubic_minimum(a, b, left, right), margin = 0.1 * (right - left);
    const bool is_near = std::min(right - length, length - left) < margin;
    const bool moves = is_near && (was_near_ || length >= right || length <= left);
    was_near_ = is_near && !moves;
    if (!moves) return length;
    return std::abs(length - right) < std::abs(length - left) ? right - margin : left + margin;
  }

  /// Makes the bracket smaller until its lower end meets the conditions.
  void zoom(double narrow) {
    for (; count_ < most_ && !(std::abs(high_.length - low_.length) < narrow); ++count_) {
      const LinePoint now = at_(between());
      if (!falls_enough(now) || now.loss >= low_.loss) {
        replace_high(now);
        continue;
      }
      const bool done = is_flat(now);
      if (!done && now.slope * (high_.length - low_.length) >= 0) high_ = low_;
      low_ = now;
      if (done) return;
    }
  }
  void replace_high(const LinePoint& now) {
    high_ = now;
    if (high_.loss < low_.loss || (high_.loss == low_.loss && !first_is_low_)) {
      std::swap(low_, high_);
      first_is_low_ = !first_is_low_;
    }
  }

  const std::function<LinePoint(double)>& at_;
  const LinePoint& start_;
  int64_t most_, count_ = 0;
  LinePoint low_, high_;
  bool first_is_low_ = true;  // the order of the points in the formula, so that it rounds as in PyTorch
  bool was_near_ = false;
};

}  // namespace

LinePoint strong_wolfe(const std::function<LinePoint(double)>& at, const LinePoint& start, double first, double narrow,
                       int64_t most) {
  return Search(at, start, most).run(first, narrow);
}

}  // namespace weft::optim
