// Loads and stores of registers and of parts of them, from and to every element type.
#include "tensor/kernels/cpu/base/simd.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace weft::testing {
namespace {

namespace simd = kernels::cpu::simd;

constexpr double kUntouched = 77;

template <class T> std::vector<T> numbers(int count) {
  std::vector<T> out;
  for (int i = 0; i < count; ++i) out.push_back(static_cast<T>(static_cast<float>(i + 1)));
  return out;
}
template <class T> double value(T x) {
  if constexpr (sizeof(T) == 2)
    return static_cast<float>(x);
  else
    return static_cast<double>(x);
}

// The list ends where the part ends, so that the address sanitizer sees what is read beyond.
template <class C, class T> void expect_parts() {
  constexpr int N = simd::kLanes<C>;
  for (int count = 1; count <= N; ++count) {
    const std::vector<T> from = numbers<T>(count);
    const simd::Vec<C> part = simd::load_part<C>(from.data(), count);
    for (int i = 0; i < N; ++i) EXPECT_EQ(part[i], i < count ? C(i + 1) : C(0)) << count;
    std::vector<T> to(N + 1, static_cast<T>(static_cast<float>(kUntouched)));
    simd::store_part<C>(to.data(), part + C(1), count);
    for (int i = 0; i <= N; ++i) EXPECT_EQ(value(to[static_cast<size_t>(i)]), i < count ? i + 2 : kUntouched) << count;
    std::vector<T> exact(static_cast<size_t>(count));
    simd::store_part<C>(exact.data(), part, count);
    EXPECT_EQ(exact, from);
  }
  const std::vector<T> from = numbers<T>(N);
  std::vector<T> to(N);
  simd::store<C>(to.data(), simd::load<C>(from.data()));
  EXPECT_EQ(to, from);
}

template <class C, class... T> void expect_parts_of_all() { (expect_parts<C, T>(), ...); }

TEST(Simd, PartsOfRegisters) {
  expect_parts_of_all<float, float, BFloat16, Float16, uint8_t, int32_t>();
  expect_parts_of_all<double, double, float, BFloat16, Float16, int64_t>();
  expect_parts_of_all<int32_t, int32_t, int16_t, int8_t>();
  expect_parts_of_all<int64_t, int64_t, int32_t>();
}

template <class C, class T> void expect_widened() {
  constexpr int N = simd::kLanes<C>;
  T from[N];
  for (int i = 0; i < N; ++i) from[i] = static_cast<T>(i % 2 == 0 ? std::numeric_limits<T>::max() - i : i - 100);
  const simd::Vec<C> wide = simd::load<C>(from);
  for (int i = 0; i < N; ++i) EXPECT_EQ(wide[i], static_cast<C>(from[i])) << i;
}
template <class C> void expect_widened_to() {
  expect_widened<C, int8_t>();
  expect_widened<C, uint8_t>();
  expect_widened<C, int16_t>();
  expect_widened<C, uint16_t>();
}

TEST(Simd, SmallIntegersKeepTheirSigns) {
  expect_widened_to<int32_t>();
  expect_widened_to<uint64_t>();
  expect_widened_to<int64_t>();
  expect_widened_to<float>();
  expect_widened_to<double>();
}

}  // namespace
}  // namespace weft::testing
