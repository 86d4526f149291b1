// The position of the extreme of a contiguous row, for argmax and argmin.
#pragma once

#include <limits>
#include <type_traits>

#include "tensor/kernels/cpu/reduce/reduce_ops.h"

namespace weft::kernels::cpu {

/// Whether registers compare T as it lies in memory.
template <class T>
inline constexpr bool kInLanes = std::is_same_v<T, CompareType<T>> && (sizeof(T) == 4 || sizeof(T) == 8);

/// Reads a contiguous row once, by registers: each lane keeps its best and the number of the step it came in. A NaN
/// in the sums (of NaN, or of infinities of both signs) leaves the row to the slower way, as the first NaN is what
/// counts then.
template <class T, bool kLargest> class LaneSearch {
  static constexpr int N = simd::kLanes<T>;
  using Index = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  using Values = simd::Vec<T, N>;
  using Positions = simd::Vec<Index, N>;
  /// Registers of a step: comparing and keeping takes five cycles, in which the others go on.
  static constexpr int kStep = 4;

 public:
  static constexpr int64_t kLeast = kStep * N, kMost = int64_t{1} << 30;

  /// The position, or -1 where there may be a NaN. kLeast <= length <= kMost.
  static int64_t run(const T* row, int64_t length) {
    LaneSearch search(row);
    const auto steps = static_cast<Index>(length / kLeast);
    for (Index step = 1; step < steps; ++step)
      for (int r = 0; r < kStep; ++r) {
        const T* p = row + (step * int64_t{kStep} + r) * N;
        simd::prefetch(p);
        search.look(r, step, simd::load<T>(p));
      }
    const T* p = row + steps * kLeast;
    for (int r = 0; r < kStep && p < row + length; ++r, p += N) {
      const auto left = static_cast<int>(std::min<int64_t>(N, row + length - p));
      search.look(
          r, steps,
          left == N ? simd::load<T>(p) : simd::first_lanes<T>(simd::load_part<T>(p, left), search.best_[r], left));
    }
    return search.result();
  }

 private:
  explicit LaneSearch(const T* row) {
    for (int r = 0; r < kStep; ++r) best_[r] = sum_[r] = simd::load<T>(row + r * N), step_[r] = Positions{};
  }
  static Positions beats(Values a, Values b) { return kLargest ? a > b : a < b; }

  void look(int r, Index step, Values v) {
    const Positions take = beats(v, best_[r]);
    best_[r] = take ? v : best_[r];
    step_[r] = take ? simd::splat<Index>(step) : step_[r];
    if constexpr (std::is_floating_point_v<T>) sum_[r] += v;
  }
  int64_t result() {
    Values sum = sum_[0];
    Positions lane;
    for (int l = 0; l < N; ++l) lane[l] = static_cast<Index>(l);
    Values best = best_[0];
    Positions at = step_[0] * (kStep * N) + lane;
    for (int r = 1; r < kStep; ++r) {
      sum += sum_[r];
      const Positions here = (step_[r] * kStep + r) * N + lane;
      const Positions take = beats(best_[r], best) | ((best_[r] == best) & (here < at));
      best = take ? best_[r] : best;
      at = take ? here : at;
    }
    if constexpr (std::is_floating_point_v<T>) {
      const T total = simd::fold_lanes<Add, T, N>(sum);
      if (total != total) return -1;
    }
    const T extreme = simd::fold_lanes<ExtremeOp<T, kLargest>, T, N>(best);
    const Positions candidates =
        best == simd::splat<T>(extreme) ? at : simd::splat<Index>(std::numeric_limits<Index>::max());
    return simd::fold_lanes<ExtremeOp<Index, false>, Index, N>(candidates);
  }

  Values best_[kStep], sum_[kStep];
  Positions step_[kStep];
};

}  // namespace weft::kernels::cpu
