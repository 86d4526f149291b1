// Cases of connectionist temporal classification, against the sum over all paths.
#include <cmath>

#include "tensor/adjoints/ctc_loss.h"
#include "tensor/functions/ctc_loss.h"
#include "tensor/functions/fill.h"
#include "tests/ops/families.h"

namespace weft::testing {

namespace {

/// What a path spells: repeats joined, then blanks left out.
std::vector<int64_t> spelt(const std::vector<int64_t>& path, int64_t blank) {
  std::vector<int64_t> out;
  for (size_t t = 0; t < path.size(); ++t)
    if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) out.push_back(path[t]);
  return out;
}

/// The probability of a target, over all paths of `steps` steps; the chance that one is in class c at step t too.
struct Paths {
  double total = 0;
  std::vector<double> visits;  // (steps, classes)

  Paths(const Array& log_probs, int64_t n, int64_t steps, const std::vector<int64_t>& target, int64_t blank) {
    const int64_t classes = log_probs.size(2);
    visits.assign(static_cast<size_t>(log_probs.size(0) * classes), 0.0);
    std::vector<int64_t> path(static_cast<size_t>(steps), 0);
    while (true) {
      if (spelt(path, blank) == target) {
        double log = 0;
        for (int64_t t = 0; t < steps; ++t) log += log_probs.at({t, n, path[static_cast<size_t>(t)]});
        total += std::exp(log);
        for (int64_t t = 0; t < steps; ++t)
          visits[static_cast<size_t>(t * classes + path[static_cast<size_t>(t)])] += std::exp(log);
      }
      size_t digit = 0;
      while (digit < path.size() && ++path[digit] == classes) path[digit++] = 0;
      if (digit == path.size()) return;
    }
  }
};

/// Sequence n of {log_probs, targets, input_lengths, target_lengths}.
Paths paths_of(const Array& log_probs, const Array& targets, const Array& inputs, const Array& lengths, int64_t n,
               int64_t blank) {
  std::vector<int64_t> target;
  int64_t start = 0;
  for (int64_t i = 0; i < n; ++i) start += static_cast<int64_t>(lengths.at({i}));
  for (int64_t k = 0; k < static_cast<int64_t>(lengths.at({n})); ++k)
    target.push_back(static_cast<int64_t>(targets.rank() == 1 ? targets.at({start + k}) : targets.at({n, k})));
  return Paths(log_probs, n, static_cast<int64_t>(inputs.at({n})), target, blank);
}

Reference losses(const CtcOptions& o) {
  return [o](const Arrays& x) {
    const int64_t n = x[0].size(1);
    Array out{{n}, {}};
    double sum = 0, mean = 0;
    for (int64_t i = 0; i < n; ++i) {
      double loss = -std::log(paths_of(x[0], x[1], x[2], x[3], i, o.blank).total);
      if (o.zero_infinity && std::isinf(loss)) loss = 0;
      out.values.push_back(loss);
      sum += loss, mean += loss / std::max(x[3].at({i}), 1.0) / static_cast<double>(n);
    }
    if (o.reduction == Reduction::none) return out;
    return Array{{}, {o.reduction == Reduction::sum ? sum : mean}};
  };
}

void add(Cases& cases, const std::string& name, const CtcOptions& options) {
  const int64_t blank = options.blank;
  const auto classes = [&](const Shape& shape, std::vector<double> values) {
    if (blank != 0)
      for (double& v : values) v -= 1;
    return index(shape, values);
  };
  cases
      .add("ctc loss " + name,
           {{normal({4, 2, 3}), classes({2, 2}, {1, 2, 2, 2}), index({2}, {4, 3}), index({2}, {2, 2})},
            {normal({3, 1, 3}), classes({1, 1}, {2}), index({1}, std::vector<double>{3}),
             index({1}, std::vector<double>{1}, i32)},
            {normal({3, 2, 3}), classes({2, 2}, {1, 2, 1, 1}), index({2}, {2, 3}), index({2}, {0, 1})},
            {normal({5, 1, 3}), classes({1, 2}, {1, 1}), index({1}, std::vector<double>{5}),
             index({1}, std::vector<double>{2})}},
           CALL(ctc_loss(x[0], x[1], x[2], x[3], options)), losses(options))
      .accepts(kFloating)
      .loose(8);
  // Other layouts would change the lengths, which must add up.
  cases
      .add("ctc loss of targets in a row " + name,
           {{normal({4, 2, 3}), classes({3}, {1, 2, 1}), index({2}, {4, 2}), index({2}, {2, 1})}},
           CALL(ctc_loss(x[0], x[1], x[2], x[3], options)), losses(options))
      .accepts(kFloating)
      .no_layouts()
      .loose(8);
}

void add_impossible(Cases& cases) {
  const CtcOptions options{.reduction = Reduction::none, .zero_infinity = true};
  const std::vector<Sample> samples = {
      {normal({2, 2, 3}), index({2, 2}, {1, 1, 1, 2}), index({2}, {2, 2}), index({2}, {2, 2})}};
  cases.add("ctc loss without infinity", samples, CALL(ctc_loss(x[0], x[1], x[2], x[3], options)), losses(options))
      .accepts(kFloating)
      .loose(8);
  cases
      .add("ctc loss with infinity", samples, CALL(ctc_loss(x[0], x[1], x[2], x[3], {.reduction = Reduction::none})),
           losses({.reduction = Reduction::none}))
      .accepts(kFloating)
      .no_gradient()
      .loose(8);
}

void add_backward(Cases& cases) {
  cases
      .add("ctc loss backward",
           {{normal({2}), normal({4, 2, 3}), index({2, 2}, {1, 2, 2, 1}), index({2}, {4, 3}), index({2}, {2, 1})},
            {normal({2}), normal({2, 2, 3}), index({2, 2}, {1, 1, 1, 2}), index({2}, {2, 2}), index({2}, {2, 2})}},
           CALL(adjoint::ctc_loss_backward(x[0], x[1], x[2], x[3], x[4], 0, true)),
           [](const Arrays& x) {
             return build(x[1].shape, [&](const Index& at) {
               if (at[0] >= static_cast<int64_t>(x[3].at({at[1]}))) return 0.0;
               const Paths paths = paths_of(x[1], x[2], x[3], x[4], at[1], 0);
               if (paths.total == 0) return 0.0;
               return -x[0].at({at[1]}) * paths.visits[static_cast<size_t>(at[0] * x[1].size(2) + at[2])] / paths.total;
             });
           })
      .accepts(kFloating)
      .loose(8)
      .no_bf16_gradients();  // of a gradient: a formula of 267 ops
}

/// The only path of targets 1, 2, 1, ... as long as the steps: the sum of its logarithms; a NaN that no path uses, and
/// logarithms far beyond the range of a double's exponent.
void add_long(Cases& cases) {
  constexpr int64_t kSteps = 600;
  std::vector<double> target;
  for (int64_t t = 0; t < kSteps; ++t) target.push_back(static_cast<double>(1 + t % 2));
  const auto sum_of_path = [](const Arrays& x) {
    double sum = 0;
    for (int64_t t = 0; t < x[0].size(0); ++t) sum -= x[0].at({t, 0, 1 + t % 2});
    return Array{{}, {sum}};
  };
  for (const double most : {-0.1, -30.0, -1e5, -1e17})
    cases
        .add("ctc loss of 600 steps from " + std::to_string(most),
             {{uniform({kSteps, 1, 3}, most, most / 2), index({1, kSteps}, target),
               index({1}, std::vector<double>{kSteps}), index({1}, std::vector<double>{kSteps})}},
             CALL(ctc_loss(x[0], x[1], x[2], x[3], {.reduction = Reduction::sum})), sum_of_path)
        .compares(DTypes{f32, f64})
        .no_layouts()
        .no_gradient();
  cases
      .add("ctc loss beside NaN",
           {{given({3, 1, 3}, {-1, -2, NAN, -1, -2, -3, -1, -2, -3}), index({1, 2}, {1, 2}),
             index({1}, std::vector<double>{3}), index({1}, std::vector<double>{2})}},
           CALL(ctc_loss(x[0], x[1], x[2], x[3], {.reduction = Reduction::sum})),
           [](const Arrays&) {
             return Array{{}, {-std::log(3 * std::exp(-6.0) + std::exp(-7.0) + std::exp(-8.0))}};
           })
      .compares(DTypes{f32, f64})
      .no_layouts()
      .no_gradient();
}

void add_errors(Cases& cases) {
  const auto call = [](const Shape& log_probs, const Tensor& targets, const Tensor& inputs, const Tensor& lengths,
                       int64_t blank = 0) {
    return [=] { ctc_loss(zeros(log_probs), targets, inputs, lengths, {.blank = blank}); };
  };
  const Tensor two = tensor({2, 2}), targets = tensor({{1, 2}, {2, 1}});
  const std::string same = "ctc_loss([3, 2, 3] f32, [2, 2] i64, [2] i64, [2] i64): ";
  cases.error<ShapeError>("ctc_loss axes", call({3}, targets, two, two),
                          "ctc_loss([3] f32, [2, 2] i64, [2] i64, [2] i64): log_probs must be (T, N, C), not [3]");
  cases.error<ShapeError>(
      "ctc_loss of a batch without N", call({3, 3}, targets, two, two),
      "ctc_loss([3, 3] f32, [2, 2] i64, [2] i64, [2] i64): log_probs (T, C) need targets (S) and 0-d "
      "lengths, not [2, 2], [2] and [2]");
  cases.error<ShapeError>("ctc_loss of a row with one length", call({3, 1, 3}, tensor({1, 2}), tensor({3}), tensor(2)),
                          "ctc_loss([3, 1, 3] f32, [2] i64, [1] i64, [] i64): lengths must be (N), not shape []");
  cases.error<ShapeError>("ctc_loss targets", call({3, 4, 3}, targets, two, two),
                          "ctc_loss([3, 4, 3] f32, [2, 2] i64, [2] i64, [2] i64): targets must be (4, S), not [2, 2]");
  cases.error<DtypeError>(
      "ctc_loss of floats", call({3, 2, 3}, ones({2, 2}), two, two),
      "ctc_loss([3, 2, 3] f32, [2, 2] f32, [2] i64, [2] i64): targets and lengths must be integers, not f32");
  cases.error<ShapeError>("ctc_loss lengths", call({3, 2, 3}, targets, tensor({3}), two),
                          "ctc_loss([3, 2, 3] f32, [2, 2] i64, [1] i64, [2] i64): lengths must be [2], not [1]");
  cases.error<IndexError>("ctc_loss blank", call({3, 2, 3}, targets, two, two, 3),
                          same + "blank 3 is out of range for 3 classes");
  cases.error<IndexError>("ctc_loss input length", call({3, 2, 3}, targets, tensor({4, 2}), two),
                          same + "input length 4 is out of range for 3");
  cases.error<IndexError>("ctc_loss target length", call({3, 2, 3}, targets, two, tensor({2, 3})),
                          same + "target length 3 is out of range for 2");
  cases.error<IndexError>("ctc_loss negative length", call({3, 2, 3}, targets, two, tensor({2, -1})),
                          same + "target length -1 is out of range for 2");
  cases.error<IndexError>("ctc_loss class", call({3, 2, 3}, tensor({{1, 2}, {3, 1}}), two, two),
                          same + "target 3 is out of range for 3 classes");
  cases.error<ShapeError>(
      "ctc_loss number of targets", call({3, 2, 3}, tensor({1, 2, 1}), two, two),
      "ctc_loss([3, 2, 3] f32, [3] i64, [2] i64, [2] i64): target lengths add up to 4, but there are 3 targets");
}

}  // namespace

void add_ctc_loss_cases(Cases& cases) {
  add(cases, "none", {.reduction = Reduction::none});
  add(cases, "sum", {.reduction = Reduction::sum});
  add(cases, "mean", {});
  add(cases, "last blank", {.blank = 2, .reduction = Reduction::none});
  add_impossible(cases);
  add_backward(cases);
  add_long(cases);
  add_errors(cases);
}

}  // namespace weft::testing
