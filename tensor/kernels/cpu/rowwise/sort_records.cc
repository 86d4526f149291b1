#include "tensor/kernels/cpu/rowwise/sort_records.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <utility>

#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

/// Keys minus `low` have only the bits of `used`.
struct KeyBits {
  uint64_t low, used;
};
/// The bits in which keys differ.
KeyBits differing_bits(const WideRecord* records, int64_t count) {
  std::atomic<uint64_t> all = 0;
  parallel_for(count, kLongRow / 2, [&](int64_t begin, int64_t end) {
    uint64_t bits = 0;
    for (int64_t i = begin; i < end; ++i) bits |= records[i].key() ^ records[0].key();
    all.fetch_or(bits, std::memory_order_relaxed);
  });
  return {0, all};
}
/// From the least key to the largest one.
KeyBits range_of_keys(const WideRecord* records, int64_t count) {
  uint64_t low = records[0].key(), high = low;
  std::mutex joining;
  parallel_for(count, kLongRow / 2, [&](int64_t begin, int64_t end) {
    uint64_t least = records[begin].key(), most = least;
    for (int64_t i = begin; i < end; ++i)
      least = std::min(least, records[i].key()), most = std::max(most, records[i].key());
    const std::lock_guard lock(joining);
    low = std::min(low, least), high = std::max(high, most);
  });
  return {low, ~uint64_t{0} >> std::countl_zero((high - low) | 1)};
}

/// Whether the records rise, or fall: then they are reversed. Of most rows the first few tell. (Not inlined: the
/// loops of the sort are slower beside it.)
template <class Record> __attribute__((noinline)) bool is_put_in_order(Record* records, int64_t count) {
  const auto rises = [](const Record& a, const Record& b) { return a.key() <= b.key(); };
  if (std::is_sorted(records, records + count)) return true;
  if (std::adjacent_find(records, records + count, rises) != records + count) return false;
  std::reverse(records, records + count);
  return true;
}

/// The longest rows for sort_by_ranks().
constexpr int64_t kRanked = 64;

/// Sorts without a branch: each record goes to where as many lie before it as are smaller. No two are equal, as a
/// record has its position in the row.
void sort_by_ranks(const WideRecord* from, WideRecord* to, int64_t count) {
  uint64_t keys[kRanked];
  for (int64_t i = 0; i < count; ++i) keys[i] = from[i].bits;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t key = keys[i];
    uint64_t rank = 0;
    for (int64_t j = 0; j < i; ++j) rank += keys[j] <= key ? 1 : 0;  // records lie in the order of their places
    for (int64_t j = i + 1; j < count; ++j) rank += keys[j] < key ? 1 : 0;
    to[rank] = from[i];
  }
}
void sort_by_ranks(const NarrowRecord* from, NarrowRecord* to, int64_t count) {
  static_assert(sizeof(NarrowRecord) == sizeof(uint64_t));
  uint64_t words[kRanked];
  std::memcpy(words, from, static_cast<size_t>(count) * sizeof *words);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rank = 0;
    for (int64_t j = 0; j < count; ++j) rank += words[j] < words[i] ? 1 : 0;
    std::memcpy(to + rank, words + i, sizeof *words);
  }
}

/// From the last byte to the first: each pass counts the values of a byte, and moves records to where they begin. Long
/// rows are cut in parts with counts of their own. Where `kFromLow`, bytes of the keys minus bits.low.
template <bool kFromLow, class Record>
[[gnu::noinline]] Record* sort_by_bytes(Record* from, Record* other, int64_t count, int first, int end, KeyBits bits) {
  constexpr int64_t kBuckets = 256;
  const int64_t parts = count >= kLongRow ? region_threads() : 1;
  const Scratch<int64_t> counts(parts * kBuckets);
  const auto part = [&](int64_t p) { return count / parts * p + std::min(p, count % parts); };
  for (int byte = first; byte < end; ++byte) {
    if ((bits.used >> (8 * byte) & 0xff) == 0) continue;
    const auto bucket = [shift = 8 * byte, low = bits.low](const Record& r) {
      return static_cast<uint8_t>((kFromLow ? r.key() - low : r.key()) >> shift);
    };
    const auto each_part = [&](const auto& f) {
      parallel_for(parts, 1, [&](int64_t p, int64_t stop) {
        for (; p < stop; ++p) f(counts.data() + p * kBuckets, part(p), part(p + 1));
      });
    };
    each_part([&](int64_t* own, int64_t i, int64_t stop) {
      std::fill_n(own, kBuckets, int64_t{0});
      for (; i < stop; ++i) ++own[bucket(from[i])];
    });
    int64_t total = 0, most = 0;
    for (int64_t b = 0; b < kBuckets; ++b) {
      const int64_t before = total;
      for (int64_t p = 0; p < parts; ++p) total += std::exchange(counts.data()[p * kBuckets + b], total);
      most = std::max(most, total - before);
    }
    if (most == count) continue;  // all records have the same byte
    each_part([&](int64_t* own, int64_t i, int64_t stop) {
      for (; i < stop; ++i) other[own[bucket(from[i])]++] = from[i];
    });
    std::swap(from, other);
  }
  return from;
}

}  // namespace

template <class Record> Record* sort_records(Record* from, Record* other, int64_t count, int first, int end) {
  if (is_put_in_order(from, count)) return from;
  if (count <= kRanked) return sort_by_ranks(from, other, count), other;
  constexpr int64_t kFew = 128;
  if (count <= kFew) {
    std::sort(from, from + count);
    return from;
  }
  if constexpr (std::is_same_v<Record, WideRecord>) {
    // Integers of 64 bits rarely use them all. Those around 0 differ in all of them, but not in how far they are apart.
    const KeyBits bits = differing_bits(from, count);
    if (bits.used >> 56 == 0) return sort_by_bytes<false>(from, other, count, first, end, bits);
    constexpr int64_t kSome = 32;  // of floats these tell
    if (range_of_keys(from, kSome).used >> 48 == 0)
      if (const KeyBits range = range_of_keys(from, count); range.used >> 48 == 0)
        return sort_by_bytes<true>(from, other, count, first, end, range);
    return sort_by_bytes<false>(from, other, count, first, end, bits);
  }
  return sort_by_bytes<false>(from, other, count, first, end, KeyBits{0, ~uint64_t{0}});
}

template <class Record> void split_records(Record* records, int64_t k, int64_t count) {
  std::nth_element(records, records + k, records + count);
}

template <class Record> void first_records(Record* records, int64_t least, int64_t count) {
  if (least < count) split_records(records, least - 1, count);
  std::sort(records, records + least);
}

#define WEFT_RECORD(Record)                                           \
  template Record* sort_records(Record*, Record*, int64_t, int, int); \
  template void split_records(Record*, int64_t, int64_t);             \
  template void first_records(Record*, int64_t, int64_t);
WEFT_RECORD(NarrowRecord)
WEFT_RECORD(WideRecord)
#undef WEFT_RECORD

}  // namespace weft::kernels::cpu
