#include "tensor/kernels/cpu/base/convert.h"

#include <cstddef>
#include <cstring>

#include "tensor/kernels/cpu/base/simd.h"

namespace weft::kernels::cpu {
namespace {

template <class From, class To> void each_register(const From* from, To* to, int64_t count) {
  constexpr int N = simd::kLanes<float>;
  int64_t i = 0;
  for (; i + N <= count; i += N) simd::store<float>(to + i, simd::load<float>(from + i));
  const int rest = static_cast<int>(count - i);
  if (rest > 0) simd::store_part<float>(to + i, simd::load_part<float>(from + i, rest), rest);
}

#if defined(__AVX512BW__)
/// Sixteen floats, rounded to what the upper half of each word holds; NaN becomes a quiet one.
WEFT_SIMD __m512i round_to_upper_half(const float* from) {
  const __m512 v = _mm512_loadu_ps(from);
  const __m512i word = _mm512_castps_si512(v), odd = _mm512_set1_epi32(0x10000);
  const __m512i half =
      _mm512_mask_blend_epi32(_mm512_test_epi32_mask(word, odd), _mm512_set1_epi32(0x7fff), _mm512_set1_epi32(0x8000));
  return _mm512_mask_or_epi32(_mm512_add_epi32(word, half), _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), word,
                              _mm512_set1_epi32(0x400000));
}
/// The first multiple of 32 values; returns how many. The upper halves of two registers are one: half the instructions
/// that sixteen at a time take.
int64_t narrow_pairs(const float* from, BFloat16* to, int64_t count) {
  alignas(64) uint16_t upper[32];
  for (uint16_t i = 0; i < 32; ++i) upper[i] = static_cast<uint16_t>(2 * i + 1);
  const __m512i places = _mm512_load_si512(upper);
  int64_t i = 0;
  for (; i + 32 <= count; i += 32)
    _mm512_storeu_si512(
        to + i, _mm512_permutex2var_epi16(round_to_upper_half(from + i), places, round_to_upper_half(from + i + 16)));
  return i;
}
#elif defined(__AVX2__)
/// The words of two registers as sixteen half words, which are packed to their quarters in turns.
WEFT_SIMD void put_half_words(BFloat16* to, simd::Vec<uint32_t, 8> low, simd::Vec<uint32_t, 8> high) {
  const __m256i packed = _mm256_packus_epi32((__m256i)low, (__m256i)high);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permute4x64_epi64(packed, 0xd8));
}
/// The first multiple of 16 values; returns how many. NaN is rare, and left to a branch.
int64_t narrow_pairs(const float* from, BFloat16* to, int64_t count) {
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const auto low = simd::load<float, 8>(from + i), high = simd::load<float, 8>(from + i + 8);
    if (_mm256_movemask_ps(_mm256_cmp_ps((__m256)low, (__m256)high, _CMP_UNORD_Q)) == 0) [[likely]]
      put_half_words(to + i, simd::detail::round_numbers<8>(low) >> 16, simd::detail::round_numbers<8>(high) >> 16);
    else
      put_half_words(to + i, simd::detail::bfloat_words<8>(low), simd::detail::bfloat_words<8>(high));
  }
  return i;
}
#else
int64_t narrow_pairs(const float*, BFloat16*, int64_t) { return 0; }
#endif

#if defined(__AVX2__) && !defined(__AVX512F__)
/// The first multiple of 16 values; returns how many. One register is unpacked to the upper halves of two: half the
/// time that two loads of eight values take, which are widened and shifted.
int64_t widen_pairs(const BFloat16* from, float* to, int64_t count) {
  const __m256i zero = _mm256_setzero_si256();
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m256i raw = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    const __m256i quarters = _mm256_permute4x64_epi64(raw, 0xd8);
    _mm256_storeu_ps(to + i, _mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, quarters)));
    _mm256_storeu_ps(to + i + 8, _mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, quarters)));
  }
  return i;
}
#else
int64_t widen_pairs(const BFloat16*, float*, int64_t) { return 0; }
#endif

/// Where `from_step` is a small constant, g++ makes loads and shuffles of whole registers of it.
template <int kSize> WEFT_SIMD void move_each(const std::byte* in, int64_t from_step, std::byte* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(out + i * kSize, in + i * from_step, kSize);
}

/// For any distance. 16 bytes are put together in a register: one store, and wide loads that follow need not wait for
/// many narrow ones.
template <class T> void move_far(const std::byte* in, int64_t from_step, std::byte* out, int64_t count) {
  constexpr int kSize = sizeof(T), N = 16 / kSize;
  int64_t i = 0;
  for (; i + N <= count; i += N)
    simd::store<T, N>(reinterpret_cast<T*>(out + i * kSize),
                      simd::load_strided<T, N>(reinterpret_cast<const T*>(in + i * from_step), from_step / kSize));
  move_each<kSize>(in + i * from_step, from_step, out + i * kSize, count - i);
}

template <class T> void move(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t count) {
  constexpr int kSize = sizeof(T);
  const auto* in = static_cast<const std::byte*>(from);
  auto* out = static_cast<std::byte*>(to);
  if (to_step != kSize) {
    for (int64_t i = 0; i < count; ++i) std::memcpy(out + i * to_step, in + i * from_step, kSize);
    return;
  }
  switch (from_step) {
    case -2 * kSize: return move_each<kSize>(in, -2 * kSize, out, count);
    case -kSize: return move_each<kSize>(in, -kSize, out, count);
    case 2 * kSize: return move_each<kSize>(in, 2 * kSize, out, count);
    case 3 * kSize: return move_each<kSize>(in, 3 * kSize, out, count);
    case 4 * kSize: return move_each<kSize>(in, 4 * kSize, out, count);
    default: return move_far<T>(in, from_step, out, count);
  }
}

}  // namespace

void widen(const BFloat16* from, float* to, int64_t count) {
  const int64_t done = widen_pairs(from, to, count);
  each_register(from + done, to + done, count - done);
}
void widen(const Float16* from, float* to, int64_t count) { each_register(from, to, count); }
void narrow(const float* from, BFloat16* to, int64_t count) {
  const int64_t done = narrow_pairs(from, to, count);
  each_register(from + done, to + done, count - done);
}
void narrow(const float* from, Float16* to, int64_t count) { each_register(from, to, count); }

void copy_bytes(const void* from, void* to, int64_t bytes) {
  using Register = simd::Vec<uint8_t>;
  constexpr int64_t kStep = 4 * simd::kVectorBytes, kLeast = 1024, kMost = 1 << 20;
  const auto* in = static_cast<const uint8_t*>(from);
  auto* out = static_cast<uint8_t*>(to);
  int64_t i = 0;
  if (bytes >= kLeast && bytes <= kMost) {
    for (; i + kStep <= bytes; i += kStep) {
      Register block[4];  // all of it is read first: a loop that may be memcpy becomes a call of it
      for (int k = 0; k < 4; ++k) block[k] = simd::load<uint8_t>(in + i + k * simd::kVectorBytes);
      for (int k = 0; k < 4; ++k) simd::store<uint8_t>(out + i + k * simd::kVectorBytes, block[k]);
    }
  }
  std::memcpy(out + i, in + i, static_cast<size_t>(bytes - i));
}

void move_elements(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t size, int64_t count) {
  switch (size) {
    case 1: return move<uint8_t>(from, from_step, to, to_step, count);
    case 2: return move<uint16_t>(from, from_step, to, to_step, count);
    case 4: return move<uint32_t>(from, from_step, to, to_step, count);
    default: return move<uint64_t>(from, from_step, to, to_step, count);
  }
}

}  // namespace weft::kernels::cpu
