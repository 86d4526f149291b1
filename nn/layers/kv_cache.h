// KvCache: the keys and values of the positions that a decoder has seen.
#pragma once

#include "tensor/tensor.h"

namespace weft::nn {

/// Grows by appending; its memory doubles, so that a step copies what is new alone. Without history: for generation.
class KvCache {
 public:
  /// Adds keys and values (N, heads, L, D) behind those that are there, and makes keys() and values() of all positions.
  void append(const Tensor& keys, const Tensor& values);
  /// Positions held.
  int64_t length() const { return length_; }
  /// (N, heads, length, D): views, which the next append() may leave behind.
  Tensor keys() const { return seen(keys_); }
  Tensor values() const { return seen(values_); }
  void clear() { *this = KvCache(); }

 private:
  Tensor seen(const Tensor& all) const;
  void grow(Tensor& all, const Tensor& like, int64_t wanted) const;

  Tensor keys_, values_;  // (N, heads, capacity, D)
  int64_t length_ = 0;
};

}  // namespace weft::nn
