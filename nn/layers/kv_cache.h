// KvCache: the attention keys and values of the positions that a decoder has already processed.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace weft::nn {

/// A buffer of keys and values that grows by append(). Its capacity doubles, so an append copies only the new positions
/// (amortized). Copying a KvCache copies its memory. The cache has no history and is meant for generation only.
class KvCache {
 public:
  KvCache() = default;
  KvCache(const KvCache& other);
  KvCache& operator=(const KvCache& other);
  /// `other` is empty afterwards.
  KvCache(KvCache&& other) noexcept { swap(other); }
  KvCache& operator=(KvCache&& other) noexcept;
  ~KvCache() = default;

  /// Appends keys and values (N, heads, L, D) along the position axis; only D may differ. DtypeError unless they have
  /// the dtype of those in the cache, which would be rounded or widened otherwise (as by a call outside of the others'
  /// Autocast).
  void append(const Tensor& keys, const Tensor& values);
  /// Keeps only the first `length` positions. IndexError if there are fewer.
  void truncate(int64_t length);
  /// Sets row i of the batch to the previous row rows[i], as beam search needs it. `rows` is (N') of an integer dtype.
  void reorder(const Tensor& rows);
  /// The number of cached positions.
  int64_t length() const { return length_; }
  /// (N, heads, length, D), as views. A later append() may move the cache to new memory and leave them behind; after
  /// truncate(), append() may overwrite their elements.
  Tensor keys() const { return seen(keys_); }
  Tensor values() const { return seen(values_); }
  void clear() { *this = KvCache(); }

 private:
  void swap(KvCache& other) noexcept;
  Tensor seen(const Tensor& all) const;
  /// `all` with room for `wanted` positions: itself, or a larger copy. `like` has its other sizes.
  Tensor grown(const Tensor& all, const Tensor& like, int64_t wanted) const;

  Tensor keys_, values_;  // (N, heads, capacity, D)
  int64_t length_ = 0;
};

/// If its scope is left by an exception, resets the watched caches to the lengths they had before, so that a call
/// appends in all layers or in none.
class KvCacheUndo {
 public:
  KvCacheUndo();
  explicit KvCacheUndo(KvCache& cache) : KvCacheUndo() { watch(cache); }
  ~KvCacheUndo();
  KvCacheUndo(const KvCacheUndo&) = delete;
  KvCacheUndo& operator=(const KvCacheUndo&) = delete;
  void watch(KvCache& cache);

 private:
  int exceptions_;
  std::vector<std::pair<KvCache*, int64_t>> lengths_;
};

}  // namespace weft::nn
