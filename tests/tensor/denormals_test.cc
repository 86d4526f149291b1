// The switch that flushes denormals, on this thread and on the workers.
#include "tensor/runtime/denormals.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "tensor/runtime/parallel.h"
#include "tensor/runtime/threads.h"

namespace weft {
namespace {

/// Threads that a region has where `count` are allowed: without OpenMP (the clang configuration) the caller alone.
constexpr int team_of([[maybe_unused]] int count) {
#ifdef _OPENMP
  return count;
#else
  return 1;
#endif
}

float halved(float x) {
  volatile float value = x;
  value = value * 0.5f;
  return value;
}

/// Whether half of the smallest normal float vanishes, asked on every thread: how many say yes.
int flushing_threads() {
  std::atomic<int> count{0};
  parallel_for(num_threads(), 1, [&](int64_t, int64_t) { count += halved(0x1p-126f) == 0.0f; });
  return count;
}

TEST(Denormals, AreFlushedWithinAScope) {
  const float least = std::numeric_limits<float>::min();
  {
    const internal::DenormalsFlushed outer;
    { const internal::DenormalsFlushed inner; }
    EXPECT_EQ(halved(least), 0.0f);
  }
  EXPECT_GT(halved(least), 0.0f);
}

#ifdef __SSE2__
TEST(Denormals, AScopeKeepsHalfASwitch) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8000);  // results alone
  { const internal::DenormalsFlushed scope; }
  EXPECT_EQ(_mm_getcsr() & 0x8040u, 0x8000u);
  _mm_setcsr(before);
}
#endif

TEST(Denormals, AreFlushedOnEveryThreadAndKeptByDefault) {
#if !defined(__SSE2__) && !defined(__aarch64__)
  GTEST_SKIP() << "no switch on this processor";
#endif
  const int before = num_threads();
  set_num_threads(2);
  EXPECT_FALSE(flushes_denormals());
  EXPECT_EQ(flushing_threads(), 0);
  flush_denormals(true);
  EXPECT_TRUE(flushes_denormals());
  EXPECT_EQ(flushing_threads(), team_of(2));
  EXPECT_EQ(halved(0x1p-125f), 0x1p-126f);  // normal results are what they were
  set_num_threads(4);                       // workers that start later are no exception
  EXPECT_EQ(flushing_threads(), team_of(4));
  flush_denormals(false);
  EXPECT_FALSE(flushes_denormals());
  EXPECT_EQ(flushing_threads(), 0);
  set_num_threads(before);
}

}  // namespace
}  // namespace weft
