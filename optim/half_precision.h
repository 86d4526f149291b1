// What steps on parameters of 16 bits and the saving of their states share.
#pragma once

#include <cstdint>

#include "tensor/core/dtype.h"
#include "tensor/tensor.h"

namespace weft::optim {

/// A version that no memory has: what was rounded last is not known.
inline constexpr uint64_t kUnknownVersion = ~uint64_t{0};

/// What steps on a parameter compute in.
inline DType computed_dtype(const Tensor& parameter) { return parameter.dtype() == f64 ? f64 : f32; }
/// What its states are kept in between steps.
inline DType stored_dtype(const Tensor& parameter, bool bf16_states) {
  return bf16_states ? bf16 : computed_dtype(parameter);
}

}  // namespace weft::optim
