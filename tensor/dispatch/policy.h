// Policy: how dispatch prepares the inputs of an op before it calls `infer`. Part of every descriptor:
//
//   static constexpr Policy policy = {.accepts = kFloating, .autocast = Autocasting::lower};
#pragma once

#include <cstdint>

#include "tensor/core/dtype.h"

namespace weft {

/// How an Autocast scope casts the floating inputs of an op.
enum class Autocasting : uint8_t {
  follow,  // no cast: the op computes in the dtype of its inputs
  lower,   // cast f32 to the scope's dtype: products, convolutions, attention
  full,    // cast bf16 and f16 to f32: exponentials, norms, losses, long sums
};

struct Policy {
  /// The dtypes of the numeric inputs, after promotion. DtypeError for others.
  DTypes accepts = kAllDTypes;
  /// The inputs that are promoted to a common dtype, one bit each. The others (indices, masks) keep their dtype.
  uint32_t numeric = ~0u;
  /// Integers and bool are cast to f32 (exp, division).
  bool widens_integers = false;
  /// Every input is expanded to the common shape.
  bool broadcasts = false;
  /// The kernels can read masked (padded) views. For ops without this flag, masked inputs are copied first.
  bool reads_masked = false;
  /// The inputs that may be absent, one bit each.
  uint32_t optional = 0;
  Autocasting autocast = Autocasting::follow;
  /// With `lower`: the inputs, one bit each, that are not cast from f32 if the first input has at least kManyRows rows
  /// (autocast_copies.h). The kernel rounds their values itself, so that a parameter needs no 16-bit copy and its
  /// gradient is computed in f32.
  uint32_t rounded_inside = 0;
};

}  // namespace weft
