// Short rows are sorted together, one per lane: comparators of a network that depends on the length alone exchange
// whole registers of records.
#include "tensor/kernels/cpu/rowwise/short_rows.h"

#include <algorithm>

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/rows.h"
#include "tensor/kernels/cpu/rowwise/sort_records.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

constexpr int kRows = simd::kLanes<uint64_t>;  // sorted together
using Words = simd::Vec<uint64_t, kRows>;

/// Batcher's merge exchange (Knuth, The Art of Computer Programming 3, algorithm 5.2.2M).
class SortNetwork {
 public:
  struct Comparator {
    int low, high;
  };
  explicit SortNetwork(int length) {
    int top = 1;
    while (2 * top < length) top *= 2;
    for (int p = length > 1 ? top : 0; p > 0; p /= 2)
      for (int q = top, r = 0, d = p;; d = q - p, q /= 2, r = p) {
        for (int i = 0; i + d < length; ++i)
          if ((i & p) == r) comparators_[count_++] = {i, i + d};
        if (q == p) break;
      }
  }
  const Comparator* begin() const { return comparators_; }
  const Comparator* end() const { return comparators_ + count_; }

 private:
  Comparator comparators_[63];
  int count_ = 0;
};

/// The records of one place in kRows rows: a key above a place, in one word.
struct NarrowRecords {
  Words word;
  static void exchange(NarrowRecords& low, NarrowRecords& high) {
    const Words a = low.word, b = high.word;
    low.word = a < b ? a : b;
    high.word = a < b ? b : a;
  }
  static NarrowRecords make(Words key, int place) { return {key << 32 | static_cast<uint64_t>(place)}; }
  Words places() const { return word & 0xffffffffu; }
};

struct WideRecords {
  Words key, place;
  static void exchange(WideRecords& low, WideRecords& high) {
    const WideRecords a = low, b = high;
    const auto in_order = (a.key < b.key) | ((a.key == b.key) & (a.place < b.place));
    low = {in_order ? a.key : b.key, in_order ? a.place : b.place};
    high = {in_order ? b.key : a.key, in_order ? b.place : a.place};
  }
  static WideRecords make(Words key, int place) { return {key, Words{} + static_cast<uint64_t>(place)}; }
  Words places() const { return place; }
};

/// Where the rows of an operand lie, kRows at a time.
template <class T> class RowPlaces {
 public:
  RowPlaces(const RowView& view, int64_t first)
      : walk_(view.outer, first),
        even_(view.outer.rank == 1),
        row_step_(even_ ? view.outer.inner().in : 0),
        next_(static_cast<T*>(view.base) + view.offset + walk_.in()),
        base_(static_cast<T*>(view.base) + view.offset),
        step_(view.inner.rank == 0 ? 0 : view.inner.inner().in) {}
  /// The next `count` rows. The others are the first of these again, which is written several times then.
  void take(int count) {
    for (int lane = 0; lane < count; ++lane) {
      rows_[lane] = even_ ? next_ + lane * row_step_ : base_ + walk_.in();
      if (!even_) walk_.next();
    }
    std::fill(rows_ + count, rows_ + kRows, rows_[0]);
    if (even_) next_ += count * row_step_;
  }
  T& at(int lane, int64_t j) const { return rows_[lane][j * step_]; }

 private:
  NestWalk walk_;
  bool even_;
  int64_t row_step_;
  T* next_;
  T* base_;
  int64_t step_;
  T* rows_[kRows];
};

/// kRows rows: their elements, and the places of these in order.
template <class T> class SortedRows {
  using Key = SortKey<T>;
  using Records = std::conditional_t<sizeof(typename Key::Key) == 8, WideRecords, NarrowRecords>;

 public:
  SortedRows(int length, bool descending) : length_(length), flip_(descending ? Key::kMask : 0) {}

  void read(const RowPlaces<const T>& rows) {
    for (int j = 0; j < length_; ++j)
      for (int lane = 0; lane < kRows; ++lane) elements_[j][lane] = rows.at(lane, j);
  }
  void sort(const SortNetwork& network) {
    Records records[kShortRowSorted];
    Words nan{};
    for (int j = 0; j < length_; ++j) {
      const Words keys = keys_of(elements_[j]);
      records[j] = Records::make(keys ^ flip_, j);
      if constexpr (Key::kFloat) nan += keys == kNaN ? Words{} + 1 : Words{};
    }
    for (const auto& [low, high] : network) Records::exchange(records[low], records[high]);
    for (int j = 0; j < length_; ++j) simd::store<uint64_t>(places_[j], records[j].places());
    simd::store<uint64_t>(nan_, nan);
  }
  void write(const RowPlaces<T>& values, const RowPlaces<int64_t>& indices, int64_t chosen, const Rank& first) const {
    int64_t ranks[kRows] = {};
    for (int lane = 0; first && lane < kRows; ++lane) ranks[lane] = first(length_, static_cast<int64_t>(nan_[lane]));
    for (int64_t j = 0; j < chosen; ++j)
#pragma GCC unroll 8
      for (int lane = 0; lane < kRows; ++lane) {
        const uint64_t place = places_[ranks[lane] + j][lane];
        values.at(lane, j) = elements_[place][lane];
        indices.at(lane, j) = static_cast<int64_t>(place);
      }
  }

 private:
  /// SortKey::of() lane by lane.
  static Words keys_of(const T* elements) {
    using Word = typename Key::Key;
    if constexpr (Key::kFloat) {
      using Keys = simd::Vec<Word, kRows>;
      const auto value = simd::load<Compute<T>, kRows>(elements);
      const Keys bits = (Keys)(value + Compute<T>(0)), sign = Keys{} + Key::kSign;
      const Keys key = bits ^ ((bits & sign) != 0 ? ~Keys{} : sign);
      return __builtin_convertvector(value != value ? ~Keys{} : key, Words);
    } else {
      Words keys;
      for (int lane = 0; lane < kRows; ++lane) keys[lane] = Key::of(elements[lane]);
      return keys;
    }
  }
  static constexpr uint64_t kNaN = std::numeric_limits<typename Key::Key>::max();

  int length_;
  uint64_t flip_;
  T elements_[kShortRowSorted][kRows] = {};
  uint64_t places_[kShortRowSorted][kRows];
  uint64_t nan_[kRows];
};

template <class T>
void choose(const Operand& x, int64_t axis, bool descending, const Operand& values, const Operand& indices,
            const Rank& first) {
  const RowView in(x, axis), to_values(values, axis), to_indices(indices, axis);
  const int length = static_cast<int>(x.size(axis));
  const SortNetwork network(length);
  parallel_for(in.count(), row_grain(8 * length), [&](int64_t begin, int64_t end) {
    RowPlaces<const T> from(in, begin);
    RowPlaces<T> value(to_values, begin);
    RowPlaces<int64_t> index(to_indices, begin);
    SortedRows<T> group(length, descending);
    for (int64_t i = begin; i < end; i += kRows) {
      const int count = static_cast<int>(std::min<int64_t>(kRows, end - i));
      from.take(count), value.take(count), index.take(count);
      group.read(from);
      group.sort(network);
      group.write(value, index, values.size(axis), first);
    }
  });
}

}  // namespace

void choose_from_short_rows(const Operand& x, int64_t axis, bool descending, const Operand& values,
                            const Operand& indices, const Rank& first) {
  if (values.numel() == 0) return;
  visit_stored(x.dtype, [&]<class T>() { choose<T>(x, axis, descending, values, indices, first); });
}

}  // namespace weft::kernels::cpu
