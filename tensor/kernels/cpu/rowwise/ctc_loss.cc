// Connectionist temporal classification: the forward and backward recursions of each sequence, on one thread each.
#include "tensor/ops/ctc_loss.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/base/vector_library.h"
#include "tensor/kernels/cpu/base/vector_math.h"
#include "tensor/kernels/cpu/index/index_list.h"
#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

using vmath::Doubles;
using Words = simd::Vec<uint64_t>;
constexpr int64_t kLanes = simd::kLanes<double>;

/// Probabilities as value 2^exponent, as products over many steps leave the range of a double. Exponents are whole;
/// that of 0 is kLowest, below all others: a logarithm below -6.9e305 counts as that. Values have relative errors of
/// some 1e-16, so losses have absolute ones.
struct Scaled {
  Doubles value, exponent;
};
constexpr double kLowest = -1e306;
constexpr double kLog2 = 6.93147180559945309417e-01;
constexpr double kRounder = vmath::detail::FloatFormat<double>::kRounder;

/// 2^k for a whole k; 0 below -1022, not defined above 1023.
WEFT_SIMD Doubles power_of_two(Doubles k) {
  const Doubles shifted = simd::larger(vmath::splat<Doubles>(-1023.0), k) + (kRounder + 1023);
  return std::bit_cast<Doubles>(std::bit_cast<Words>(shifted) << 52);
}

WEFT_SIMD Scaled operator*(const Scaled& a, const Scaled& b) {
  return {a.value * b.value, simd::larger(a.exponent + b.exponent, vmath::splat<Doubles>(kLowest))};
}
WEFT_SIMD Scaled sum(const Scaled& a, const Scaled& b, const Scaled& c) {
  const Doubles top = simd::larger(a.exponent, simd::larger(b.exponent, c.exponent));
  return {a.value * power_of_two(a.exponent - top) + b.value * power_of_two(b.exponent - top) +
              c.value * power_of_two(c.exponent - top),
          top};
}
/// The same number with a value in [1, 2). A step multiplies a value by a factor between 0.7 and 4.3, so that it is
/// enough to do this once in so many steps.
constexpr int64_t kNormalizedSteps = 16;
WEFT_SIMD Scaled normalized(const Scaled& x) {
  const Words word = std::bit_cast<Words>(x.value);
  const Doubles exponent = std::bit_cast<Doubles>(word >> 52 | 0x4330000000000000u) - (0x1p52 + 1023);
  const auto finite = (x.value > Doubles{}) & (x.value <= std::numeric_limits<double>::max());
  return {vmath::select(finite, std::bit_cast<Doubles>((word & 0xfffffffffffffu) | 0x3ff0000000000000u), x.value),
          vmath::select(finite, x.exponent + exponent, x.exponent)};
}
/// e^x; NaN for NaN and +inf.
WEFT_SIMD Scaled exponential(Doubles x) {
  const Doubles power = x * 1.4426950408889634, zero{};
  const auto finite = vmath::absolute(x) <= std::numeric_limits<double>::max(),
             is_whole = vmath::absolute(power) >= 0x1p51;
  const Doubles whole = vmath::select(is_whole, power, (power + kRounder) - kRounder);
  const Doubles rest = (x - whole * 6.93147180369123816490e-01) - whole * 1.90821492927058770002e-10;
  const Doubles value = vmath::exp(vmath::select(finite & ~is_whole, rest, zero));
  const auto negative = x < zero;
  return {vmath::select(finite, value, vmath::select(negative, zero, x - x)),
          vmath::select(finite, simd::larger(whole, vmath::splat<Doubles>(kLowest)),
                        vmath::select(negative, vmath::splat<Doubles>(kLowest), zero))};
}

/// The checked integers of a call.
struct Labels {
  Labels(const Operand& log_probs, const Operand& target_list, const Operand& input_list, const Operand& target_count)
      : steps(log_probs.size(0)),
        n(log_probs.size(1)),
        classes(log_probs.size(2)),
        longest(target_list.size(1)),
        inputs(input_list, [&](const int64_t* list, int64_t) { check_lengths(list, steps, "input"); }),
        lengths(target_count, [&](const int64_t* list, int64_t) { check_lengths(list, longest, "target"); }),
        targets(target_list, [&](const int64_t* list, int64_t) {
          for (int64_t i = 0; i < n; ++i)
            for (int64_t k = 0; k < lengths[i]; ++k) check(list[i * longest + k]);
        }) {}
  void check_lengths(const int64_t* list, int64_t most, const char* what) const {
    for (int64_t i = 0; i < n; ++i)
      if (list[i] < 0 || list[i] > most)
        throw IndexError(text(what, " length ", list[i], " is out of range for ", most));
  }
  void check(int64_t target) const {
    if (target < 0 || target >= classes)
      throw IndexError(text("target ", target, " is out of range for ", classes, " classes"));
  }
  int64_t states() const { return 2 * longest + 1; }

  int64_t steps, n, classes, longest;
  IndexList inputs, lengths, targets;
};

/// One number per state at one step, with room for registers that reach beyond them, where there are zeros.
class StateRow {
 public:
  static int64_t pitch(int64_t width) { return round_up(width, kLanes) + 2 * kLanes; }
  StateRow(double* values, double* exponents) : values_(values + kLanes), exponents_(exponents + kLanes) {}
  Scaled at(int64_t state) const {
    return {simd::load<double>(values_ + state), simd::load<double>(exponents_ + state)};
  }
  void put(int64_t state, const Scaled& x) const {
    simd::store<double>(values_ + state, x.value);
    simd::store<double>(exponents_ + state, x.exponent);
  }
  void set_one(int64_t state) const { values_[state] = 1, exponents_[state] = 0; }
  void set_zero(int64_t state) const { values_[state] = 0, exponents_[state] = kLowest; }
  double value(int64_t state) const { return values_[state]; }
  double exponent(int64_t state) const { return exponents_[state]; }

 private:
  double *values_, *exponents_;
};
static_assert(kLanes >= 2);  // a state is reached from two states before it

/// One sequence: its states, and what they have at each step.
template <class T> class Sequence {
 public:
  Sequence(const Labels& labels, const Operand& log_probs, int64_t index, int64_t blank_class)
      : steps(labels.inputs[index]),
        states(2 * labels.lengths[index] + 1),
        blank(blank_class),
        data_(log_probs.data<T>() + index * log_probs.stride(1)),
        step_(log_probs.stride(0)),
        class_(log_probs.stride(2)),
        targets_(labels.targets.data() + index * labels.longest) {}
  int64_t target(int64_t i) const { return targets_[i]; }
  int64_t targets() const { return states / 2; }
  /// What `state` - 2 is multiplied by: 1 where a path may leave the blank between two classes out.
  void fill_skips(const StateRow& row) const {
    for (int64_t i = 1; i < targets(); ++i)
      if (targets_[i] != targets_[i - 1]) row.set_one(2 * i + 1);
  }
  /// The logarithms of the probabilities of the states' classes.
  void fill_logs(int64_t step, double* row) const {
    const double of_blank = at(step, blank);
    for (int64_t i = 0; i < targets(); ++i) row[2 * i] = of_blank, row[2 * i + 1] = at(step, targets_[i]);
    row[states - 1] = of_blank;
  }

  int64_t steps, states, blank;

 private:
  double at(int64_t step, int64_t of_class) const {
    return static_cast<double>(static_cast<Compute<T>>(data_[step * step_ + of_class * class_]));
  }
  const T* data_;
  int64_t step_, class_;
  const int64_t* targets_;
};

/// Rows of one sequence: alpha (steps), the probabilities of all beginnings that end in a state, and those that the
/// recursions need beside it.
class Rows {
 public:
  Rows(int64_t steps, int64_t width)
      : pitch_(StateRow::pitch(width)),
        rows_(steps + 4),
        values_(rows_ * pitch_),
        exponents_(rows_ * pitch_),
        plain_(2 * pitch_) {}
  void clear() const {
    std::fill_n(values_.data(), rows_ * pitch_, 0.0);
    std::fill_n(exponents_.data(), rows_ * pitch_, kLowest);
    std::fill_n(plain_.data(), 2 * pitch_, kNever);
    alpha(-1).set_one(0);
  }
  /// alpha of the step before the first one is 1 in the first state alone.
  StateRow alpha(int64_t step) const { return row(4 + step); }
  StateRow skips() const { return row(0); }
  StateRow beta() const { return row(1); }
  StateRow next() const { return row(2); }
  double* logs() const { return plain_.data() + kLanes; }
  double* shares() const { return plain_.data() + pitch_ + kLanes; }

 private:
  StateRow row(int64_t i) const { return {values_.data() + i * pitch_, exponents_.data() + i * pitch_}; }
  int64_t pitch_, rows_;
  Scratch<double> values_, exponents_, plain_;
};

/// The probability of all alignments that end at the last step, as value 2^exponent.
struct Total {
  Total(const StateRow& last, int64_t states) : value(last.value(states - 1)), exponent(last.exponent(states - 1)) {
    if (states == 1) return;
    const double other = last.exponent(states - 2), top = std::max(exponent, other);
    value = value * std::exp2(std::max(exponent - top, -1100.0)) +
            last.value(states - 2) * std::exp2(std::max(other - top, -1100.0));
    exponent = top;
  }
  double log() const { return std::log(value) + exponent * kLog2; }
  double value, exponent;
};

/// alpha of one sequence, and its loss.
template <class T> double run_forward(const Sequence<T>& s, const Rows& rows) {
  rows.clear();
  if (s.steps == 0) return s.states == 1 ? 0.0 : -kNever;
  const StateRow skips = rows.skips();
  double* const logs = rows.logs();
  s.fill_skips(skips);
  for (int64_t t = 0; t < s.steps; ++t) {
    s.fill_logs(t, logs);
    const StateRow alpha = rows.alpha(t), before = rows.alpha(t - 1);
    const bool normalizes = t % kNormalizedSteps == 0;
    const int64_t reached = std::min(s.states, 2 * (t + 1));  // what the others have does not matter, NaN either
    for (int64_t i = 0; i < reached; i += kLanes) {
      const Scaled x = sum(before.at(i), before.at(i - 1), before.at(i - 2) * skips.at(i)) *
                       exponential(simd::load<double>(logs + i));
      alpha.put(i, normalizes ? normalized(x) : x);
    }
    for (int64_t i = reached; i % kLanes != 0; ++i) alpha.set_zero(i);
  }
  return 0.0 - Total(rows.alpha(s.steps - 1), s.states).log();
}

/// shares[i] = alpha[i] beta[i], times a power of two that makes the largest of them about 1. Returns their sum.
double fill_shares(const StateRow& alpha, const StateRow& beta, int64_t states, double* shares) {
  Doubles top = vmath::splat<Doubles>(kLowest), total{};
  for (int64_t i = 0; i < states; i += kLanes) top = simd::larger(top, (alpha.at(i) * beta.at(i)).exponent);
  double highest = kLowest, sum = 0;
  for (int64_t i = 0; i < kLanes; ++i) highest = std::max(highest, top[i]);
  for (int64_t i = 0; i < states; i += kLanes) {
    const Scaled both = alpha.at(i) * beta.at(i);
    const Doubles share = both.value * power_of_two(both.exponent - highest);
    simd::store<double>(shares + i, share);
    total += share;
  }
  for (int64_t i = 0; i < kLanes; ++i) sum += total[i];
  return sum;
}

/// Adds to sums (steps, classes) of one sequence: -g times the probability that an alignment is in a class at a step.
/// beta, the probability of all ends from a state on, replaces that of the step behind it.
template <class T> void run_backward(const Sequence<T>& s, const Rows& rows, double g, double* sums, int64_t classes) {
  if (s.steps == 0 || Total(rows.alpha(s.steps - 1), s.states).value == 0) return;
  const StateRow skips = rows.skips(), beta = rows.beta(), next = rows.next();
  double *const logs = rows.logs(), *const shares = rows.shares();
  for (int64_t i = std::max<int64_t>(s.states - 2, 0); i < s.states; ++i) beta.set_one(i);
  for (int64_t t = s.steps - 1;; --t) {
    const double scale = g / fill_shares(rows.alpha(t), beta, s.states, shares);
    double* const row = sums + t * classes;
    const auto add = [&](int64_t c, double share) {
      if (share != 0) row[c] -= scale * share;
    };
    double of_blank = shares[s.states - 1];
    for (int64_t i = 0; i < s.targets(); ++i) of_blank += shares[2 * i], add(s.target(i), shares[2 * i + 1]);
    add(s.blank, of_blank);
    if (t == 0) return;
    s.fill_logs(t, logs);
    for (int64_t i = 0; i < s.states; i += kLanes) next.put(i, beta.at(i) * exponential(simd::load<double>(logs + i)));
    const bool normalizes = t % kNormalizedSteps == 0;
    for (int64_t i = 0; i < s.states; i += kLanes) {
      const Scaled x = sum(next.at(i), next.at(i + 1), next.at(i + 2) * skips.at(i + 2));
      beta.put(i, normalizes ? normalized(x) : x);
    }
  }
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::CtcLoss::cpu(const Operand& log_probs, const Operand& targets, const Operand& input_lengths,
                      const Operand& target_lengths, const Operand& loss) const {
  const Labels labels(log_probs, targets, input_lengths, target_lengths);
  visit_floating(log_probs.dtype, [&]<class T>() {
    const int64_t width = labels.states();
    parallel_for(labels.n, row_grain(labels.steps * width), [&](int64_t begin, int64_t end) {
      const Rows rows(labels.steps, width);
      for (int64_t i = begin; i < end; ++i) {
        const double one = run_forward(Sequence<T>(labels, log_probs, i, blank), rows);
        loss.data<T>()[i] = convert<T>(zero_infinity && one == -kNever ? 0.0 : one);
      }
    });
  });
}

void op::CtcLossBackward::cpu(const Operand& g, const Operand& log_probs, const Operand& targets,
                              const Operand& input_lengths, const Operand& target_lengths, const Operand& out) const {
  const Labels labels(log_probs, targets, input_lengths, target_lengths);
  visit_floating(log_probs.dtype, [&]<class T>() {
    const int64_t width = labels.states(), size = labels.steps * labels.classes;
    parallel_for(labels.n, row_grain(labels.steps * width), [&](int64_t begin, int64_t end) {
      const Rows rows(labels.steps, width);
      const Scratch<double> sums(size);
      for (int64_t i = begin; i < end; ++i) {
        const Sequence<T> sequence(labels, log_probs, i, blank);
        const bool is_possible = run_forward(sequence, rows) != -kNever;
        std::fill_n(sums.data(), size, 0.0);
        if (!is_possible && !zero_infinity)
          std::fill_n(sums.data(), sequence.steps * labels.classes, std::numeric_limits<double>::quiet_NaN());
        run_backward(sequence, rows, static_cast<double>(static_cast<Compute<T>>(g.data<T>()[i * g.stride(0)])),
                     sums.data(), labels.classes);
        T* to = out.data<T>() + i * out.stride(1);
        for (int64_t t = 0; t < labels.steps; ++t)
          for (int64_t c = 0; c < labels.classes; ++c)
            to[t * out.stride(0) + c * out.stride(2)] = convert<T>(sums.data()[t * labels.classes + c]);
      }
    });
  });
}

}  // namespace weft
