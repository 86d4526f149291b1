#include "nn/layers/dropout.h"

#include "nn/layers/options.h"
#include "tensor/functions/dropout.h"

namespace weft::nn {

Dropout::Dropout(double p) : p_(p) {
  Frame frame("Dropout");
  detail::check_probability("p", p);
}

Tensor Dropout::forward(const Tensor& x) const { return is_training() && p_ > 0 ? dropout(x, p_) : x; }

}  // namespace weft::nn
