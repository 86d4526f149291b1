#include "tensor/kernels/cpu/arg_reduce.h"

#include "tensor/kernels/cpu/row_math.h"

namespace weft::kernels::cpu {
namespace {

template <class T>
struct Best {
  CompareType<T> value;
  int64_t position;
};

template <class V>
bool is_nan(V v) {
  if constexpr (std::is_floating_point_v<V>)
    return v != v;
  else
    return false;
}

/// Whether a comes before b: further out, or the first NaN.
template <bool kLargest, class V>
bool beats(V a, V b) {
  if (is_nan(a) || is_nan(b)) return is_nan(a) && !is_nan(b);
  return kLargest ? a > b : a < b;
}

/// The first position of the extreme value among `length` elements. Finds the best block by its extreme, then looks for
/// that value in it.
template <class T, bool kLargest>
Best<T> best_of_row(const T* row, int64_t stride, int64_t length) {
  using Op = ExtremeOp<T, kLargest>;
  using V = CompareType<T>;
  int64_t block = 0;
  V best{};
  for (int64_t begin = 0; begin < length; begin += kRowBlock) {
    const V value = fold_rows<Op>(Block<T>{row + begin * stride, &kNoAxes, 0, 1, std::min(kRowBlock, length - begin), stride});
    if (begin > 0 && !beats<kLargest>(value, best)) continue;
    best = value;
    block = begin;
  }
  int64_t i = block;
  while (i < length) {
    const V value = static_cast<V>(row[i * stride]);
    if (value == best || (is_nan(best) && is_nan(value))) break;
    ++i;
  }
  return {best, i};
}

/// Up to kColumns neighbouring columns at once, row by row.
constexpr int64_t kColumns = 256;
template <class T, bool kLargest>
void best_of_columns(const T* first, int64_t column_stride, int64_t columns, int64_t row_stride, int64_t rows,
                     CompareType<T>* best, int64_t* position) {
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

template <class T, bool kLargest>
void along_axis(const Operand& x, int64_t axis, const Operand* values, const Operand& indices) {
  const int64_t length = x.size(axis), stride = x.stride(axis);
  const RowView rows(x, axis), to(indices, axis);
  const RowView values_to(values != nullptr ? *values : indices, axis);
  const T* data = x.data<T>();
  auto* index = indices.data<int64_t>();
  T* value = values != nullptr ? values->data<T>() : nullptr;
  const int64_t count = rows.count();
  if (count == 0) return;
  const int64_t neighbours = rows.outer.rank > 0 ? rows.outer.inner().size : 1;
  const int64_t step = rows.outer.rank > 0 ? rows.outer.inner().in : 1;
  const bool columns = neighbours >= 8 && std::abs(step) < std::abs(stride);
  // Groups of neighbouring columns, or single rows.
  const int64_t group = columns ? std::min(neighbours, kColumns) : 1;
  const int64_t groups = columns ? count / neighbours * detail::ceil_div(neighbours, group) : count;
  const int64_t per_band = detail::ceil_div(neighbours, group);
  parallel_for(groups, std::max<int64_t>(1, 8192 / (group * length)), [&](int64_t begin, int64_t end) {
    CompareType<T> best[kColumns];
    int64_t position[kColumns];
    for (int64_t g = begin; g < end; ++g) {
      const int64_t row = columns ? g / per_band * neighbours + g % per_band * group : g;
      const int64_t width = columns ? std::min(group, neighbours - g % per_band * group) : 1;
      const T* first = data + NestWalk(rows.outer, row).in();
      if (columns) {
        best_of_columns<T, kLargest>(first, step, width, stride, length, best, position);
      } else {
        const auto found = best_of_row<T, kLargest>(first, stride, length);
        best[0] = found.value;
        position[0] = found.position;
      }
      NestWalk walk(to.outer, row), values_walk(values_to.outer, row);
      for (int64_t j = 0; j < width; ++j, walk.next(), values_walk.next()) {
        index[walk.in()] = position[j];
        if (value != nullptr) value[values_walk.in()] = static_cast<T>(best[j]);
      }
    }
  });
}

/// Over all of x in row-major order: runs of the innermost (merged) axis, cut in pieces, first come first.
template <class T, bool kLargest>
void over_all(const Operand& x, const Operand& out) {
  const RowView all(x, x.rank(), x.rank());  // no row axes: everything is outer
  const Nest outer = all.outer.outer();
  const NestAxis inner = all.outer.rank > 0 ? all.outer.inner() : NestAxis{1, 1, 0};
  constexpr int64_t kPiece = 8 * kRowBlock;
  const int64_t pieces = detail::ceil_div(inner.size, kPiece), count = outer.count() * pieces;
  const T* data = x.data<T>();
  const Scratch<Best<T>> found(count);
  parallel_for(count, std::max<int64_t>(1, kReduceGrain / inner.size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t start = i % pieces * kPiece;
      const T* row = data + NestWalk(outer, i / pieces).in() + start * inner.in;
      Best<T> best = best_of_row<T, kLargest>(row, inner.in, std::min(kPiece, inner.size - start));
      best.position += i / pieces * inner.size + start;
      found.data()[i] = best;
    }
  });
  Best<T> best = found.data()[0];
  for (int64_t i = 1; i < count; ++i)
    if (beats<kLargest>(found.data()[i].value, best.value)) best = found.data()[i];
  *out.data<int64_t>() = best.position;
}

template <bool kLargest>
void arg_extreme(const Operand& x, std::optional<int64_t> axis, const Operand& out) {
  visit_dtype(x.dtype, [&]<class T>() {
    axis ? along_axis<T, kLargest>(x, *axis, nullptr, out) : over_all<T, kLargest>(x, out);
  });
}

}  // namespace

void argmax(const Operand& x, std::optional<int64_t> axis, const Operand& out) { arg_extreme<true>(x, axis, out); }
void argmin(const Operand& x, std::optional<int64_t> axis, const Operand& out) { arg_extreme<false>(x, axis, out); }

void max_with_indices(const Operand& x, int64_t axis, const Operand& values, const Operand& indices) {
  visit_dtype(x.dtype, [&]<class T>() { along_axis<T, true>(x, axis, &values, indices); });
}

void min_with_indices(const Operand& x, int64_t axis, const Operand& values, const Operand& indices) {
  visit_dtype(x.dtype, [&]<class T>() { along_axis<T, false>(x, axis, &values, indices); });
}

}  // namespace weft::kernels::cpu
