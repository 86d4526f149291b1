#include "tensor/runtime/denormals.h"

#include <cstdint>

#include "tensor/runtime/threads.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace weft {

namespace {

#if defined(__SSE2__)
constexpr unsigned kFlush = 0x8040;  // MXCSR: results to zero (bit 15), inputs count as zero (bit 6)
void set_on_this_thread(bool on) { _mm_setcsr(on ? _mm_getcsr() | kFlush : _mm_getcsr() & ~kFlush); }
bool is_set() { return (_mm_getcsr() & kFlush) == kFlush; }
#elif defined(__aarch64__)
constexpr uint64_t kFlush = uint64_t{1} << 24;  // FPCR.FZ
uint64_t control() {
  uint64_t word;
  asm volatile("mrs %0, fpcr" : "=r"(word));
  return word;
}
void set_on_this_thread(bool on) {
  const uint64_t word = on ? control() | kFlush : control() & ~kFlush;
  asm volatile("msr fpcr, %0" : : "r"(word));
}
bool is_set() { return (control() & kFlush) != 0; }
#else
void set_on_this_thread(bool) {}
bool is_set() { return false; }
#endif

}  // namespace

void flush_denormals(bool on) {
  set_on_this_thread(on);
  // Workers keep their own control word; one that starts later inherits it from the thread that starts it.
#ifdef _OPENMP
#pragma omp parallel num_threads(num_threads())
  set_on_this_thread(on);
#endif
}

bool flushes_denormals() { return is_set(); }

internal::DenormalsFlushed::DenormalsFlushed() : before_(is_set()) { set_on_this_thread(true); }
internal::DenormalsFlushed::~DenormalsFlushed() { set_on_this_thread(before_); }

}  // namespace weft
