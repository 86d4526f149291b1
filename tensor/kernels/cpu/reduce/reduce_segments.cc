// Reductions of segments of an axis.
#include <algorithm>
#include <cstddef>

#include "tensor/kernels/cpu/reduce/reduce_core.h"

namespace weft::kernels::cpu {
namespace {

/// A Folding of what lies elsewhere in the input, with results elsewhere in the output.
class ShiftedFolding final : public Folding {
 public:
  ShiftedFolding(const Folding& folding, int64_t in, int64_t out)
      : Folding(folding.partial_bytes, folding.passes, folding.short_row, folding.apart),
        folding_(folding),
        in_(in),
        out_(out) {}
  void identity(void* partial) const override { folding_.identity(partial); }
  void rows(const BlockPlace& place, int64_t between, int64_t count, void* partials) const override {
    folding_.rows(shifted(place), between, count, partials);
  }
  void columns(const BlockPlace& place, void* partials) const override { folding_.columns(shifted(place), partials); }
  void combine(void* into, const void* from, int64_t count) const override { folding_.combine(into, from, count); }
  void finish(int64_t offset, int64_t step, const void* partials, int64_t count) const override {
    folding_.finish(offset + out_, step, partials, count);
  }

 private:
  BlockPlace shifted(BlockPlace place) const {
    place.offset += in_;
    return place;
  }

  const Folding& folding_;
  int64_t in_, out_;
};

/// Segments of more slices are cut into blocks, as other reductions are.
constexpr int64_t kLongSegment = 2048;

/// The segments of an axis whose results are each folded in one block.
class ShortSegments {
 public:
  ShortSegments(const ReducePlan& plan, const Folding& folding)
      : segments_(*plan.segments), axis_(plan.reduced), folding_(folding) {}

  /// Rows along the axis: segments [first, end) of the one that begins at `in`. Those of one length that follow each
  /// other are folded by one call.
  void rows(int64_t first, int64_t end, int64_t in, int64_t out) const {
    const int64_t step = axis_.inner().in, *bounds = segments_.bounds, bytes = folding_.partial_bytes;
    Partials<kRun> values;
    for (int64_t s = first; s < end;) {
      const int64_t from = s;
      for (int64_t held = 0; s < end && held < kRun && !is_long(s);) {
        const int64_t length = bounds[s + 1] - bounds[s], start = s;
        while (s < end && held + s - start < kRun && bounds[s + 1] - bounds[s] == length) ++s;
        const BlockPlace place{in + bounds[start] * step, &kNoAxes, 0, 1, length, step};
        fold_rows(place, length * step, s - start, values.bytes + held * bytes);
        held += s - start;
      }
      if (s > from) folding_.finish(out + from * segments_.step, segments_.step, values.bytes, s - from);
      while (s < end && is_long(s)) ++s;
    }
  }
  /// Columns across the axis, `width` of them. Segments that have their results side by side are finished together.
  void columns(int64_t first, int64_t end, int64_t in, int64_t out, int64_t width, const NestAxis& kept) const {
    const int64_t *bounds = segments_.bounds, bytes = folding_.partial_bytes;
    const int64_t most = segments_.step == width * kept.out ? kColumnTile / width : 1;
    Partials<kColumnTile + kSpare> values;
    for (int64_t s = first; s < end;) {
      const int64_t from = s;
      for (; s < end && s - from < most && !is_long(s); ++s)
        folding_.columns({in, &axis_, bounds[s], bounds[s + 1] - bounds[s], width, kept.in},
                         values.bytes + (s - from) * width * bytes);
      if (s > from) folding_.finish(out + from * segments_.step, kept.out, values.bytes, (s - from) * width);
      while (s < end && is_long(s)) ++s;
    }
  }
  bool is_long(int64_t s) const { return segments_.bounds[s + 1] - segments_.bounds[s] > kLongSegment; }

 private:
  void fold_rows(const BlockPlace& place, int64_t between, int64_t count, std::byte* partials) const {
    if (place.length > 0) return folding_.rows(place, between, count, partials);
    for (int64_t i = 0; i < count; ++i) folding_.identity(partials + i * folding_.partial_bytes);
  }

  const Segments& segments_;
  const Nest& axis_;
  const Folding& folding_;
};

}  // namespace

/// Long segments one by one, each with all threads; the others as many at a time as there are threads.
void reduce_segments(const ReducePlan& plan, const Folding& folding) {
  const Segments& segments = *plan.segments;
  const ShortSegments shorts(plan, folding);
  const NestAxis axis = plan.reduced.inner();
  for (int64_t s = 0; s < segments.count; ++s) {
    if (!shorts.is_long(s)) continue;
    ReducePlan one{plan.kept, {}, 0, 0};
    one.reduced.push({segments.bounds[s + 1] - segments.bounds[s], axis.in, 0});
    reduce(one, ShiftedFolding(folding, segments.bounds[s] * axis.in, s * segments.step));
  }
  // Many short rows of short segments take less time side by side, as columns, than one by one.
  constexpr int64_t kManyRows = 64, kShortRow = 64;
  const bool beside = axis.size <= kShortRow && axis.size < folding.short_row * segments.count;
  const bool by_rows =
      plan.kept.rank == 0 || (axis.in < plan.kept.inner().in && !(beside && plan.kept.inner().size >= kManyRows));
  const NestAxis kept = by_rows ? NestAxis{1, 0, 0} : plan.kept.inner();
  const Nest outer = by_rows ? plan.kept : plan.kept.outer();
  const int64_t tile = std::min(kept.size, kColumnTile), tiles = ceil_div(kept.size, tile), count = segments.count;
  parallel_for(outer.count() * tiles * count, grain_for(axis.size * tile / count), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin, last = 0; i < end; i += last) {
      const int64_t band = i / count, t = band % tiles, first = i % count;
      last = std::min(count - first, end - i);
      const NestWalk walk(outer, band / tiles);
      if (by_rows)
        shorts.rows(first, first + last, walk.in(), walk.out());
      else
        shorts.columns(first, first + last, walk.in() + t * tile * kept.in, walk.out() + t * tile * kept.out,
                       std::min(tile, kept.size - t * tile), kept);
    }
  });
}

}  // namespace weft::kernels::cpu
