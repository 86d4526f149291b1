// BFloat16 and Float16: storage types. Arithmetic converts them to float.
#pragma once

#include <bit>
#include <cstdint>

#include "tensor/core/abi.h"

namespace weft {

/// The upper half of a float: 8 bits of exponent, 7 of mantissa. Rounds to nearest even.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  BFloat16(float value) {
    const uint32_t word = std::bit_cast<uint32_t>(value);
    const bool nan = (word & 0x7fffffffu) > 0x7f800000u;
    const uint32_t rounded = (word + 0x7fffu + ((word >> 16) & 1u)) >> 16;
    bits = static_cast<uint16_t>(nan ? ((word >> 16) | 0x40u) : rounded);
  }
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

namespace detail {
// Conversions of one Float16 with integers, for CPUs without F16C. Bits as the instructions give them, NaNs too.
inline uint16_t float_to_half(float value) {
  const uint32_t word = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (word >> 16) & 0x8000u;
  const uint32_t magnitude = word & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));  // NaN
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds to infinity
  if (magnitude < 0x38800000u) {                                               // subnormal: let float addition round
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}
inline float half_to_float(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t mantissa = bits & 0x3ffu;
  const uint32_t quiet = mantissa != 0 ? 0x400000u : 0u;  // a NaN that signals is returned quiet
  if (exponent == 0x1fu) return std::bit_cast<float>(sign | 0x7f800000u | quiet | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
  const float tiny = static_cast<float>(mantissa) * 5.9604644775390625e-8f;  // 2^-24
  return sign != 0 ? -tiny : tiny;
}
#ifdef __F16C__
// The compiler's own names of the instructions: <immintrin.h> takes half a second to compile.
using FourFloats [[gnu::vector_size(16)]] = float;
using EightHalves [[gnu::vector_size(16)]] = int16_t;
inline uint16_t narrow_half(float value) {
  constexpr int kNearestEven = 0;
  return static_cast<uint16_t>(__builtin_ia32_vcvtps2ph(FourFloats{value}, kNearestEven)[0]);
}
inline float widen_half(uint16_t bits) { return __builtin_ia32_vcvtph2ps(EightHalves{static_cast<int16_t>(bits)})[0]; }
#else
inline uint16_t narrow_half(float value) { return float_to_half(value); }
inline float widen_half(uint16_t bits) { return half_to_float(bits); }
#endif
}  // namespace detail

/// IEEE 754 binary16. Rounds to nearest even.
struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  Float16(float value) : bits(detail::narrow_half(value)) {}
  operator float() const { return detail::widen_half(bits); }
};

}  // namespace weft
