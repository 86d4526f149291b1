// Sort records: a key, an unsigned integer whose order is that of the elements, and the element's place. No two are
// equal, so any way of sorting them is stable and gives the same result.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tensor/kernels/cpu/base/convert.h"

namespace weft::kernels::cpu {

/// Rows of so many elements are worth more than one thread.
inline constexpr int64_t kLongRow = 1 << 16;

/// Keys of elements of T, from the values that kernels compute in.
template <class T> struct SortKey {
  using C = Compute<T>;
  using Key = std::conditional_t<sizeof(C) == 8, uint64_t, uint32_t>;
  static constexpr bool kFloat = std::is_floating_point_v<C>;
  static constexpr Key kSign = Key{1} << (8 * sizeof(Key) - 1);
  /// The bytes of a key that differ: those of 16-bit floats as float follow from the upper ones.
  static constexpr int kFirstByte = std::is_same_v<T, BFloat16> ? 2 : std::is_same_v<T, Float16> ? 1 : 0;
  static constexpr int kEndByte = static_cast<int>(sizeof(C));
  static constexpr Key kMask = std::numeric_limits<Key>::max() >> (8 * (sizeof(Key) - sizeof(C)));

  /// Ascending; NaN last, -0 as 0.
  static Key of(C value) {
    if constexpr (kFloat) {
      const Key bits = std::bit_cast<Key>(value + C(0));
      const Key key = bits ^ ((bits & kSign) != 0 ? ~Key{0} : kSign);
      return value != value ? ~Key{0} : key;
    } else {
      return static_cast<Key>(static_cast<Key>(value) - static_cast<Key>(std::numeric_limits<C>::min())) & kMask;
    }
  }
  /// Whether several values have this key, so that it does not tell which.
  static bool is_shared(Key key) { return kFloat && (key == kSign || key == ~Key{0}); }
  static C value(Key key) {
    if constexpr (kFloat)
      return std::bit_cast<C>((key & kSign) != 0 ? key ^ kSign : ~key);
    else
      return static_cast<C>(key + static_cast<Key>(std::numeric_limits<C>::min()));
  }
};

/// Key and place in one word.
struct NarrowRecord {
  uint64_t word;
  static NarrowRecord make(uint64_t key, int64_t place) { return {key << 32 | static_cast<uint64_t>(place)}; }
  uint64_t key() const { return word >> 32; }
  int64_t place() const { return static_cast<int64_t>(word & 0xffffffffu); }
  bool operator<(const NarrowRecord& other) const { return word < other.word; }
};
/// For keys or places that need more than 32 bits.
struct WideRecord {
  uint64_t bits;
  int64_t at;
  static WideRecord make(uint64_t key, int64_t place) { return {key, place}; }
  uint64_t key() const { return bits; }
  int64_t place() const { return at; }
  bool operator<(const WideRecord& other) const { return bits != other.bits ? bits < other.bits : at < other.at; }
};

/// f.operator()<Record>() for rows of `length` elements of T.
template <class T, class F> void with_record(int64_t length, const F& f) {
  if (sizeof(Compute<T>) < 8 && length <= int64_t{std::numeric_limits<uint32_t>::max()})
    f.template operator()<NarrowRecord>();
  else
    f.template operator()<WideRecord>();
}

/// Sorts `count` records, which lie in the order of their places, by bytes [first, end) of their keys. `other` has room
/// for as many; the result is where the answer points, one of both.
template <class Record> Record* sort_records(Record* from, Record* other, int64_t count, int first, int end);
/// Brings the `least` smallest of `count` records to the front, in order.
template <class Record> void first_records(Record* records, int64_t least, int64_t count);
/// Brings record `k` of the order to place k, and the smaller ones before it.
template <class Record> void split_records(Record* records, int64_t k, int64_t count);

}  // namespace weft::kernels::cpu
