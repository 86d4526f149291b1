#include "tensor/kernels/cpu/reduce/reduce_core.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

namespace weft::kernels::cpu {
namespace {

/// f(in, out, count) for runs of outputs [begin, end) along the innermost kept axis.
template <class F> void for_runs(const Nest& kept, const NestAxis& inner, int64_t begin, int64_t end, const F& f) {
  const Nest outer = kept.outer();
  NestWalk walk(outer, begin / inner.size);
  for (int64_t i = begin, at = begin % inner.size; i < end;) {
    const int64_t count = std::min({kRun, end - i, inner.size - at});
    f(walk.in() + at * inner.in, walk.out() + at * inner.out, count);
    i += count;
    at += count;
    if (at < inner.size) continue;
    at = 0;
    walk.next();
  }
}

/// Every output is a fold over rows that lie along the innermost reduced axis.
void reduce_rows(const ReducePlan& plan, const Folding& folding) {
  const NestAxis inner = plan.reduced.rank > 0 ? plan.reduced.inner() : NestAxis{1, 1, 0};
  const Nest outer = plan.reduced.outer();
  const int64_t rows = outer.count(), outputs = plan.kept.count(), bytes = folding.partial_bytes;
  // Long rows are cut into pieces, short rows grouped.
  const int64_t pieces = ceil_div(inner.size, kRowBlock);
  const int64_t group = std::max<int64_t>(1, kRowBlock / inner.size);
  const int64_t blocks = pieces > 1 ? rows * pieces : ceil_div(rows, group);
  const auto place = [&](int64_t base, int64_t b) -> BlockPlace {
    if (pieces == 1) return {base, &outer, b * group, std::min(group, rows - b * group), inner.size, inner.in};
    const int64_t begin = b % pieces * kRowBlock;
    return {base + begin * inner.in, &outer, b / pieces, 1, std::min(kRowBlock, inner.size - begin), inner.in};
  };
  const int64_t block_size = std::min(kRowBlock, rows * inner.size);
  if (blocks == 1) {
    const NestAxis kept = plan.kept.rank > 0 ? plan.kept.inner() : NestAxis{1, 1, 1};
    parallel_for(outputs, grain_for(block_size), [&](int64_t begin, int64_t end) {
      Partials<kRun> values;
      for_runs(plan.kept, kept, begin, end, [&](int64_t in, int64_t out, int64_t count) {
        folding.rows(place(in, 0), kept.in, count, values.bytes);
        folding.finish(out, kept.out, values.bytes, count);
      });
    });
    return;
  }
  const Scratch<std::byte> partials(outputs * blocks * bytes);
  parallel_for(outputs * blocks, grain_for(block_size), [&](int64_t begin, int64_t end) {
    NestWalk walk(plan.kept, begin / blocks);
    for (int64_t i = begin; i < end; ++i) {
      folding.rows(place(walk.in(), i % blocks), 0, 1, partials.data() + i * bytes);
      if ((i + 1) % blocks == 0) walk.next();
    }
  });
  parallel_for(outputs, grain_for(blocks), [&](int64_t begin, int64_t end) {
    NestWalk walk(plan.kept, begin);
    for (int64_t i = begin; i < end; ++i, walk.next()) {
      std::byte* mine = partials.data() + i * blocks * bytes;
      for_tree(blocks, [&](int64_t a, int64_t b) { folding.combine(mine + a * bytes, mine + b * bytes, 1); });
      folding.finish(walk.out(), 1, mine, 1);
    }
  });
}

/// Up to so many rows of columns are one block.
constexpr int64_t kFewRows = 64;

/// The tiles of columns of each band of `outer`, where a tile is one block: fold(base, t, partials) folds tile t of the
/// band at `base` and returns its number of columns, at most `tile`. Results that follow each other in the output,
/// `step` apart, are finished together.
template <class Fold, class Finish>
void reduce_tiles(const Nest& outer, int64_t tiles, int64_t tile, int64_t step, int64_t bytes, int64_t grain,
                  const Fold& fold, const Finish& finish) {
  parallel_for(outer.count() * tiles, grain, [&](int64_t begin, int64_t end) {
    Partials<kColumnTile + kSpare> values;
    int64_t held = 0, first = 0;
    const auto finish_held = [&] { finish(first, step, values.bytes, std::exchange(held, 0)); };
    NestWalk walk(outer, begin / tiles);
    for (int64_t i = begin, t = begin % tiles; i < end; ++i) {
      const int64_t at = walk.out() + t * tile * step;
      const bool follows = step != 0 && at == first + held * step && held + tile <= kColumnTile;
      if (held > 0 && !follows) finish_held();
      if (held == 0) first = at;
      held += fold(walk.in(), t, values.bytes + held * bytes);
      if (++t == tiles) t = 0, walk.next();
    }
    if (held > 0) finish_held();
  });
}

/// Columns along the innermost kept axis, `kept.inner()`, folded over all reduced axes; finish(offset, step, partials,
/// count) as in Folding. The first element lies at `start`.
template <class Finish>
void reduce_columns(const ReducePlan& plan, const Folding& folding, const Finish& finish, int64_t start = 0) {
  const NestAxis inner = plan.kept.rank > 0 ? plan.kept.inner() : NestAxis{1, 1, 1};
  const Nest outer = plan.kept.outer();
  const int64_t rows = plan.reduced.count(), width = inner.size, bands = outer.count(), bytes = folding.partial_bytes;
  const int64_t tile = std::min(width, kColumnTile), tiles = ceil_div(width, tile);
  const int64_t group = std::clamp<int64_t>(kColumnBlock * 4 / folding.passes / tile, kFewRows, kMostRows);
  const int64_t blocks = ceil_div(rows, group);
  const auto fold_block = [&](int64_t base, int64_t t, int64_t b, std::byte* out) {
    const BlockPlace place{
        start + base + t * tile * inner.in, &plan.reduced, b * group, std::min(group, rows - b * group),
        std::min(tile, width - t * tile),   inner.in};
    folding.columns(place, out);
    return place.length;
  };
  const int64_t block_size = std::min(rows, group) * tile;
  if (blocks == 1)
    return reduce_tiles(
        outer, tiles, tile, inner.out, bytes, grain_for(block_size),
        [&](int64_t base, int64_t t, std::byte* out) { return fold_block(base, t, 0, out); }, finish);
  // partials: (bands, tiles, blocks, tile)
  const Scratch<std::byte> partials(bands * tiles * blocks * tile * bytes);
  parallel_for(bands * tiles * blocks, grain_for(block_size), [&](int64_t begin, int64_t end) {
    Partials<kColumnTile + kSpare> values;
    for (int64_t i = begin; i < end; ++i) {
      const NestWalk walk(outer, i / blocks / tiles);
      const int64_t count = fold_block(walk.in(), i / blocks % tiles, i % blocks, values.bytes);
      std::copy_n(values.bytes, count * bytes, partials.data() + i * tile * bytes);
    }
  });
  parallel_for(bands * tiles, grain_for(blocks * tile), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const NestWalk walk(outer, i / tiles);
      std::byte* mine = partials.data() + i * blocks * tile * bytes;
      for_tree(blocks,
               [&](int64_t a, int64_t b) { folding.combine(mine + a * tile * bytes, mine + b * tile * bytes, tile); });
      const int64_t first = i % tiles * tile;
      finish(walk.out() + first * inner.out, inner.out, mine, std::min(tile, width - first));
    }
  });
}

/// Adjacent columns of rows that lie `pitch` apart, which is little more than they are wide.
struct NarrowColumns {
  static constexpr int64_t kWide = 256;
  /// How many rows, at most a quarter, are put side by side; a power of two. 0 where they are no such columns, or it is
  /// not worth it: partial results that are combined with divisions (those of several passes) should be few.
  static int64_t times(const ReducePlan& plan, const Folding& folding) {
    if (plan.kept.rank == 0 || plan.reduced.rank != 1) return 0;
    constexpr int64_t kFewest = 4, kFewestRows = 32, kMostPitch = 32;
    const NestAxis kept = plan.kept.inner(), reduced = plan.reduced.inner();
    const int64_t pitch = reduced.in, rows = reduced.size;
    if (kept.in != 1 || pitch < std::max<int64_t>(1, kept.size)) return 0;
    if (pitch > kept.size && (!folding.apart || pitch > std::min(kMostPitch, 4 * kept.size))) return 0;
    const auto floor = [](int64_t x) { return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(x))); };
    const int64_t most = floor(kWide / pitch), least = folding.passes > 1 ? 4 * most : kFewestRows;
    const int64_t times = rows < least ? 0 : std::min(most, floor(rows / 4));
    return times < kFewest ? 0 : times;
  }
};

/// Narrow columns (width w under many rows) as k * w columns under fewer rows: full registers. What lies between the
/// rows is folded too and dropped. False where it does not apply.
bool reduce_narrow_columns(const ReducePlan& plan, const Folding& folding) {
  const int64_t times = NarrowColumns::times(plan, folding);
  if (times == 0) return false;
  const NestAxis kept = plan.kept.inner(), reduced = plan.reduced.inner();
  const int64_t pitch = reduced.in, wide = times * pitch;
  // The last row is not followed by what may be read.
  const int64_t rows = (reduced.size - (pitch > kept.size ? 1 : 0)) / times, rest = reduced.size - rows * times;
  const int64_t bytes = folding.partial_bytes;
  ReducePlan folded;
  folded.kept.push({wide, 1, 1});
  folded.reduced.push({rows, wide, 0});
  const Nest outer = plan.kept.outer();
  const auto fold_bands = [&](int64_t begin, int64_t end) {
    Partials<NarrowColumns::kWide + kSpare> values, last;
    NestWalk band(outer, begin);
    for (int64_t b = begin; b < end; ++b, band.next()) {
      if (rows <= kFewRows)  // one block
        folding.columns({band.in(), &folded.reduced, 0, rows, wide, 1}, values.bytes);
      else
        reduce_columns(
            folded, folding,
            [&](int64_t j, int64_t, const std::byte* from, int64_t count) {
              std::copy_n(from, count * bytes, values.bytes + j * bytes);
            },
            band.in());
      for (int64_t half = wide / 2; half >= pitch; half /= 2)
        folding.combine(values.bytes, values.bytes + half * bytes, half);
      if (rest > 0) {
        Nest nest;
        nest.push({rest, pitch, 0});
        folding.columns({band.in() + rows * wide, &nest, 0, rest, kept.size, 1}, last.bytes);
        folding.combine(values.bytes, last.bytes, kept.size);
      }
      folding.finish(band.out(), kept.out, values.bytes, kept.size);
    }
  };
  if (outer.count() < 2 * region_threads())
    fold_bands(0, outer.count());  // each with all threads
  else
    parallel_for(outer.count(), grain_for(reduced.size * kept.size), fold_bands);
  return true;
}

/// An axis that is shorter, as the innermost kept one, leaves most of a register empty.
constexpr int64_t kShortAxis = 16;

/// Two kept axes that are one in the input, but not in the output, the inner one short: columns along both. False where
/// it does not apply.
bool reduce_split_columns(const ReducePlan& plan, const Folding& folding) {
  if (plan.kept.rank < 2 || plan.kept.inner().size >= kShortAxis) return false;
  ReducePlan joined = plan;
  --joined.kept.rank;
  NestAxis& both = joined.kept.axes[joined.kept.rank - 1];
  const NestAxis inner = plan.kept.inner(), middle = both;
  if (inner.in != 1 || middle.in != inner.size || middle.size * inner.size > kColumnTile) return false;
  both = {middle.size * inner.size, 1, 0};
  reduce_columns(joined, folding, [&](int64_t offset, int64_t, const std::byte* partials, int64_t) {
    for (int64_t i = 0; i < middle.size; ++i)
      folding.finish(offset + i * middle.out, inner.out, partials + i * inner.size * folding.partial_bytes, inner.size);
  });
  return true;
}

bool rows_are_better(const ReducePlan& plan, const Folding& folding) {
  if (plan.kept.rank == 0) return true;
  if (plan.reduced.rank == 0) return false;
  const NestAxis kept = plan.kept.inner(), reduced = plan.reduced.inner();
  // A few elements per output: many outputs at a time, one to a lane, even by strided loads, or transposed.
  const int64_t few = reduced.in == 1 ? folding.short_row : 32;
  if (reduced.size < few && kept.size >= 16 && plan.reduced.rank == 1) return false;
  if (kept.in == 0 || reduced.in == 0) return kept.in == 0;
  return reduced.in < kept.in;
}

/// turn() one by one, of kRows rows that are a constant: where columns follow each other the compiler makes shuffles of
/// it.
template <int kRows, class Raw> void turn_dense(const Raw* from, Raw* to, int64_t to_step, int64_t columns) {
  for (int64_t i = 0; i < columns; ++i)
    for (int64_t j = 0; j < kRows; ++j) to[j * to_step + i] = from[i * kRows + j];
}

template <class Raw>
void turn_elements(const Raw* from, int64_t from_step, Raw* to, int64_t to_step, int64_t columns, int64_t rows) {
  constexpr int N = std::min(simd::kLanes<Raw>, 16);
  if (from_step == rows) {
    if (rows == 2) return turn_dense<2>(from, to, to_step, columns);
    if (rows == 3) return turn_dense<3>(from, to, to_step, columns);
    if (rows == 4) return turn_dense<4>(from, to, to_step, columns);
  }
  if constexpr (sizeof(Raw) == 1) {  // parts of registers of bytes are read one by one anyway
    for (int64_t i = 0; i < columns; ++i)
      for (int64_t j = 0; j < rows; ++j) to[j * to_step + i] = from[i * from_step + j];
    return;
  }
  for (int64_t i = 0; i < columns; i += N)
    for (int64_t j = 0; j < rows; j += N) {
      const int count = static_cast<int>(std::min<int64_t>(N, rows - j));
      simd::Vec<Raw, N> block[N];
#pragma GCC unroll 16
      for (int k = 0; k < N; ++k)
        block[k] =
            i + k < columns ? simd::load_part<Raw, N>(from + (i + k) * from_step + j, count) : simd::Vec<Raw, N>{};
      simd::transpose<Raw, N>(block);
#pragma GCC unroll 16
      for (int k = 0; k < N; ++k)
        if (k < count) simd::store<Raw, N>(to + (j + k) * to_step + i, block[k]);
    }
}

}  // namespace

void detail::turn(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t columns, int64_t rows,
                  size_t size) {
  const auto turn_as = [=]<class Raw>() {
    turn_elements(static_cast<const Raw*>(from), from_step, static_cast<Raw*>(to), to_step, columns, rows);
  };
  switch (size) {
    case 1: return turn_as.operator()<uint8_t>();
    case 2: return turn_as.operator()<uint16_t>();
    case 4: return turn_as.operator()<uint32_t>();
    default: return turn_as.operator()<uint64_t>();
  }
}

namespace {

/// Few elements for each output, and a short innermost kept axis: the longest kept axis becomes the innermost.
ReducePlan with_long_columns(ReducePlan plan, const Folding& folding) {
  constexpr int64_t kFew = 128, kLong = 64;
  Nest& kept = plan.kept;
  if (kept.rank < 2 || kept.inner().size >= kShortAxis) return plan;
  if (plan.reduced.count() * kept.inner().size >= kFew) return plan;
  if (NarrowColumns::times(plan, folding) > 0) return plan;
  NestAxis* const end = kept.axes + kept.rank;
  NestAxis* const longest =
      std::max_element(kept.axes, end, [](const NestAxis& a, const NestAxis& b) { return a.size < b.size; });
  if (longest->size >= kLong) std::rotate(longest, longest + 1, end);
  return plan;
}

}  // namespace

void reduce(const ReducePlan& planned, const Folding& folding) {
  if (planned.segments != nullptr) return reduce_segments(planned, folding);
  const ReducePlan plan = with_long_columns(planned, folding);
  const int64_t outputs = plan.kept.count();
  if (outputs == 0) return;
  if (plan.reduced.count() == 0) {
    Partials<1> nothing;
    folding.identity(nothing.bytes);
    NestWalk walk(plan.kept, 0);
    for (int64_t i = 0; i < outputs; ++i, walk.next()) folding.finish(walk.out(), 1, nothing.bytes, 1);
    return;
  }
  if (rows_are_better(plan, folding)) return reduce_rows(plan, folding);
  if (reduce_narrow_columns(plan, folding) || reduce_split_columns(plan, folding)) return;
  reduce_columns(plan, folding, [&](int64_t offset, int64_t step, const std::byte* partials, int64_t count) {
    folding.finish(offset, step, partials, count);
  });
}

}  // namespace weft::kernels::cpu
