// A bounded map that forgets what was used longest ago, and the key that primitives are found by.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>

namespace weft::kernels::cpu {

/// What a primitive was made for: its kind and every number that shapes it; unused words are 0.
struct PrimitiveKey {
  std::array<int64_t, 32> words = {};
  bool operator==(const PrimitiveKey&) const = default;
};

struct PrimitiveKeyHash {
  size_t operator()(const PrimitiveKey& key) const noexcept {
    // Four independent chains, so that the multiplications overlap.
    uint64_t h[4] = {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu, 0x2545f4914f6cdd1du};
    for (size_t i = 0; i < key.words.size(); i += 4)
      for (size_t j = 0; j < 4; ++j)
        h[j] = (h[j] ^ static_cast<uint64_t>(key.words[i + j])) * 0xff51afd7ed558ccdu, h[j] ^= h[j] >> 32;
    uint64_t all = h[0];
    for (size_t j = 1; j < 4; ++j) all = (all ^ h[j]) * 0xff51afd7ed558ccdu, all ^= all >> 29;
    return all;
  }
};

/// Not thread-safe: one per thread.
template <class Key, class Value, class Hash> class LruCache {
 public:
  explicit LruCache(size_t capacity) : capacity_(capacity) {}

  /// The value kept for `key`, or else what `make()` returns, which is then kept. Valid until the next call.
  template <class Make> Value& find_or_make(const Key& key, Make&& make) {
    if (!entries_.empty() && entries_.front().first == key) return entries_.front().second;
    if (auto found = index_.find(key); found != index_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return entries_.front().second;
    }
    entries_.emplace_front(key, make());
    index_.emplace(key, entries_.begin());
    if (entries_.size() > capacity_) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return entries_.front().second;
  }
  size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<Key, Value>>;
  size_t capacity_;
  Entries entries_;
  std::unordered_map<Key, typename Entries::iterator, Hash> index_;
};

}  // namespace weft::kernels::cpu
