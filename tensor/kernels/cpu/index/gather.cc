// gather: one index per element.
#include <atomic>

#include "tensor/kernels/cpu/index/slice_index.h"
#include "tensor/ops/scatter.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

/// The axes of `index` with the strides of x (in; 0 along `axis`) and of y (out). Row-major, so that element i of the
/// nest belongs to index i.
Nest element_nest(const Operand& index, const Operand& x, int64_t axis, const Operand& y) {
  Nest nest;
  for (int64_t i = 0; i < index.rank(); ++i)
    if (index.size(i) != 1) nest.push({index.size(i), i == axis ? 0 : x.stride(i), y.stride(i)});
  nest.merge();
  return nest;
}

/// Rows up to this long are gathered many at a time.
constexpr int64_t kShortRow = 8;

/// Rows of few elements: each of `to` from the row of `from` beside it. False where an index is bad.
template <class T>
bool gather_rows(const int64_t* list, int64_t rows, int64_t columns, int64_t limit, const T* from,
                 int64_t from_row_step, T* to, int64_t to_row_step) {
  constexpr int64_t kTogether = 1024;
  for (int64_t row = 0; row < rows; row += kTogether / kShortRow) {
    const int64_t some = std::min(kTogether / kShortRow, rows - row);
    if (!IndexList::all_below(list, some * columns, limit)) return false;
    for (int64_t k = 0; k < some; ++k, list += columns, from += from_row_step, to += to_row_step)
      for (int64_t j = 0; j < columns; ++j) to[j] = from[list[j]];
  }
  return true;
}

/// to = from at indices [begin, end) of the list, along an axis of `limit` elements, which are `step` apart. Indices
/// are checked before they are used; false where one is bad.
template <class T>
bool gather_range(const Nest& nest, const int64_t* list, int64_t begin, int64_t end, int64_t limit, const T* from,
                  int64_t step, T* to) {
  // (With nest.run(), g++ 12 makes loops that take up to a fifth longer.)
  const NestAxis run = nest.rank > 0 ? nest.inner() : NestAxis{1, 0, 0};
  const Nest outer = nest.outer();
  const bool dense = run.in == 0 && run.out == 1 && step == 1;
  if (const int64_t n = run.size, first = ceil_div(begin, n) * n, last = end / n * n;
      dense && outer.rank == 1 && n <= kShortRow && first < last) {
    const NestAxis rows = outer.inner();
    return gather_range(nest, list, begin, first, limit, from, step, to) &&
           gather_rows(list + first, (last - first) / n, n, limit, from + first / n * rows.in, rows.in,
                       to + first / n * rows.out, rows.out) &&
           gather_range(nest, list, last, end, limit, from, step, to);
  }
  NestWalk walk(outer, begin / run.size), ahead = walk;
  const auto gather = [&](int64_t i, int64_t j, int64_t count, int64_t in, int64_t out, int64_t axis_step)
      __attribute__((always_inline)) {
    const T* const source = from + walk.in() + j * in;
    T* const target = to + walk.out() + j * out;
    const auto size = static_cast<uint64_t>(limit);
#pragma GCC unroll 4
    for (int64_t k = 0; k < count; ++k) {
      const int64_t at = list[i + k];
      if (static_cast<uint64_t>(at) >= size) return false;
      target[k * out] = source[k * in + at * axis_step];
    }
    return true;
  };
  // A row read at random indices is not a stream that the hardware prefetcher recognizes: the whole next row is
  // prefetched.
  constexpr int64_t kCacheLine = 64 / static_cast<int64_t>(sizeof(T));
  const bool asks = dense && limit >= kCacheLine && limit <= 512 * kCacheLine && limit <= 4 * run.size;
  for (int64_t i = begin, j = begin % run.size; i < end; walk.next(), j = 0) {
    if (asks) {
      ahead.next();
      for (int64_t k = 0; k < limit; k += kCacheLine) simd::prefetch(from + ahead.in() + k, 0);
    }
    const int64_t count = std::min(run.size - j, end - i);
    if (!(dense ? gather(i, j, count, 0, 1, 1) : gather(i, j, count, run.in, run.out, step))) return false;
    i += count;
  }
  return true;
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
    list.check(x.size(axis));
    return copy_slices(x, list, slice_layout(index, axis, slices.first, x, out), out);
  }
  const Nest nest = element_nest(index, x, axis, out);
  std::atomic<bool> bad = false;
  visit_size(x.dtype, [&]<class T>() {
    parallel_for(list.count(), kIndexGrain, [&](int64_t begin, int64_t end) {
      if (!gather_range(nest, list.data(), begin, end, x.size(axis), x.data<T>(), x.stride(axis), out.data<T>()))
        bad.store(true, std::memory_order_relaxed);
    });
  });
  if (bad) list.check(x.size(axis));
}

}  // namespace weft
