// Short rows by whole registers: a few rows interleaved element by element, the reverse of that, and rows of few
// elements reversed.
#pragma once

#include <algorithm>
#include <utility>

#include "tensor/kernels/cpu/base/simd.h"

namespace weft::kernels::cpu::simd {

/// The most rows that are interleaved by registers; none where the processor has no shuffles of two registers.
#if defined(__AVX2__)
inline constexpr int64_t kMostInterleaved = 4;
#else
inline constexpr int64_t kMostInterleaved = 0;
#endif

namespace detail {
/// Lane l of the result is element at(l) of P registers that follow each other. Registers are joined one by one: lanes
/// of those that come later are filled later.
template <int P, int N, class V, class At, int... L>
WEFT_SIMD V pick_of(const V* from, At at, std::integer_sequence<int, L...>) {
  V out = __builtin_shufflevector(from[0], from[1], (at(L) < 2 * N ? at(L) : 0)...);
  if constexpr (P > 2) out = __builtin_shufflevector(out, from[2], (at(L) / N == 2 ? at(L) - N : L)...);
  if constexpr (P > 3) out = __builtin_shufflevector(out, from[3], (at(L) / N == 3 ? at(L) - 2 * N : L)...);
  return out;
}

/// interleave() from element `i` on, N elements at a time; returns where it ended.
template <class T, int P, int N>
WEFT_SIMD int64_t interleave(const T* from, int64_t row, T* to, int64_t i, int64_t count) {
  using Lanes = std::make_integer_sequence<int, N>;
  for (; i + N <= count; i += N) {
    Vec<T, N> in[P];
    for (int k = 0; k < P; ++k) in[k] = load<T, N>(from + k * row + i);
    const auto put = [&]<int R>(std::integral_constant<int, R>) __attribute__((always_inline)) {
      constexpr auto at = [](int l) { return (R * N + l) % P * N + (R * N + l) / P; };
      store<T, N>(to + i * P + R * N, pick_of<P, N>(in, at, Lanes{}));
    };
    [&]<int... R>(std::integer_sequence<int, R...>) __attribute__((always_inline)) {
      (put(std::integral_constant<int, R>{}), ...);
    }
    (std::make_integer_sequence<int, P>{});
  }
  return i;
}

/// deinterleave() likewise.
template <class T, int P, int N>
WEFT_SIMD int64_t deinterleave(const T* from, T* to, int64_t row, int64_t i, int64_t count) {
  using Lanes = std::make_integer_sequence<int, N>;
  for (; i + N <= count; i += N) {
    Vec<T, N> in[P];
    for (int k = 0; k < P; ++k) in[k] = load<T, N>(from + i * P + k * N);
    const auto put = [&]<int K>(std::integral_constant<int, K>) __attribute__((always_inline)) {
      store<T, N>(to + K * row + i, pick_of<P, N>(
                                        in, [](int l) { return l * P + K; }, Lanes{}));
    };
    [&]<int... K>(std::integer_sequence<int, K...>) __attribute__((always_inline)) {
      (put(std::integral_constant<int, K>{}), ...);
    }
    (std::make_integer_sequence<int, P>{});
  }
  return i;
}

/// f(N, i): with full registers as far as they go, and with smaller ones. The elements that are left begin at the
/// result.
template <class T, class F> WEFT_SIMD int64_t by_registers(const F& f) {
  int64_t i = f(std::integral_constant<int, kLanes<T>>{}, 0);
  if constexpr ((kLanes<T>) > 16) i = f(std::integral_constant<int, 16>{}, i);
  if constexpr ((kLanes<T>) > 4) i = f(std::integral_constant<int, 4>{}, i);
  return i;
}

template <class T, int P> void interleave_rows(const T* from, int64_t row, T* to, int64_t count) {
  int64_t i = by_registers<T>([&]<int N>(std::integral_constant<int, N>, int64_t begin) {
    return interleave<T, P, N>(from, row, to, begin, count);
  });
  for (; i < count; ++i)
    for (int k = 0; k < P; ++k) to[i * P + k] = from[k * row + i];
}
template <class T, int P> void deinterleave_rows(const T* from, T* to, int64_t row, int64_t count) {
  int64_t i = by_registers<T>([&]<int N>(std::integral_constant<int, N>, int64_t begin) {
    return deinterleave<T, P, N>(from, to, row, begin, count);
  });
  for (; i < count; ++i)
    for (int k = 0; k < P; ++k) to[k * row + i] = from[i * P + k];
}
}  // namespace detail

/// to[i * rows + k] = from[k * row + i] for 2 to kMostInterleaved rows of `count` elements.
template <class T> void interleave(const T* from, int64_t row, int64_t rows, T* to, int64_t count) {
  if (rows == 2) return detail::interleave_rows<T, 2>(from, row, to, count);
  if (rows == 3) return detail::interleave_rows<T, 3>(from, row, to, count);
  detail::interleave_rows<T, 4>(from, row, to, count);
}
/// to[k * row + i] = from[i * rows + k]: the reverse.
template <class T> void deinterleave(const T* from, int64_t rows, T* to, int64_t row, int64_t count) {
  if (rows == 2) return detail::deinterleave_rows<T, 2>(from, to, row, count);
  if (rows == 3) return detail::deinterleave_rows<T, 3>(from, to, row, count);
  detail::deinterleave_rows<T, 4>(from, to, row, count);
}

#if defined(__AVX2__)
namespace detail {
/// Lanes that one shuffle by a mask in a register moves to any place.
#if defined(__AVX512F__) && !defined(__AVX512VBMI__)
template <class T> inline constexpr int kShuffled = sizeof(T) == 1 ? 16 : kLanes<T>;
#else
template <class T> inline constexpr int kShuffled = sizeof(T) == 1 && kVectorBytes == 32 ? 16 : kLanes<T>;
#endif

/// The elements of v at `places`: an instruction of g++, for which clang has no built-in.
template <class V> WEFT_SIMD V at_places(V v, V places) {
#if defined(__clang__)
  constexpr size_t N = sizeof(V) / sizeof v[0];
  V out{};
  for (size_t l = 0; l < N; ++l) out[l] = v[places[l] & (N - 1)];
  return out;
#else
  return __builtin_shuffle(v, places);
#endif
}

template <class V, int... L> WEFT_SIMD V counted(std::integer_sequence<int, L...>) { return V{L...}; }
/// Lane l has the first lane of its row, l / columns * columns, twice, minus l. (A division each would take longer than
/// what is moved.)
template <class T, int N = kShuffled<T>> Vec<T, N> twice_first(int64_t columns) {
  const auto lanes = counted<Vec<T, N>>(std::make_integer_sequence<int, N>{});
  Vec<T, N> sum = -lanes;
  for (int64_t first = columns; first < N; first += columns)
    sum += (Vec<T, N>)(lanes >= splat<T, N>(static_cast<T>(first))) & splat<T, N>(static_cast<T>(2 * columns));
  return sum;
}

/// Registers of whole rows, each shuffled by `mask`. What the last lanes hold is no row's, and is written over by the
/// next. Where `kBackwards`, each row lies before the last one, and a register ends with a row.
template <bool kBackwards, class T, int N = kShuffled<T>>
void shuffle_rows(const T* from, T* to, int64_t columns, int64_t rows, Vec<T, N> mask) {
  const int64_t together = N / columns * columns, total = rows * columns;
  const T* const end = from + (kBackwards ? columns : 0);
  int64_t i = 0;
  for (; i + N <= total; i += together)
    store<T, N>(to + i, at_places(load<T, N>(kBackwards ? end - i - N : from + i), mask));
  for (; i < total; i += together) {
    const int count = static_cast<int>(std::min(together, total - i));
    const Vec<T, N> in = load_part<T, N>(kBackwards ? end - i - count : from + i, count);
    const Vec<T, N> places = kBackwards ? mask - static_cast<T>(N - count) : mask;
    store_part<T, N>(to + i, at_places(in, places), count);
  }
}
}  // namespace detail

/// Whether rows of so many elements are mirrored by registers.
template <class T> constexpr bool mirrors_rows(int64_t columns) { return 2 * columns <= detail::kShuffled<T>; }

/// to[row * columns + i] = from[row * columns + columns - 1 - i].
template <class T> void mirror_in_rows(const T* from, T* to, int64_t columns, int64_t rows) {
  constexpr int N = detail::kShuffled<T>;
  const auto last = splat<T, N>(static_cast<T>(columns - 1));
  detail::shuffle_rows<false>(from, to, columns, rows, detail::twice_first<T>(columns) + last);
}
/// to[row * columns + i] = from[i - row * columns].
template <class T> void mirror_rows(const T* from, T* to, int64_t columns, int64_t rows) {
  constexpr int N = detail::kShuffled<T>;
  const auto last = splat<T, N>(static_cast<T>(N - columns));
  detail::shuffle_rows<true>(from, to, columns, rows, last - detail::twice_first<T>(columns));
}
#else
template <class T> constexpr bool mirrors_rows(int64_t) { return false; }
template <class T> void mirror_in_rows(const T*, T*, int64_t, int64_t) {}
template <class T> void mirror_rows(const T*, T*, int64_t, int64_t) {}
#endif

}  // namespace weft::kernels::cpu::simd
