// parallel_for: the one way kernels use threads. Serial below a fixed amount of work, on a loader's thread and inside
// another region; an exception is kept and rethrown after the region (it must not leave it).
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace weft::kernels::cpu {

/// Threads a region may use here and now: 1 on a serial thread or inside a region.
int region_threads();

/// Calls f(begin, end) on disjoint ranges that cover [0, count), at least `grain` items each. Which items share a call
/// depends on the thread count, so f must treat items independently.
template <class F>
void parallel_for(int64_t count, int64_t grain, F&& f) {
  if (count <= 0) return;
#ifdef _OPENMP
  const int64_t chunks = count < 2 * grain ? 1 : std::min<int64_t>(region_threads(), count / grain);
  if (chunks > 1) {
    std::exception_ptr failure;
#pragma omp parallel num_threads(static_cast <int>(chunks))
    {
      const int64_t id = omp_get_thread_num(), team = omp_get_num_threads();
      const int64_t begin = count * id / team, end = count * (id + 1) / team;
      try {
        if (begin < end) f(begin, end);
      } catch (...) {
#pragma omp critical(weft_parallel_failure)
        if (!failure) failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
    return;
  }
#endif
  (void)grain;
  f(int64_t{0}, count);
}

}  // namespace weft::kernels::cpu
