// Batches of matrices (..., rows, columns): where each of them lies, who works on it, and which of them an error names.
#pragma once

#include <atomic>
#include <limits>
#include <string>
#include <type_traits>

#include "tensor/core/error.h"
#include "tensor/core/operand.h"
#include "tensor/kernels/cpu/base/batch.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/scratch.h"

namespace weft::kernels::cpu {

/// A result's vector or number `index`: results are row-major.
template <class T> T* vector_of(const Operand& x, int64_t index) { return x.data<T>() + offset_of(x, index, 1); }
template <class T> T& number_of(const Operand& x, int64_t index) { return x.data<T>()[offset_of(x, index, 0)]; }

/// f(index) for each of `count` matrices that cost about `work` operations: side by side, each on one thread, where
/// there are enough of them, else one after the other with all threads.
template <class F> void for_each_matrix(int64_t count, double work, F&& f) {
  if (count < 2 * region_threads() && work > 1e6) {
    for (int64_t i = 0; i < count; ++i) f(i);
    return;
  }
  const int64_t grain = work > 1e5 ? 1 : 1 + static_cast<int64_t>(1e5 / (work + 1));
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

/// The first matrix that cannot be worked on, whichever thread finds one.
class FirstFailure {
 public:
  void report(int64_t index) {
    int64_t known = first_.load();
    while (index < known && !first_.compare_exchange_weak(known, index)) {
    }
  }
  /// Throws `the matrix is singular`, `matrix 3 of the batch is singular`, `matrix [1, 0] of the batch is singular`.
  void check(const Operand& x, const char* what) const {
    const int64_t first = first_.load();
    if (first == kNone) return;
    throw Error(text(x.rank() == 2 ? "the matrix" : text("matrix ", place(x, first), " of the batch"), " ", what));
  }

 private:
  static std::string place(const Operand& x, int64_t index) {
    if (x.rank() == 3) return text(index);
    Shape at;
    for (int64_t axis = x.rank() - 2; axis-- > 0; index /= x.size(axis)) at.insert(0, index % x.size(axis));
    return text(at);
  }
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> first_ = kNone;
};

}  // namespace weft::kernels::cpu
