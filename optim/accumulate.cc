#include "optim/accumulate.h"

#include "tensor/functions/binary.h"

namespace weft::optim {

Accumulate::Accumulate(Optimizer& optimizer, int64_t batches) : optimizer_(optimizer), batches_(batches) {
  if (batches < 1) throw Error(text("Accumulate(): batches must be 1 or more, not ", batches));
}

bool Accumulate::backward(const Tensor& loss) {
  if (waiting_ == 0) optimizer_.zero_grad();
  (loss / static_cast<double>(batches_)).backward();
  return ++waiting_ == batches_ && flush();
}

bool Accumulate::flush() {
  if (waiting_ == 0) return false;
  if (before_) before_();
  optimizer_.step();
  optimizer_.zero_grad();
  waiting_ = 0;
  return true;
}

}  // namespace weft::optim
