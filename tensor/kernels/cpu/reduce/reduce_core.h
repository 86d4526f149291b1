// The driver of all reductions: cuts the input into blocks of a fixed size, folds each to partial results, and combines
// those in a fixed tree. Neither blocks nor tree depend on the number of threads, so the bits of a result do not
// either.
//
// A Policy says what a partial result is:
//   Partial, static Partial identity(), static Partial combine(Partial, Partial)
//   Partial rows(const Block<T>&) const                   all elements of a block
//   void columns(const Block<T>&, Partial* out) const     each column of a block; out has kSpare more places
//   kApart                                                defined if a column's result does not depend on the others
// and may say, where that is faster than one by one,
//   void dense_rows(const T*, int64_t length, int64_t between, int64_t count, Partial* out) const    each of some rows
//
// The driver (reduce_core.cc) is compiled once: it sees a policy as a Folding, which knows neither the type of the
// elements nor that of the partial results.
#pragma once

#include <algorithm>
#include <cstddef>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/reduce/reduce_block.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// Elements of a block of columns.
inline constexpr int64_t kColumnBlock = 65536;
/// Most rows of one.
inline constexpr int64_t kMostRows = 2048;
/// Room that column folds may use beyond the columns (one register of the narrowest type).
inline constexpr int64_t kSpare = simd::kVectorBytes;
/// Elements below which a second thread does not pay.
inline constexpr int64_t kReduceGrain = 32768;

inline int64_t grain_for(int64_t elements_per_item) {
  return std::max<int64_t>(1, kReduceGrain / std::max<int64_t>(1, elements_per_item));
}

/// combine(i, j) for pairs of [0, count), i < j, such that item 0 ends up with all of them: pairwise.
template <class F> void for_tree(int64_t count, const F& combine) {
  for (int64_t step = 1; step < count; step *= 2)
    for (int64_t i = 0; i + step < count; i += 2 * step) combine(i, i + step);
}

/// partials[i * width + j] for i in [0, count): each column j combined in place into row 0, pairwise.
template <class Policy> void combine_tree(typename Policy::Partial* partials, int64_t count, int64_t width) {
  for_tree(count, [&](int64_t into, int64_t from) {
    for (int64_t j = 0; j < width; ++j)
      partials[into * width + j] = Policy::combine(partials[into * width + j], partials[from * width + j]);
  });
}

/// Most bytes of a partial result.
inline constexpr int64_t kMaxPartial = 24;

/// Rows up to this long that follow each other are transposed by shuffles.
inline constexpr int64_t kShortDenseRow = 4;
/// Contiguous rows of fewer elements of T are folded as columns by policies that have dense_rows() (measured). Without
/// AVX-512, registers of 8 bytes have few lanes, and parts of those of 8 and 16 bits take long to load.
template <class T, class Partial> constexpr int64_t folded_as_columns() {
  // Bytes are transposed one by one: a row of them takes one masked load.
  if (simd::kMasksBytes && sizeof(T) == 1 && sizeof(Partial) == 1) return kShortDenseRow + 1;
  if (simd::kVectorBytes == 64 || sizeof(Partial) < 4) return 24;
  if (sizeof(T) == 2) return kShortDenseRow + 1;
  return sizeof(T) == 4 ? 17 : 10;
}

/// Where a Block lies.
struct BlockPlace {
  int64_t offset;  // from the input's first element
  const Nest* nest;
  int64_t first;
  int64_t rows;
  int64_t length;
  int64_t stride;
};

/// A Policy over an input as the driver sees it. Partial results are `partial_bytes` each.
class Folding {
 public:
  const int64_t partial_bytes;
  const int passes;
  const int64_t short_row;  // of contiguous elements: rows below this length are folded as columns
  const bool apart;         // a column's result does not depend on the columns beside it

  virtual void identity(void* partial) const = 0;
  /// `count` blocks like `place`, `between` elements apart, each to one of `partials`.
  virtual void rows(const BlockPlace& place, int64_t between, int64_t count, void* partials) const = 0;
  virtual void columns(const BlockPlace& place, void* partials) const = 0;
  /// into[i] combined with from[i].
  virtual void combine(void* into, const void* from, int64_t count) const = 0;
  /// The outputs at offset + i * step are complete.
  virtual void finish(int64_t offset, int64_t step, const void* partials, int64_t count) const = 0;

 protected:
  Folding(int64_t partial_bytes, int passes, int64_t short_row, bool apart)
      : partial_bytes(partial_bytes), passes(passes), short_row(short_row), apart(apart) {}
  ~Folding() = default;
};

template <class Policy, class T, class Finish> class FoldingOf final : public Folding {
 public:
  using Partial = typename Policy::Partial;
  static_assert(sizeof(Partial) <= kMaxPartial);
  static constexpr bool kDenseRows = requires(const Policy& policy, const T* p, Partial* out) {
    policy.dense_rows(p, 0, 0, 0, out);
  };

  FoldingOf(const T* x, const Policy& policy, const Finish& finish)
      : Folding(
            sizeof(Partial), Policy::kPasses, kDenseRows ? folded_as_columns<T, Partial>() : detail::kShort,
            requires { Policy::kApart; }),
        x_(x),
        policy_(policy),
        finish_(finish) {}

  void identity(void* partial) const override { *static_cast<Partial*>(partial) = Policy::identity(); }
  void rows(const BlockPlace& place, int64_t between, int64_t count, void* partials) const override {
    auto* out = static_cast<Partial*>(partials);
    if constexpr (kDenseRows)
      if (place.rows == 1 && place.stride == 1 && place.nest->rank == 0)
        return policy_.dense_rows(x_ + place.offset, place.length, between, count, out);
    for (int64_t i = 0; i < count; ++i) out[i] = policy_.rows(block(place, i * between));
  }
  void columns(const BlockPlace& place, void* partials) const override {
    policy_.columns(block(place, 0), static_cast<Partial*>(partials));
  }
  void combine(void* into, const void* from, int64_t count) const override {
    auto* a = static_cast<Partial*>(into);
    const auto* b = static_cast<const Partial*>(from);
    for (int64_t i = 0; i < count; ++i) a[i] = Policy::combine(a[i], b[i]);
  }
  void finish(int64_t offset, int64_t step, const void* partials, int64_t count) const override {
    finish_(offset, step, static_cast<const Partial*>(partials), count);
  }

 private:
  Block<T> block(const BlockPlace& place, int64_t further) const {
    return {x_ + place.offset + further, place.nest, place.first, place.rows, place.length, place.stride};
  }

  const T* x_;
  const Policy& policy_;
  const Finish& finish_;
};

/// Room on the stack for `kCount` partial results of any type.
template <int64_t kCount> struct alignas(64) Partials { std::byte bytes[kCount * kMaxPartial]; };

/// Outputs of short rows that are folded by one call.
inline constexpr int64_t kRun = 64;

void reduce(const ReducePlan& plan, const Folding& folding);
/// The same of a plan with segments, which reduce() calls.
void reduce_segments(const ReducePlan& plan, const Folding& folding);

/// Calls finish(offset, step, partials, count) for runs of outputs, each of which it gets once: they lie at offset + i
/// * step, in elements from the output's first. May run on several threads at once.
template <class Policy, class T, class Finish>
void reduce(const ReducePlan& plan, const T* base, const Policy& policy, const Finish& finish) {
  reduce(plan, FoldingOf<Policy, T, Finish>(base + plan.in_offset, policy, finish));
}

}  // namespace weft::kernels::cpu
