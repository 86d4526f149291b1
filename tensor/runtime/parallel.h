// parallel_for: the one way kernels use threads. Serial below a fixed amount of work, on a loader's thread, inside
// another region and in a forked child; an exception is kept and rethrown after the region (it must not leave it).
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

#include "tensor/runtime/threads.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace weft::kernels::cpu {

/// The parts that the work of a region is cut into: 1 on a serial thread or inside a region.
int region_threads();
/// The threads that run `chunks` parts: fewer where other processes want the cores.
int team_threads(int chunks);

/// Calls f(begin, end) on disjoint ranges that cover [0, count), at least `grain` items each. Which items share a call
/// depends on region_threads(), so f must treat items independently.
template <class F> void parallel_for(int64_t count, int64_t grain, F&& f) {
  if (count <= 0) return;
#ifdef _OPENMP
  const int64_t chunks = count < 2 * grain ? 1 : std::min<int64_t>(region_threads(), count / grain);
  if (chunks > 1) {
    // In 128 bits: an expanded tensor may have as many elements as 64 bits can count.
    const auto boundary = [&](int64_t chunk) {
      return static_cast<int64_t>(static_cast<__int128>(count) * chunk / chunks);
    };
    const auto run_chunk = [&](int64_t chunk) { f(boundary(chunk), boundary(chunk + 1)); };
    const int threads = team_threads(static_cast<int>(chunks));
    if (threads == 1) {
      const SerialScope serial;  // as inside a region
      for (int64_t chunk = 0; chunk < chunks; ++chunk) run_chunk(chunk);
      return;
    }
    std::exception_ptr failure;
#pragma omp parallel num_threads(threads)
    {
      const int64_t id = omp_get_thread_num(), team = omp_get_num_threads();
      try {
        for (int64_t chunk = chunks * id / team; chunk < chunks * (id + 1) / team; ++chunk) run_chunk(chunk);
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
