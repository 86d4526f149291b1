// gather and the forms of scatter: one index per element.
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <type_traits>
#include <vector>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/index/slices.h"
#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/kernels/cpu/pointwise/fill.h"
#include "tensor/ops/scatter.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

constexpr int64_t kIndexGrain = 16384;

/// The axes of `index` with the strides of x (in; 0 along `axis`) and of y (out). Row-major, so that element i of the
/// nest belongs to index i.
Nest element_nest(const Operand& index, const Operand& x, int64_t axis, const Operand& y) {
  Nest nest;
  for (int64_t i = 0; i < index.rank(); ++i)
    if (index.size(i) != 1) nest.push({index.size(i), i == axis ? 0 : x.stride(i), y.stride(i)});
  nest.merge();
  return nest;
}

/// to = from at the indices along an axis of `limit` elements, which are `step` apart. Each index is checked
/// when it is used; false where one is bad.
template <class T>
bool gather_elements(const Nest& nest, const int64_t* list, int64_t begin, int64_t end, int64_t limit, const T* from,
                     int64_t step, T* to) {
  const NestAxis run = nest.rank > 0 ? nest.inner() : NestAxis{1, 0, 0};
  const Nest outer = nest.outer();
  NestWalk walk(outer, begin / run.size), ahead = walk;
  const auto gather = [&](int64_t i, int64_t j, int64_t count, int64_t in, int64_t out, int64_t apart)
      __attribute__((always_inline)) {
    const T* const source = from + walk.in() + j * in;
    T* const target = to + walk.out() + j * out;
    const auto size = static_cast<uint64_t>(limit);
#pragma GCC unroll 4
    for (int64_t k = 0; k < count; ++k) {
      const int64_t at = list[i + k];
      if (static_cast<uint64_t>(at) >= size) return false;
      target[k * out] = source[k * in + at * apart];
    }
    return true;
  };
  const bool dense = run.in == 0 && run.out == 1 && step == 1;
  // A row read at random indices is not a stream that the hardware prefetcher recognises: the whole next row is
  // prefetched.
  constexpr int64_t kCacheLine = 64 / static_cast<int64_t>(sizeof(T));
  const int64_t asked = dense && limit <= 512 * kCacheLine && limit <= 4 * run.size ? limit : 0;
  for (int64_t i = begin; i < end; walk.next()) {
    ahead.next();
    for (int64_t j = 0; j < asked; j += kCacheLine) simd::prefetch(from + ahead.in() + j, 0);
    const int64_t j = i % run.size, count = std::min(run.size - j, end - i);
    if (!(dense ? gather(i, j, count, 0, 1, 1) : gather(i, j, count, run.in, run.out, step))) return false;
    i += count;
  }
  return true;
}

/// An index that was expanded behind its axis, from (n, 1) to (n, width) for one, names slices: it is listed without
/// the axes from `first` on. (Of other indices `first` is the rank.)
struct SliceIndex {
  SliceIndex(const Operand& index, int64_t axis) : first(first_of(index, axis)), list(list_of(index, first)) {}
  bool names_slices(const Operand& index) const { return first < index.rank(); }

  static int64_t first_of(const Operand& index, int64_t axis) {
    constexpr int64_t kLeast = 4;  // elements of a slice
    int64_t first = index.rank(), size = 1;
    for (; first > axis + 1 && (index.stride(first - 1) == 0 || index.size(first - 1) == 1); --first)
      size *= index.size(first - 1);
    return size < kLeast ? index.rank() : first;
  }
  static IndexList list_of(const Operand& index, int64_t first) {
    if (first == index.rank()) return IndexList(index);
    std::vector<Interval> bounds;
    for (int64_t i = 0; i < index.rank(); ++i) bounds.push_back({0, i < first ? index.size(i) : 1});
    return IndexList(index.with(index.view->shrink(bounds)));
  }
  int64_t first;
  IndexList list;
};

/// The slices that such an index names in `table`, and those of `list`, which has the index's shape.
SliceLayout slice_layout(const Operand& index, int64_t axis, int64_t first, const Operand& table, const Operand& list) {
  SliceLayout layout{Nest{}, table.stride(axis), table.size(axis), Nest{}};
  for (int64_t i = 0; i < index.rank(); ++i) {
    Nest& nest = i < first ? layout.list : layout.slice;
    nest.push({index.size(i), i == axis ? 0 : table.stride(i), list.stride(i)});
  }
  layout.slice.sort_and_merge();
  layout.list.merge();
  return layout;
}

/// What scatter_rows() does beside the reduction: rows begin as those of x or as zeros just before something is added
/// to them, where it may (starts_rows()), and what is written only to memory that is thrown away with an error may
/// check its indices on the way.
struct RowStart {
  const Operand* x = nullptr;
  bool zeros = false;
  bool checks = false;
};

/// Whether scatter_rows() can begin each row of `into`: they lie along the last axis, and src has all of them.
bool starts_rows(const Operand& src, int64_t axis, const Operand& into) {
  if (axis != src.rank() - 1 || src.size(axis) == 0) return false;
  for (int64_t i = 0; i < axis; ++i) {
    const bool across = into.size(i) > 1 && std::abs(into.stride(i)) < std::abs(into.stride(axis));
    if (src.size(i) != into.size(i) || across) return false;
  }
  return true;
}

/// All axes but one: in of src, out of into.
Nest rows_of(const Operand& src, int64_t axis, const Operand& into) {
  Nest rows;
  for (int64_t i = 0; i < src.rank(); ++i)
    if (i != axis) rows.push({src.size(i), src.stride(i), into.stride(i)});
  return rows;
}

/// A row, and the values that are combined with its elements at `index`.
template <class T> struct ScatterRow {
  T* elements;
  int64_t size, step;
  const T* values;
  int64_t value_step;
  const int64_t* index;
  int64_t length;

  void begin(const T* from, int64_t from_step) const {
    for (int64_t k = 0; k < size; ++k) elements[k * step] = from == nullptr ? T(0) : from[k * from_step];
  }
  template <class F> void combine(const F& f) const {
    const auto each = [&](int64_t to_step, int64_t from_step) __attribute__((always_inline)) {
      for (int64_t j = 0; j < length; ++j) {
        T& element = elements[index[j] * to_step];
        element = static_cast<T>(f(element, values[j * from_step]));
      }
    };
    step == 1 && value_step == 1 ? each(1, 1) : each(step, value_step);
  }
};

/// Lines [begin, end) whose indices follow each other; false where an index is bad.
template <class T, class F>
bool scatter_whole_rows(const Operand& src, const IndexList& list, int64_t axis, const Operand& into, const F& f,
                        const RowStart& start, int64_t begin, int64_t end) {
  const Nest rows = rows_of(src, axis, into), starts = rows_of(start.x != nullptr ? *start.x : into, axis, into);
  NestWalk walk(rows, begin), start_walk(starts, begin);
  ScatterRow<T> row{nullptr, into.size(axis), into.stride(axis), nullptr, src.stride(axis), nullptr, src.size(axis)};
  for (int64_t i = begin; i < end; ++i, walk.next(), start_walk.next()) {
    row.index = list.data() + i * row.length;
    row.values = src.data<T>() + walk.in();
    row.elements = into.data<T>() + walk.out();
    if (start.checks && !IndexList::all_below(row.index, row.length, row.size)) return false;
    if (start.x != nullptr)
      row.begin(start.x->template data<T>() + start_walk.in(), start.x->stride(axis));
    else if (start.zeros)
      row.begin(nullptr, 0);
    row.combine(f);
  }
  return true;
}

/// element = f(element, value) along rows of `axis`. No value leaves its row, so rows may go to any thread.
template <class T, class F>
void scatter_rows(const Operand& src, const IndexList& list, int64_t axis, const Operand& into, const F& f,
                  const RowStart& start = {}) {
  T* to = into.data<T>();
  const T* from = src.data<T>();
  const Nest rows = rows_of(src, axis, into);
  int64_t list_stride = 1;
  for (int64_t i = axis + 1; i < src.rank(); ++i) list_stride *= src.size(i);
  const int64_t length = src.size(axis), step = src.stride(axis), to_step = into.stride(axis), size = into.size(axis);
  std::atomic<bool> bad = false;
  // All rows that follow each other in the list advance together: element j of each before element j + 1 of any.
  const int64_t bands = list_stride == 0 || length == 0 ? 0 : list.count() / (list_stride * length);
  parallel_for(bands * list_stride, std::max<int64_t>(1, kIndexGrain / std::max<int64_t>(1, length)),
               [&, to, from, list_stride, length, step, to_step, size](int64_t begin, int64_t end) {
                 if (list_stride == 1) {
                   if (!scatter_whole_rows<T>(src, list, axis, into, f, start, begin, end)) bad = true;
                   return;
                 }
                 constexpr int64_t kGroup = 128;
                 int64_t in[kGroup], out[kGroup];
                 for (int64_t row = begin; row < end;) {
                   const int64_t band = row / list_stride, first = row % list_stride;
                   const int64_t count = std::min({kGroup, list_stride - first, end - row});
                   NestWalk walk(rows, row);
                   for (int64_t k = 0; k < count; ++k, walk.next()) {
                     in[k] = walk.in();
                     out[k] = walk.out();
                   }
                   const int64_t* index = list.data() + band * length * list_stride + first;
                   for (int64_t j = 0; j < length; ++j, index += list_stride) {
                     if (start.checks && !IndexList::all_below(index, count, size)) return bad.store(true);
                     for (int64_t k = 0; k < count; ++k) {
                       T& element = to[out[k] + index[k] * to_step];
                       element = static_cast<T>(f(element, from[in[k] + j * step]));
                     }
                   }
                   row += count;
                 }
               });
  if (bad) list.check(size, "rows");
}

/// element = f(element, value) for the slices that `rows` name, in order. Each thread has rows of its own and goes
/// through the whole list.
template <class T, class F>
void scatter_slices(const Operand& src, const IndexList& rows, const SliceLayout& layout, const Operand& into,
                    const F& f) {
  if (src.numel() == 0) return;
  const NestAxis run = layout.slice.rank > 0 ? layout.slice.inner() : NestAxis{1, 1, 1};
  const Nest outer = layout.slice.outer();
  const int64_t size = layout.slice.count(), parts = std::max<int64_t>(1, rows.count() * size / kIndexGrain);
  const auto combine = [&](T* to, const T* from) {
    const auto each = [&](int64_t in, int64_t out) __attribute__((always_inline)) {
      for (int64_t j = 0, n = run.size; j < n; ++j) to[j * in] = static_cast<T>(f(to[j * in], from[j * out]));
    };
    run.in == 1 && run.out == 1 ? each(1, 1) : each(run.in, run.out);
  };
  parallel_for(layout.table_size, std::max<int64_t>(1, layout.table_size / parts), [&](int64_t begin, int64_t end) {
    NestWalk slice(layout.list, 0);
    for (int64_t i = 0; i < rows.count(); ++i, slice.next()) {
      if (rows[i] < begin || rows[i] >= end) continue;
      T* const target = into.data<T>() + slice.in() + rows[i] * layout.table_stride;
      const T* const source = src.data<T>() + slice.out();
      if (outer.rank == 0) {
        combine(target, source);
        continue;
      }
      NestWalk walk(outer, 0);
      for (int64_t k = 0; k < size; k += run.size, walk.next()) combine(target + walk.in(), source + walk.out());
    }
  });
}

struct Adding {
  auto operator()(auto element, auto value) const { return wrapping_add(element, value); }
};

/// What elements of T are combined in: floats of 16 bits in f32, narrow integers in i32.
template <class T>
using Accumulator =
    std::conditional_t<is_half<T>, float, std::conditional_t<(sizeof(T) < sizeof(int32_t)), int32_t, T>>;

template <class T> inline constexpr bool kWidens = !std::is_same_v<Accumulator<T>, T>;

/// The same, or scatter_slices() where the index names slices, in a copy of `into` of type Accumulator<T>.
template <class T, class F>
void scatter_widened(const Operand& src, const Operand& index, const SliceIndex& list, int64_t axis,
                     const Operand& into, const F& f) {
  const Scratch<Accumulator<T>> src_values(src.numel()), into_values(into.numel());
  const View src_view = View::contiguous(src.shape()), into_view = View::contiguous(into.shape());
  const DType dtype = dtype_of<Accumulator<T>>;
  const Operand wide_src{src_values.data(), &src_view, dtype}, wide_into{into_values.data(), &into_view, dtype};
  copy(src, wide_src);
  copy(into, wide_into);
  if (list.names_slices(index))
    scatter_slices<Accumulator<T>>(wide_src, list.list, slice_layout(index, axis, list.first, wide_into, wide_src),
                                   wide_into, f);
  else
    scatter_rows<Accumulator<T>>(wide_src, list.list, axis, wide_into, f);
  copy(wide_into, into);
}

/// A long list that goes into a short row.
bool is_short_row(const Operand& src, const IndexList& list, const Operand& into) {
  constexpr int64_t kLongest = 4096;
  return is_integer(into.dtype) && src.rank() == 1 && into.numel() <= kLongest && list.count() >= 8 * into.numel();
}

/// value(k) added at indices[k] of two rows of `size` in turn.
constexpr int64_t kCopies = 2;
template <class Sum, class Value>
void add_in_turn(const int64_t* indices, int64_t count, Sum* row, int64_t size, const Value& value) {
  const auto add = [](Sum& element, Sum more) { element = static_cast<Sum>(element + more); };
  Sum* const second = row + size;
  int64_t k = 0;
  for (; k + kCopies <= count; k += kCopies) {
    add(row[indices[k]], value(k));
    add(second[indices[k + 1]], value(k + 1));
  }
  if (k < count) add(row[indices[k]], value(k));
}

/// A long list of integers added into a short row. Their order does not matter: each thread has rows of its own, and
/// two in turn, as an element that comes again at once would wait for its last sum. Indices are checked on the way.
/// False: not so.
template <class T> bool add_to_short_row(const Operand& src, const IndexList& list, const Operand& into) {
  if constexpr (!std::is_integral_v<T>) {
    return false;
  } else {
    using Sum = std::make_unsigned_t<T>;
    const int64_t size = into.numel(), step = into.rank() == 1 ? into.stride(0) : 0;
    if (!is_short_row(src, list, into)) return false;
    const T* from = src.data<T>();
    T* to = into.data<T>();
    const int64_t from_step = src.stride(0);
    for (int64_t j = 0; j < size; ++j) to[j * step] = 0;
    std::mutex adding;
    std::atomic<bool> bad = false;
    parallel_for(list.count(), kIndexGrain, [&](int64_t begin, int64_t end) {
      const Scratch<Sum> sums(kCopies * size);
      Sum* const row = sums.data();
      std::fill_n(row, kCopies * size, Sum{0});
      constexpr int64_t kChecked = 1024;
      for (int64_t i = begin; i < end; i += kChecked) {
        const int64_t count = std::min(kChecked, end - i);
        const int64_t* const indices = list.data() + i;
        if (!IndexList::all_below(indices, count, size)) return bad.store(true);
        if (from_step == 0)
          add_in_turn(indices, count, row, size, [one = static_cast<Sum>(*from)](int64_t) { return one; });
        else
          add_in_turn(indices, count, row, size, [values = from + i * from_step, from_step](int64_t k) {
            return static_cast<Sum>(values[k * from_step]);
          });
      }
      const std::lock_guard lock(adding);
      for (int64_t k = 0; k < kCopies; ++k)
        for (int64_t j = 0; j < size; ++j)
          to[j * step] = static_cast<T>(static_cast<Sum>(to[j * step]) + row[k * size + j]);
    });
    if (bad) list.check(size, "rows");
    return true;
  }
}

/// A scalar as a tensor of one axis.
struct AtLeastOneAxis {
  explicit AtLeastOneAxis(const Operand& x)
      : view(x.rank() == 0 ? View::create({1}, {1}, x.view->offset()) : View()),
        operand(x.rank() == 0 ? x.with(view) : x) {}
  AtLeastOneAxis(const AtLeastOneAxis&) = delete;
  View view;
  Operand operand;
};

/// out = x, unless the op writes in element; then `f` along the rows of `axis`, computed in Accumulator<T> or in T.
template <class T, bool kWiden, class F>
void scatter(const Operand& x_any, const Operand& index_any, const Operand& src_any, int64_t axis,
             const Operand& out_any, const F& f) {
  const AtLeastOneAxis x(x_any), src(src_any), index(index_any), out(out_any);
  const SliceIndex list(index.operand, axis);
  const bool in_place = x_any.base == out_any.base, slices = list.names_slices(index.operand);
  RowStart start{.checks = !in_place && !kWiden && !slices};
  if (!start.checks) list.list.check(out.operand.size(axis), "rows");
  if (start.checks && starts_rows(src.operand, axis, out.operand))
    start.x = &x.operand;
  else if (!in_place)
    copy(x_any, out_any);
  if constexpr (kWiden)
    scatter_widened<T>(src.operand, index.operand, list, axis, out.operand, f);
  else if (slices)
    scatter_slices<T>(src.operand, list.list, slice_layout(index.operand, axis, list.first, out.operand, src.operand),
                      out.operand, f);
  else
    scatter_rows<T>(src.operand, list.list, axis, out.operand, f, start);
}

template <class F>
void scatter_numbers(const Operand& x, const Operand& index, const Operand& src, int64_t axis, const Operand& out,
                     const F& f) {
  visit_number(x.dtype, [&]<class T>() { scatter<T, kWidens<T>>(x, index, src, axis, out, f); });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Gather::cpu(const Operand& x_any, const Operand& index_any, const Operand& out_any) const {
  const AtLeastOneAxis x_one(x_any), index_one(index_any), out_one(out_any);
  const Operand &x = x_one.operand, &index = index_one.operand, &out = out_one.operand;
  const SliceIndex slices(index, axis);
  const IndexList& list = slices.list;
  if (slices.names_slices(index)) {
    list.check(x.size(axis), "rows");
    return copy_slices(x, list, slice_layout(index, axis, slices.first, x, out), out);
  }
  const Nest nest = element_nest(index, x, axis, out);
  std::atomic<bool> bad = false;
  visit_size(x.dtype, [&]<class T>() {
    parallel_for(list.count(), kIndexGrain, [&](int64_t begin, int64_t end) {
      if (!gather_elements(nest, list.data(), begin, end, x.size(axis), x.data<T>(), x.stride(axis), out.data<T>()))
        bad.store(true, std::memory_order_relaxed);
    });
  });
  if (bad) list.check(x.size(axis), "rows");
}

void op::ScatterAdd::cpu(const Operand& src_any, const Operand& index_any, const Operand& into_any) const {
  const AtLeastOneAxis src_one(src_any), index_one(index_any), into_one(into_any);
  const Operand &src = src_one.operand, &index = index_one.operand, &into = into_one.operand;
  const SliceIndex slices(index, axis);
  const IndexList& list = slices.list;
  const bool checks = size_of(into.dtype) >= sizeof(float) && !slices.names_slices(index);
  if (!checks) list.check(into.size(axis), "rows");
  const RowStart start{.zeros = checks && starts_rows(src, axis, into), .checks = checks};
  if (!start.zeros) fill(into, 0);
  visit_number(src.dtype, [&]<class T>() {
    if (add_to_short_row<T>(src, list, into)) return;
    if constexpr (kWidens<T>)
      scatter_widened<T>(src, index, slices, axis, into, Adding{});
    else if (slices.names_slices(index))
      scatter_slices<T>(src, list, slice_layout(index, axis, slices.first, into, src), into, Adding{});
    else
      scatter_rows<T>(src, list, axis, into, Adding{}, start);
  });
}

void op::Scatter::cpu(const Operand& x, const Operand& index, const Operand& src, const Operand& out) const {
  visit_size(x.dtype,
             [&]<class T>() { scatter<T, false>(x, index, src, axis, out, [](T, T value) { return value; }); });
}

void op::ScatterSum::cpu(const Operand& x, const Operand& index, const Operand& src, const Operand& out) const {
  scatter_numbers(x, index, src, axis, out, Adding{});
}

void op::ScatterReduce::cpu(const Operand& x, const Operand& index, const Operand& src, const Operand& out) const {
  const auto product = [](auto element, auto value) { return wrapping_mul(element, value); };
  const auto largest = [](auto element, auto value) { return nan_max(value, element); };
  const auto smallest = [](auto element, auto value) { return nan_min(value, element); };
  switch (reduction) {
    case ScatterReduction::product: return scatter_numbers(x, index, src, axis, out, product);
    case ScatterReduction::largest: return scatter_numbers(x, index, src, axis, out, largest);
    case ScatterReduction::smallest: return scatter_numbers(x, index, src, axis, out, smallest);
  }
}

}  // namespace weft
