#include "tensor/runtime/denormals.h"

#include <cstdint>

#include "tensor/runtime/threads.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace weft {

namespace {

#if defined(__SSE2__)
constexpr uint64_t kFlush = 0x8040;  // MXCSR: results to zero (bit 15), inputs count as zero (bit 6)
uint64_t control() { return _mm_getcsr(); }
void set_control(uint64_t word) { _mm_setcsr(static_cast<unsigned>(word)); }
#elif defined(__aarch64__)
constexpr uint64_t kFlush = uint64_t{1} << 24;  // FPCR.FZ
uint64_t control() {
  uint64_t word;
  asm volatile("mrs %0, fpcr" : "=r"(word));
  return word;
}
void set_control(uint64_t word) { asm volatile("msr fpcr, %0" : : "r"(word)); }
#else
constexpr uint64_t kFlush = 1;
uint64_t control() { return 0; }
void set_control(uint64_t) {}
#endif

void set_on_this_thread(bool on) { set_control(on ? control() | kFlush : control() & ~kFlush); }

}  // namespace

void flush_denormals(bool on) {
  set_on_this_thread(on);
  // Workers keep their own control word; one that starts later inherits it from the thread that starts it.
#ifdef _OPENMP
  internal::watch_forks();
#pragma omp parallel num_threads(num_threads())
  set_on_this_thread(on);
#endif
}

bool flushes_denormals() { return (control() & kFlush) == kFlush; }

internal::DenormalsFlushed::DenormalsFlushed() : before_(control() & kFlush) { set_on_this_thread(true); }
internal::DenormalsFlushed::~DenormalsFlushed() { set_control((control() & ~kFlush) | before_); }

}  // namespace weft
