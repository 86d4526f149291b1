// The forms of scatter: one index per element.
#include "tensor/ops/scatter.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <type_traits>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/index/scatter_rows.h"
#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/kernels/cpu/pointwise/fill.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

struct Adding {
  auto operator()(auto element, auto value) const { return wrapping_add(element, value); }
};

/// scatter_slices() if each index stands for a whole slice, otherwise scatter_rows().
void scatter_any(const Operand& src, const Operand& index, const SliceIndex& slices, int64_t axis, const Operand& into,
                 const ScatterLoops& loops, const RowStart& start = {}) {
  if (slices.names_slices(index))
    scatter_slices(src, slices.list, slice_layout(index, axis, slices.first, into, src), into, loops);
  else
    scatter_rows(src, slices.list, axis, into, loops, start);
}

/// The same in f32, in a copy of `into`.
void scatter_widened(const Operand& src, const Operand& index, const SliceIndex& slices, int64_t axis,
                     const Operand& into, const ScatterLoops& loops) {
  const Scratch<float> src_values(src.numel()), into_values(into.numel());
  const View src_view = View::contiguous(src.shape()), into_view = View::contiguous(into.shape());
  const Operand wide_src{src_values.data(), &src_view, f32}, wide_into{into_values.data(), &into_view, f32};
  copy(src, wide_src);
  copy(into, wide_into);
  scatter_any(wide_src, index, slices, axis, wide_into, loops);
  copy(wide_into, into);
}

/// f(indices, first, count) for pieces of [begin, end) of a 1-D index, converted to i64. False if an index is not below
/// `limit`.
template <class F> bool for_indices(const Operand& index, int64_t begin, int64_t end, int64_t limit, const F& f) {
  constexpr int64_t kTogether = 1024;
  int64_t buffer[kTogether];
  const int64_t step = index.stride(0);
  const bool direct = index.dtype == i64 && step == 1;
  for (int64_t i = begin; i < end; i += kTogether) {
    const int64_t count = std::min(kTogether, end - i);
    if (!direct)
      visit_integer(index.dtype, [&]<class I>() {
        const I* from = index.data<I>() + i * step;
        for (int64_t k = 0; k < count; ++k) buffer[k] = static_cast<int64_t>(from[k * step]);
      });
    const int64_t* const indices = direct ? index.data<int64_t>() + i : buffer;
    if (!IndexList::all_below(indices, count, limit)) return false;
    f(indices, i, count);
  }
  return true;
}

/// Whether a long list of integers is added into a short row.
bool is_short_row(const Operand& src, const Operand& into) {
  constexpr int64_t kLongest = 4096;
  return is_integer(into.dtype) && into.numel() <= kLongest && src.numel() >= 8 * into.numel();
}

/// Adds value(k) at indices[k], alternating between two rows of `size` elements.
constexpr int64_t kCopies = 2;
template <class Sum, class Value>
void add_in_turn(const int64_t* indices, int64_t count, Sum* row, int64_t size, const Value& value) {
  const auto add = [](Sum& element, Sum more) { element = static_cast<Sum>(element + more); };
  Sum* const second = row + size;
  int64_t k = 0;
#pragma GCC unroll 4
  for (; k + kCopies <= count; k += kCopies) {
    add(row[indices[k]], value(k));
    add(second[indices[k + 1]], value(k + 1));
  }
  if (k < count) add(row[indices[k]], value(k));
}

/// Counts bytes in four tables in turn, as add_in_turn() alternates between rows, and adds each count times `one`.
/// False if a byte is not below `size`.
template <class Sum>
bool add_counts(const uint8_t* bytes, int64_t step, int64_t count, Sum one, Sum* row, int64_t size) {
  constexpr int64_t kTables = 4, kValues = 256;
  int64_t counts[kTables][kValues] = {};
  int64_t k = 0;
  for (; k + kTables <= count; k += kTables)
#pragma GCC unroll 4
    for (int64_t t = 0; t < kTables; ++t) ++counts[t][bytes[(k + t) * step]];
  for (; k < count; ++k) ++counts[0][bytes[k * step]];
  for (int64_t v = 0; v < kValues; ++v) {
    const int64_t found = counts[0][v] + counts[1][v] + counts[2][v] + counts[3][v];
    if (found == 0) continue;
    if (v >= size) return false;
    row[v] = static_cast<Sum>(row[v] + static_cast<Sum>(found) * one);
  }
  return true;
}

/// Adds a long list of integers into a short row. The order does not change integer sums, so each thread sums into rows
/// of its own. It alternates between two, because adding to the same element twice in a row waits for the first sum.
/// False if an index is out of range.
template <class T> bool add_to_short_row(const Operand& src, const Operand& index, const Operand& into) {
  using Sum = std::make_unsigned_t<T>;
  constexpr int64_t kManyBytes = 2048;  // what tables of counts are worth
  const int64_t size = into.numel(), step = into.stride(0), from_step = src.stride(0);
  const T* from = src.data<T>();
  T* to = into.data<T>();
  std::mutex adding;
  std::atomic<bool> bad = false;
  parallel_for(src.numel(), kIndexGrain, [&](int64_t begin, int64_t end) {
    const Scratch<Sum> sums(kCopies * size);
    Sum* const row = sums.data();
    std::fill_n(row, kCopies * size, Sum{0});
    const auto add = [&](const int64_t* indices, int64_t i, int64_t count) {
      if (from_step == 0)
        add_in_turn(indices, count, row, size, [one = static_cast<Sum>(*from)](int64_t) { return one; });
      else
        add_in_turn(indices, count, row, size, [values = from + i * from_step, from_step](int64_t k) {
          return static_cast<Sum>(values[k * from_step]);
        });
    };
    const bool counts = from_step == 0 && index.dtype == u8 && end - begin >= kManyBytes;
    const bool good = counts ? add_counts(index.data<uint8_t>() + begin * index.stride(0), index.stride(0), end - begin,
                                          static_cast<Sum>(*from), row, size)
                             : for_indices(index, begin, end, size, add);
    if (!good) return bad.store(true);
    const std::lock_guard lock(adding);
    for (int64_t k = 0; k < kCopies; ++k)
      for (int64_t j = 0; j < size; ++j)
        to[j * step] = static_cast<T>(static_cast<Sum>(to[j * step]) + row[k * size + j]);
  });
  return !bad;
}

/// The index along `axis`, if the few other axes share it, where so many f32 are added to each element, in the mean,
/// that sums in f32 lose digits: from 2^24 ones on, all that are added. index_add() sums as many in f64. (For wider
/// slices it would take longer, and for a few columns that leave the cache: it reads them in the order of the result.)
std::optional<View> long_list(const Operand& src, const Operand& index, int64_t axis, const Operand& into) {
  constexpr int64_t kMany = 256, kWidest = 16, kCached = 1 << 19;
  if (src.rank() == 0 || src.dtype != f32 || src.numel() == 0) return std::nullopt;
  if (src.size(axis) / kMany <= into.size(axis) || src.numel() > kWidest * src.size(axis)) return std::nullopt;
  int64_t columns = 1;
  for (int64_t i = axis + 1; i < src.rank(); ++i) columns *= src.size(i);
  if (columns > 1 && src.numel() > kCached) return std::nullopt;
  std::optional<View> line = *index.view;
  for (int64_t i = src.rank(); i-- > 0;) {
    if (i == axis) continue;
    if (src.size(i) != into.size(i) || (index.size(i) > 1 && index.stride(i) != 0)) return std::nullopt;
    line = line->select(i, 0);
  }
  return line;
}

/// into = 0, then into[index[i]] += src[i], along one axis; checks the indices. False, and nothing is done, if elements
/// are summed in another type.
template <class T> bool add_to_row(const Operand& src, const Operand& index, const Operand& into) {
  const int64_t size = into.numel(), step = into.stride(0), from_step = src.stride(0);
  bool good = true;
  if (is_short_row(src, into)) {
    fill(into, 0);
    if constexpr (std::is_integral_v<T>) good = add_to_short_row<T>(src, index, into);
  } else if constexpr (is_half<T>) {
    return false;
  } else {
    fill(into, 0);
    const T* from = src.data<T>();
    T* to = into.data<T>();
    good = for_indices(index, 0, src.numel(), size, [=](const int64_t* indices, int64_t i, int64_t count) {
      const auto each = [&](int64_t to_step, int64_t values_step) __attribute__((always_inline)) {
        const T* const values = from + i * values_step;
        for (int64_t k = 0; k < count; ++k) {
          T& element = to[indices[k] * to_step];
          element = wrapping_add(element, values[k * values_step]);
        }
      };
      step == 1 && from_step == 1 ? each(1, 1) : each(step, from_step);
    });
  }
  if (!good) IndexList(index).check(size);
  return true;
}

/// Whether the index names exactly one element in each row along the last axis, so that none is combined twice.
bool is_one_each(const Operand& src, const Operand& index, const SliceIndex& list, int64_t axis) {
  return axis == src.rank() - 1 && src.size(axis) == 1 && !list.names_slices(index);
}

/// One element of each of several rows, and the values that are combined with them.
struct OneEach {
  void* elements;
  int64_t between, size, step;  // distance of two rows; size of a row, distance of its elements
  const void* values;
  int64_t value_step;
  const int64_t* index;
  int64_t count;
};

/// element = f(element, value), computed in A. False if an index is out of range.
template <class T, class A, class F> bool combine_one_each(const OneEach& each) {
  T* const elements = static_cast<T*>(each.elements);
  const T* const values = static_cast<const T*>(each.values);
  const int64_t* const index = each.index;
  const int64_t between = each.between, size = each.size, step = each.step, value_step = each.value_step;
  for (int64_t k = 0, count = each.count; k < count; ++k) {
    const int64_t at = index[k];
    if (static_cast<uint64_t>(at) >= static_cast<uint64_t>(size)) return false;
    T& element = elements[k * between + at * step];
    element = static_cast<T>(F{}(static_cast<A>(element), static_cast<A>(values[k * value_step])));
  }
  return true;
}

/// The same for all rows: combines into[.., list[i]] with src[i]. Requires is_one_each().
bool scatter_one_each(const Operand& src, const IndexList& list, const Operand& into, bool (*combine)(const OneEach&)) {
  const int64_t last = into.rank() - 1, bytes = static_cast<int64_t>(size_of(into.dtype));
  const Nest rows = rows_of(src, last, into), outer = rows.outer();
  const NestAxis run = rows.run();
  const char* const from = src.first();
  char* const to = into.first();
  std::atomic<bool> bad = false;
  parallel_for(list.count(), kIndexGrain, [&](int64_t begin, int64_t end) {
    NestWalk walk(outer, begin / run.size);
    OneEach some{nullptr, run.out, into.size(last), into.stride(last), nullptr, run.in, nullptr, 0};
    for (int64_t i = begin; i < end; i += some.count, walk.next()) {
      const int64_t first = i % run.size;
      some.count = std::min(run.size - first, end - i);
      some.index = list.data() + i;
      some.values = from + (walk.in() + first * run.in) * bytes;
      some.elements = to + (walk.out() + first * run.out) * bytes;
      if (!combine(some)) return bad.store(true);
    }
  });
  return !bad;
}

/// How values are combined: the loops of the type in which this is computed, and whether that is wider than the
/// elements' type.
struct Combination {
  ScatterLoops loops;
  bool widens;
  bool (*one_each)(const OneEach&);
};
template <class T, class F> Combination combination_of(const F&) {
  return {ScatterOf<Compute<T>, F>::kLoops, is_half<T>, &combine_one_each<T, Compute<T>, F>};
}

/// out = x (unless the op writes in place), then combines the values of src with elements along `axis`.
void scatter(const Operand& x_any, const Operand& index_any, const Operand& src_any, int64_t axis,
             const Operand& out_any, const Combination& combination) {
  const AtLeastOneAxis x(x_any), src(src_any), index(index_any), out(out_any);
  const SliceIndex list(index.operand, axis);
  const bool in_place = x_any.base == out_any.base, widens = combination.widens;
  RowStart start{.checks = !in_place && !widens && !list.names_slices(index.operand)};
  if (!start.checks) list.list.check(out.operand.size(axis));
  const bool one_each = is_one_each(src.operand, index.operand, list, axis);
  if (start.checks && !one_each && starts_rows(src.operand, axis, out.operand))
    start.x = &x.operand;
  else if (!in_place)
    copy(x_any, out_any);
  if (one_each) {
    if (!scatter_one_each(src.operand, list.list, out.operand, combination.one_each))
      list.list.check(out.operand.size(axis));
  } else if (widens) {
    scatter_widened(src.operand, index.operand, list, axis, out.operand, combination.loops);
  } else {
    scatter_any(src.operand, index.operand, list, axis, out.operand, combination.loops, start);
  }
}

template <class F>
void scatter_numbers(const Operand& x, const Operand& index, const Operand& src, int64_t axis, const Operand& out,
                     const F& f) {
  visit_number(x.dtype, [&]<class T>() { scatter(x, index, src, axis, out, combination_of<T>(f)); });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::ScatterAdd::cpu(const Operand& src_any, const Operand& index_any, const Operand& into_any) const {
  const AtLeastOneAxis src_one(src_any), index_one(index_any), into_one(into_any);
  const Operand &src = src_one.operand, &index = index_one.operand, &into = into_one.operand;
  if (const auto line = long_list(src, index, axis, into))
    return IndexAdd{axis, shape}.cpu(src, index.with(*line), into);
  if (src.rank() == 1) {
    bool done = false;
    visit_number(src.dtype, [&]<class T>() { done = add_to_row<T>(src, index, into); });
    if (done) return;
  }
  const SliceIndex slices(index, axis);
  const IndexList& list = slices.list;
  if (is_one_each(src, index, slices, axis)) {
    fill(into, 0);
    const auto sum_with_zero = []<class T>(T, T value) { return value + 0; };
    bool good = true;
    visit_number(src.dtype, [&]<class T>() {
      good = scatter_one_each(src, list, into, &combine_one_each<T, T, decltype(sum_with_zero)>);
    });
    if (!good) list.check(into.size(axis));
    return;
  }
  const bool checks = !is_half_precision(into.dtype) && !slices.names_slices(index);
  if (!checks) list.check(into.size(axis));
  const RowStart start{.zeros = checks && starts_rows(src, axis, into), .checks = checks};
  if (!start.zeros) fill(into, 0);
  visit_number(src.dtype, [&]<class T>() {
    const ScatterLoops& loops = ScatterOf<Compute<T>, Adding>::kLoops;
    is_half<T> ? scatter_widened(src, index, slices, axis, into, loops)
               : scatter_any(src, index, slices, axis, into, loops, start);
  });
}

void op::Scatter::cpu(const Operand& x, const Operand& index, const Operand& src, const Operand& out) const {
  const auto replace = []<class T>(T, T value) { return value; };
  visit_size(x.dtype, [&]<class T>() { scatter(x, index, src, axis, out, combination_of<T>(replace)); });
}

void op::ScatterSum::cpu(const Operand& x, const Operand& index, const Operand& src, const Operand& out) const {
  if (const auto line = long_list(src, index, axis, out))
    return IndexAccumulate{axis}.cpu(x, index.with(*line), src, out);
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
