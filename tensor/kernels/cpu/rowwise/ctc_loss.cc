// Connectionist temporal classification: the forward and backward recursions of each sequence, on one thread each.
#include "tensor/ops/ctc_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/index/index_list.h"
#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// log(e^a + e^b + e^c); NaN comes through. What cannot be costs no exponential: half of all states have two terms.
double log_add(double a, double b, double c = kNever) {
  if (b > a) std::swap(a, b);
  if (c > a) std::swap(a, c);
  if (!(a > kNever)) return a + b + c;
  double sum = 1;
  if (b != kNever) sum += std::exp(b - a);
  if (c != kNever) sum += std::exp(c - a);
  return a + std::log(sum);
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

/// The states of one sequence.
struct Sequence {
  Sequence(const Labels& labels, int64_t index, int64_t blank_class)
      : steps(labels.inputs[index]),
        states(2 * labels.lengths[index] + 1),
        blank(blank_class),
        targets(labels.targets.data() + index * labels.longest) {}
  int64_t class_of(int64_t state) const { return state % 2 == 0 ? blank : targets[state / 2]; }
  /// Whether a path may go from `state` - 2 to `state`, leaving the blank between two classes out.
  bool may_skip(int64_t state) const {
    return state % 2 == 1 && state > 1 && targets[state / 2] != targets[state / 2 - 1];
  }

  int64_t steps, states, blank;
  const int64_t* targets;
};

/// One row of log_probs at a time.
template <class T> class Steps {
 public:
  Steps(const Operand& log_probs, int64_t sequence)
      : data_(log_probs.data<T>() + sequence * log_probs.stride(1)),
        step_(log_probs.stride(0)),
        class_(log_probs.stride(2)) {}
  double operator()(int64_t step, int64_t of_class) const {
    return static_cast<double>(static_cast<Compute<T>>(data_[step * step_ + of_class * class_]));
  }

 private:
  const T* data_;
  int64_t step_, class_;
};

/// alpha (steps, states) of one sequence and its loss.
template <class T> double run_forward(const Sequence& s, const Steps<T>& log_probs, double* alpha, int64_t width) {
  if (s.steps == 0) return s.states == 1 ? 0.0 : -kNever;
  for (int64_t i = 0; i < s.states; ++i) alpha[i] = i < 2 ? log_probs(0, s.class_of(i)) : kNever;
  for (int64_t t = 1; t < s.steps; ++t) {
    const double* before = alpha + (t - 1) * width;
    for (int64_t i = 0; i < s.states; ++i) {
      const double sum = log_add(before[i], i > 0 ? before[i - 1] : kNever, s.may_skip(i) ? before[i - 2] : kNever);
      alpha[t * width + i] = sum + log_probs(t, s.class_of(i));
    }
  }
  const double* last = alpha + (s.steps - 1) * width;
  return -log_add(last[s.states - 1], s.states > 1 ? last[s.states - 2] : kNever);
}

/// Adds to gradient (steps, classes) of one sequence: -g times the probability that an alignment is in a class at a
/// step. beta, the log of the probability of all ends from a state on, replaces that of the step behind it.
template <class T, class Add>
void run_backward(const Sequence& s, const Steps<T>& log_probs, const double* alpha, int64_t width, double g,
                  double* beta, double* next, const Add& add) {
  if (s.steps == 0) return;
  const double* last = alpha + (s.steps - 1) * width;
  const double total = log_add(last[s.states - 1], s.states > 1 ? last[s.states - 2] : kNever);
  if (total == kNever) return;
  for (int64_t i = 0; i < s.states; ++i) beta[i] = i >= s.states - 2 ? 0.0 : kNever;
  for (int64_t t = s.steps - 1;; --t) {
    for (int64_t i = 0; i < s.states; ++i) {
      const double log_share = alpha[t * width + i] + beta[i] - total;
      if (log_share != kNever) add(t, s.class_of(i), -g * std::exp(log_share));
    }
    if (t == 0) return;
    for (int64_t i = 0; i < s.states; ++i) next[i] = beta[i] + log_probs(t, s.class_of(i));
    for (int64_t i = 0; i < s.states; ++i) {
      const bool skips = i + 2 < s.states && s.may_skip(i + 2);
      beta[i] = log_add(next[i], i + 1 < s.states ? next[i + 1] : kNever, skips ? next[i + 2] : kNever);
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
    const int64_t width = labels.states(), size = labels.steps * width;
    parallel_for(labels.n, row_grain(size), [&](int64_t begin, int64_t end) {
      const Scratch<double> all(size);
      for (int64_t i = begin; i < end; ++i) {
        std::fill_n(all.data(), size, kNever);
        const Sequence sequence(labels, i, blank);
        const double one = run_forward<T>(sequence, Steps<T>(log_probs, i), all.data(), width);
        loss.data<T>()[i] = convert<T>(zero_infinity && one == -kNever ? 0.0 : one);
      }
    });
  });
}

void op::CtcLossBackward::cpu(const Operand& g, const Operand& log_probs, const Operand& targets,
                              const Operand& input_lengths, const Operand& target_lengths, const Operand& out) const {
  const Labels labels(log_probs, targets, input_lengths, target_lengths);
  visit_floating(log_probs.dtype, [&]<class T>() {
    const int64_t width = labels.states(), size = labels.steps * width, rows = labels.steps * labels.classes;
    parallel_for(labels.n, row_grain(size), [&](int64_t begin, int64_t end) {
      const Scratch<double> alpha(size), beta(width), next(width), sums(rows);
      for (int64_t i = begin; i < end; ++i) {
        const Sequence sequence(labels, i, blank);
        const Steps<T> steps(log_probs, i);
        const bool is_possible = run_forward<T>(sequence, steps, alpha.data(), width) != -kNever;
        std::fill_n(sums.data(), rows, 0.0);
        if (!is_possible && !zero_infinity)
          std::fill_n(sums.data(), sequence.steps * labels.classes, std::numeric_limits<double>::quiet_NaN());
        run_backward<T>(sequence, steps, alpha.data(), width,
                        static_cast<double>(static_cast<Compute<T>>(g.data<T>()[i * g.stride(0)])), beta.data(),
                        next.data(),
                        [&](int64_t t, int64_t c, double share) { sums.data()[t * labels.classes + c] += share; });
        T* to = out.data<T>() + i * out.stride(1);
        for (int64_t t = 0; t < labels.steps; ++t)
          for (int64_t c = 0; c < labels.classes; ++c)
            to[t * out.stride(0) + c * out.stride(2)] = convert<T>(sums.data()[t * labels.classes + c]);
      }
    });
  });
}

}  // namespace weft
