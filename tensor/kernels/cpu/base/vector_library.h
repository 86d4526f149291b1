// Functions of registers of doubles: the C library's (libmvec of glibc 2.35 and later), within 4 ulp by its promise and
// 3.5 as measured (tests/tensor/kernels/vector_library_test.cc), zeros, infinities and NaN as IEEE 754 specifies.
// Where it has none they are computed lane by lane.
#pragma once

#include <features.h>

#include <cmath>
#include <concepts>

#include "tensor/kernels/cpu/base/simd.h"

#if defined(__x86_64__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 35)
// The ABI's names (x86 Vector Function ABI): the instruction set, no mask, the lanes, v for each argument.
#if defined(__AVX512F__)
#define WEFT_VECTOR_NAME(arguments, function) _ZGVeN8##arguments##_##function
#elif defined(__AVX2__)
#define WEFT_VECTOR_NAME(arguments, function) _ZGVdN4##arguments##_##function
#elif defined(__AVX__)
#define WEFT_VECTOR_NAME(arguments, function) _ZGVcN4##arguments##_##function
#else
#define WEFT_VECTOR_NAME(arguments, function) _ZGVbN2##arguments##_##function
#endif
#endif
#endif

namespace weft::kernels::cpu::vmath {

using Doubles = simd::Vec<double>;

/// f(x...), a lane at a time.
template <class F> WEFT_SIMD Doubles by_lane(const F& f, Doubles x, std::same_as<Doubles> auto... more) {
  Doubles out{};
  for (int i = 0; i < simd::kLanes<double>; ++i) out[i] = f(x[i], more[i]...);
  return out;
}

#ifdef WEFT_VECTOR_NAME
#define WEFT_FUNCTION_OF_DOUBLES(function)                              \
  extern "C" Doubles WEFT_VECTOR_NAME(v, function)(Doubles); /*NOLINT*/ \
  WEFT_SIMD Doubles function(Doubles x) { return WEFT_VECTOR_NAME(v, function)(x); }
#define WEFT_FUNCTION_OF_TWO_DOUBLES(function)                                    \
  extern "C" Doubles WEFT_VECTOR_NAME(vv, function)(Doubles, Doubles); /*NOLINT*/ \
  WEFT_SIMD Doubles function(Doubles a, Doubles b) { return WEFT_VECTOR_NAME(vv, function)(a, b); }
#else
#define WEFT_FUNCTION_OF_DOUBLES(function)                        \
  inline Doubles function(Doubles x) {                            \
    return by_lane([](double v) { return std::function(v); }, x); \
  }
#define WEFT_FUNCTION_OF_TWO_DOUBLES(function)                                    \
  inline Doubles function(Doubles a, Doubles b) {                                 \
    return by_lane([](double v, double w) { return std::function(v, w); }, a, b); \
  }
#endif

WEFT_FUNCTION_OF_DOUBLES(exp2)
WEFT_FUNCTION_OF_DOUBLES(expm1)
WEFT_FUNCTION_OF_DOUBLES(log)
WEFT_FUNCTION_OF_DOUBLES(log1p)
WEFT_FUNCTION_OF_DOUBLES(log2)
WEFT_FUNCTION_OF_DOUBLES(log10)
WEFT_FUNCTION_OF_DOUBLES(sin)
WEFT_FUNCTION_OF_DOUBLES(cos)
WEFT_FUNCTION_OF_DOUBLES(tan)
WEFT_FUNCTION_OF_DOUBLES(asin)
WEFT_FUNCTION_OF_DOUBLES(acos)
WEFT_FUNCTION_OF_DOUBLES(atan)
WEFT_FUNCTION_OF_DOUBLES(sinh)
WEFT_FUNCTION_OF_DOUBLES(cosh)
WEFT_FUNCTION_OF_DOUBLES(tanh)
WEFT_FUNCTION_OF_DOUBLES(asinh)
WEFT_FUNCTION_OF_DOUBLES(acosh)
WEFT_FUNCTION_OF_DOUBLES(atanh)
WEFT_FUNCTION_OF_DOUBLES(erf)
WEFT_FUNCTION_OF_DOUBLES(erfc)
WEFT_FUNCTION_OF_TWO_DOUBLES(pow)
WEFT_FUNCTION_OF_TWO_DOUBLES(atan2)

#undef WEFT_FUNCTION_OF_DOUBLES
#undef WEFT_FUNCTION_OF_TWO_DOUBLES
#undef WEFT_VECTOR_NAME

}  // namespace weft::kernels::cpu::vmath
