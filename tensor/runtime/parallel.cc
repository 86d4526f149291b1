#include "tensor/runtime/parallel.h"

#include <algorithm>
#include <exception>

#include "tensor/runtime/threads.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace weft::detail {

#ifdef _OPENMP

bool run_region(int64_t count, int64_t grain, void (*range)(void* f, int64_t begin, int64_t end), void* f) {
  const int64_t chunks = std::min<int64_t>(region_threads(), count / grain);
  if (chunks <= 1) return false;
  // In 128 bits: an expanded tensor may have as many elements as 64 bits can count.
  const auto boundary = [&](int64_t chunk) {
    return static_cast<int64_t>(static_cast<__int128>(count) * chunk / chunks);
  };
  const auto run_chunk = [&](int64_t chunk) { range(f, boundary(chunk), boundary(chunk + 1)); };
  const int threads = team_threads(static_cast<int>(chunks));
  if (threads == 1) {
    const SerialScope serial;  // as inside a region
    for (int64_t chunk = 0; chunk < chunks; ++chunk) run_chunk(chunk);
    return true;
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
  return true;
}

#else

bool run_region(int64_t, int64_t, void (*)(void* f, int64_t begin, int64_t end), void*) { return false; }

#endif

}  // namespace weft::detail
