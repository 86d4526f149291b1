#include "nn/layers/layer_norm.h"

#include "nn/layers/option_list.h"
#include "nn/layers/options.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/layer_norm.h"

namespace weft::nn {

LayerNorm::LayerNorm(const LayerNormOptions& options) : options_(options) {
  ErrorFrame frame("LayerNorm");
  if (options.normalized_shape.empty()) throw ShapeError("normalized_shape needs one axis or more (was it left out?)");
  for (const int64_t size : options.normalized_shape) detail::check_positive("normalized_shape", size);
  detail::check_not_negative("eps", options.eps);
  detail::OptionList list;
  list.add(options.normalized_shape).add("eps", options.eps).add_unless(true, "affine", options.affine);
  describe(list.add_unless(true, "bias", options.bias).line());
  if (!options.affine) return;
  weight_ = register_parameter("weight", ones(options.normalized_shape, options.dtype));
  if (options.bias) bias_ = register_parameter("bias", zeros(options.normalized_shape, options.dtype));
}

Tensor LayerNorm::forward(const Tensor& x) const {
  ErrorFrame frame("LayerNorm", x);
  return layer_norm(x, options_.normalized_shape, weight_, bias_, options_.eps);
}

}  // namespace weft::nn
