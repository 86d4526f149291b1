// Checks of layer options in constructors. A field that was left out or is out of range is an Error that names the
// field.
#pragma once

#include <cstdint>

#include "tensor/core/conv_options.h"
#include "tensor/tensor.h"

namespace weft::nn::detail {

/// Error unless value >= 1: `Linear(): out_features must be 1 or more, not 0 (was it left out?)`.
void check_positive(const char* field, int64_t value);
void check_positive(const char* field, const Size1& value);
void check_positive(const char* field, const Size2& value);
void check_positive(const char* field, const Size3& value);
/// Error unless value >= 0.
void check_not_negative(const char* field, const Size1& value);
void check_not_negative(const char* field, const Size2& value);
void check_not_negative(const char* field, const Size3& value);
void check_not_negative(const char* field, double value);
/// Error unless value is in [0, 1].
void check_probability(const char* field, double value);

}  // namespace weft::nn::detail
