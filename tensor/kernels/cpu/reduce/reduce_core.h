// The drive of all reductions: cuts the input into blocks of a fixed size, folds each to partial results, and combines
// those in a fixed tree. Neither blocks nor tree depend on the number of threads, so the bits of a result do not
// either.
//
// A Policy says what a partial result is:
//   Partial, static Partial identity(), static Partial combine(Partial, Partial)
//   Partial rows(const Block<T>&) const                   all elements of a block
//   void columns(const Block<T>&, Partial* out) const     each column of a block; out has kSpare more places
#pragma once

#include <algorithm>

#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/reduce/reduce_block.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// Elements of a block of rows; in columns, of a tile's width and of a whole block.
inline constexpr int64_t kRowBlock = 8192;
inline constexpr int64_t kColumnTile = 1024;
inline constexpr int64_t kColumnBlock = 65536;
/// Room that column folds may use beyond the columns (one register of the narrowest type).
inline constexpr int64_t kSpare = simd::kVectorBytes;
/// Elements below which a second thread does not pay.
inline constexpr int64_t kReduceGrain = 32768;

namespace detail {

/// partials[i * width + j] for i in [0, count): each column j combined in place into row 0, pairwise.
template <class Policy> void combine_tree(typename Policy::Partial* partials, int64_t count, int64_t width) {
  for (int64_t step = 1; step < count; step *= 2)
    for (int64_t i = 0; i + step < count; i += 2 * step)
      for (int64_t j = 0; j < width; ++j)
        partials[i * width + j] = Policy::combine(partials[i * width + j], partials[(i + step) * width + j]);
}

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline int64_t grain_for(int64_t elements_per_item) {
  return std::max<int64_t>(1, kReduceGrain / std::max<int64_t>(1, elements_per_item));
}

/// Every output is a fold over rows that lie along the innermost reduced axis.
template <class Policy, class T, class Finish>
void reduce_rows(const ReducePlan& plan, const T* x, const Policy& policy, const Finish& finish) {
  using Partial = typename Policy::Partial;
  const NestAxis inner = plan.reduced.rank > 0 ? plan.reduced.inner() : NestAxis{1, 1, 0};
  const Nest outer = plan.reduced.outer();
  const int64_t rows = outer.count(), outputs = plan.kept.count();
  // Long rows are cut into pieces, short rows grouped.
  const int64_t pieces = ceil_div(inner.size, kRowBlock);
  const int64_t group = std::max<int64_t>(1, kRowBlock / inner.size);
  const int64_t blocks = pieces > 1 ? rows * pieces : ceil_div(rows, group);
  const auto fold_block = [&](int64_t base, int64_t b) {
    if (pieces == 1)
      return policy.rows(
          Block<T>{x + base, &outer, b * group, std::min(group, rows - b * group), inner.size, inner.in});
    const int64_t begin = b % pieces * kRowBlock;
    return policy.rows(Block<T>{x + base + begin * inner.in, &outer, b / pieces, 1,
                                std::min(kRowBlock, inner.size - begin), inner.in});
  };
  const int64_t block_size = std::min(kRowBlock, rows * inner.size);
  if (blocks == 1) {
    parallel_for(outputs, grain_for(block_size), [&](int64_t begin, int64_t end) {
      NestWalk walk(plan.kept, begin);
      for (int64_t i = begin; i < end; ++i, walk.next()) {
        const Partial value = fold_block(walk.in(), 0);
        finish(walk.out(), 1, &value, 1);
      }
    });
    return;
  }
  const Scratch<Partial> partials(outputs * blocks);
  parallel_for(outputs * blocks, grain_for(block_size), [&](int64_t begin, int64_t end) {
    NestWalk walk(plan.kept, begin / blocks);
    for (int64_t i = begin; i < end; ++i) {
      partials.data()[i] = fold_block(walk.in(), i % blocks);
      if ((i + 1) % blocks == 0) walk.next();
    }
  });
  parallel_for(outputs, grain_for(blocks), [&](int64_t begin, int64_t end) {
    NestWalk walk(plan.kept, begin);
    for (int64_t i = begin; i < end; ++i, walk.next()) {
      Partial* mine = partials.data() + i * blocks;
      combine_tree<Policy>(mine, blocks, 1);
      finish(walk.out(), 1, mine, 1);
    }
  });
}

/// Columns along the innermost kept axis, `kept.inner()`, folded over all reduced axes.
template <class Policy, class T, class Finish>
void reduce_columns(const ReducePlan& plan, const T* x, const Policy& policy, const Finish& finish) {
  using Partial = typename Policy::Partial;
  const NestAxis inner = plan.kept.rank > 0 ? plan.kept.inner() : NestAxis{1, 1, 1};
  const Nest outer = plan.kept.outer();
  const int64_t rows = plan.reduced.count(), width = inner.size, bands = outer.count();
  const int64_t tile = std::min(width, kColumnTile), tiles = ceil_div(width, tile);
  const int64_t group = std::clamp<int64_t>(kColumnBlock * 4 / Policy::kPasses / tile, 64, 2048);
  const int64_t blocks = ceil_div(rows, group);
  const auto fold_block = [&](int64_t base, int64_t t, int64_t b, Partial* out) {
    const Block<T> block{x + base + t * tile * inner.in,   &plan.reduced, b * group, std::min(group, rows - b * group),
                         std::min(tile, width - t * tile), inner.in};
    policy.columns(block, out);
    return block.length;
  };
  const int64_t block_size = std::min(rows, group) * tile;
  const auto finish_tile = [&](int64_t base, int64_t t, const Partial* values) {
    finish(base + t * tile * inner.out, inner.out, values, std::min(tile, width - t * tile));
  };
  if (blocks == 1) {
    parallel_for(bands * tiles, grain_for(block_size), [&](int64_t begin, int64_t end) {
      Partial values[kColumnTile + kSpare];
      for (int64_t i = begin; i < end; ++i) {
        const NestWalk walk(outer, i / tiles);
        fold_block(walk.in(), i % tiles, 0, values);
        finish_tile(walk.out(), i % tiles, values);
      }
    });
    return;
  }
  // partials: (bands, tiles, blocks, tile)
  const Scratch<Partial> partials(bands * tiles * blocks * tile);
  parallel_for(bands * tiles * blocks, grain_for(block_size), [&](int64_t begin, int64_t end) {
    Partial values[kColumnTile + kSpare];
    for (int64_t i = begin; i < end; ++i) {
      const NestWalk walk(outer, i / blocks / tiles);
      const int64_t count = fold_block(walk.in(), i / blocks % tiles, i % blocks, values);
      std::copy_n(values, count, partials.data() + i * tile);
    }
  });
  parallel_for(bands * tiles, grain_for(blocks * tile), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const NestWalk walk(outer, i / tiles);
      Partial* mine = partials.data() + i * blocks * tile;
      combine_tree<Policy>(mine, blocks, tile);
      finish_tile(walk.out(), i % tiles, mine);
    }
  });
}

/// A few dense columns (width w under many rows) as k * w columns under fewer rows: full registers. False where it does
/// not apply.
template <class Policy, class T, class Finish>
bool reduce_narrow_columns(const ReducePlan& plan, const T* x, const Policy& policy, const Finish& finish) {
  using Partial = typename Policy::Partial;
  if (plan.kept.rank != 1 || plan.reduced.rank != 1) return false;
  const NestAxis kept = plan.kept.inner(), reduced = plan.reduced.inner();
  const int64_t times = 256 / kept.size;
  if (kept.in != 1 || reduced.in != kept.size || times < 4 || reduced.size < 4 * times) return false;
  const int64_t wide = times * kept.size, rows = reduced.size / times, rest = reduced.size % times;
  Partial values[256 + kSpare], last[256 + kSpare];
  ReducePlan folded;
  folded.kept.push({wide, 1, 1});
  folded.reduced.push({rows, wide, 0});
  reduce_columns(folded, x, policy,
                 [&](int64_t j, int64_t, const Partial* from, int64_t count) { std::copy_n(from, count, values + j); });
  combine_tree<Policy>(values, times, kept.size);
  if (rest > 0) {
    Nest nest;
    nest.push({rest, kept.size, 0});
    policy.columns(Block<T>{x + rows * wide, &nest, 0, rest, kept.size, 1}, last);
    for (int64_t j = 0; j < kept.size; ++j) values[j] = Policy::combine(values[j], last[j]);
  }
  finish(0, kept.out, values, kept.size);
  return true;
}

inline bool rows_are_better(const ReducePlan& plan) {
  if (plan.kept.rank == 0) return true;
  if (plan.reduced.rank == 0) return false;
  const NestAxis kept = plan.kept.inner(), reduced = plan.reduced.inner();
  // A few elements per output: many outputs side by side, even by strided loads.
  if (reduced.size < 32 && kept.size >= 16 && plan.reduced.rank == 1) return false;
  if (kept.in == 0 || reduced.in == 0) return kept.in == 0;
  return reduced.in < kept.in;
}

}  // namespace detail

/// Calls finish(offset, step, partials, count) for runs of outputs, each of which it gets once: they lie at offset + i
/// * step, in elements from the output's first. May run on several threads at once.
template <class Policy, class T, class Finish>
void reduce(const ReducePlan& plan, const T* base, const Policy& policy, const Finish& finish) {
  const T* x = base + plan.in_offset;
  const int64_t outputs = plan.kept.count();
  if (outputs == 0) return;
  if (plan.reduced.count() == 0) {
    NestWalk walk(plan.kept, 0);
    const typename Policy::Partial nothing = Policy::identity();
    for (int64_t i = 0; i < outputs; ++i, walk.next()) finish(walk.out(), 1, &nothing, 1);
    return;
  }
  if (detail::rows_are_better(plan)) return detail::reduce_rows(plan, x, policy, finish);
  if (detail::reduce_narrow_columns(plan, x, policy, finish)) return;
  detail::reduce_columns(plan, x, policy, finish);
}

}  // namespace weft::kernels::cpu
