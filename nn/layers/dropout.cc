#include "nn/layers/dropout.h"

#include "tensor/functions/dropout.h"

namespace weft::nn {

Dropout::Dropout(double p) : p_(p) {
  Frame frame("Dropout");
  if (!(p >= 0 && p <= 1)) throw Error(text("the probability ", p, " must be in [0, 1]"));
}

Tensor Dropout::forward(const Tensor& x) const { return is_training() && p_ > 0 ? dropout(x, p_) : x; }

}  // namespace weft::nn
