// Helpers of the losses; internal to nn/.
#pragma once

#include <array>
#include <utility>

#include "tensor/core/reduction.h"
#include "tensor/dispatch/modes.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/reduce.h"

namespace weft::nn::detail {

inline Tensor reduce(const Tensor& loss, Reduction reduction) {
  if (reduction == Reduction::none) return loss;
  return reduction == Reduction::sum ? sum(loss) : mean(loss);
}

/// ShapeError unless the weights are undefined or one per class.
inline void check_one_per_class(const Tensor& weight, int64_t classes) {
  if (weight.defined() && weight.shape() != Shape{classes})
    throw ShapeError(text("the class weights must be [", classes, "], not ", weight.shape()));
}

/// The same for weights that targets choose: DtypeError unless floating, as in cross_entropy().
inline void check_class_weight(const Tensor& weight, int64_t classes) {
  check_one_per_class(weight, classes);
  if (weight.defined() && !is_floating(weight.dtype()))
    throw DtypeError(text("the class weights must be floating, not ", weight.dtype()));
}

/// loss * weight, or `loss` if there is no weight. ShapeError unless the weight, called `name`, broadcasts to the loss:
/// a larger one would count losses more than once.
inline Tensor weighted(Tensor loss, const Tensor& weight, const char* name) {
  if (!weight.defined()) return loss;
  bool fits = weight.rank() <= loss.rank();
  for (int64_t axis = 1; fits && axis <= weight.rank(); ++axis)
    fits = weight.size(-axis) == 1 || weight.size(-axis) == loss.size(-axis);
  if (!fits) throw ShapeError(text(name, " must broadcast to ", loss.shape(), ", not be ", weight.shape()));
  return std::move(loss) * weight;
}

/// Converts integers to floats that hold them, and a 16-bit input to f32 under Autocast. A loss that is composed of ops
/// would otherwise compute in the input's dtype: 8 bits of precision are too few for differences, squares and their
/// mean, and u8 wraps around.
inline Tensor operand(const Tensor& x) {
  if (!is_floating(x.dtype())) return cast(x, size_of(x.dtype()) < 4 ? f32 : f64);
  const bool half = is_half_precision(x.dtype());
  return half && internal::modes().autocast != f32 ? cast(x, f32) : x;
}

/// Input and target as operand() converts them; integers beside a floating tensor are left to promotion. ShapeError
/// unless they have the same shape, so that nothing broadcasts by accident.
inline std::array<Tensor, 2> operands(const Tensor& x, const Tensor& y) {
  if (x.shape() != y.shape())
    throw ShapeError(text("input and target must have one shape, not ", x.shape(), " and ", y.shape()));
  const bool mixed = is_floating(x.dtype()) != is_floating(y.dtype());
  const auto converted = [&](const Tensor& t) { return mixed && !is_floating(t.dtype()) ? t : operand(t); };
  return {converted(x), converted(y)};
}

}  // namespace weft::nn::detail
