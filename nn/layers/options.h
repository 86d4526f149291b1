// What the constructors of layers do with options: they check them, where a field that was left out or is out of range
// is an Error that names the field, and join them with arguments that are given by position.
#pragma once

#include <cstdint>
#include <type_traits>

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
[[noreturn]] void throw_given_twice();

/// `options` with the fields that a constructor takes by position: positional(options, &Options::in, in, &Options::out,
/// out). Error if the options have one of them too.
template <class Options> Options positional(const Options& options) { return options; }
template <class Options, class Field, class... Rest>
Options positional(Options options, Field Options::*field, const std::type_identity_t<Field>& value,
                   const Rest&... rest) {
  if (!(options.*field == Options().*field)) throw_given_twice();
  options.*field = value;
  return positional(options, rest...);
}

}  // namespace weft::nn::detail
