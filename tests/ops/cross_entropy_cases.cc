// Cases of cross entropy: every option, and its gradient as an op of its own.
#include "tensor/adjoints/cross_entropy.h"
#include "tensor/functions/cross_entropy.h"
#include "tensor/functions/fill.h"
#include "tests/ops/families.h"
#include "tests/reference/cross_entropy.h"

namespace weft::testing {

namespace {

/// One target, of logits (N, C, ...).
reference::CrossEntropy target_of(const Array& logits, const Array& targets, const Array& weight, Index at,
                                  const CrossEntropyOptions& o) {
  const auto target = static_cast<int64_t>(targets.at(at));
  const Row weights = weight.absent ? Row(static_cast<size_t>(logits.size(1)), 1.0) : weight.values;
  at.insert(at.begin() + 1, 0);
  return reference::cross_entropy(reference::row_at(logits, at, 1), target, weights,
                                  {o.ignore_index, o.label_smoothing});
}

Reference loss(const CrossEntropyOptions& o) {
  return [o](const Arrays& x) {
    double sum = 0, weights = 0;
    Array out = build(x[1].shape, [&](const Index& at) {
      const auto target = target_of(x[0], x[1], x[2], at, o);
      sum += target.loss(), weights += target.weight;
      return target.loss();
    });
    if (o.reduction == Reduction::none) return out;
    return Array{{}, {o.reduction == Reduction::sum ? sum : sum / weights}};
  };
}

InputSpec class_weights(int64_t classes) {
  InputSpec out = uniform({classes}, 0.5, 2);
  out.differentiable = false;
  return out;
}

void add(Cases& cases, const std::string& name, const CrossEntropyOptions& options) {
  const std::vector<Sample> samples = {
      {normal({4, 3}), index({4}, 3), absent()},       {normal({4, 3}), index({4}, 3), class_weights(3)},
      {normal({2, 3, 4}), index({2, 4}, 3), absent()}, {normal({2, 3, 2, 2}), index({2, 2, 2}, 3), class_weights(3)},
      {normal({5, 1}), index({5}, 1), absent()},       {normal({1, 20}), index({1}, 20), class_weights(20)}};
  cases
      .add(
          name, samples,
          [options](const Inputs& x) {
            CrossEntropyOptions o = options;
            o.weight = x[2];
            return cross_entropy(x[0], x[1], o);
          },
          loss(options))
      .accepts(kFloating)
      .loose(4);
}

void add_backward(Cases& cases) {
  cases
      .add("cross entropy backward",
           {{normal({4}), normal({4, 3}), index({4}, 3), absent()},
            {normal({2, 3}), normal({2, 4, 3}), index({2, 3}, 4), class_weights(4)}},
           CALL(adjoint::cross_entropy_backward(x[0], x[1], x[2], x[3], 1, 0.2)),
           [](const Arrays& x) {
             CrossEntropyOptions o;
             o.ignore_index = 1, o.label_smoothing = 0.2;
             return build(x[1].shape, [&](const Index& i) {
               Index at = i;
               at.erase(at.begin() + 1);
               return x[0].at(at) * target_of(x[1], x[2], x[3], at, o).gradient()[static_cast<size_t>(i[1])];
             });
           })
      .accepts(kFloating)
      .loose(4);
}

void add_errors(Cases& cases) {
  cases.error<IndexError>(
      "cross_entropy class",
      [] {
        cross_entropy(ones({2, 3}), tensor({0, 3}));
      },
      "cross_entropy([2, 3] f32, [2] i64): class 3 is out of range for 3 classes");
  cases.error<IndexError>(
      "cross_entropy negative class",
      [] {
        cross_entropy(ones({1, 3}), tensor({-1}));
      },
      "cross_entropy([1, 3] f32, [1] i64): class -1 is out of range for 3 classes");
  cases.error<DtypeError>(
      "cross_entropy targets",
      [] {
        cross_entropy(ones({2, 3}), ones({2}));
      },
      "cross_entropy([2, 3] f32, [2] f32): the targets are f32; they must be class indices, e.g. i64");
  cases.error<DtypeError>(
      "cross_entropy logits",
      [] {
        cross_entropy(ones({2, 3}, i64), ones({2}, i64));
      },
      "cross_entropy([2, 3] i64, [2] i64): i64 is not accepted here; it takes floating dtypes; cast first, e.g. "
      "x.to(f32)");
  cases.error<ShapeError>(
      "cross_entropy shapes",
      [] {
        cross_entropy(ones({2, 3}), ones({3}, i64));
      },
      "cross_entropy([2, 3] f32, [3] i64): targets for logits [2, 3] must have shape [2], not [3]");
  cases.error<ShapeError>(
      "cross_entropy one_hot",
      [] {
        cross_entropy(ones({2, 3}), ones({2, 3}, i64));
      },
      "cross_entropy([2, 3] f32, [2, 3] i64): targets for logits [2, 3] must have shape [2], not [2, 3], which takes "
      "distributions of a floating dtype");
  cases.error<ShapeError>(
      "cross_entropy rank", [] { cross_entropy(ones({3}), ones({3}, i64)); },
      "cross_entropy([3] f32, [3] i64): logits must be (N, C, ...), not [3]");
  cases.error<Error>(
      "cross_entropy smoothing",
      [] {
        cross_entropy(ones({2, 3}), ones({2}, i64), {.label_smoothing = 1.5});
      },
      "cross_entropy([2, 3] f32, [2] i64): label smoothing 1.5 must lie between 0 and 1");
  cases.error<ShapeError>(
      "cross_entropy weight",
      [] {
        cross_entropy(ones({2, 3}), ones({2}, i64), {.weight = ones({2})});
      },
      "cross_entropy([2, 3] f32, [2] i64): the class weights must be [3] f32, not [2] f32");
  cases.error<GradientError>(
      "cross_entropy weight with a gradient",
      [] {
        cross_entropy(ones({2, 3}), ones({2}, i64), {.weight = ones({3}).requires_grad_()});
      },
      "cross_entropy([2, 3] f32, [2] i64): the class weights take no gradient; pass weight.detach()");
}

}  // namespace

void add_cross_entropy_cases(Cases& cases) {
  add(cases, "cross entropy", {});
  add(cases, "cross entropy sum", {.reduction = Reduction::sum});
  add(cases, "cross entropy each", {.reduction = Reduction::none});
  add(cases, "cross entropy smoothed", {.label_smoothing = 0.1});
  add(cases, "cross entropy ignoring", {.ignore_index = 2, .label_smoothing = 0.3, .reduction = Reduction::sum});
  // Logits that are masked with the lowest number of f32: their sum is more than f32 holds, the loss is not.
  cases
      .add(
          "cross entropy smoothed of masked logits", {{given({1, 4}, {1, -3.4e38, -3.4e38, 2}), index({1}, {3})}},
          [](const Inputs& x) { return cross_entropy(x[0], x[1], {.label_smoothing = 0.1}); },
          [](const Arrays& x) {
            return loss({.label_smoothing = 0.1})({x[0], x[1], Array{{}, {}, true}});
          })
      .compares(DTypes{f32, f64})
      .no_gradient();
  cases
      .add("cross entropy of one", {{normal({5}), index({}, 5)}}, CALL(cross_entropy(x[0], x[1])),
           [](const Arrays& x) {
             Array logits = x[0], target = x[1];
             logits.shape = {1, 5}, target.shape = {1};
             return loss({})({logits, target, Array{{}, {}, true}});
           })
      .accepts(kFloating)
      .loose(4);
  add_backward(cases);
  add_errors(cases);
}

}  // namespace weft::testing
