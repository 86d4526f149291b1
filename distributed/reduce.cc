#include "distributed/reduce.h"

#include <type_traits>

#include "tensor/core/error.h"
#include "tensor/core/half.h"
#include "tensor/runtime/parallel.h"

namespace weft::distributed {
namespace {

constexpr int64_t kGrain = 1 << 16;  // elements a thread takes at least

template <class T>
using Accumulator = std::conditional_t<std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>, float, T>;

template <ReduceOp op, class A> A combine(A a, A b) {
  if constexpr (op == ReduceOp::max) return a > b || a != a ? a : b;
  if constexpr (op == ReduceOp::min) return a < b || a != a ? a : b;
  if constexpr (std::is_same_v<A, bool>)
    return a || b;
  else if constexpr (std::is_integral_v<A>)
    return static_cast<A>(static_cast<std::make_unsigned_t<A>>(a) + static_cast<std::make_unsigned_t<A>>(b));
  else
    return a + b;
}

using Sources = std::span<const std::byte* const>;
using Targets = std::span<std::byte* const>;

/// `count` elements from `at` on, at most kLanes: read from all ranks, added up in registers, and written to all
/// targets. So each cache line passes once, also where it is written to the memory that it was read from.
template <ReduceOp op, class T, int64_t kLanes>
[[gnu::always_inline]] inline void reduce_lanes(Sources from, Targets to, int64_t at, int64_t count, double scale) {
  using A = Accumulator<T>;
  A sum[kLanes];
  const T* first = reinterpret_cast<const T*>(from[0]) + at;
  for (int64_t i = 0; i < count; ++i) sum[i] = static_cast<A>(first[i]);
  for (const std::byte* rank : from.subspan(1)) {
    const T* x = reinterpret_cast<const T*>(rank) + at;
    for (int64_t i = 0; i < count; ++i) sum[i] = combine<op, A>(sum[i], static_cast<A>(x[i]));
  }
  if constexpr (std::is_floating_point_v<A>)
    for (int64_t i = 0; i < count; ++i) sum[i] *= static_cast<A>(scale);
  for (std::byte* target : to) {
    T* y = reinterpret_cast<T*>(target) + at;
    for (int64_t i = 0; i < count; ++i) y[i] = static_cast<T>(sum[i]);
  }
}

template <ReduceOp op, class T> void reduce_range(Sources from, Targets to, int64_t begin, int64_t end, double scale) {
  constexpr int64_t kLanes = 64 / sizeof(T);
  int64_t at = begin;
  for (; at + kLanes <= end; at += kLanes) reduce_lanes<op, T, kLanes>(from, to, at, kLanes, scale);
  reduce_lanes<op, T, kLanes>(from, to, at, end - at, scale);
}

template <ReduceOp op> void reduce_as(DType dtype, Sources from, Targets to, int64_t count, double scale) {
  visit_dtype(dtype, [&]<class T>() {
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) { reduce_range<op, T>(from, to, begin, end, scale); });
  });
}

}  // namespace

const char* name_of(ReduceOp op) {
  constexpr const char* kNames[] = {"sum", "mean", "max", "min"};
  return kNames[static_cast<size_t>(op)];
}

void check_reducible(ReduceOp op, DType dtype) {
  if (op == ReduceOp::mean && !is_floating(dtype))
    throw DtypeError(text("the mean of ", dtype, " is no ", dtype, "; cast it to a floating dtype"));
  if (op == ReduceOp::sum && dtype == DType::boolean)
    throw DtypeError("the sum of bool; cast it to i64, or ask for max");
}

void reduce(ReduceOp op, DType dtype, std::span<const std::byte* const> from, std::span<std::byte* const> to,
            int64_t count) {
  switch (op) {
    case ReduceOp::sum: return reduce_as<ReduceOp::sum>(dtype, from, to, count, 1);
    case ReduceOp::mean:
      return reduce_as<ReduceOp::sum>(dtype, from, to, count, 1.0 / static_cast<double>(from.size()));
    case ReduceOp::max: return reduce_as<ReduceOp::max>(dtype, from, to, count, 1);
    case ReduceOp::min: return reduce_as<ReduceOp::min>(dtype, from, to, count, 1);
  }
}

}  // namespace weft::distributed
