// The channels of one pixel that fill a cache line, in as many registers as that takes: with narrow registers, a cache
// line that is read in parts may be evicted before its next part is read.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tensor/kernels/cpu/base/simd.h"

namespace weft::kernels::cpu {

/// Channels that are processed together: those of one cache line, in as many registers as it takes.
template <class T> inline constexpr int kChannels = 64 / static_cast<int>(sizeof(T));
template <class T> inline constexpr int kParts = kChannels<T> / simd::kLanes<T>;
/// Pixels whose sums stay in registers.
template <class T> inline constexpr int kPixels = 8 / kParts<T>;

template <class T> struct ChannelLine {
  simd::Vec<T> part[kParts<T>];
  WEFT_SIMD void add_product(const ChannelLine& a, const ChannelLine& b) {
    for (int v = 0; v < kParts<T>; ++v) part[v] += a.part[v] * b.part[v];
  }
};
/// A whole line, or its first `count` channels.
template <class T> WEFT_SIMD ChannelLine<T> line_at(const T* p, std::integral_constant<int, kChannels<T>>) {
  ChannelLine<T> line;
  for (int v = 0; v < kParts<T>; ++v) line.part[v] = simd::load<T>(p + v * simd::kLanes<T>);
  return line;
}
WEFT_SIMD int lanes_of(int count, int part, int lanes) { return std::clamp(count - part * lanes, 0, lanes); }
template <class T> WEFT_SIMD ChannelLine<T> line_at(const T* p, int count) {
  constexpr int N = simd::kLanes<T>;
  ChannelLine<T> line;
  for (int v = 0; v < kParts<T>; ++v) line.part[v] = simd::load_part<T>(p + v * N, lanes_of(count, v, N));
  return line;
}
template <class T>
WEFT_SIMD void put_line(T* p, const ChannelLine<T>& line, std::integral_constant<int, kChannels<T>>) {
  for (int v = 0; v < kParts<T>; ++v) simd::store<T>(p + v * simd::kLanes<T>, line.part[v]);
}
template <class T> WEFT_SIMD void put_line(T* p, const ChannelLine<T>& line, int count) {
  constexpr int N = simd::kLanes<T>;
  for (int v = 0; v < kParts<T>; ++v) simd::store_part<T>(p + v * N, line.part[v], lanes_of(count, v, N));
}
/// f(c, count) for every line of the channels.
template <class T, class F> WEFT_SIMD void for_lines(int64_t channels, const F& f) {
  int64_t c = 0;
  for (; c + kChannels<T> <= channels; c += kChannels<T>) f(c, std::integral_constant<int, kChannels<T>>{});
  if (c < channels) f(c, static_cast<int>(channels - c));
}

}  // namespace weft::kernels::cpu
