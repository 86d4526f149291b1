// KvCache: the keys and values of the positions that a decoder has seen.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace weft::nn {

/// Grows by appending; its memory doubles, so that a step copies what is new alone. A copy has memory of its own.
/// Without history: for generation.
class KvCache {
 public:
  KvCache() = default;
  KvCache(const KvCache& other);
  KvCache& operator=(const KvCache& other);
  /// The other one is empty afterwards.
  KvCache(KvCache&& other) noexcept { swap(other); }
  KvCache& operator=(KvCache&& other) noexcept;
  ~KvCache() = default;

  /// Adds keys and values (N, heads, L, D) behind those that are there, and makes keys() and values() of all positions.
  void append(const Tensor& keys, const Tensor& values);
  /// Forgets all but the first `length` positions. IndexError unless there are as many.
  void truncate(int64_t length);
  /// Makes row i of the batch what row rows[i] was, for beams that go on from others; `rows` (N') are integers.
  void reorder(const Tensor& rows);
  /// Positions held.
  int64_t length() const { return length_; }
  /// (N, heads, length, D): views, which the next append() may leave behind or, after truncate(), write to.
  Tensor keys() const { return seen(keys_); }
  Tensor values() const { return seen(values_); }
  void clear() { *this = KvCache(); }

 private:
  void swap(KvCache& other) noexcept;
  Tensor seen(const Tensor& all) const;
  void grow(Tensor& all, const Tensor& like, int64_t wanted) const;

  Tensor keys_, values_;  // (N, heads, capacity, D)
  int64_t length_ = 0;
};

/// Where its scope is left by an exception, the caches that it watches have the lengths that they had: a call appends
/// in all layers or in none.
class KvCacheUndo {
 public:
  KvCacheUndo();
  explicit KvCacheUndo(KvCache& cache) : KvCacheUndo() { watch(cache); }
  ~KvCacheUndo();
  KvCacheUndo(const KvCacheUndo&) = delete;
  KvCacheUndo& operator=(const KvCacheUndo&) = delete;
  void watch(KvCache& cache) { lengths_.emplace_back(&cache, cache.length()); }

 private:
  int exceptions_;
  std::vector<std::pair<KvCache*, int64_t>> lengths_;
};

}  // namespace weft::nn
