// Selections along an axis: the first k in order, the k-th, the median.
#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "tensor/kernels/cpu/reduce/keepdim_output.h"
#include "tensor/kernels/cpu/rowwise/chosen_rows.h"
#include "tensor/ops/arg_reduce.h"
#include "tensor/ops/sort.h"

namespace weft::kernels::cpu {
namespace {

/// The k smallest records of those it is shown. Elements are compared with the largest of the k best so far, many at
/// once; what is smaller is collected, and cut back to k when the room is full.
template <class T, class Record> class Smallest {
  using Key = typename SortKey<T>::Key;
  static constexpr int64_t kStep = 64;

 public:
  Smallest(int64_t k, Key flip, Record* room) : k_(k), flip_(flip), records_(room) {}
  /// Elements that `room` must hold for rows of `length`.
  static int64_t room(int64_t k, int64_t length) { return std::min(2 * k + 2 * kStep, length) + kStep; }

  void look(const Compute<T>* row, int64_t begin, int64_t end) {
    const int64_t limit = room(k_, end - begin) - kStep;
    int64_t i = begin;
    for (; i < end && held_ < limit; ++i) records_[held_++] = Record::make(key(row[i]), i);
    if (i == end) return;
    cut();
    Key keys[kStep];
    for (; i < end; i += kStep) {
      const int64_t count = std::min(kStep, end - i);
      if (!any_below(row + i, count, keys)) continue;
      for (int64_t j = 0; j < count; ++j) {
        records_[held_] = Record::make(keys[j], i + j);
        held_ += keys[j] < bound_ ? 1 : 0;
      }
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
  bool any_below(const Compute<T>* row, int64_t count, Key* keys) const {
    Key any = 0;
    const Key bound = bound_, flip = flip_;
    if (count == kStep)  // a count that the compiler knows
      for (int64_t j = 0; j < kStep; ++j) keys[j] = SortKey<T>::of(row[j]) ^ flip, any |= keys[j] < bound ? 1 : 0;
    else
      for (int64_t j = 0; j < count; ++j) keys[j] = SortKey<T>::of(row[j]) ^ flip, any |= keys[j] < bound ? 1 : 0;
    return any != 0;
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
    // Parts of a long row, each with room of its own.
    const int64_t parts = length >= kLongRow && op.k < length / 64 ? std::min(region_threads(), 32) : 1;
    const int64_t room = Smallest<T, Record>::room(op.k, length);
    const Scratch<Record> records(parts * room);
    const auto part = [&](int64_t p) { return length / parts * p + std::min(p, length % parts); };
    each([&](const Compute<T>* row) {
      parallel_for(parts, 1, [&](int64_t p, int64_t stop) {
        for (; p < stop; ++p) {
          Smallest<T, Record> best(op.k, flip, records.data() + p * room);
          best.look(row, part(p), part(p + 1));
          best.finish();
        }
      });
      Record* all = records.data();
      for (int64_t p = 1; p < parts; ++p) std::copy_n(all + p * room, op.k, all + p * op.k);
      first_records(all, op.k, parts * op.k);
      return Chosen<Record>{all, op.k, flip};
    });
  });
}

/// The keys of a row lie in [low, high].
template <class T> struct KeyRange {
  using Key = typename SortKey<T>::Key;
  Key low = std::numeric_limits<Key>::max(), high = 0;
  int64_t nan = 0;

  KeyRange(const Compute<T>* row, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      const Key key = SortKey<T>::of(row[i]);
      low = std::min(low, key), high = std::max(high, key);
      if constexpr (SortKey<T>::kFloat) nan += row[i] != row[i] ? 1 : 0;
    }
  }
};

/// Bits that a number takes.
int width_of(uint64_t number) { return static_cast<int>(std::bit_width(number)); }

/// The record of rank k in a row: keys are counted in buckets of one width, and only those of the bucket in which the
/// rank lies become records, in the order of their places. `room` holds one more than the row.
template <class T, class Record>
Record* ranked(const Compute<T>* row, int64_t length, const KeyRange<T>& keys, int64_t k, Record* room) {
  constexpr int kMostBits = 11;
  int64_t counts[1 << kMostBits];
  const int bits = std::clamp(width_of(static_cast<uint64_t>(length)) - 1, 1, kMostBits);
  const auto low = keys.low;
  const int shift = std::max(0, width_of(keys.high - low) - bits);
  std::fill_n(counts, int64_t{1} << bits, int64_t{0});
  for (int64_t i = 0; i < length; ++i) ++counts[(SortKey<T>::of(row[i]) - low) >> shift];
  uint64_t bucket = 0;
  for (; k >= counts[bucket]; ++bucket) k -= counts[bucket];
  int64_t held = 0;
  for (int64_t i = 0; i < length; ++i) {
    const auto key = SortKey<T>::of(row[i]);
    room[held] = Record::make(key, i);
    held += ((key - low) >> shift) == bucket ? 1 : 0;
  }
  split_records(room, k, held);
  return room + k;
}

/// The rank of what is chosen from a row, by its length and its number of NaN.
using Rank = std::function<int64_t(int64_t length, int64_t nan)>;

/// Writes the record of that rank in each row.
template <class T, class Record>
void one_of_rows(const Operand& x, int64_t axis, const Operand& values, const Operand& indices, const Rank& rank) {
  choose_rows<T>(x, axis, values, indices, [&](int64_t length, const auto& each) {
    const Scratch<Record> records(length + 1);
    each([&](const Compute<T>* row) {
      const KeyRange<T> keys(row, length);
      return Chosen<Record>{ranked<T>(row, length, keys, rank(length, keys.nan), records.data()), 1, 0};
    });
  });
}

void one_of(const Operand& x, int64_t axis, bool keepdim, const Operand& values, const Operand& indices,
            const Rank& rank) {
  const KeepdimOutput kept_values(values, {axis}, keepdim), kept_indices(indices, {axis}, keepdim);
  visit_stored(x.dtype, [&]<class T>() {
    with_record<T>(x.size(axis), [&]<class Record>() {
      one_of_rows<T, Record>(x, axis, kept_values.operand, kept_indices.operand, rank);
    });
  });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Topk::cpu(const Operand& x, const Operand& values, const Operand& indices) const {
  // The least element is a number where there is one, the extremum of elements with a NaN is the NaN.
  if (k == 1 && (largest || !is_floating(x.dtype)))
    return ExtremumWithIndices{axis, largest, true}.cpu(x, values, indices);
  if (k > 256 && k > x.size(axis) / 16) return sort_into(x, axis, largest, values, indices);
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
