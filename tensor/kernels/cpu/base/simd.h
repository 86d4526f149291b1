// Registers (simd_lanes.h): loads and stores that convert, of parts of them too, and horizontal folds.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "tensor/kernels/cpu/base/simd_lanes.h"

namespace weft::kernels::cpu::simd {

/// Prefetches the cache line `bytes` after p. The hardware prefetcher stops at the end of a page.
inline constexpr int64_t kPrefetchDistance = 4096;
template <class T> WEFT_SIMD void prefetch(const T* p, int64_t bytes = kPrefetchDistance) {
  __builtin_prefetch(reinterpret_cast<const char*>(p) + bytes);
}

/// Whether parts of registers of bytes are read by one instruction.
#if defined(__AVX512BW__) && defined(__AVX512VL__)
inline constexpr bool kMasksBytes = true;
namespace detail {
/// The mask of the first `count` (0 to 64) of 64 lanes.
WEFT_SIMD __mmask64 first_of_64(int count) { return _bzhi_u64(~0ull, static_cast<unsigned>(count)); }
}  // namespace detail
#else
inline constexpr bool kMasksBytes = false;
#endif

#if defined(__AVX2__)
namespace detail {
/// All bits of the first `count` lanes of eight words or four double words.
WEFT_SIMD __m256i first_words(int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
WEFT_SIMD __m256i first_double_words(int count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}
WEFT_SIMD __m128i first_four_words(int count) {
  return _mm_cmpgt_epi32(_mm_set1_epi32(count), _mm_setr_epi32(0, 1, 2, 3));
}
/// Writes the first `bytes` (a multiple of 4) in pieces: AMD's CPUs take a dozen cycles for a masked store.
WEFT_SIMD void put_first_bytes(void* p, __m128i v, int bytes) {
  if (bytes >= 16) return _mm_storeu_si128(static_cast<__m128i*>(p), v);
  auto* to = static_cast<char*>(p);
  if ((bytes & 8) != 0) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), v);
    v = _mm_srli_si128(v, 8), to += 8;
  }
  if ((bytes & 4) != 0) _mm_storeu_si32(to, v);
}
WEFT_SIMD void put_first_bytes(void* p, __m256i v, int bytes) {
  if (bytes >= 32) return _mm256_storeu_si256(static_cast<__m256i*>(p), v);
  const __m128i low = _mm256_castsi256_si128(v);
  if (bytes < 16) return put_first_bytes(p, low, bytes);
  _mm_storeu_si128(static_cast<__m128i*>(p), low);
  put_first_bytes(static_cast<char*>(p) + 16, _mm256_extracti128_si256(v, 1), bytes - 16);
}
}  // namespace detail
#endif

namespace detail {
template <class V, class T> WEFT_SIMD V load_raw(const T* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class Word> WEFT_SIMD uint64_t word_at(const uint16_t* p) {
  Word word;
  std::memcpy(&word, p, sizeof word);
  return word;
}
/// The first `count` (0 to 8) of eight 16-bit values at p, the others 0: in pieces, as no instruction has a mask for
/// them, and a wide load of what was stored one by one waits for it.
WEFT_SIMD Vec<uint64_t, 2> first_half_words(const uint16_t* p, int count) {
  if (count >= 8) return load_raw<Vec<uint64_t, 2>>(p);
  const uint16_t* const rest = p + (count & 4);
  uint64_t tail = 0;
  if ((count & 1) != 0) tail = word_at<uint16_t>(rest + (count & 2));
  if ((count & 2) != 0) tail = tail << 32 | word_at<uint32_t>(rest);
  return (count & 4) != 0 ? Vec<uint64_t, 2>{word_at<uint64_t>(p), tail} : Vec<uint64_t, 2>{tail, 0};
}
WEFT_SIMD void put_first_half_words(uint16_t* p, Vec<uint16_t, 8> v, int count) {
  if (count >= 8) return static_cast<void>(std::memcpy(p, &v, sizeof v));
  const auto words = (Vec<uint64_t, 2>)v;
  uint64_t rest = words[0];
  if ((count & 4) != 0) {
    std::memcpy(p, &rest, 8);
    rest = words[1], p += 4;
  }
  if ((count & 2) != 0) {
    std::memcpy(p, &rest, 4);
    rest >>= 32, p += 2;
  }
  if ((count & 1) != 0) std::memcpy(p, &rest, 2);
}
}  // namespace detail

/// N elements at p (any alignment) as C.
template <class C, int N = kLanes<C>, class T> WEFT_SIMD Vec<C, N> load(const T* p) {
  using Raw = Vec<typename detail::RawOf<T>::type, N>;
  return detail::widen<C, T, N>(detail::load_raw<Raw>(p));
}

/// The first `count` of N elements at p, the other lanes zero; reads nothing beyond them.
template <class C, int N = kLanes<C>, class T> WEFT_SIMD Vec<C, N> load_part(const T* p, int count) {
  using Element = typename detail::RawOf<T>::type;
  using Raw = Vec<Element, N>;
#if defined(__AVX512F__)
  if constexpr (sizeof(Raw) == 64 && sizeof(T) == 4)
    return detail::widen<C, T, N>((Raw)_mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << count) - 1u), p));
  if constexpr (sizeof(Raw) == 64 && sizeof(T) == 8)
    return detail::widen<C, T, N>((Raw)_mm512_maskz_loadu_epi64(static_cast<__mmask8>((1u << count) - 1u), p));
#endif
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  if constexpr (sizeof(Raw) == 64 && sizeof(T) == 2)
    return detail::widen<C, T, N>((Raw)_mm512_maskz_loadu_epi16(static_cast<__mmask32>((1ull << count) - 1u), p));
  if constexpr (sizeof(Raw) == 64 && sizeof(T) == 1)
    return detail::widen<C, T, N>((Raw)_mm512_maskz_loadu_epi8(detail::first_of_64(count), p));
  if constexpr (sizeof(Raw) == 32 && sizeof(T) == 1)
    return detail::widen<C, T, N>((Raw)_mm256_maskz_loadu_epi8(static_cast<__mmask32>((1ull << count) - 1u), p));
  if constexpr (sizeof(Raw) == 16 && sizeof(T) == 1)
    return detail::widen<C, T, N>((Raw)_mm_maskz_loadu_epi8(static_cast<__mmask16>((1u << count) - 1u), p));
  if constexpr (sizeof(Raw) == 32 && sizeof(T) == 2)
    return detail::widen<C, T, N>((Raw)_mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << count) - 1u), p));
  if constexpr (sizeof(Raw) == 32 && sizeof(T) == 4)
    return detail::widen<C, T, N>((Raw)_mm256_maskz_loadu_epi32(static_cast<__mmask8>((1u << count) - 1u), p));
#elif defined(__AVX2__)
  if constexpr (sizeof(Raw) == 16 && sizeof(T) == 4)
    return detail::widen<C, T, N>(
        (Raw)_mm_maskload_epi32(reinterpret_cast<const int*>(p), detail::first_four_words(count)));
  if constexpr (sizeof(Raw) == 32 && sizeof(T) == 4)
    return detail::widen<C, T, N>(
        (Raw)_mm256_maskload_epi32(reinterpret_cast<const int*>(p), detail::first_words(count)));
  if constexpr (sizeof(Raw) == 32 && sizeof(T) == 8)
    return detail::widen<C, T, N>(
        (Raw)_mm256_maskload_epi64(reinterpret_cast<const long long*>(p), detail::first_double_words(count)));
#endif
  if constexpr (sizeof(Raw) == 16 && sizeof(T) == 2)
    return detail::widen<C, T, N>((Raw)detail::first_half_words(reinterpret_cast<const uint16_t*>(p), count));
  if constexpr (sizeof(Raw) == 8 && sizeof(T) == 2)
    return detail::widen<C, T, N>((Raw)detail::first_half_words(reinterpret_cast<const uint16_t*>(p), count)[0]);
  Element part[N] = {};
  const auto* raw = reinterpret_cast<const Element*>(p);
  for (int i = 0; i < count; ++i) part[i] = raw[i];
  return detail::widen<C, T, N>(detail::load_raw<Raw>(part));
}

/// The first `count` of N elements that lie `stride` apart, the other lanes zero.
template <class C, int N = kLanes<C>, class T>
WEFT_SIMD Vec<C, N> load_strided(const T* p, int64_t stride, int count = N) {
  using Element = typename detail::RawOf<T>::type;
  Element part[N] = {};
  const auto* raw = reinterpret_cast<const Element*>(p);
  for (int i = 0; i < count; ++i) part[i] = raw[i * stride];
  return detail::widen<C, T, N>(detail::load_raw<Vec<Element, N>>(part));
}

/// Writes a full register of C as T.
template <class C, int N = kLanes<C>, class T> WEFT_SIMD void store(T* p, Vec<C, N> v) {
  const auto raw = detail::narrow<T, N, C>(v);
  std::memcpy(static_cast<void*>(p), &raw, sizeof raw);
}

/// Writes the first `count` lanes.
template <class C, int N = kLanes<C>, class T> WEFT_SIMD void store_part(T* p, Vec<C, N> v, int count) {
  const auto raw = detail::narrow<T, N, C>(v);
#if defined(__AVX512F__)
  if constexpr (sizeof raw == 64 && sizeof(T) == 4) {
    _mm512_mask_storeu_epi32(p, static_cast<__mmask16>((1u << count) - 1u), (__m512i)raw);
    return;
  }
  if constexpr (sizeof raw == 64 && sizeof(T) == 8) {
    _mm512_mask_storeu_epi64(p, static_cast<__mmask8>((1u << count) - 1u), (__m512i)raw);
    return;
  }
#endif
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  if constexpr (sizeof raw == 64 && sizeof(T) == 2)
    return _mm512_mask_storeu_epi16(p, static_cast<__mmask32>((1ull << count) - 1u), (__m512i)raw);
  if constexpr (sizeof raw == 64 && sizeof(T) == 1)
    return _mm512_mask_storeu_epi8(p, detail::first_of_64(count), (__m512i)raw);
  if constexpr (sizeof raw == 32 && sizeof(T) == 2)
    return _mm256_mask_storeu_epi16(p, static_cast<__mmask16>((1u << count) - 1u), (__m256i)raw);
  if constexpr (sizeof raw == 32 && sizeof(T) == 1)
    return _mm256_mask_storeu_epi8(p, static_cast<__mmask32>((1ull << count) - 1u), (__m256i)raw);
  if constexpr (sizeof raw == 16 && sizeof(T) == 1)
    return _mm_mask_storeu_epi8(p, static_cast<__mmask16>((1u << count) - 1u), (__m128i)raw);
#elif defined(__AVX2__)
  if constexpr (sizeof raw == 32 && sizeof(T) >= 4)
    return detail::put_first_bytes(p, (__m256i)raw, count * static_cast<int>(sizeof(T)));
  if constexpr (sizeof raw == 16 && sizeof(T) >= 4)
    return detail::put_first_bytes(p, (__m128i)raw, count * static_cast<int>(sizeof(T)));
#endif
  if constexpr (sizeof raw == 16 && sizeof(T) == 2)
    return detail::put_first_half_words(reinterpret_cast<uint16_t*>(p), (Vec<uint16_t, 8>)raw, count);
  typename detail::RawOf<T>::type part[N];
  std::memcpy(part, &raw, sizeof raw);
  std::memcpy(static_cast<void*>(p), part, static_cast<size_t>(count) * sizeof(T));
}

/// Lanes below `count` of v, the others of `rest`.
template <class T, int N = kLanes<T>> WEFT_SIMD Vec<T, N> first_lanes(Vec<T, N> v, Vec<T, N> rest, int count) {
  decltype(v < rest) lane{};  // integers as wide as T
  using Index = std::remove_cvref_t<decltype(lane[0])>;
  for (int i = 0; i < N; ++i) lane[i] = static_cast<Index>(i);
  return lane < static_cast<Index>(count) ? v : rest;
}

namespace detail {
template <int Begin, class V, int... I> WEFT_SIMD auto pick(V v, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(v, v, (Begin + I)...);
}
}  // namespace detail

/// Lanes [Begin, Begin + Count) of v.
template <int Begin, int Count, class V> WEFT_SIMD auto lanes(V v) {
  return detail::pick<Begin>(v, std::make_integer_sequence<int, Count>{});
}

/// All lanes combined to one value, in a fixed tree.
template <class Combine, class T, int N> WEFT_SIMD T fold_lanes(Vec<T, N> v) {
  if constexpr (N <= 2) {
    return Combine::combine(v[0], v[N - 1]);
  } else {
    return fold_lanes<Combine, T, N / 2>(Combine::combine(lanes<0, N / 2>(v), lanes<N / 2, N / 2>(v)));
  }
}

/// v, loaded once. Without this g++ loads it again for each product, which is more loads than a cycle has: a tile of
/// four rows takes twice as long.
template <class V> WEFT_SIMD V in_register(V v) {
  asm("" : "+v"(v));
  return v;
}

/// Lane by lane the larger (smaller) of both, b where either is NaN; V may be one value. In 512-bit registers it is one
/// instruction, which g++ 12 does not find itself.
template <class V> WEFT_SIMD V larger(V a, V b) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<V, Vec<float, 16>>) return (V)_mm512_maskz_max_ps(0xffff, (__m512)a, (__m512)b);
  if constexpr (std::is_same_v<V, Vec<double, 8>>) return (V)_mm512_maskz_max_pd(0xff, (__m512d)a, (__m512d)b);
#endif
  return a > b ? a : b;
}
template <class V> WEFT_SIMD V smaller(V a, V b) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<V, Vec<float, 16>>) return (V)_mm512_maskz_min_ps(0xffff, (__m512)a, (__m512)b);
  if constexpr (std::is_same_v<V, Vec<double, 8>>) return (V)_mm512_maskz_min_pd(0xff, (__m512d)a, (__m512d)b);
#endif
  return a < b ? a : b;
}

/// Lane by lane, whether v takes the place of the largest so far: a NaN does, and stays. V may be one value.
template <class V> WEFT_SIMD auto takes_place(V v, V best) -> decltype(v <= best) {
  if constexpr (std::is_arithmetic_v<V>)
    return !(v <= best) & (best == best);
  else
    return ~(v <= best) & (best == best);
}
/// The contrary: `best` stays. Some loops (max_rows.h) are faster with a mask of this form.
template <class V> WEFT_SIMD auto keeps(V best, V v) { return (v <= best) | (best != best); }

}  // namespace weft::kernels::cpu::simd
