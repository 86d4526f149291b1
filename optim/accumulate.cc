#include "optim/accumulate.h"

#include "tensor/functions/binary.h"

namespace weft::optim {

Accumulate::Accumulate(Optimizer& optimizer, int64_t batches) : optimizer_(optimizer), batches_(batches) {
  if (batches < 1) throw Error(text("Accumulate(): batches must be 1 or more, not ", batches));
}

Accumulate::Accumulate(Optimizer& optimizer, int64_t batches, GradScaler& scaler) : Accumulate(optimizer, batches) {
  scaler_ = &scaler;
}

bool Accumulate::backward(const Tensor& loss) {
  if (waiting_ == 0) optimizer_.get("Accumulate").zero_grad();
  const Tensor part = loss / static_cast<double>(batches_);
  (scaler_ ? scaler_->scale(part) : part).backward();
  return ++waiting_ == batches_ && flush();
}

bool Accumulate::flush() {
  if (waiting_ == 0) return false;
  Optimizer& optimizer = optimizer_.get("Accumulate");
  if (scaler_ && before_) scaler_->unscale_(optimizer);
  if (before_) before_();
  if (scaler_)
    scaler_->step(optimizer), scaler_->update();
  else
    optimizer.step();
  optimizer.zero_grad();
  waiting_ = 0;
  return true;
}

}  // namespace weft::optim
