// Helpers for 16-bit parameters, shared by optimizer steps and the saving of their states.
#pragma once

#include <cstdint>

#include "tensor/core/dtype.h"
#include "tensor/tensor.h"

namespace weft::optim {

/// A version that no memory has: it is not known which values were rounded last.
inline constexpr uint64_t kUnknownVersion = ~uint64_t{0};

/// The dtype in which a step on this parameter computes.
inline DType computed_dtype(const Tensor& parameter) { return parameter.dtype() == f64 ? f64 : f32; }
/// The dtype in which its states are stored between steps.
inline DType stored_dtype(const Tensor& parameter, bool bf16_states) {
  return bf16_states ? bf16 : computed_dtype(parameter);
}

}  // namespace weft::optim
