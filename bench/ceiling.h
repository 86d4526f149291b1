// The rates that everything is compared with, measured in the same run: a copy loop and oneDNN's matrix product.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace weft::bench {

/// The median duration of one call in seconds: at least three runs, each long enough for the clock, `seconds` in all.
template <class F>
double median_seconds(const F& call, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto time_of = [&](int64_t count) {
    const auto start = Clock::now();
    for (int64_t i = 0; i < count; ++i) call();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  call();
  int64_t count = 1;
  double spent = time_of(count);
  while (spent < 2e-5) spent = time_of(count *= 2);
  std::vector<double> runs;
  for (double total = 0; total < seconds || runs.size() < 3; total += spent) {
    spent = time_of(count);
    runs.push_back(spent / static_cast<double>(count));
  }
  std::nth_element(runs.begin(), runs.begin() + static_cast<int64_t>(runs.size() / 2), runs.end());
  return runs[runs.size() / 2];
}

/// Bytes per second, read and written together, of a loop that copies floats between two buffers of `bytes` in total, on
/// as many threads as weft uses where that is more than a few pages. It writes through the caches, as a kernel must whose
/// result is used next; memcpy's way around them is no faster for who reads it then.
double copy_rate(double bytes, double seconds = 0.02);

/// Floating-point operations per second of dnnl_sgemm: c (m, n) = a (m, k) b (k, n), a and b row-major or transposed.
double sgemm_rate(int64_t m, int64_t n, int64_t k, bool transpose_a = false, bool transpose_b = false,
                  double seconds = 0.02);

}  // namespace weft::bench
