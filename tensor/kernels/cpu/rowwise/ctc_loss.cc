// Connectionist temporal classification: the forward and backward recursions of each sequence, on one thread each.
#include "tensor/ops/ctc_loss.h"

#include <algorithm>
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

using Doubles = simd::Vec<double>;
constexpr int64_t kLanes = simd::kLanes<double>;

/// log(e^a + e^b + e^c); NaN comes through.
WEFT_SIMD Doubles log_add(Doubles a, Doubles b, Doubles c) {
  const Doubles top = simd::larger(a, simd::larger(b, c));
  const Doubles sum = vmath::exp_below(a - top) + vmath::exp_below(b - top) + vmath::exp_below(c - top);
  return vmath::select(top > kNever, top + vmath::log(sum), a + b + c);
}

/// log(e^a + e^b)
double log_add(double a, double b) {
  const double top = std::max(a, b);
  return top > kNever ? top + std::log(std::exp(a - top) + std::exp(b - top)) : a + b;
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

/// The logarithms of one number per state at one step, with room for registers that reach beyond them, where there are
/// impossible states.
class StateRow {
 public:
  static int64_t pitch(int64_t width) { return ceil_div(width, kLanes) * kLanes + 2 * kLanes; }
  explicit StateRow(double* memory) : first_(memory + kLanes) {}
  static void clear(double* memory, int64_t rows, int64_t width) { std::fill_n(memory, rows * pitch(width), kNever); }
  double& operator[](int64_t state) const { return first_[state]; }
  Doubles at(int64_t state) const { return simd::load<double>(first_ + state); }
  void put(int64_t state, Doubles values) const { simd::store<double>(first_ + state, values); }

 private:
  double* first_;
};
static_assert(kLanes >= 2);  // a state is reached from two states before it

/// One sequence: its states, and the logarithms of the probabilities of their classes.
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
  /// What is added to the logarithm of `state` - 2: 0 where a path may leave the blank between two classes out.
  void fill_skips(StateRow row) const {
    for (int64_t i = 1; i < targets(); ++i) row[2 * i + 1] = targets_[i] != targets_[i - 1] ? 0.0 : kNever;
  }
  void fill_probabilities(int64_t step, StateRow row) const {
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

/// Rows of one sequence: alpha (steps), the logarithms of the probabilities of all beginnings that end in a state, and
/// those that the recursions need beside it.
class Rows {
 public:
  Rows(int64_t steps, int64_t width) : width_(width), steps_(steps), memory_((steps + 5) * StateRow::pitch(width)) {}
  void clear() const { StateRow::clear(memory_.data(), steps_ + 5, width_); }
  StateRow alpha(int64_t step) const { return row(5 + step); }
  StateRow skips() const { return row(0); }
  StateRow probabilities() const { return row(1); }
  StateRow beta() const { return row(2); }
  StateRow next() const { return row(3); }
  StateRow shares() const { return row(4); }

 private:
  StateRow row(int64_t i) const { return StateRow(memory_.data() + i * StateRow::pitch(width_)); }
  int64_t width_, steps_;
  Scratch<double> memory_;
};

/// The logarithm of the probability of all alignments that end at the last step.
double total_of(StateRow last, int64_t states) {
  return states > 1 ? log_add(last[states - 1], last[states - 2]) : last[0];
}

/// alpha of one sequence, and its loss.
template <class T> double run_forward(const Sequence<T>& s, const Rows& rows) {
  rows.clear();
  if (s.steps == 0) return s.states == 1 ? 0.0 : -kNever;
  const StateRow skips = rows.skips(), probabilities = rows.probabilities();
  s.fill_skips(skips);
  for (int64_t t = 0; t < s.steps; ++t) {
    s.fill_probabilities(t, probabilities);
    const StateRow alpha = rows.alpha(t), before = rows.alpha(t - 1);
    if (t == 0) {
      for (int64_t i = 0; i < std::min<int64_t>(s.states, 2); ++i) alpha[i] = probabilities[i];
      continue;
    }
    for (int64_t i = 0; i < s.states; i += kLanes)
      alpha.put(i, log_add(before.at(i), before.at(i - 1), before.at(i - 2) + skips.at(i)) + probabilities.at(i));
  }
  return -total_of(rows.alpha(s.steps - 1), s.states);
}

/// Adds to sums (steps, classes) of one sequence: -g times the probability that an alignment is in a class at a step.
/// beta, the log of the probability of all ends from a state on, replaces that of the step behind it.
template <class T> void run_backward(const Sequence<T>& s, const Rows& rows, double g, double* sums, int64_t classes) {
  if (s.steps == 0) return;
  const double total = total_of(rows.alpha(s.steps - 1), s.states);
  if (total == kNever) return;
  const StateRow skips = rows.skips(), probabilities = rows.probabilities(), beta = rows.beta(), next = rows.next(),
                 shares = rows.shares();
  for (int64_t i = std::max<int64_t>(s.states - 2, 0); i < s.states; ++i) beta[i] = 0;
  for (int64_t t = s.steps - 1;; --t) {
    const StateRow alpha = rows.alpha(t);
    for (int64_t i = 0; i < s.states; i += kLanes) shares.put(i, vmath::exp(alpha.at(i) + beta.at(i) - total));
    double* const row = sums + t * classes;
    const auto add = [&](int64_t c, double share) {
      if (share != 0) row[c] -= g * share;
    };
    double of_blank = shares[s.states - 1];
    for (int64_t i = 0; i < s.targets(); ++i) of_blank += shares[2 * i], add(s.target(i), shares[2 * i + 1]);
    add(s.blank, of_blank);
    if (t == 0) return;
    s.fill_probabilities(t, probabilities);
    for (int64_t i = 0; i < s.states; i += kLanes) next.put(i, beta.at(i) + probabilities.at(i));
    for (int64_t i = 0; i < s.states; i += kLanes)
      beta.put(i, log_add(next.at(i), next.at(i + 1), next.at(i + 2) + skips.at(i + 2)));
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
