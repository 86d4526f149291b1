// The rates that everything is compared with, measured in the same run: a copy loop and oneDNN's matrix product.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace weft::bench {

/// The median duration of one call in seconds: at least three runs, each long enough for the clock, `seconds` in all.
template <class F> double median_seconds(const F& call, double seconds) {
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

/// How much faster `call` is than `reference`: the two run in turns, so that what disturbs one disturbs both. 1 is as
/// fast.
template <class F, class R> double share_of(const R& reference, const F& call, double seconds = 0.2) {
  std::vector<double> ratios;
  for (int turn = 0; turn < 7; ++turn) {
    const double limit = median_seconds(reference, seconds / 14);
    ratios.push_back(limit / median_seconds(call, seconds / 14));
  }
  std::nth_element(ratios.begin(), ratios.begin() + 3, ratios.end());
  return ratios[3];
}

/// Memory as tensors have it: from weft's allocator, filled with 0.5.
class Buffer {
 public:
  explicit Buffer(int64_t count);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  float* get() const { return memory_; }

 private:
  size_t bytes_;
  float* memory_;
};

/// A loop that copies floats between two buffers of `bytes` in total, on as many threads as weft uses where that is
/// more than a few pages. It writes through the caches, as a kernel must whose result is used next; memcpy's way around
/// them is no faster for who reads it then.
class CopyLoop {
 public:
  explicit CopyLoop(double bytes);
  void operator()() const;
  /// Read and written together.
  double bytes() const { return static_cast<double>(128 * lines_); }

 private:
  int64_t lines_;  // of 64 bytes
  Buffer from_;
  Buffer to_;
};

/// dnnl_sgemm: c (m, n) = a (m, k) b (k, n), a and b row-major or transposed.
class Sgemm {
 public:
  Sgemm(int64_t m, int64_t n, int64_t k, bool transpose_a = false, bool transpose_b = false);
  void operator()() const;
  double flops() const { return 2 * static_cast<double>(m_ * n_) * static_cast<double>(k_); }

 private:
  int64_t m_, n_, k_;
  bool transpose_a_, transpose_b_;
  Buffer a_, b_, c_;
};

}  // namespace weft::bench
