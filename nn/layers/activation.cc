#include "nn/layers/activation.h"

#include "nn/layers/options.h"
#include "tensor/functions/fill.h"

namespace weft::nn {

Softplus::Softplus(double beta, double threshold) : beta_(beta), threshold_(threshold) {
  ErrorFrame frame("Softplus");
  if (beta == 0) throw Error("beta must not be 0");
  describe(text("beta=", beta, ", threshold=", threshold));
}

Tensor Softmax2d::forward(const Tensor& x) const {
  ErrorFrame frame("Softmax2d", x);
  if (x.rank() != 3 && x.rank() != 4) throw ShapeError("the input must be (N, C, H, W) or (C, H, W)");
  return softmax(x, -3);
}

PReLU::PReLU(int64_t num_parameters, double init, DType dtype) {
  ErrorFrame frame("PReLU");
  detail::check_positive("num_parameters", num_parameters);
  describe(text("num_parameters=", num_parameters));
  weight_ = register_parameter("weight", full({num_parameters}, init, dtype));
}

}  // namespace weft::nn
