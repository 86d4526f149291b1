#include "optim/accumulate.h"

#include <cmath>
#include <string>
#include <vector>

#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"

namespace weft::optim {

Accumulate::Accumulate(Optimizer& optimizer, int64_t batches) : optimizer_(optimizer), batches_(batches) {
  if (batches < 1) throw Error(text("Accumulate(): batches must be 1 or more, not ", batches));
}

Accumulate::Accumulate(Optimizer& optimizer, int64_t batches, GradScaler& scaler) : Accumulate(optimizer, batches) {
  scaler_ = &scaler;
}

void Accumulate::on_step(std::function<void()> before) { before_ = std::move(before); }

bool Accumulate::backward(const Tensor& loss) {
  if (waiting_ == 0) optimizer_.get("Accumulate").zero_grad();
  const Tensor part = loss / static_cast<double>(batches_);
  (scaler_ ? scaler_->scale(part) : part).backward();
  return ++waiting_ >= batches_ && flush();
}

bool Accumulate::flush() {
  if (waiting_ == 0) return false;
  Optimizer& optimizer = optimizer_.get("Accumulate");
  waiting_ = 0;
  try {
    step(optimizer);
  } catch (...) {
    optimizer.zero_grad();
    if (scaler_) scaler_->forget(optimizer);
    throw;
  }
  optimizer.zero_grad();
  return true;
}

void Accumulate::step(Optimizer& optimizer) {
  if (scaler_ && before_) scaler_->unscale_(optimizer);
  if (before_) before_();
  if (!scaler_) return optimizer.step();
  scaler_->step(optimizer);
  scaler_->update();
}

State Accumulate::state_dict() const {
  State state;
  state.numbers = {{"batches", static_cast<double>(batches_)}, {"waiting", static_cast<double>(waiting_)}};
  if (waiting_ == 0) return state;  // the next call clears what gradients there are
  int64_t position = 0;
  for (const Tensor& parameter : optimizer_.get("Accumulate").parameters()) {
    if (const Tensor gradient = parameter.grad(); gradient.defined())
      state.tensors.emplace("grad." + std::to_string(position), gradient);
    ++position;
  }
  return state;
}

void Accumulate::load_state_dict(const State& state) {
  ErrorFrame frame("Accumulate::load_state_dict");
  const double batches = detail::number_of(state.numbers, "batches");
  const double waiting = detail::number_of(state.numbers, "waiting");
  if (batches != static_cast<double>(batches_))
    throw Error(text("the state is of ", batches, " batches a step, not ", batches_));
  if (!(waiting >= 0 && waiting < batches && waiting == std::floor(waiting)))
    throw Error(text(waiting, " of ", batches, " batches cannot be waiting"));

  const std::vector<Tensor> parameters = optimizer_.get("Accumulate").parameters();
  std::vector<Tensor> gradients(parameters.size());
  size_t used = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto found = state.tensors.find("grad." + std::to_string(i));
    if (found == state.tensors.end()) continue;
    const Tensor &given = found->second, &parameter = parameters[i];
    if (given.shape() != parameter.shape() || given.dtype() != parameter.dtype())
      throw Error(text(found->first, " is ", given.shape(), " ", given.dtype(), ", its parameter ", parameter.shape(),
                       " ", parameter.dtype()));
    gradients[i] = given.detach().to(parameter.device());
    ++used;
  }
  if (used != state.tensors.size())
    throw Error(text("the state has gradients for parameters past the optimizer's ", parameters.size()));
  for (size_t i = 0; i < parameters.size(); ++i)
    gradients[i].defined() ? parameters[i].set_grad(gradients[i]) : parameters[i].zero_grad();
  waiting_ = static_cast<int64_t>(waiting);
}

}  // namespace weft::optim
