// The forms of scatter: one index per element.
#include "tensor/ops/scatter.h"

#include <atomic>
#include <mutex>
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

/// scatter_rows(), or scatter_slices() where the index names slices, in a copy of `into` of type Compute<T>.
template <class T, class F>
void scatter_widened(const Operand& src, const Operand& index, const SliceIndex& list, int64_t axis,
                     const Operand& into, const F& f) {
  const Scratch<Compute<T>> src_values(src.numel()), into_values(into.numel());
  const View src_view = View::contiguous(src.shape()), into_view = View::contiguous(into.shape());
  const DType dtype = dtype_of<Compute<T>>;
  const Operand wide_src{src_values.data(), &src_view, dtype}, wide_into{into_values.data(), &into_view, dtype};
  copy(src, wide_src);
  copy(into, wide_into);
  if (list.names_slices(index))
    scatter_slices<Compute<T>>(wide_src, list.list, slice_layout(index, axis, list.first, wide_into, wide_src),
                               wide_into, f);
  else
    scatter_rows<Compute<T>>(wide_src, list.list, axis, wide_into, f);
  copy(wide_into, into);
}

/// f(indices, first, count) for pieces of [begin, end) of a 1-D index, as i64; false where one is not below `limit`.
template <class F> bool for_indices(const Operand& index, int64_t begin, int64_t end, int64_t limit, const F& f) {
  constexpr int64_t kTogether = 1024;
  int64_t room[kTogether];
  const int64_t step = index.stride(0);
  const bool direct = index.dtype == i64 && step == 1;
  for (int64_t i = begin; i < end; i += kTogether) {
    const int64_t count = std::min(kTogether, end - i);
    if (!direct)
      visit_integer(index.dtype, [&]<class I>() {
        const I* from = index.data<I>() + i * step;
        for (int64_t k = 0; k < count; ++k) room[k] = static_cast<int64_t>(from[k * step]);
      });
    const int64_t* const indices = direct ? index.data<int64_t>() + i : room;
    if (!IndexList::all_below(indices, count, limit)) return false;
    f(indices, i, count);
  }
  return true;
}

/// A long list that goes into a short row.
bool is_short_row(const Operand& src, const Operand& into) {
  constexpr int64_t kLongest = 4096;
  return is_integer(into.dtype) && into.numel() <= kLongest && src.numel() >= 8 * into.numel();
}

/// value(k) added at indices[k] of two rows of `size` in turn.
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

/// A long list of integers added into a short row. Their order does not matter: each thread has rows of its own, and
/// two in turn, as an element that comes again at once would wait for its last sum. False: an index is bad.
template <class T> bool add_to_short_row(const Operand& src, const Operand& index, const Operand& into) {
  using Sum = std::make_unsigned_t<T>;
  const int64_t size = into.numel(), step = into.stride(0), from_step = src.stride(0);
  const T* from = src.data<T>();
  T* to = into.data<T>();
  std::mutex adding;
  std::atomic<bool> bad = false;
  parallel_for(src.numel(), kIndexGrain, [&](int64_t begin, int64_t end) {
    const Scratch<Sum> sums(kCopies * size);
    Sum* const row = sums.data();
    std::fill_n(row, kCopies * size, Sum{0});
    const bool good = for_indices(index, begin, end, size, [&](const int64_t* indices, int64_t i, int64_t count) {
      if (from_step == 0)
        add_in_turn(indices, count, row, size, [one = static_cast<Sum>(*from)](int64_t) { return one; });
      else
        add_in_turn(indices, count, row, size, [values = from + i * from_step, from_step](int64_t k) {
          return static_cast<Sum>(values[k * from_step]);
        });
    });
    if (!good) return bad.store(true);
    const std::lock_guard lock(adding);
    for (int64_t k = 0; k < kCopies; ++k)
      for (int64_t j = 0; j < size; ++j)
        to[j * step] = static_cast<T>(static_cast<Sum>(to[j * step]) + row[k * size + j]);
  });
  return !bad;
}

/// into = 0, into[index[i]] += src[i], of one axis. Indices are checked on the way. False: not done, as elements are
/// summed in another type.
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

/// Whether the index names one element in each row along the last axis: nothing is combined twice.
bool is_one_each(const Operand& src, const Operand& index, const SliceIndex& list, int64_t axis) {
  return axis == src.rank() - 1 && src.size(axis) == 1 && !list.names_slices(index);
}

/// into[.., list[i]] = f(into[.., list[i]], src[i]), computed in A, where it is one element each. False: an index is
/// bad.
template <class T, class A, class F>
bool scatter_one_each(const Operand& src, const IndexList& list, const Operand& into, const F& f) {
  const int64_t last = into.rank() - 1, size = into.size(last), step = into.stride(last);
  const Nest rows = rows_of(src, last, into), outer = rows.outer();
  const NestAxis run = rows.rank > 0 ? rows.inner() : NestAxis{1, 0, 0};
  const T* const from = src.data<T>();
  T* const to = into.data<T>();
  std::atomic<bool> bad = false;
  parallel_for(list.count(), kIndexGrain, [&, from, to, size, step](int64_t begin, int64_t end) {
    NestWalk walk(outer, begin / run.size);
    for (int64_t i = begin; i < end; walk.next()) {
      const int64_t first = i % run.size, count = std::min(run.size - first, end - i), in = run.in, out = run.out;
      const int64_t* const indices = list.data() + i;
      const T* const values = from + walk.in() + first * in;
      T* const elements = to + walk.out() + first * out;
      for (int64_t k = 0; k < count; ++k) {
        const int64_t at = indices[k];
        if (static_cast<uint64_t>(at) >= static_cast<uint64_t>(size)) return bad.store(true);
        T& element = elements[k * out + at * step];
        element = static_cast<T>(f(static_cast<A>(element), static_cast<A>(values[k * in])));
      }
      i += count;
    }
  });
  return !bad;
}

/// out = x, unless the op writes in place; then `f` along the rows of `axis`, computed in Compute<T> or in T.
template <class T, bool kWiden, class F>
void scatter(const Operand& x_any, const Operand& index_any, const Operand& src_any, int64_t axis,
             const Operand& out_any, const F& f) {
  const AtLeastOneAxis x(x_any), src(src_any), index(index_any), out(out_any);
  const SliceIndex list(index.operand, axis);
  const bool in_place = x_any.base == out_any.base, slices = list.names_slices(index.operand);
  RowStart start{.checks = !in_place && !kWiden && !slices};
  if (!start.checks) list.list.check(out.operand.size(axis));
  const bool one_each = is_one_each(src.operand, index.operand, list, axis);
  if (start.checks && !one_each && starts_rows(src.operand, axis, out.operand))
    start.x = &x.operand;
  else if (!in_place)
    copy(x_any, out_any);
  if (one_each) {
    using A = std::conditional_t<kWiden, Compute<T>, T>;
    if (!scatter_one_each<T, A>(src.operand, list.list, out.operand, f)) list.list.check(out.operand.size(axis));
    return;
  }
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
  visit_number(x.dtype, [&]<class T>() { scatter<T, is_half<T>>(x, index, src, axis, out, f); });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::ScatterAdd::cpu(const Operand& src_any, const Operand& index_any, const Operand& into_any) const {
  const AtLeastOneAxis src_one(src_any), index_one(index_any), into_one(into_any);
  const Operand &src = src_one.operand, &index = index_one.operand, &into = into_one.operand;
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
    visit_number(src.dtype, [&]<class T>() { good = scatter_one_each<T, T>(src, list, into, sum_with_zero); });
    if (!good) list.check(into.size(axis));
    return;
  }
  const bool checks = !is_half_precision(into.dtype) && !slices.names_slices(index);
  if (!checks) list.check(into.size(axis));
  const RowStart start{.zeros = checks && starts_rows(src, axis, into), .checks = checks};
  if (!start.zeros) fill(into, 0);
  visit_number(src.dtype, [&]<class T>() {
    if constexpr (is_half<T>) {
      scatter_widened<T>(src, index, slices, axis, into, Adding{});
    } else if (slices.names_slices(index)) {
      scatter_slices<T>(src, list, slice_layout(index, axis, slices.first, into, src), into, Adding{});
    } else {
      scatter_rows<T>(src, list, axis, into, Adding{}, start);
    }
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
