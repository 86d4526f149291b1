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

template <int kSize> void move(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t count) {
  const auto* in = static_cast<const std::byte*>(from);
  auto* out = static_cast<std::byte*>(to);
  const auto each = [=](int64_t apart) __attribute__((always_inline)) {
    for (int64_t i = 0; i < count; ++i) std::memcpy(out + i * apart, in + i * from_step, kSize);
  };
  to_step == kSize ? each(kSize) : each(to_step);
}

}  // namespace

void widen(const BFloat16* from, float* to, int64_t count) { each_register(from, to, count); }
void widen(const Float16* from, float* to, int64_t count) { each_register(from, to, count); }
void narrow(const float* from, BFloat16* to, int64_t count) { each_register(from, to, count); }
void narrow(const float* from, Float16* to, int64_t count) { each_register(from, to, count); }

void move_elements(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t size, int64_t count) {
  switch (size) {
    case 1: return move<1>(from, from_step, to, to_step, count);
    case 2: return move<2>(from, from_step, to, to_step, count);
    case 4: return move<4>(from, from_step, to, to_step, count);
    default: return move<8>(from, from_step, to, to_step, count);
  }
}

}  // namespace weft::kernels::cpu
