// Element-wise functions of few instructions on bf16 and f16, converted in registers. Widening a block of values,
// computing it and rounding it, each in a loop of its own, takes twice as long as such a function in one.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/simd.h"

namespace weft::kernels::cpu::detail {

/// What is converted at a time.
inline constexpr int kHalvesTogether = 16;

#if defined(__AVX2__) && defined(__F16C__) && !defined(__AVX512F__)
inline constexpr bool kConvertsInRegisters = true;

/// Sixteen values at p; bf16 in the order of halves of words, the even ones first: without shuffles.
WEFT_SIMD void widen_together(const BFloat16* p, float* to) {
  const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  _mm256_storeu_ps(to, _mm256_castsi256_ps(_mm256_slli_epi32(words, 16)));
  _mm256_storeu_ps(to + 8, _mm256_castsi256_ps(_mm256_and_si256(words, _mm256_set1_epi32(-0x10000))));
}
WEFT_SIMD void widen_together(const Float16* p, float* to) {
  simd::store<float>(to, simd::load<float>(p));
  simd::store<float>(to + 8, simd::load<float>(p + 8));
}
/// Back, rounded as simd::store() does. Of bf16, NaN is rare, and left to a branch.
WEFT_SIMD void narrow_together(const float* from, BFloat16* p) {
  const auto even = simd::load<float>(from), odd = simd::load<float>(from + 8);
  auto low = simd::detail::round_numbers<8>(even) >> 16, high = simd::detail::round_numbers<8>(odd);
  if (_mm256_movemask_ps(_mm256_cmp_ps((__m256)even, (__m256)odd, _CMP_UNORD_Q)) != 0) [[unlikely]]
    low = simd::detail::bfloat_words<8>(even), high = simd::detail::bfloat_words<8>(odd) << 16;
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_blend_epi16((__m256i)low, (__m256i)high, 0xaa));
}
WEFT_SIMD void narrow_together(const float* from, Float16* p) {
  simd::store<float>(p, simd::load<float>(from));
  simd::store<float>(p + 8, simd::load<float>(from + 8));
}
#else
// With AVX-512 blocks were not measured against registers.
inline constexpr bool kConvertsInRegisters = false;
void widen_together(const auto* p, float* to);
void narrow_together(const float* from, auto* p);
#endif

/// out[i] = f(in[i]...) for kHalvesTogether elements or more. Where their number is no multiple of it, the last
/// kHalvesTogether overlap others, which are computed twice. `out` may be an input: the last are read before the first
/// are written.
template <class F, class Out, class... In>
[[gnu::noinline, gnu::flatten]] void compute_halves(const void* functor, int64_t count, Out* out, const In*... in) {
  struct Block {
    float values[kHalvesTogether];
  };
  const auto one = [](const F& f, const auto*... p) __attribute__((always_inline)) {
    Block result;
    const auto compute = [&](const auto&... block) __attribute__((always_inline)) {
#pragma omp simd
      for (int k = 0; k < kHalvesTogether; ++k) result.values[k] = f(block.values[k]...);
    };
    const auto widened = [](const auto* q) __attribute__((always_inline)) {
      Block block;
      widen_together(q, block.values);
      return block;
    };
    compute(widened(p)...);
    return result;
  };
  const F f = *static_cast<const F*>(functor);
  const int64_t whole = count / kHalvesTogether * kHalvesTogether, last = count - kHalvesTogether;
  Block end;
  if (whole < count) end = one(f, in + last...);
  for (int64_t i = 0; i < whole; i += kHalvesTogether) narrow_together(one(f, in + i...).values, out + i);
  if (whole < count) narrow_together(end.values, out + last);
}

}  // namespace weft::kernels::cpu::detail
