// How the benchmarks of op families report: beside the time, the rate and the share of what the machine can do,
// measured in turns with it in the same run.
#pragma once

#include <benchmark/benchmark.h>

#include "bench/ceiling.h"
#include "weft.h"

namespace weft::bench {

/// Times `call`.
template <class F> void timed(benchmark::State& state, const F& call) {
  for (auto _ : state) call();
}

/// A call that reads and writes `bytes` where it does so once: `of_copy` is its rate over that of a copy loop of as
/// many.
template <class F> void memory_bound(benchmark::State& state, double bytes, const F& call) {
  timed(state, call);
  const CopyLoop copy(bytes);
  state.counters["GB/s"] =
      benchmark::Counter(bytes / 1e9 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["of_copy"] = share_of(copy, call);
}

/// A call of `flops`: `of_best` is its rate over that of `best`, which does the same work.
template <class F, class R> void product_bound(benchmark::State& state, double flops, const R& best, const F& call) {
  timed(state, call);
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops / 1e9 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["of_best"] = share_of(best, call);
}

/// Bytes of `streams` passes over tensors of this many floats.
inline double streams(double count, int64_t floats) { return 4 * count * static_cast<double>(floats); }

}  // namespace weft::bench
