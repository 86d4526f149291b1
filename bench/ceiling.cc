#include "bench/ceiling.h"

#include <dnnl.h>

#include "tensor/allocator.h"
#include "tensor/kernels/cpu/parallel.h"

namespace weft::bench {
namespace {

/// Memory as tensors have it: aligned, and with huge pages where they are large.
class Buffer {
 public:
  explicit Buffer(int64_t count) : bytes_(static_cast<size_t>(std::max<int64_t>(count, 1)) * sizeof(float)) {
    memory_ = static_cast<float*>(weft::detail::allocate_block(bytes_));
    std::fill_n(memory_, bytes_ / sizeof(float), 0.5f);
  }
  ~Buffer() { weft::detail::free_block(memory_, bytes_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  float* get() const { return memory_; }

 private:
  size_t bytes_;
  float* memory_;
};

typedef float Line __attribute__((vector_size(64)));

/// The barrier keeps this a loop: compilers would make a call of memcpy of it.
void copy_lines(const Line* from, Line* to, int64_t count) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const Line a = from[i], b = from[i + 1], c = from[i + 2], d = from[i + 3];
    to[i] = a, to[i + 1] = b, to[i + 2] = c, to[i + 3] = d;
    asm volatile("" ::: "memory");
  }
  for (; i < count; ++i) {
    to[i] = from[i];
    asm volatile("" ::: "memory");
  }
}

}  // namespace

double copy_rate(double bytes, double seconds) {
  const int64_t floats = std::max<int64_t>(static_cast<int64_t>(bytes / 8), 16), lines = floats / 16;
  const Buffer from(floats), to(floats);
  const auto copy = [&] {
    kernels::cpu::parallel_for(lines, 512, [&](int64_t begin, int64_t end) {
      copy_lines(reinterpret_cast<const Line*>(from.get()) + begin, reinterpret_cast<Line*>(to.get()) + begin,
                 end - begin);
    });
  };
  return 128 * static_cast<double>(lines) / median_seconds(copy, seconds);
}

double sgemm_rate(int64_t m, int64_t n, int64_t k, bool transpose_a, bool transpose_b, double seconds) {
  const Buffer a(m * k), b(k * n), c(m * n);
  const auto product = [&] {
    dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.f, a.get(), transpose_a ? m : k, b.get(),
               transpose_b ? k : n, 0.f, c.get(), n);
  };
  return 2 * static_cast<double>(m * n) * static_cast<double>(k) / median_seconds(product, seconds);
}

}  // namespace weft::bench
