#include "nn/layers/linear.h"

#include "nn/init.h"
#include "nn/layers/options.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/linear.h"

namespace weft::nn {

Linear::Linear(const LinearOptions& options) {
  ErrorFrame frame("Linear");
  detail::check_positive("in_features", options.in_features);
  detail::check_positive("out_features", options.out_features);
  weight_ = register_parameter("weight", empty({options.out_features, options.in_features}, options.dtype));
  if (options.bias) bias_ = register_parameter("bias", empty({options.out_features}, options.dtype));
  init::layer_default(weight_, bias_);
  describe(text("in_features=", options.in_features, ", out_features=", options.out_features,
                ", bias=", options.bias ? "true" : "false"));
}

Tensor Linear::forward(const Tensor& x) const { return linear(x, weight_, bias_); }

}  // namespace weft::nn
