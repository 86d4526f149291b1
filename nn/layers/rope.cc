#include "nn/layers/rope.h"

#include <cmath>

#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft::nn {

Tensor rope(const Tensor& x, const RopeOptions& options) {
  ErrorFrame frame("rope", x);
  if (x.rank() < 2 || x.size(-1) % 2 != 0) throw ShapeError("x must be (..., T, D) with an even D");
  if (!is_floating(x.dtype())) throw DtypeError(text("x must be floating, not ", x.dtype()));
  if (!(options.base > 0)) throw Error(text("base must be positive, not ", options.base));
  const int64_t length = x.size(-2), pairs = x.size(-1) / 2;
  // Angles in f64: those of far positions have many digits.
  const Tensor position = arange(options.offset, options.offset + length, 1, f64, x.device());
  const Tensor exponent = arange(0, pairs, 1, f64, x.device()) * (-std::log(options.base) / static_cast<double>(pairs));
  const Tensor angle = unsqueeze(position, 1) * exp(exponent);
  const Tensor c = cast(cos(angle), x.dtype()), s = cast(sin(angle), x.dtype());
  if (options.interleaved) {
    const Tensor both = unflatten(x, -1, {pairs, 2});
    const Tensor a = select(both, -1, 0), b = select(both, -1, 1);
    return flatten(stack({a * c - b * s, b * c + a * s}, -1), -2, -1);
  }
  const Tensor a = narrow(x, -1, 0, pairs), b = narrow(x, -1, pairs, pairs);
  return cat({a * c - b * s, b * c + a * s}, -1);
}

}  // namespace weft::nn
