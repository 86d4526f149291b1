#include "nn/layers/bilinear.h"

#include <cmath>

#include "nn/init.h"
#include "nn/layers/options.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/linear.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"

namespace weft::nn {

Bilinear::Bilinear(const BilinearOptions& o) {
  ErrorFrame frame("Bilinear");
  detail::check_positive("in1_features", o.in1_features);
  detail::check_positive("in2_features", o.in2_features);
  detail::check_positive("out_features", o.out_features);
  const double bound = 1.0 / std::sqrt(static_cast<double>(o.in1_features));
  weight_ = register_parameter("weight", empty({o.out_features, o.in1_features, o.in2_features}, o.dtype));
  init::uniform(weight_, -bound, bound);
  describe(text("in1_features=", o.in1_features, ", in2_features=", o.in2_features, ", out_features=", o.out_features,
                ", bias=", o.bias ? "true" : "false"));
  if (!o.bias) return;
  bias_ = register_parameter("bias", empty({o.out_features}, o.dtype));
  init::uniform(bias_, -bound, bound);
}

Bilinear Bilinear::remake() const {
  return Bilinear({.in1_features = weight_.size(1),
                   .in2_features = weight_.size(2),
                   .out_features = weight_.size(0),
                   .bias = bias_.defined()});
}

Tensor Bilinear::forward(const Tensor& a, const Tensor& b) const {
  ErrorFrame frame("Bilinear", a, b);
  const int64_t out = weight_.size(0), in1 = weight_.size(1), in2 = weight_.size(2);
  if (a.rank() < 1 || a.rank() != b.rank() || a.size(-1) != in1 || b.size(-1) != in2)
    throw ShapeError(text("the inputs must be (..., ", in1, ") and (..., ", in2, ")"));
  if (Shape(a.shape().begin(), a.shape().end() - 1) != Shape(b.shape().begin(), b.shape().end() - 1))
    throw ShapeError(text("the inputs differ in their batch axes: ", a.shape(), " and ", b.shape()));
  // One product makes A b of every output, (..., out in1).
  const Tensor half = unflatten(linear(b, reshape(weight_, {out * in1, in2})), -1, {out, in1});
  const Tensor y = sum(half * unsqueeze(a, -2), -1);
  return bias_.defined() ? y + bias_ : y;
}

}  // namespace weft::nn
