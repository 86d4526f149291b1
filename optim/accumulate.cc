#include "optim/accumulate.h"

#include "tensor/functions/binary.h"

namespace weft::optim {

Accumulate::Accumulate(Optimizer& optimizer, int64_t batches) : optimizer_(optimizer), batches_(batches) {
  if (batches < 1) throw Error(text("Accumulate(): batches must be 1 or more, not ", batches));
}

bool Accumulate::backward(const Tensor& loss) {
  if (waiting_ == 0) optimizer_.get("Accumulate").zero_grad();
  (loss / static_cast<double>(batches_)).backward();
  return ++waiting_ == batches_ && flush();
}

bool Accumulate::flush() {
  if (waiting_ == 0) return false;
  if (before_) before_();
  Optimizer& optimizer = optimizer_.get("Accumulate");
  optimizer.step();
  optimizer.zero_grad();
  waiting_ = 0;
  return true;
}

}  // namespace weft::optim
