// L-BFGS: a quasi-Newton method for full batches (Liu and Nocedal, Math. Programming 45, 1989).
#pragma once

#include <functional>

#include "optim/optimizer.h"

namespace weft::optim {

/// Minimizes the result of a closure along the direction -H g, where the inverse Hessian H is approximated from the
/// last pairs of parameter and gradient changes. A step takes up to max_iter iterations. Each moves by lr times the
/// direction or, with line_search, by a length that satisfies the strong Wolfe conditions (Nocedal and Wright,
/// algorithm 3.5). Same as PyTorch. There is one group only. A parameter without a gradient is treated as having a zero
/// gradient. LBFGSOptions is in optim/hyper_parameters.h.
///   optim::LBFGS optimizer(model.parameters(), {.line_search = true});
///   optimizer.step([&] {
///     optimizer.zero_grad();
///     Tensor loss = nn::mse_loss(model(x), y);
///     loss.backward();
///     return loss;
///   });
class LBFGS final : public OptimizerOf<LBFGSOptions> {
 public:
  /// Computes the gradients and returns the loss.
  using Closure = std::function<Tensor()>;

  explicit LBFGS(const std::vector<Tensor>& parameters, const LBFGSOptions& options = {});
  explicit LBFGS(const std::vector<Tensor>& parameters, std::floating_point auto lr)
      : LBFGS(parameters, detail::with_lr<LBFGSOptions>(lr)) {}

  /// Makes a step. It calls the closure several times, recording even under NoGrad, and returns the first loss. Error
  /// if the loss has more than one element. With skip_nonfinite(), a NaN or Inf in the gradient at any point that the
  /// step moves to undoes the whole step; points that the line search only tries do not count.
  Tensor step(const Closure& closure) override;
  /// The number of closure calls in all steps.
  int64_t evaluations() const { return evaluations_; }
  void add_group(const Group& group) = delete;

  State state_dict() const override;
  void load_state_dict(const State& state) override;

 private:
  /// The loss at a point, and its gradient as one vector.
  struct Point {
    double loss = 0;
    Tensor gradient;
  };

  using Undo = std::function<void()>;

  void update(size_t group, Slot& slot, const Tensor& gradient) override;
  bool stops_at(const Tensor& gradient) const;
  Undo make_undo();
  Point evaluate(const Closure& closure, Tensor* result = nullptr);
  Tensor flat_gradient() const;
  void move(double length);
  void remember(const Tensor& gradient);
  Tensor direction_at(const Tensor& gradient) const;
  void forget_beyond(int64_t size);
  bool iterate(const Closure& closure, Point point);
  Point search(const Closure& closure, const Point& start, double slope, int64_t most);
  Point probe(const Closure& closure, const std::vector<Tensor>& origin, double length);

  std::vector<Tensor> gradient_changes_, steps_taken_;  // the pairs, oldest first
  Tensor direction_, previous_gradient_;
  double length_ = 0;  // of the last move along direction_
  int64_t iterations_ = 0, evaluations_ = 0;
  bool in_step_ = false;
};

}  // namespace weft::optim
