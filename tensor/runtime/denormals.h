// Denormal numbers: exact but slow; a switch that replaces them by zero.
#pragma once

#include <cstdint>

namespace weft {

/// While on, results and inputs too small for a normal float (below 1.2e-38 in f32) count as 0 on this thread, on
/// OpenMP's workers and on threads started from here: products full of denormals run up to 17 times faster. Off by
/// default, as it departs from IEEE 754, unless the program is linked with -ffast-math, which turns it on. No effect on
/// processors other than x86-64 and AArch64.
void flush_denormals(bool on);
/// Whether denormals count as 0 on this thread.
bool flushes_denormals();

namespace internal {

/// Denormals count as 0 on this thread while one lives: for steps of kernels in which they arise and do not matter.
class DenormalsFlushed {
 public:
  DenormalsFlushed();
  ~DenormalsFlushed();
  DenormalsFlushed(const DenormalsFlushed&) = delete;
  DenormalsFlushed& operator=(const DenormalsFlushed&) = delete;

 private:
  uint64_t before_;  // the bits of the control word that it sets
};

}  // namespace internal
}  // namespace weft
