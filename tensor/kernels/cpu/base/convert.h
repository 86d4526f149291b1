// Conversions between element types: one value at a time (`convert`), and runs of values to and from what kernels
// compute in (`Compute<T>`: float for bf16 and f16, the type itself otherwise) and from one distance to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tensor/core/half.h"
#include "tensor/core/scalar.h"

namespace weft::kernels::cpu {

template <class T> inline constexpr bool is_half = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;

/// What kernels compute in for elements of type T.
template <class T> using Compute = std::conditional_t<is_half<T>, float, T>;

/// An unsigned integer as large as T.
template <class T>
using WordOf = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

/// `x` as a To. Floating to integer truncates towards zero; what does not fit saturates and NaN gives 0. Anything but
/// zero (NaN too) is true. Integers wrap. Branch-free, so that loops over it vectorize.
template <class To, class From> [[gnu::always_inline]] inline To convert(From x) {
  if constexpr (is_half<From>) {
    return convert<To>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (is_half<To>) {
    return To(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    using Limits = std::numeric_limits<To>;
    constexpr int kLost = Limits::digits > std::numeric_limits<From>::digits
                              ? Limits::digits - std::numeric_limits<From>::digits
                              : 0;  // bits of To that From cannot hold: `largest` is the last From below max
    constexpr From lowest = static_cast<From>(Limits::min());
    constexpr From largest = static_cast<From>(Limits::max() >> kLost << kLost);
    From inside = x < lowest ? lowest : x;
    inside = inside > largest ? largest : inside;
    inside = x == x ? inside : From(0);
    using Wide = std::conditional_t<(sizeof(To) < 4), int32_t, To>;  // the narrow integers have no direct instruction
    const To value = static_cast<To>(static_cast<Wide>(inside));
    if constexpr (kLost == 0) return value;
    return x > largest ? Limits::max() : value;
  } else {
    return static_cast<To>(x);
  }
}

/// A scalar argument in the type a kernel computes in; integers wrap.
template <class T> T scalar_as(const Scalar& value) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    return static_cast<T>(value.to_int());
  else
    return convert<T>(value.to_double());
}

/// Widens `count` contiguous values.
void widen(const BFloat16* from, float* to, int64_t count);
void widen(const Float16* from, float* to, int64_t count);

/// Rounds `count` contiguous values to nearest even.
void narrow(const float* from, BFloat16* to, int64_t count);
void narrow(const float* from, Float16* to, int64_t count);

/// Copies `count` contiguous values, converted.
template <class From, class To> void copy_run(const From* from, To* to, int64_t count) {
  if constexpr (is_half<From> && std::is_same_v<To, float>)
    widen(from, to, count);
  else if constexpr (is_half<To> && std::is_same_v<From, float>)
    narrow(from, to, count);
  else
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
}

/// std::memcpy for any length. The C library of Debian 12 (glibc 2.36) copies 2 KB to 512 KB with `rep movsb` on Zen 3
/// and Zen 4, at 2 GB/s instead of 30 if `to` lies up to a cache line after `from` modulo a page (sourceware.org, bug
/// 30994).
void copy_bytes(const void* from, void* to, int64_t bytes);

/// Copies `count` elements of `size` bytes (1, 2, 4 or 8) that lie `from_step` bytes apart to places `to_step` apart.
void move_elements(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t size, int64_t count);

/// The same to dense memory. So few elements are moved sooner than the function is called.
inline constexpr int64_t kFewElements = 16;
template <class T> void gather_elements(const void* from, int64_t from_step, void* to, int64_t count) {
  constexpr int64_t kSize = sizeof(T);
  if (count >= kFewElements) return move_elements(from, from_step, to, kSize, kSize, count);
  const auto* in = static_cast<const std::byte*>(from);
  auto* out = static_cast<std::byte*>(to);
  for (int64_t i = 0; i < count; ++i) std::memcpy(out + i * kSize, in + i * from_step, kSize);
}

}  // namespace weft::kernels::cpu
