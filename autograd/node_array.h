// NodeArray: the fixed-size arrays of a graph node. Most ops have one or two inputs and one output: those lie inside of
// the node, and more come from the lists that nodes come from, so that recording an op calls no general-purpose
// allocator.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "tensor/tensor.h"

namespace weft::autograd {

/// `size()` elements, default-constructed; up to N of them inside.
template <class T, size_t N> class NodeArray {
 public:
  NodeArray() = default;
  explicit NodeArray(size_t size) { reset(size); }
  ~NodeArray() { reset(0); }
  NodeArray(const NodeArray&) = delete;
  NodeArray& operator=(const NodeArray&) = delete;

  /// Destroys what is there and makes `size` new elements.
  void reset(size_t size) {
    std::destroy_n(data_, size_);
    if (data_ != inside()) release();
    data_ = inside();
    size_ = 0;
    if (size > N) data_ = static_cast<T*>(allocate(size * sizeof(T)));
    // Not value-initialised, which would clear every byte of them first.
    std::uninitialized_default_construct_n(data_, size);
    size_ = size;
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  /// Above this, lists of small objects end; such nodes (cat of very many) are rare.
  static constexpr size_t kLargestObject = 4096;
  static void* allocate(size_t bytes) {
    return bytes <= kLargestObject ? detail::allocate_object(bytes) : ::operator new(bytes);
  }
  void release() noexcept {
    const size_t bytes = size_ * sizeof(T);
    if (bytes <= kLargestObject)
      detail::free_object(data_, bytes);
    else
      ::operator delete(data_);
  }
  T* inside() { return reinterpret_cast<T*>(inside_); }

  alignas(T) std::byte inside_[N == 0 ? 1 : N * sizeof(T)];
  T* data_ = inside();
  size_t size_ = 0;
};

}  // namespace weft::autograd
