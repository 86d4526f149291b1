// parallel_for: the one way kernels use threads. Serial below a fixed amount of work, on a loader's thread, inside
// another region and in a forked child; an exception is kept and rethrown after the region (it must not leave it).
#pragma once

#include <cstdint>
#include <type_traits>

namespace weft {

/// The parts that the work of a region is cut into: 1 on a serial thread or inside a region.
int region_threads();
/// The threads that run `chunks` parts: fewer where other processes want the cores.
int team_threads(int chunks);

namespace detail {

/// Calls range(f, begin, end) as parallel_for() calls its function, where there is work for more than one thread. False
/// where there is not: then nothing was called.
bool run_region(int64_t count, int64_t grain, void (*range)(void* f, int64_t begin, int64_t end), void* f);

}  // namespace detail

/// Calls f(begin, end) on disjoint ranges that cover [0, count), at least `grain` items each. Which items share a call
/// depends on region_threads(), so f must treat items independently.
template <class F> void parallel_for(int64_t count, int64_t grain, F&& f) {
  if (count <= 0) return;
  using Function = std::remove_reference_t<F>;
  const auto range = [](void* erased, int64_t begin, int64_t end) { (*static_cast<Function*>(erased))(begin, end); };
  void* const erased = const_cast<void*>(static_cast<const void*>(&f));
  if (count < 2 * grain || !detail::run_region(count, grain, range, erased)) f(int64_t{0}, count);
}

}  // namespace weft
