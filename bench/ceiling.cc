#include "bench/ceiling.h"

#include <dnnl.h>

#include "tensor/memory/allocator.h"
#include "tensor/runtime/parallel.h"

namespace weft::bench {
namespace {

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

Buffer::Buffer(int64_t count) : bytes_(static_cast<size_t>(std::max<int64_t>(count, 1)) * sizeof(float)) {
  memory_ = static_cast<float*>(weft::detail::allocate_block(bytes_));
  std::fill_n(memory_, bytes_ / sizeof(float), 0.5f);
}
Buffer::~Buffer() { weft::detail::free_block(memory_, bytes_); }

CopyLoop::CopyLoop(double bytes)
    : lines_(std::max<int64_t>(static_cast<int64_t>(bytes / 128), 1)), from_(16 * lines_), to_(16 * lines_) {}

void CopyLoop::operator()() const {
  const auto* from = reinterpret_cast<const Line*>(from_.get());
  auto* to = reinterpret_cast<Line*>(to_.get());
  parallel_for(lines_, 512, [=](int64_t begin, int64_t end) { copy_lines(from + begin, to + begin, end - begin); });
}

Sgemm::Sgemm(int64_t m, int64_t n, int64_t k, bool transpose_a, bool transpose_b)
    : m_(m), n_(n), k_(k), transpose_a_(transpose_a), transpose_b_(transpose_b), a_(m * k), b_(k * n), c_(m * n) {}

void Sgemm::operator()() const {
  dnnl_sgemm(transpose_a_ ? 'T' : 'N', transpose_b_ ? 'T' : 'N', m_, n_, k_, 1.f, a_.get(), transpose_a_ ? m_ : k_,
             b_.get(), transpose_b_ ? k_ : n_, 0.f, c_.get(), n_);
}

}  // namespace weft::bench
