// Selections along an axis: the first k in order, the k-th, the median.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "tensor/kernels/cpu/reduce/keepdim_output.h"
#include "tensor/kernels/cpu/rowwise/chosen_rows.h"
#include "tensor/kernels/cpu/rowwise/short_rows.h"
#include "tensor/ops/arg_reduce.h"
#include "tensor/ops/sort.h"

namespace weft::kernels::cpu {
namespace {

constexpr int64_t kStep = 64;  // elements that are looked at together

/// f(j) for each of kStep bytes that is 1.
template <class F> void for_each_set(const uint8_t* bytes, const F& f) {
  for (int64_t at = 0; at < kStep; at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes + at, sizeof word);
    for (; word != 0; word &= word - 1) f(at + std::countr_zero(word) / 8);
  }
}

/// The k smallest records of those it is shown. Elements are compared with the largest of the k best so far, many at
/// once; what is smaller is collected, and cut back to k when their memory is full.
template <class T, class Record> class Smallest {
  using Key = typename SortKey<T>::Key;

 public:
  Smallest(int64_t k, Key flip, Record* records) : k_(k), flip_(flip), records_(records) {}
  /// How many `records` there must be for rows of `length`.
  static int64_t capacity(int64_t k, int64_t length) { return std::min(limit(k), length) + kStep; }

  void look(const Compute<T>* row, int64_t begin, int64_t end) {
    const int64_t limit = capacity(k_, end - begin) - kStep;
    int64_t i = begin;
    for (; i < end && held_ < limit; ++i) records_[held_++] = Record::make(key(row[i]), i);
    if (i == end) return;
    cut();
    alignas(64) Key keys[kStep];
    for (; i < end; i += kStep) {
      const int64_t count = std::min(kStep, end - i);
      if (!any_below(row + i, count, keys)) continue;
      take_below(keys, i, count);
      if (held_ > limit) cut();
    }
  }
  /// The result, in no order: min(k, elements) records.
  int64_t finish() {
    if (held_ > k_) cut();
    return held_;
  }

 private:
  Key key(Compute<T> value) const { return static_cast<Key>(SortKey<T>::of(value) ^ flip_); }
  /// Few are cut soon: most of what follows then is no candidate.
  static int64_t limit(int64_t k) {
    constexpr int64_t kFew = 8;
    return k <= kFew ? 2 * k + 4 : k < kStep ? k + kStep : 2 * k + 2 * kStep;
  }
  bool any_below(const Compute<T>* row, int64_t count, Key* keys) const {
    Key any = 0;
    const Key bound = bound_, flip = flip_;
    if (count == kStep)  // a count that the compiler knows
      for (int64_t j = 0; j < kStep; ++j) keys[j] = SortKey<T>::of(row[j]) ^ flip, any |= keys[j] < bound ? 1 : 0;
    else
      for (int64_t j = 0; j < count; ++j) keys[j] = SortKey<T>::of(row[j]) ^ flip, any |= keys[j] < bound ? 1 : 0;
    return any != 0;
  }
  /// (Not inlined: the loop that looks is faster alone.)
  [[gnu::noinline]] void take_below(const Key* keys, int64_t begin, int64_t count) {
    alignas(64) uint8_t below[kStep] = {};
    const Key bound = bound_;
    for (int64_t j = 0; j < count; ++j) below[j] = keys[j] < bound ? 1 : 0;
    for_each_set(below, [&](int64_t j) { records_[held_++] = Record::make(keys[j], begin + j); });
  }
  void cut() {
    split_records(records_, k_ - 1, held_);
    held_ = k_;
    bound_ = static_cast<Key>(records_[k_ - 1].key());
  }

  int64_t k_;
  Key flip_;
  Record* records_;
  int64_t held_ = 0;
  Key bound_ = 0;  // what is not below it comes too late
};

template <class T, class Record>
void top_rows(const Operand& x, const op::Topk& op, const Operand& values, const Operand& indices) {
  using Key = SortKey<T>;
  const auto flip = static_cast<typename Key::Key>(op.largest ? Key::kMask : 0);
  choose_rows<T>(x, op.axis, values, indices, [&](int64_t length, const auto& each) {
    // Parts of a long row, each with records of its own.
    const int64_t parts = length >= kLongRow && op.k < length / 64 ? std::min(region_threads(), 32) : 1;
    const int64_t capacity = Smallest<T, Record>::capacity(op.k, length);
    const Scratch<Record> records(parts * capacity);
    const auto part = [&](int64_t p) { return length / parts * p + std::min(p, length % parts); };
    each([&](const Compute<T>* row) {
      parallel_for(parts, 1, [&](int64_t p, int64_t stop) {
        for (; p < stop; ++p) {
          Smallest<T, Record> best(op.k, flip, records.data() + p * capacity);
          best.look(row, part(p), part(p + 1));
          best.finish();
        }
      });
      Record* all = records.data();
      for (int64_t p = 1; p < parts; ++p) std::copy_n(all + p * capacity, op.k, all + p * op.k);
      first_records(all, op.k, parts * op.k);
      return Chosen<Record>{all, op.k, flip};
    });
  });
}

/// The keys of a row, which lie in [low, high].
template <class T> struct RowKeys {
  using Key = typename SortKey<T>::Key;
  const Key* keys;
  int64_t length;
  Key low, high;
  int64_t nan;

  /// `buffer` has as many elements as the row.
  RowKeys(const Compute<T>* row, int64_t row_length, Key* buffer) : keys(buffer), length(row_length) {
    Key least = std::numeric_limits<Key>::max(), most = 0, nans = 0;
#pragma omp simd reduction(min : least) reduction(max : most) reduction(+ : nans)
    for (int64_t i = 0; i < row_length; ++i) {
      const Key key = SortKey<T>::of(row[i]);
      buffer[i] = key;
      least = std::min(least, key), most = std::max(most, key);
      if constexpr (SortKey<T>::kFloat) nans += key == std::numeric_limits<Key>::max() ? 1 : 0;
    }
    low = least, high = most, nan = static_cast<int64_t>(nans);
  }
};

/// Bits that a number takes.
int width_of(uint64_t number) { return static_cast<int>(std::bit_width(number)); }

/// The record of rank k in a row: keys are counted in buckets of one width, and only those of the bucket in which the
/// rank lies become records, in the order of their places. `records` has as many elements as the row.
template <class T, class Record> Record* ranked(const RowKeys<T>& row, int64_t k, Record* records) {
  using Key = typename SortKey<T>::Key;
  constexpr int kMostBits = 11;
  int64_t counts[1 << kMostBits];
  const int bits = std::clamp(width_of(static_cast<uint64_t>(row.length)) - 1, 1, kMostBits);
  const Key low = row.low;
  const int shift = std::max(0, width_of(row.high - low) - bits);
  std::fill_n(counts, int64_t{1} << bits, int64_t{0});
  for (int64_t i = 0; i < row.length; ++i) ++counts[(row.keys[i] - low) >> shift];
  int64_t bucket = 0;
  for (; k >= counts[bucket]; ++bucket) k -= counts[bucket];
  const Key wanted = static_cast<Key>(bucket);
  int64_t held = 0;
  uint8_t in[kStep] = {};
  for (int64_t begin = 0; begin < row.length; begin += kStep) {
    const int64_t count = std::min(kStep, row.length - begin);
    if (count < kStep) std::fill_n(in, kStep, uint8_t{0});
    const Key* const keys = row.keys + begin;
    for (int64_t j = 0; j < count; ++j) in[j] = ((keys[j] - low) >> shift) == wanted ? 1 : 0;
    for_each_set(in, [&](int64_t j) { records[held++] = Record::make(keys[j], begin + j); });
  }
  split_records(records, k, held);
  return records + k;
}

/// Writes the record of that rank in each row.
template <class T, class Record>
void one_of_rows(const Operand& x, int64_t axis, const Operand& values, const Operand& indices, const Rank& rank) {
  choose_rows<T>(x, axis, values, indices, [&](int64_t length, const auto& each) {
    const Scratch<Record> records(length);
    const Scratch<typename SortKey<T>::Key> keys(length);
    each([&](const Compute<T>* values) {
      const RowKeys<T> row(values, length, keys.data());
      return Chosen<Record>{ranked(row, rank(length, row.nan), records.data()), 1, 0};
    });
  });
}

void one_of(const Operand& x, int64_t axis, bool keepdim, const Operand& values, const Operand& indices,
            const Rank& rank) {
  const KeepdimOutput kept_values(values, {axis}, keepdim), kept_indices(indices, {axis}, keepdim);
  if (x.size(axis) <= kShortRowSorted)
    return choose_from_short_rows(x, axis, false, kept_values.operand, kept_indices.operand, rank);
  visit_stored(x.dtype, [&]<class T>() {
    with_record<T>(x.size(axis), [&]<class Record>() {
      one_of_rows<T, Record>(x, axis, kept_values.operand, kept_indices.operand, rank);
    });
  });
}

/// Whether to sort rows of which k elements are wanted: short ones, and those of which many are (measured).
bool prefers_sort(int64_t size, int64_t k) {
  constexpr int64_t kRanked = 64;  // sorted without branches
  if (size <= kRanked) return size <= kRanked / 2 || 8 * k >= size;
  return (size > 2 * kRanked && k > size / 2) || (k > 256 && k > size / 16);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Topk::cpu(const Operand& x, const Operand& values, const Operand& indices) const {
  // The least element is a number where there is one, the extremum of elements with a NaN is the NaN.
  if (k == 1 && (largest || !is_floating(x.dtype)))
    return ExtremumWithIndices{axis, largest, true}.cpu(x, values, indices);
  if (prefers_sort(x.size(axis), k)) return sort_into(x, axis, largest, values, indices);
  visit_stored(x.dtype, [&]<class T>() {
    with_record<T>(x.size(axis), [&]<class Record>() { top_rows<T, Record>(x, *this, values, indices); });
  });
}

void op::Kthvalue::cpu(const Operand& x, const Operand& values, const Operand& indices) const {
  one_of(x, axis, keepdim, values, indices, [k = k](int64_t, int64_t) { return k - 1; });
}

void op::Median::cpu(const Operand& x, const Operand& values, const Operand& indices) const {
  one_of(x, axis, keepdim, values, indices, [skips = skips_nan](int64_t length, int64_t nan) {
    if (nan == 0 || (skips && nan < length)) return (length - nan - 1) / 2;
    return length - nan;  // the first NaN
  });
}

}  // namespace weft
