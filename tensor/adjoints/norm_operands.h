// The dtypes that normalizations compute in. Not for users.
#pragma once

#include <array>

#include "tensor/core/dtype.h"
#include "tensor/functions/copy.h"

namespace weft::internal {

/// x and what goes with it (weight, bias, statistics; some undefined) as the descriptors want them. bf16 and f16 stay
/// what they are beside parameters and statistics of f32, which kernels read as they are: a pass over x never widens
/// it in memory. In other dtypes all promote. `bias` takes the dtype of `weight`, as its gradient does.
template <size_t n> std::array<Tensor, n> norm_operands(std::array<Tensor, n> all, size_t weight, size_t bias) {
  const bool half = all[0].defined() && is_half_precision(all[0].dtype());
  const auto follow = [](Tensor& x, DType dtype) {
    if (x.defined() && x.dtype() != dtype) x = cast(x, dtype);
  };
  if (half) {
    follow(all[bias], all[weight].defined() ? all[weight].dtype() : all[0].dtype());
    return all;
  }
  DType dtype = all[0].dtype();
  for (const Tensor& x : all)
    if (x.defined()) dtype = promote(dtype, x.dtype());
  for (Tensor& x : all) follow(x, dtype);
  return all;
}

}  // namespace weft::internal
