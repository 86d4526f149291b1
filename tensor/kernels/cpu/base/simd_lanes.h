// Vectors of the compiler (g++ and clang extensions), and conversions of their lanes.
// The widest registers the build may use decide the lane count, so results may differ between instruction sets, never
// between runs or thread counts.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__AVX2__) || defined(__F16C__)
#include <immintrin.h>
#endif

#include "tensor/core/half.h"

/// Whatever a register passes through is inlined: none outlives a call, and g++ sees no cost in that.
#define WEFT_SIMD [[gnu::always_inline]] inline

/// One copy of a function for all that call it: neither inlined nor cloned for what some of them pass.
#if __has_cpp_attribute(gnu::noclone)
#define WEFT_ONE_COPY [[gnu::noinline, gnu::noclone]]
#else
#define WEFT_ONE_COPY [[gnu::noinline]]
#endif

namespace weft::kernels::cpu::simd {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

template <class T> inline constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

namespace detail {
template <class T, int N> struct VectorOf { typedef T type __attribute__((vector_size(N * sizeof(T)))); };
// A vector of bool does not exist; its bytes are read as u8.
template <class T> struct RawOf { using type = T; };
template <> struct RawOf<bool> { using type = uint8_t; };
template <> struct RawOf<BFloat16> { using type = uint16_t; };
template <> struct RawOf<Float16> { using type = uint16_t; };
}  // namespace detail

/// N lanes of T; by default a full register.
template <class T, int N = kLanes<T>> using Vec = typename detail::VectorOf<T, N>::type;

template <class T, int N = kLanes<T>> WEFT_SIMD Vec<T, N> splat(T value) {
  return value - Vec<T, N>{};  // not 0 + value, which loses the sign of -0
}

#if defined(__AVX2__) || defined(__F16C__)
namespace detail {
/// Eight bytes as the lower half of a register, and back.
template <class V> WEFT_SIMD __m128i half_register(V v) {
  static_assert(sizeof v == 8);
  int64_t bytes;
  std::memcpy(&bytes, &v, sizeof bytes);
  return _mm_cvtsi64_si128(bytes);
}
template <class V> WEFT_SIMD V lower_half(__m128i v) {
  static_assert(sizeof(V) == 8);
  const int64_t bytes = _mm_cvtsi128_si64(v);
  V out;
  std::memcpy(&out, &bytes, sizeof out);
  return out;
}
}  // namespace detail
#endif

#if defined(__AVX2__)
namespace detail {
/// Four or eight bytes as the lowest of a register.
template <class V> WEFT_SIMD __m128i lower_part(V v) {
  if constexpr (sizeof v == 8) {
    return half_register(v);
  } else {
    static_assert(sizeof v == 4);
    int32_t bytes;
    std::memcpy(&bytes, &v, sizeof bytes);
    return _mm_cvtsi32_si128(bytes);
  }
}
/// The lowest bytes as integers of kSize bytes, and the lowest four integers of 16 bits as those of 64.
template <bool kSigned, size_t kSize> WEFT_SIMD __m256i widen_bytes(__m128i v) {
  if constexpr (kSize == 4)
    return kSigned ? _mm256_cvtepi8_epi32(v) : _mm256_cvtepu8_epi32(v);
  else
    return kSigned ? _mm256_cvtepi8_epi64(v) : _mm256_cvtepu8_epi64(v);
}
template <bool kSigned> WEFT_SIMD __m256i widen_shorts(__m128i v) {
  return kSigned ? _mm256_cvtepi16_epi64(v) : _mm256_cvtepu16_epi64(v);
}
/// The lower bytes of eight words.
template <class To> WEFT_SIMD Vec<To, 8> truncate_words(__m256i words) {
  alignas(32) int8_t places[32];
  for (int i = 0; i < 32; ++i) {
    constexpr int kSize = static_cast<int>(sizeof(To));
    const int at = i % 16;
    places[i] = static_cast<int8_t>(at < 4 * kSize ? at / kSize * 4 + at % kSize : -1);
  }
  const __m256i packed = _mm256_shuffle_epi8(words, *reinterpret_cast<const __m256i*>(places));
  const __m128i low = _mm256_castsi256_si128(packed), high = _mm256_extracti128_si256(packed, 1);
  const __m128i joined = sizeof(To) == 1 ? _mm_unpacklo_epi32(low, high) : _mm_unpacklo_epi64(low, high);
  Vec<To, 8> out;
  std::memcpy(&out, &joined, sizeof out);
  return out;
}
}  // namespace detail
#endif

/// Each lane as a To. g++ 12 splits conversions of full registers in halves, and takes lanes one by one that fill a
/// quarter or less, so those are spelled out; the masked forms, because it warns about its own unmasked ones.
template <class To, int N, class V> WEFT_SIMD Vec<To, N> convert_lanes(V v) {
  using From [[maybe_unused]] = std::remove_cvref_t<decltype(v[0])>;  // unused without AVX2
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<From, float> && std::is_same_v<To, double> && N == 8)
    return (Vec<To, N>)_mm512_maskz_cvtps_pd(0xff, (__m256)v);
  if constexpr (std::is_same_v<From, double> && std::is_same_v<To, float> && N == 8)
    return (Vec<To, N>)_mm512_maskz_cvtpd_ps(0xff, (__m512d)v);
  if constexpr (std::is_same_v<From, int32_t> && std::is_same_v<To, float> && N == 16)
    return (Vec<To, N>)_mm512_maskz_cvtepi32_ps(0xffff, (__m512i)v);
  if constexpr (std::is_same_v<From, uint16_t> && std::is_same_v<To, uint32_t> && N == 16)
    return (Vec<To, N>)_mm512_maskz_cvtepu16_epi32(0xffff, (__m256i)v);
  if constexpr (std::is_same_v<From, float> && std::is_same_v<To, int32_t> && N == 16)
    return (Vec<To, N>)_mm512_maskz_cvttps_epi32(0xffff, (__m512)v);
  if constexpr (std::is_same_v<From, double> && std::is_same_v<To, int32_t> && N == 8)
    return (Vec<To, N>)_mm512_maskz_cvttpd_epi32(0xff, (__m512d)v);
  if constexpr (std::is_integral_v<From> && sizeof(From) == 4 && std::is_integral_v<To> && sizeof(To) == 2 && N == 16)
    return (Vec<To, N>)_mm512_maskz_cvtepi32_epi16(0xffff, (__m512i)v);
  if constexpr (std::is_same_v<From, uint8_t> && std::is_same_v<To, int32_t> && N == 16)
    return (Vec<To, N>)_mm512_maskz_cvtepu8_epi32(0xffff, (__m128i)v);
  if constexpr (std::is_integral_v<From> && sizeof(From) == 4 && std::is_integral_v<To> && sizeof(To) == 1 && N == 16)
    return (Vec<To, N>)_mm512_maskz_cvtepi32_epi8(0xffff, (__m512i)v);
#elif defined(__AVX2__)
  if constexpr (std::is_integral_v<From> && sizeof(From) == 1 && std::is_integral_v<To> && sizeof(To) >= 4 &&
                N * sizeof(To) == 32)
    return (Vec<To, N>)detail::widen_bytes<std::is_signed_v<From>, sizeof(To)>(detail::lower_part(v));
  if constexpr (std::is_integral_v<From> && sizeof(From) == 2 && std::is_integral_v<To> && sizeof(To) == 8 && N == 4)
    return (Vec<To, N>)detail::widen_shorts<std::is_signed_v<From>>(detail::half_register(v));
  if constexpr (std::is_integral_v<From> && sizeof(From) <= 2 && std::is_same_v<To, float> && N == 8)
    return __builtin_convertvector((convert_lanes<int32_t, N>(v)), Vec<To, N>);
  if constexpr (std::is_same_v<From, uint16_t> && std::is_integral_v<To> && sizeof(To) == 4 && N == 8)
    return (Vec<To, N>)_mm256_cvtepu16_epi32((__m128i)v);
  if constexpr (std::is_same_v<From, int16_t> && std::is_integral_v<To> && sizeof(To) == 4 && N == 8)
    return (Vec<To, N>)_mm256_cvtepi16_epi32((__m128i)v);
  if constexpr (std::is_same_v<From, uint16_t> && std::is_integral_v<To> && sizeof(To) == 4 && N == 4)
    return (Vec<To, N>)_mm_cvtepu16_epi32(detail::half_register(v));
  if constexpr (std::is_same_v<From, float> && std::is_same_v<To, double> && N == 4)
    return (Vec<To, N>)_mm256_cvtps_pd((__m128)v);
  if constexpr (std::is_same_v<From, int32_t> && std::is_same_v<To, double> && N == 4)
    return (Vec<To, N>)_mm256_cvtepi32_pd((__m128i)v);
  if constexpr (std::is_same_v<From, int32_t> && std::is_integral_v<To> && sizeof(To) == 8 && N == 4)
    return (Vec<To, N>)_mm256_cvtepi32_epi64((__m128i)v);
  if constexpr (std::is_integral_v<From> && sizeof(From) == 4 && std::is_integral_v<To> && sizeof(To) < 4 && N == 8)
    return detail::truncate_words<To>((__m256i)v);
#endif
  return __builtin_convertvector(v, Vec<To, N>);
}

namespace detail {
template <class V, int... I> WEFT_SIMD auto join(V low, V high, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(low, high, I...);
}
}  // namespace detail
/// The N lanes of `low`, then those of `high`.
template <class T, int N> WEFT_SIMD Vec<T, 2 * N> join(Vec<T, N> low, Vec<T, N> high) {
  return detail::join(low, high, std::make_integer_sequence<int, 2 * N>{});
}

namespace detail {
template <int N> WEFT_SIMD Vec<float, N> widen_bfloat(Vec<uint16_t, N> raw) {
  return (Vec<float, N>)(convert_lanes<uint32_t, N>(raw) << 16);
}
/// Numbers rounded to nearest even, in the upper half of each word; the lower half is arbitrary. Not for NaN.
template <int N> WEFT_SIMD Vec<uint32_t, N> round_numbers(Vec<float, N> v) {
  const auto word = (Vec<uint32_t, N>)v;
  return word + 0x7fffu + ((word >> 16) & 1u);
}
/// Rounded to nearest even, in the lower half of each word; NaN becomes a quiet one.
template <int N> WEFT_SIMD Vec<uint32_t, N> bfloat_words(Vec<float, N> v) {
  const Vec<uint32_t, N> nan = (Vec<uint32_t, N>)v | 0x400000u;
  return (v != v ? nan : round_numbers<N>(v)) >> 16;
}
template <int N> WEFT_SIMD Vec<float, N> widen_half(Vec<uint16_t, N> raw) {
#if defined(__AVX512F__)
  if constexpr (N == 16) return (Vec<float, N>)_mm512_maskz_cvtph_ps(0xffff, (__m256i)raw);
#endif
#if defined(__F16C__)
  if constexpr (N == 8) return (Vec<float, N>)_mm256_cvtph_ps((__m128i)raw);
  if constexpr (N == 4) return (Vec<float, N>)_mm_cvtph_ps(half_register(raw));
#endif
  Vec<float, N> v{};
  for (int i = 0; i < N; ++i) v[i] = weft::detail::half_to_float(raw[i]);
  return v;
}
template <int N> WEFT_SIMD Vec<uint16_t, N> narrow_half(Vec<float, N> v) {
#if defined(__AVX512F__)
  if constexpr (N == 16) return (Vec<uint16_t, N>)_mm512_maskz_cvtps_ph(0xffff, (__m512)v, _MM_FROUND_TO_NEAREST_INT);
#endif
#if defined(__F16C__)
  if constexpr (N == 8) return (Vec<uint16_t, N>)_mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT);
  if constexpr (N == 4) return lower_half<Vec<uint16_t, N>>(_mm_cvtps_ph((__m128)v, _MM_FROUND_TO_NEAREST_INT));
#endif
  Vec<uint16_t, N> raw{};
  for (int i = 0; i < N; ++i) raw[i] = weft::detail::float_to_half(v[i]);
  return raw;
}

/// The raw lanes of T as values of C.
template <class C, class T, int N, class Raw> WEFT_SIMD Vec<C, N> widen(Raw raw) {
  if constexpr (std::is_same_v<T, BFloat16>)
    return convert_lanes<C, N>(widen_bfloat<N>(raw));
  else if constexpr (std::is_same_v<T, Float16>)
    return convert_lanes<C, N>(widen_half<N>(raw));
  else
    return convert_lanes<C, N>(raw);
}
/// Values of C as the raw lanes of T.
template <class T, int N, class C> WEFT_SIMD Vec<typename RawOf<T>::type, N> narrow(Vec<C, N> v) {
  if constexpr (std::is_same_v<T, BFloat16>)
    return convert_lanes<uint16_t, N>(bfloat_words<N>(convert_lanes<float, N>(v)));
  else if constexpr (std::is_same_v<T, Float16>)
    return narrow_half<N>(convert_lanes<float, N>(v));
  else
    return convert_lanes<typename RawOf<T>::type, N>(v);
}
}  // namespace detail

}  // namespace weft::kernels::cpu::simd
