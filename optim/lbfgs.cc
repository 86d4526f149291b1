#include "optim/lbfgs.h"

#include <algorithm>
#include <cmath>

#include "autograd/grad_mode.h"
#include "optim/copies.h"
#include "optim/line_search.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"

namespace weft::optim {

using detail::largest;

namespace {

double dot(const Tensor& a, const Tensor& b) { return sum(a * b).item<double>(); }

}  // namespace

LBFGS::LBFGS(const std::vector<Tensor>& parameters, const LBFGSOptions& options) : OptimizerOf("LBFGS", {}) {
  start(parameters, options);
}

void LBFGS::update(size_t, Slot&, const Tensor&) {
  if (!in_step_) throw Error("step() needs a closure: step([&] { ...; return loss; })");
}

Tensor LBFGS::step(const Closure& closure) {
  if (!closure) throw Error("LBFGS::step(): the closure is empty");
  NoGrad guard;
  Tensor result;
  const Undo undo = skips_nonfinite() ? make_undo() : Undo();
  const Point start = evaluate(closure, &result);
  bool goes_on = !stops_at(start.gradient);
  if (goes_on && !(largest(start.gradient) <= options(0).tolerance_grad)) goes_on = iterate(closure, start);
  if (!goes_on) {
    undo();
    count_skipped();
    return result;
  }
  in_step_ = true;
  try {
    update_all();  // the parameters have moved already; this counts the step
  } catch (...) {
    in_step_ = false;
    throw;
  }
  in_step_ = false;
  return result;
}

/// Whether skip_nonfinite() leaves the step out for this gradient.
bool LBFGS::stops_at(const Tensor& gradient) const { return skips_nonfinite() && !std::isfinite(largest(gradient)); }

/// Restores what was before a step that skip_nonfinite() ends. Only the parameters are written in place, and so copied.
LBFGS::Undo LBFGS::make_undo() {
  return [this, values = copies(parameters()), changes = gradient_changes_, taken = steps_taken_,
          direction = direction_, gradient = previous_gradient_, length = length_, iterations = iterations_] {
    copy_all(values, parameters());
    gradient_changes_ = changes, steps_taken_ = taken, direction_ = direction, previous_gradient_ = gradient;
    length_ = length, iterations_ = iterations;
  };
}

LBFGS::Point LBFGS::evaluate(const Closure& closure, Tensor* result) {
  Tensor loss;
  {
    const EnableGrad guard;
    loss = closure();
  }
  ++evaluations_;
  if (!loss.defined() || loss.numel() != 1) throw Error("LBFGS::step(): the closure must return the loss, one number");
  if (result != nullptr) *result = loss;
  const double value = loss.item<double>();
  return {options(0).maximize ? -value : value, flat_gradient()};
}

Tensor LBFGS::flat_gradient() const {
  std::vector<Tensor> parts;
  for (const Tensor& parameter : parameters()) {
    const Tensor gradient = parameter.grad();
    parts.push_back((gradient.defined() ? gradient : zeros_like(parameter)).reshape({-1}));
  }
  Tensor all = cat(parts);
  if (is_half_precision(all.dtype())) all = cast(all, f32);
  return options(0).maximize ? -all : all;
}

/// parameters += length * direction_
void LBFGS::move(double length) {
  int64_t at = 0;
  for (Tensor& parameter : parameters()) {
    parameter.add_(direction_.narrow(0, at, parameter.numel()).reshape(parameter.shape()) * length);
    at += parameter.numel();
  }
}

/// The loss and the gradient at parameters + length * direction_; the parameters are restored.
LBFGS::Point LBFGS::probe(const Closure& closure, const std::vector<Tensor>& origin, double length) {
  const auto back = [&] { copy_all(origin, parameters()); };
  try {
    move(length);
    Point point = evaluate(closure);
    back();
    return point;
  } catch (...) {
    back();
    throw;
  }
}

void LBFGS::forget_beyond(int64_t size) {
  while (static_cast<int64_t>(steps_taken_.size()) > size) {
    steps_taken_.erase(steps_taken_.begin());
    gradient_changes_.erase(gradient_changes_.begin());
  }
}

/// Appends the last step and its change of the gradient to the history, unless their curvature is not positive.
void LBFGS::remember(const Tensor& gradient) {
  const Tensor change = gradient - previous_gradient_, step = direction_ * length_;
  if (!(dot(change, step) > 1e-10)) return;
  forget_beyond(options(0).history_size - 1);
  gradient_changes_.push_back(change);
  steps_taken_.push_back(step);
}

/// -H g, where H approximates the inverse Hessian: the two-loop recursion of Nocedal (Math. Comp. 35, 1980).
Tensor LBFGS::direction_at(const Tensor& gradient) const {
  Tensor out = -gradient;
  const size_t count = steps_taken_.size();
  std::vector<double> curvature(count), share(count);
  for (size_t i = count; i-- > 0;) {
    curvature[i] = dot(gradient_changes_[i], steps_taken_[i]);
    share[i] = dot(steps_taken_[i], out) / curvature[i];
    out.sub_(gradient_changes_[i] * share[i]);
  }
  if (count > 0) out.mul_(curvature[count - 1] / dot(gradient_changes_[count - 1], gradient_changes_[count - 1]));
  for (size_t i = 0; i < count; ++i)
    out.add_(steps_taken_[i] * (share[i] - dot(gradient_changes_[i], out) / curvature[i]));
  return out;
}

/// Runs iterations from `point` until one of the stopping conditions holds. False if skip_nonfinite() ended the step.
bool LBFGS::iterate(const Closure& closure, Point point) {
  const LBFGSOptions& o = options(0);
  const int64_t most = o.max_eval > 0 ? o.max_eval : o.max_iter * 5 / 4, first = evaluations_ - 1;
  for (int64_t n = 1;; ++n) {
    if (++iterations_ > 1) remember(point.gradient);
    direction_ = direction_at(point.gradient);
    length_ = iterations_ == 1 ? std::min(1.0, 1 / norm(point.gradient, 1).item<double>()) * o.lr : o.lr;
    previous_gradient_ = point.gradient;
    const double before = point.loss, slope = dot(point.gradient, direction_);
    if (skips_nonfinite() && !std::isfinite(slope)) return false;
    if (slope > -o.tolerance_change) return true;
    if (o.line_search) {
      point = search(closure, point, slope, most - (evaluations_ - first));
      move(length_);
    } else {
      move(length_);
      if (n == o.max_iter) return true;  // nothing would use another evaluation
      point = evaluate(closure);
    }
    if (stops_at(point.gradient)) return false;
    if (n >= o.max_iter || evaluations_ - first >= most) return true;
    if (largest(point.gradient) <= o.tolerance_grad) return true;
    if (largest(direction_) * std::abs(length_) <= o.tolerance_change) return true;
    if (std::abs(point.loss - before) < o.tolerance_change) return true;
  }
}

/// Line search along direction_: sets length_ and returns the point there, after at most `most` more evaluations.
LBFGS::Point LBFGS::search(const Closure& closure, const Point& start, double slope, int64_t most) {
  const std::vector<Tensor> origin = copies(parameters());
  const auto at = [&](double length) {
    const Point point = probe(closure, origin, length);
    return LinePoint{length, point.loss, dot(point.gradient, direction_), point.gradient};
  };
  const LinePoint found = strong_wolfe(at, {0, start.loss, slope, start.gradient}, length_,
                                       options(0).tolerance_change / largest(direction_), most);
  length_ = found.length;
  return {found.loss, found.gradient};
}

// ---- state: that of Optimizer, and the history ----

State LBFGS::state_dict() const {
  State out = Optimizer::state_dict();
  out.numbers["lbfgs.iterations"] = static_cast<double>(iterations_);
  out.numbers["lbfgs.evaluations"] = static_cast<double>(evaluations_);
  out.numbers["lbfgs.length"] = length_;
  if (!direction_.defined()) return out;
  out.tensors["lbfgs.direction"] = direction_;
  out.tensors["lbfgs.previous_gradient"] = previous_gradient_;
  if (steps_taken_.empty()) return out;
  out.tensors["lbfgs.gradient_changes"] = stack(gradient_changes_);
  out.tensors["lbfgs.steps_taken"] = stack(steps_taken_);
  return out;
}

void LBFGS::load_state_dict(const State& given) {
  ErrorFrame frame(name());
  NoGrad guard;
  State rest = given;
  const Tensor like = flat_gradient();
  // Takes a tensor out of `rest`; undefined if it is absent. Its last axis must hold all elements of the parameters.
  const auto take = [&](const char* key, int64_t axes) {
    const auto found = rest.tensors.find(key);
    if (found == rest.tensors.end()) return Tensor();
    const Tensor value = clone(cast(found->second.to(like.device()), like.dtype()));
    rest.tensors.erase(found);
    if (value.dim() != axes || value.size(-1) != like.numel())
      throw Error(text("the state does not fit: ", key, " has shape ", value.shape(), " for ", like.numel(),
                       " elements of parameters"));
    return value;
  };
  const int64_t iterations = detail::count_of(given.numbers, "lbfgs.iterations");
  const int64_t evaluations = detail::count_of(given.numbers, "lbfgs.evaluations");
  const double length = detail::number_of(given.numbers, "lbfgs.length");
  for (const char* key : {"lbfgs.iterations", "lbfgs.evaluations", "lbfgs.length"}) rest.numbers.erase(key);
  const Tensor direction = take("lbfgs.direction", 1), previous = take("lbfgs.previous_gradient", 1);
  const Tensor changes = take("lbfgs.gradient_changes", 2), taken = take("lbfgs.steps_taken", 2);
  if (direction.defined() != previous.defined() || changes.defined() != taken.defined() ||
      (changes.defined() && changes.size(0) != taken.size(0)))
    throw Error("the state does not fit: half of a pair of tensors is missing");
  std::vector<Tensor> gradient_changes, steps_taken;
  for (int64_t i = 0; changes.defined() && i < changes.size(0); ++i) {
    gradient_changes.push_back(clone(changes[i]));
    steps_taken.push_back(clone(taken[i]));
  }
  Optimizer::load_state_dict(rest);
  iterations_ = iterations;
  evaluations_ = evaluations;
  length_ = length;
  direction_ = direction;
  previous_gradient_ = previous;
  gradient_changes_.swap(gradient_changes);
  steps_taken_.swap(steps_taken);
}

}  // namespace weft::optim
