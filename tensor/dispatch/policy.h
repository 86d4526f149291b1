// Policy: what dispatch does to the inputs of an op before `infer` sees them. Part of every descriptor:
//
//   static constexpr Policy policy = {.accepts = kFloating, .autocast = Autocasting::lower};
#pragma once

#include <cstdint>

#include "tensor/core/dtype.h"

namespace weft {

/// What an Autocast scope does with the floating inputs of an op.
enum class Autocasting : uint8_t {
  follow,  // nothing: the op computes in its inputs' dtype
  lower,   // cast f32 to the scope's dtype: products, convolutions, attention
  full,    // cast bf16 and f16 to f32: exponentials, norms, losses, long sums
};

struct Policy {
  /// The dtypes of the numeric inputs, after promotion. DtypeError for others.
  DTypes accepts = kAllDTypes;
  /// The inputs that take one dtype, one bit each: the others (indices, masks) keep theirs.
  uint32_t numeric = ~0u;
  /// Integers and bool become f32 (exp, division).
  bool widens_integers = false;
  /// Every input is expanded to the common shape.
  bool broadcasts = false;
  /// The kernels read padded views; other ops get a copy without the mask.
  bool reads_masked = false;
  /// The inputs that may be absent, one bit each.
  uint32_t optional = 0;
  Autocasting autocast = Autocasting::follow;
  /// With `lower`: inputs that a scope leaves in f32 where they are, one bit each, if the first input has kManyRows
  /// rows (autocast_copies.h). Their values are rounded inside of the kernel, so that a parameter has no copy in 16
  /// bits, and its gradient is f32 from the start.
  uint32_t rounded_inside = 0;
};

}  // namespace weft
