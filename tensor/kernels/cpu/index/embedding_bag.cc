// Bags of rows of a table: their sums, and where the largest values are.
#include "tensor/ops/embedding_bag.h"

#include "tensor/core/error.h"
#include "tensor/kernels/cpu/index/index_list.h"
#include "tensor/kernels/cpu/index/slice_sums.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

constexpr int64_t kBagGrain = 16384;

/// The bags of a list of indices, without those that are padding: bag b has the rows of the table that rows()[begin(b)]
/// to rows()[begin(b + 1) - 1] name.
class Bags {
 public:
  Bags(const Operand& indices, const Operand& weight, const Operand& offsets, int64_t padding)
      : indices_(indices),
        begins_(offsets),
        all_(padding < 0),
        starts_(all_ ? 0 : count() + 1),
        kept_(all_ ? 0 : indices_.count()),
        positions_(all_ ? 0 : indices_.count()) {
    check(weight.size(0));
    if (!all_) leave_out(padding);
  }

  int64_t count() const { return begins_.count(); }
  const int64_t* rows() const { return all_ ? indices_.data() : kept_.data(); }
  /// Where rows() stand in the list of indices; null where each is at its own number.
  const int64_t* positions() const { return positions_.data(); }
  int64_t begin(int64_t bag) const {
    if (!all_) return starts_.data()[bag];
    return bag < count() ? begins_[bag] : indices_.count();
  }
  /// So many bags of rows of `width` are worth a thread.
  int64_t grain(int64_t width) const {
    return std::max<int64_t>(1, kBagGrain * count() / std::max<int64_t>(1, (indices_.count() + count()) * width));
  }

 private:
  void check(int64_t table) const {
    const int64_t total = indices_.count();
    for (int64_t i = 0; i < count(); ++i) {
      const int64_t begin = begins_[i], end = i + 1 < count() ? begins_[i + 1] : total;
      if (begin < 0 || begin > end || (i == 0 && begin != 0))
        throw IndexError(
            text("bag ", i, " of [", begin, ", ", end, "): offsets begin at 0, rise and end before ", total));
    }
    indices_.check(table);
  }
  void leave_out(int64_t padding) {
    int64_t kept = 0, bag = 0;
    for (int64_t i = 0; i < indices_.count(); ++i) {
      while (bag < count() && begins_[bag] == i) starts_.data()[bag++] = kept;
      kept_.data()[kept] = indices_[i];
      positions_.data()[kept] = i;
      kept += indices_[i] != padding;
    }
    while (bag <= count()) starts_.data()[bag++] = kept;
  }

  IndexList indices_, begins_;
  bool all_;  // no index is padding
  Scratch<int64_t> starts_, kept_, positions_;
};

/// Rows of a table.
template <class T> struct TableRows {
  const T* table;
  int64_t stride;
  const int64_t* rows;
  int64_t listed;  // rows from the first on, those of later bags too, that may be prefetched

  const T* operator()(int64_t k) const { return table + rows[k] * stride; }
  /// For the reader of `bytes` of row k, from column j on: prefetches those of a later row.
  [[gnu::always_inline]] void prefetch_after(int64_t k, int64_t j, int64_t bytes) const {
    constexpr int64_t kAhead = 16, kLine = 64;
    if (k + kAhead >= listed) return;
    const T* const from = (*this)(k + kAhead) + j;
    for (int64_t at = 0; at < bytes; at += kLine) simd::prefetch(from, at);
  }
};

/// f(bag, its rows of the table, how many, the first's number among those of all bags) for each bag, on all threads.
/// Rows are prefetched where the table is too large for the cache.
template <class T, class F> void for_bags(const Bags& bags, const Operand& weight, const F& f) {
  constexpr int64_t kCached = int64_t{1} << 19;
  const bool ahead = weight.numel() * int64_t{sizeof(T)} > kCached && weight.stride(1) == 1;
  parallel_for(bags.count(), bags.grain(weight.size(1)), [&](int64_t begin, int64_t end) {
    const int64_t listed = ahead ? bags.begin(end) : 0;
    for (int64_t b = begin; b < end; ++b) {
      const int64_t first = bags.begin(b), count = bags.begin(b + 1) - first;
      f(b, TableRows<T>{weight.data<T>(), weight.stride(0), bags.rows() + first, listed - first}, count, first);
    }
  });
}

template <class T> void sum_bags(const Bags& bags, const Operand& weight, const Operand& factors, const Operand& out) {
  const T* none = nullptr;
  const int64_t width = out.size(1), step = weight.stride(1);
  for_bags<T>(bags, weight, [&](int64_t bag, const TableRows<T>& rows, int64_t count, int64_t first) {
    T* to = out.data<T>() + bag * out.stride(0);
    if (!factors.defined()) return add_runs(rows, step, count, AsTheyAre{}, none, to, out.stride(1), width);
    const int64_t* positions = bags.positions();
    const auto scale = [from = factors.data<T>(), stride = factors.stride(0), positions, first](auto v, int64_t k) {
      const int64_t position = positions == nullptr ? first + k : positions[first + k];
      return v * static_cast<Compute<T>>(from[position * stride]);
    };
    add_runs(rows, step, count, scale, none, to, out.stride(1), width);
  });
}

/// at[j] = which of `count` rows has the largest element j of `width` from `begin` on; the first of them. Elements lie
/// `step` apart.
template <class T>
void find_largest(const TableRows<T>& rows, int64_t count, int64_t begin, int64_t step, int64_t* at, int64_t width) {
  using C = Compute<T>;
  for (int64_t j = 0; j < width; ++j) {
    C best = static_cast<C>(rows(0)[(begin + j) * step]);
    at[j] = 0;
    for (int64_t k = 1; k < count; ++k)
      if (const C v = static_cast<C>(rows(k)[(begin + j) * step]); simd::takes_place(v, best)) best = v, at[j] = k;
  }
}

/// Numbers of rows must fit the lanes of a register of elements.
template <class T> inline constexpr int64_t kMostRows = INT64_MAX >> (64 - 8 * sizeof(Compute<T>));

/// The same where elements are contiguous: of K registers, or of the `width` elements that one begins with.
template <int K, class T>
void find_largest_in_registers(const TableRows<T>& rows, int64_t count, int64_t begin, int64_t* at, int64_t width) {
  using C = Compute<T>;
  constexpr int N = simd::kLanes<C>;
  using V = simd::Vec<C, N>;
  using Places = decltype(V() == V());
  const auto load = [&](const T* from) {
    return K == 1 && width < N ? simd::load_part<C, N>(from, static_cast<int>(width)) : simd::load<C, N>(from);
  };
  V best[K];
  Places places[K] = {};
  for (int i = 0; i < K; ++i) best[i] = load(rows(0) + begin + i * N);
  for (int64_t k = 1; k < count; ++k) {
    rows.prefetch_after(k, begin, K * N * int64_t{sizeof(T)});
    const T* row = rows(k) + begin;
#pragma GCC unroll 4
    for (int i = 0; i < K; ++i) {
      const V v = load(row + i * N);
      const auto taken = simd::takes_place(v, best[i]);
      best[i] = taken ? v : best[i];
      places[i] = taken ? Places{} + static_cast<std::decay_t<decltype(places[i][0])>>(k) : places[i];
    }
  }
  for (int64_t j = 0; j < width; ++j) at[j] = places[j / N][j % N];
}

template <class T> void largest_of_bags(const Bags& bags, const Operand& weight, const Operand& out) {
  constexpr int64_t kTile = 256;
  constexpr int K = 4, N = simd::kLanes<Compute<T>>;
  const int64_t width = out.size(1), step = weight.stride(1), to_step = out.stride(1);
  for_bags<T>(bags, weight, [&](int64_t bag, const TableRows<T>& rows, int64_t count, int64_t) {
    int64_t at[kTile];
    int64_t* to = out.data<int64_t>() + bag * out.stride(0);
    const auto put = [&](int64_t begin, int64_t columns) {
      for (int64_t i = 0; i < columns; ++i) to[(begin + i) * to_step] = count > 0 ? rows.rows[at[i]] : -1;
    };
    const bool in_registers = step == 1 && count <= kMostRows<T>;
    for (int64_t j = 0, columns = 0; j < width; j += columns) {
      columns = std::min<int64_t>(width - j, !in_registers ? kTile : width - j < K * N ? N : K * N);
      if (count > 0) {
        if (!in_registers)
          find_largest(rows, count, j, step, at, columns);
        else if (columns == K * N)
          find_largest_in_registers<K>(rows, count, j, at, columns);
        else
          find_largest_in_registers<1>(rows, count, j, at, columns);
      }
      put(j, columns);
    }
  });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::EmbeddingBag::cpu(const Operand& indices, const Operand& weight, const Operand& offsets,
                           const Operand& factors, const Operand& out) const {
  const Bags bags(indices, weight, offsets, padding_idx);
  visit_number(out.dtype, [&]<class T>() { sum_bags<T>(bags, weight, factors, out); });
}

void op::EmbeddingBagArgmax::cpu(const Operand& indices, const Operand& weight, const Operand& offsets,
                                 const Operand& out) const {
  const Bags bags(indices, weight, offsets, padding_idx);
  visit_number(weight.dtype, [&]<class T>() { largest_of_bags<T>(bags, weight, out); });
}

}  // namespace weft
