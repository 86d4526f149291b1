#include "tensor/ops/arg_reduce.h"

#include <limits>
#include <type_traits>

#include "tensor/kernels/cpu/base/transpose.h"
#include "tensor/kernels/cpu/reduce/keepdim_output.h"
#include "tensor/kernels/cpu/reduce/row_math.h"

namespace weft::kernels::cpu {
namespace {

template <class T> struct Best {
  CompareType<T> value;
  int64_t position;
};

template <class V> bool is_nan(V v) {
  if constexpr (std::is_floating_point_v<V>)
    return v != v;
  else
    return false;
}

/// Whether a comes before b: further out, or the first NaN.
template <bool kLargest, class V> bool beats(V a, V b) {
  if (is_nan(a) || is_nan(b)) return is_nan(a) && !is_nan(b);
  return kLargest ? a > b : a < b;
}

/// A stride of 1, known to the compiler.
constexpr std::integral_constant<int64_t, 1> kOne;

/// Where `value`, which is among the `length` elements, comes first; any NaN for NaN. A stride of 1 is known as such to
/// the compiler, which then looks at many elements at once.
template <class T, class Stride> int64_t first_of(CompareType<T> value, const T* row, Stride stride, int64_t length) {
  const bool nan = is_nan(value);
  const auto is_it = [&](int64_t i) {
    const auto element = static_cast<CompareType<T>>(row[i * stride]);
    return (element == value) | (nan & is_nan(element));
  };
  constexpr int64_t kStep = 64;
  int64_t i = 0;
  for (; i + kStep <= length; i += kStep) {
    int any = 0;
    for (int64_t k = 0; k < kStep; ++k) any |= is_it(i + k);
    if (any != 0) break;
  }
  while (!is_it(i)) ++i;
  return i;
}

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

/// The first position of the extreme value among `length` elements. Finds the best block by its extreme, then looks for
/// that value in it.
template <class T, bool kLargest> [[gnu::noinline]] Best<T> best_of_row(const T* row, int64_t stride, int64_t length) {
  using Op = ExtremeOp<T, kLargest>;
  using V = CompareType<T>;
  if constexpr (kInLanes<T>) {
    using Search = LaneSearch<T, kLargest>;
    if (stride == 1 && length >= Search::kLeast && length <= Search::kMost)
      if (const int64_t position = Search::run(row, length); position >= 0) return {row[position], position};
  }
  if (length < 32) {
    Best<T> best{static_cast<V>(row[0]), 0};
    for (int64_t i = 1; i < length; ++i) {
      const V value = static_cast<V>(row[i * stride]);
      if (beats<kLargest>(value, best.value)) best = {value, i};
    }
    return best;
  }
  int64_t block = 0;
  V best{};
  for (int64_t begin = 0; begin < length; begin += kRowBlock) {
    const V value =
        fold_rows<Op>(Block<T>{row + begin * stride, &kNoAxes, 0, 1, std::min(kRowBlock, length - begin), stride});
    if (begin > 0 && !beats<kLargest>(value, best)) continue;
    best = value;
    block = begin;
  }
  const T* found = row + block * stride;
  const int64_t left = std::min(kRowBlock, length - block);
  const int64_t position =
      block + (stride == 1 ? first_of<T>(best, found, kOne, left) : first_of<T>(best, found, stride, left));
  return {static_cast<V>(row[position * stride]), position};  // not `best`, which may be the other zero
}

/// Up to kColumns adjacent columns at once, row by row. A stride of 1 is known as such to the compiler.
constexpr int64_t kColumns = 256;
template <class T, bool kLargest, class Stride>
[[gnu::noinline]] void best_of_columns(const T* first, Stride column_stride, int64_t columns, int64_t row_stride,
                                       int64_t rows, CompareType<T>* best, int64_t* position) {
  using V = CompareType<T>;
  for (int64_t j = 0; j < columns; ++j) {
    best[j] = static_cast<V>(first[j * column_stride]);
    position[j] = 0;
  }
  for (int64_t i = 1; i < rows; ++i) {
    const T* row = first + i * row_stride;
    for (int64_t j = 0; j < columns; ++j) {
      const V value = static_cast<V>(row[j * column_stride]);
      bool take = kLargest ? value > best[j] : value < best[j];
      if constexpr (std::is_floating_point_v<V>) take |= (value != value) & (best[j] == best[j]);
      best[j] = take ? value : best[j];
      position[j] = take ? i : position[j];
    }
  }
}

/// The searches for one extreme as pointers, so that the loops that call them are compiled once for both:
/// best_of_row(), best_of_columns(), and the latter for a tile of dense columns.
template <class T> struct Searches {
  Best<T> (*row)(const T* row, int64_t stride, int64_t length);
  void (*columns)(const T* first, int64_t column_stride, int64_t columns, int64_t row_stride, int64_t rows,
                  CompareType<T>* best, int64_t* position);
  void (*tile)(const T* tile, int64_t columns, int64_t rows, CompareType<T>* best, int64_t* position);

  template <bool kLargest> static Searches of() {
    return {&best_of_row<T, kLargest>,
            [](const T* first, int64_t column_stride, int64_t columns, int64_t row_stride, int64_t rows,
               CompareType<T>* best, int64_t* position) {
              if (column_stride == 1)
                best_of_columns<T, kLargest>(first, kOne, columns, row_stride, rows, best, position);
              else
                best_of_columns<T, kLargest>(first, column_stride, columns, row_stride, rows, best, position);
            },
            [](const T* tile, int64_t columns, int64_t rows, CompareType<T>* best, int64_t* position) {
              best_of_columns<T, kLargest>(tile, kOne, columns, kColumns, rows, best, position);
            }};
  }
};

/// Where the results of adjacent outputs go.
template <class T> class Results {
 public:
  Results(const Operand* values, const Operand& indices, int64_t axis)
      : indices_to_(indices, axis),
        values_to_(values != nullptr ? *values : indices, axis),
        index_(indices.data<int64_t>()),
        value_(values != nullptr ? values->data<T>() : nullptr) {}
  /// f() gives the result of each output in [begin, end), one after the other.
  template <class F> void write(int64_t begin, int64_t end, const F& f) const {
    NestWalk index(indices_to_.outer, begin), value(values_to_.outer, begin);
    for (int64_t i = begin; i < end; ++i, index.next(), value.next()) {
      const Best<T> best = f(i);
      index_[index.in()] = best.position;
      if (value_ != nullptr) value_[value.in()] = static_cast<T>(best.value);
    }
  }
  /// The results of `count` outputs from `begin` on.
  void write(int64_t begin, int64_t count, const CompareType<T>* best, const int64_t* position) const {
    if (indices_to_.outer.rank > 1 || values_to_.outer.rank > 1)
      return write(begin, begin + count, [&](int64_t i) { return Best<T>{best[i - begin], position[i - begin]}; });
    put(index_, indices_to_, begin, count, position);
    if (value_ != nullptr) put(value_, values_to_, begin, count, best);
  }

 private:
  /// Elements that are the same distance apart.
  template <class O, class V> static void put(O* to, const RowView& view, int64_t begin, int64_t count, const V* from) {
    const int64_t step = view.outer.rank > 0 ? view.outer.inner().in : 0;
    O* const first = to + begin * step;
    for (int64_t i = 0; i < count; ++i) first[i * step] = static_cast<O>(from[i]);
  }

  RowView indices_to_, values_to_;
  int64_t* index_;
  T* value_;
};

/// Rows up to this long, where there are so many, are read in tiles that are transposed first, a lane for each: row by
/// row, half of the branches would be mispredicted.
constexpr int64_t kShortRow = 32, kFewestRows = 16;

/// Short rows that are the same distance apart.
template <class T>
void along_short_rows(const Searches<T>& searches, const RowView& rows, int64_t stride, const T* data,
                      const Results<T>& results) {
  const int64_t length = rows.length(), count = rows.count(), apart = rows.outer.inner().in;
  parallel_for(ceil_div(count, kColumns), row_grain(kColumns * length), [&](int64_t tile, int64_t end) {
    const Scratch<T> columns(kColumns * length);
    CompareType<T> best[kColumns];
    int64_t position[kColumns];
    for (; tile < end; ++tile) {
      const int64_t first = tile * kColumns, lines = std::min(kColumns, count - first);
      to_columns<T>(data + first * apart, apart, stride, columns.data(), kColumns, lines, length);
      searches.tile(columns.data(), lines, length, best, position);
      results.write(first, lines, best, position);
    }
  });
}

template <class T>
void along_axis(const Searches<T>& searches, const Operand& x, int64_t axis, const Operand* values,
                const Operand& indices) {
  const int64_t length = x.size(axis), stride = x.stride(axis);
  const RowView rows(x, axis);
  const Results<T> results(values, indices, axis);
  const T* data = x.data<T>();
  const int64_t count = rows.count();
  if (count == 0) return;
  const NestAxis next = rows.outer.rank > 0 ? rows.outer.inner() : NestAxis{1, 1, 0};
  const bool across = next.size >= 8 && std::abs(next.in) < std::abs(stride);  // adjacent elements are in other rows
  if (!across && length <= kShortRow && count >= kFewestRows && rows.outer.rank == 1)
    return along_short_rows(searches, rows, stride, data, results);
  if (!across) {
    parallel_for(count, row_grain(length), [&](int64_t begin, int64_t end) {
      NestWalk walk(rows.outer, begin);
      results.write(begin, end, [&](int64_t) {
        const Best<T> best = searches.row(data + walk.in(), stride, length);
        walk.next();
        return best;
      });
    });
    return;
  }
  // Groups of adjacent columns; `bands` of them lie apart.
  const int64_t width = std::min(next.size, kColumns), groups = ceil_div(next.size, width);
  const int64_t bands = count / next.size;
  parallel_for(bands * groups, row_grain(width * length), [&](int64_t begin, int64_t end) {
    CompareType<T> best[kColumns];
    int64_t position[kColumns];
    for (int64_t g = begin; g < end; ++g) {
      const int64_t skipped = g % groups * width, first = g / groups * next.size + skipped;
      const int64_t columns = std::min(width, next.size - skipped);
      const T* const from = data + NestWalk(rows.outer, first).in();
      searches.columns(from, next.in, columns, stride, length, best, position);
      results.write(first, columns, best, position);
    }
  });
}

/// The axes of x, in the order of its memory if that makes long runs; a step's `out` is how far it goes in row-major
/// order.
Nest positions_of(const Operand& x) {
  constexpr int64_t kLongRun = 256;
  Nest nest;
  int64_t step = x.numel();
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    step /= x.size(axis);
    if (x.size(axis) > 1) nest.push({x.size(axis), x.stride(axis), step});
  }
  if (nest.rank == 0) nest.push({1, 1, 1});
  Nest sorted = nest;
  nest.merge();
  sorted.sort_and_merge();
  return sorted.inner().size >= std::min(kLongRun, nest.inner().size) ? sorted : nest;
}

/// Over all of x: runs of the innermost of positions_of(x), cut in pieces. Of equal values the one that comes first in
/// row-major order counts.
template <class T, bool kLargest> void over_all(const Operand& x, const Operand& out) {
  const Nest all = positions_of(x), outer = all.outer();
  const NestAxis inner = all.inner();
  constexpr int64_t kPiece = 8 * kRowBlock;
  const int64_t pieces = ceil_div(inner.size, kPiece), count = outer.count() * pieces;
  const T* data = x.data<T>();
  const Scratch<Best<T>> found(count);
  parallel_for(count, std::max<int64_t>(1, kReduceGrain / inner.size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t start = i % pieces * kPiece;
      const NestWalk walk(outer, i / pieces);
      const T* row = data + walk.in() + start * inner.in;
      Best<T> best = best_of_row<T, kLargest>(row, inner.in, std::min(kPiece, inner.size - start));
      best.position = walk.out() + (start + best.position) * inner.out;
      found.data()[i] = best;
    }
  });
  Best<T> best = found.data()[0];
  for (int64_t i = 1; i < count; ++i) {
    const Best<T>& other = found.data()[i];
    const bool wins = beats<kLargest>(other.value, best.value);
    if (wins || (other.position < best.position && !beats<kLargest>(best.value, other.value))) best = other;
  }
  *out.data<int64_t>() = best.position;
}

/// The searches for the largest or the smallest.
template <class T> Searches<T> searches_of(bool largest) {
  return largest ? Searches<T>::template of<true>() : Searches<T>::template of<false>();
}

void arg_extreme(bool largest, const Operand& x, const op::ArgExtremum& op, const Operand& out) {
  visit_stored(x.dtype, [&]<class T>() {
    if (!op.axis) return largest ? over_all<T, true>(x, out) : over_all<T, false>(x, out);
    if (x.size(*op.axis) == 1 && out.view->is_contiguous())
      return void(std::fill_n(out.data<int64_t>(), out.numel(), int64_t{0}));
    const KeepdimOutput kept(out, {*op.axis}, op.keepdim);
    along_axis(searches_of<T>(largest), x, *op.axis, nullptr, kept.operand);
  });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Argmax::cpu(const Operand& x, const Operand& out) const { arg_extreme(true, x, *this, out); }
void op::Argmin::cpu(const Operand& x, const Operand& out) const { arg_extreme(false, x, *this, out); }

void op::ExtremumWithIndices::cpu(const Operand& x, const Operand& values, const Operand& indices) const {
  const KeepdimOutput kept_values(values, {axis}, keepdim), kept_indices(indices, {axis}, keepdim);
  visit_stored(x.dtype, [&]<class T>() {
    along_axis(searches_of<T>(largest), x, axis, &kept_values.operand, kept_indices.operand);
  });
}

}  // namespace weft
