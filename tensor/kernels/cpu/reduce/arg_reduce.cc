#include "tensor/ops/arg_reduce.h"

#include <cstring>
#include <type_traits>

#include "tensor/kernels/cpu/base/transpose.h"
#include "tensor/kernels/cpu/reduce/keepdim_output.h"
#include "tensor/kernels/cpu/reduce/lane_search.h"
#include "tensor/kernels/cpu/reduce/row_math.h"

namespace weft::kernels::cpu {
namespace {

/// Up to so many columns are searched at once.
constexpr int64_t kColumns = 256;

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

/// Where `value`, which is among the `length` elements, comes first; any NaN for NaN. Many are compared at once, copied
/// first where they are not contiguous.
template <class T> int64_t first_of(CompareType<T> value, const T* row, int64_t stride, int64_t length) {
  const bool nan = is_nan(value);
  const auto is_it = [&](T x) {
    const auto element = static_cast<CompareType<T>>(x);
    return (element == value) | (nan & is_nan(element));
  };
  constexpr int64_t kStep = 64;
  T dense[kStep];
  int64_t i = 0;
  for (; i + kStep <= length; i += kStep) {
    const T* some = row + i * stride;
    if (stride != 1) gather_elements<T>(some, stride * static_cast<int64_t>(sizeof(T)), dense, kStep), some = dense;
    int any = 0;
    for (int64_t k = 0; k < kStep; ++k) any |= is_it(some[k]);
    if (any != 0) break;
  }
  while (!is_it(row[i * stride])) ++i;
  return i;
}

/// The first position of the extreme value among `length` elements. Finds the best block by its extreme, then looks for
/// that value in it.
template <class T, bool kLargest> int64_t best_of_row(const void* first, int64_t stride, int64_t length) {
  using V = CompareType<T>;
  const T* const row = static_cast<const T*>(first);
  if constexpr (kInLanes<T>) {
    using Search = LaneSearch<T, kLargest>;
    if (stride == 1 && length >= Search::kLeast && length <= Search::kMost)
      if (const int64_t position = Search::run(row, length); position >= 0) return position;
  }
  if (length < 32) {
    int64_t position = 0;
    V best = static_cast<V>(row[0]);
    for (int64_t i = 1; i < length; ++i) {
      const V value = static_cast<V>(row[i * stride]);
      if (beats<kLargest>(value, best)) best = value, position = i;
    }
    return position;
  }
  int64_t block = 0;
  V best{};
  for (int64_t begin = 0; begin < length; begin += kRowBlock) {
    const V value = fold_rows<ExtremeOp<T, kLargest>>(
        Block<T>{row + begin * stride, &kNoAxes, 0, 1, std::min(kRowBlock, length - begin), stride});
    if (begin > 0 && !beats<kLargest>(value, best)) continue;
    best = value;
    block = begin;
  }
  return block + first_of<T>(best, row + block * stride, stride, std::min(kRowBlock, length - block));
}

/// The first position of the extreme value of each of up to kColumns columns, row by row, and that value unless
/// `values` is null.
template <class T, bool kLargest>
void best_of_columns(const void* first, int64_t column_stride, int64_t columns, int64_t row_stride, int64_t rows,
                     void* values, int64_t* position) {
  using V = CompareType<T>;
  V best[kColumns];
  T dense[kColumns];
  const auto row_at = [&](int64_t i) -> const T* {
    const T* const row = static_cast<const T*>(first) + i * row_stride;
    if (column_stride == 1) return row;
    gather_elements<T>(row, column_stride * static_cast<int64_t>(sizeof(T)), dense, columns);
    return dense;
  };
  const T* row = row_at(0);
  for (int64_t j = 0; j < columns; ++j) {
    best[j] = static_cast<V>(row[j]);
    position[j] = 0;
  }
  for (int64_t i = 1; i < rows; ++i) {
    row = row_at(i);
    for (int64_t j = 0; j < columns; ++j) {
      const V value = static_cast<V>(row[j]);
      bool take = kLargest ? value > best[j] : value < best[j];
      if constexpr (std::is_floating_point_v<V>) take |= (value != value) & (best[j] == best[j]);
      best[j] = take ? value : best[j];
      position[j] = take ? i : position[j];
    }
  }
  for (int64_t j = 0; values != nullptr && j < columns; ++j) static_cast<T*>(values)[j] = static_cast<T>(best[j]);
}

/// Whether the value at a comes before that at b.
template <class T, bool kLargest> bool value_beats(const void* a, const void* b) {
  using V = CompareType<T>;
  return beats<kLargest>(static_cast<V>(*static_cast<const T*>(a)), static_cast<V>(*static_cast<const T*>(b)));
}

/// The searches for one extreme in elements of one dtype as pointers: what walks over memory is compiled once for all.
struct Searches {
  int64_t size;  // bytes of an element
  int64_t (*row)(const void* row, int64_t stride, int64_t length);
  void (*columns)(const void* first, int64_t column_stride, int64_t columns, int64_t row_stride, int64_t rows,
                  void* values, int64_t* position);
  bool (*beats)(const void* a, const void* b);

  template <class T, bool kLargest> static Searches of() {
    return {sizeof(T), &best_of_row<T, kLargest>, &best_of_columns<T, kLargest>, &value_beats<T, kLargest>};
  }
  static Searches of(DType dtype, bool largest) {
    Searches found{};
    visit_stored(dtype, [&]<class T>() { found = largest ? of<T, true>() : of<T, false>(); });
    return found;
  }
};

/// Memory whose addresses count elements of `size` bytes.
struct Elements {
  Elements(const Operand& x, int64_t size)
      : base(static_cast<std::byte*>(x.base) + x.view->offset() * size), size(size) {}
  std::byte* at(int64_t element) const { return base + element * size; }

  std::byte* base;
  int64_t size;
};

/// One element of `size` bytes: move_elements() would take longer to call than this.
inline void copy_element(const void* from, void* to, int64_t size) {
  switch (size) {
    case 1: std::memcpy(to, from, 1); break;
    case 2: std::memcpy(to, from, 2); break;
    case 4: std::memcpy(to, from, 4); break;
    default: std::memcpy(to, from, 8); break;
  }
}

/// Where the results of adjacent outputs go.
class Results {
 public:
  Results(const Operand* values, const Operand& indices, int64_t axis, int64_t size)
      : indices_to_(indices, axis),
        values_to_(values != nullptr ? *values : indices, axis),
        index_(indices.data<int64_t>()),
        value_(values != nullptr ? *values : indices, size),
        has_values_(values != nullptr) {}
  /// f(value) gives the position of each output in [begin, end), one after the other, and where its value is.
  template <class F> void write(int64_t begin, int64_t end, const F& f) const {
    NestWalk index(indices_to_.outer, begin), value(values_to_.outer, begin);
    for (int64_t i = begin; i < end; ++i, index.next(), value.next()) {
      const std::byte* from = nullptr;
      index_[index.in()] = f(i, from);
      if (has_values_) copy_element(from, value_.at(value.in()), value_.size);
    }
  }
  /// The results of `count` outputs from `begin` on.
  void write(int64_t begin, int64_t count, const std::byte* values, const int64_t* position) const {
    if (indices_to_.outer.rank > 1 || values_to_.outer.rank > 1)
      return write(begin, begin + count, [&](int64_t i, const std::byte*& value) {
        value = values + (i - begin) * value_.size;
        return position[i - begin];
      });
    const int64_t index_step = step(indices_to_), value_step = step(values_to_), size = value_.size;
    for (int64_t i = 0; i < count; ++i) index_[(begin + i) * index_step] = position[i];
    if (has_values_) move_elements(values, size, value_.at(begin * value_step), value_step * size, size, count);
  }

  bool has_values() const { return has_values_; }

 private:
  /// Between elements that are the same distance apart.
  static int64_t step(const RowView& view) { return view.outer.rank > 0 ? view.outer.inner().in : 0; }

  RowView indices_to_, values_to_;
  int64_t* index_;
  Elements value_;
  bool has_values_;
};

/// Rows up to this long, where there are so many, are read in tiles that are transposed first, a lane for each: row by
/// row, half of the branches would be mispredicted.
constexpr int64_t kShortRow = 32, kFewestRows = 16;

/// Room for a value of any dtype per column.
struct alignas(64) ColumnValues {
  std::byte bytes[kColumns * 8];
};

/// Short rows that are the same distance apart.
void along_short_rows(const Searches& searches, const RowView& rows, int64_t stride, const Elements& data,
                      const Results& results) {
  const int64_t length = rows.length(), count = rows.count(), apart = rows.outer.inner().in;
  parallel_for(ceil_div(count, kColumns), row_grain(kColumns * length), [&](int64_t tile, int64_t end) {
    const Scratch<std::byte> columns(kColumns * length * data.size);
    ColumnValues best;
    int64_t position[kColumns];
    for (; tile < end; ++tile) {
      const int64_t first = tile * kColumns, lines = std::min(kColumns, count - first);
      to_columns(data.size, data.at(first * apart), apart, stride, columns.data(), kColumns, lines, length);
      searches.columns(columns.data(), 1, lines, kColumns, length, results.has_values() ? best.bytes : nullptr,
                       position);
      results.write(first, lines, best.bytes, position);
    }
  });
}

void along_axis(const Searches& searches, const Operand& x, int64_t axis, const Operand* values,
                const Operand& indices) {
  const int64_t length = x.size(axis), stride = x.stride(axis);
  const RowView rows(x, axis);
  const Results results(values, indices, axis, searches.size);
  const Elements data(x, searches.size);
  const int64_t count = rows.count();
  if (count == 0) return;
  const NestAxis next = rows.outer.rank > 0 ? rows.outer.inner() : NestAxis{1, 1, 0};
  const bool across = next.size >= 8 && std::abs(next.in) < std::abs(stride);  // adjacent elements are in other rows
  if (!across && length <= kShortRow && count >= kFewestRows && rows.outer.rank == 1)
    return along_short_rows(searches, rows, stride, data, results);
  if (!across) {
    parallel_for(count, row_grain(length), [&](int64_t begin, int64_t end) {
      NestWalk walk(rows.outer, begin);
      results.write(begin, end, [&](int64_t, const std::byte*& value) {
        const int64_t first = walk.in(), position = searches.row(data.at(first), stride, length);
        walk.next();
        value = data.at(first + position * stride);
        return position;
      });
    });
    return;
  }
  // Groups of adjacent columns; `bands` of them lie apart.
  const int64_t width = std::min(next.size, kColumns), groups = ceil_div(next.size, width);
  const int64_t bands = count / next.size;
  parallel_for(bands * groups, row_grain(width * length), [&](int64_t begin, int64_t end) {
    ColumnValues best;
    int64_t position[kColumns];
    for (int64_t g = begin; g < end; ++g) {
      const int64_t skipped = g % groups * width, first = g / groups * next.size + skipped;
      const int64_t columns = std::min(width, next.size - skipped);
      const std::byte* const from = data.at(NestWalk(rows.outer, first).in());
      searches.columns(from, next.in, columns, stride, length, results.has_values() ? best.bytes : nullptr, position);
      results.write(first, columns, best.bytes, position);
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
void over_all(const Searches& searches, const Operand& x, const Operand& out) {
  struct Best {
    const std::byte* value;
    int64_t position;
  };
  const Nest all = positions_of(x), outer = all.outer();
  const NestAxis inner = all.inner();
  constexpr int64_t kPiece = 8 * kRowBlock;
  const int64_t pieces = ceil_div(inner.size, kPiece), count = outer.count() * pieces;
  const Elements data(x, searches.size);
  const Scratch<Best> found(count);
  parallel_for(count, std::max<int64_t>(1, kReduceGrain / inner.size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t start = i % pieces * kPiece;
      const NestWalk walk(outer, i / pieces);
      const int64_t row = walk.in() + start * inner.in;
      const int64_t position = searches.row(data.at(row), inner.in, std::min(kPiece, inner.size - start));
      found.data()[i] = {data.at(row + position * inner.in), walk.out() + (start + position) * inner.out};
    }
  });
  Best best = found.data()[0];
  for (int64_t i = 1; i < count; ++i) {
    const Best& other = found.data()[i];
    const bool wins = searches.beats(other.value, best.value);
    if (wins || (other.position < best.position && !searches.beats(best.value, other.value))) best = other;
  }
  *out.data<int64_t>() = best.position;
}

void arg_extreme(bool largest, const Operand& x, const op::ArgExtremum& op, const Operand& out) {
  const Searches searches = Searches::of(x.dtype, largest);
  if (!op.axis) return over_all(searches, x, out);
  if (x.size(*op.axis) == 1 && out.view->is_contiguous())
    return void(std::fill_n(out.data<int64_t>(), out.numel(), int64_t{0}));
  const KeepdimOutput kept(out, {*op.axis}, op.keepdim);
  along_axis(searches, x, *op.axis, nullptr, kept.operand);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Argmax::cpu(const Operand& x, const Operand& out) const { arg_extreme(true, x, *this, out); }
void op::Argmin::cpu(const Operand& x, const Operand& out) const { arg_extreme(false, x, *this, out); }

void op::ExtremumWithIndices::cpu(const Operand& x, const Operand& values, const Operand& indices) const {
  const KeepdimOutput kept_values(values, {axis}, keepdim), kept_indices(indices, {axis}, keepdim);
  along_axis(Searches::of(x.dtype, largest), x, axis, &kept_values.operand, kept_indices.operand);
}

}  // namespace weft
