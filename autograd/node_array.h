// NodeArray: the fixed-size arrays of a graph node. Most ops have one or two inputs and one output; so few elements are
// stored inside of the node. Larger arrays use the same free lists as nodes, so that recording an op does not call the
// general-purpose allocator.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "tensor/tensor.h"

namespace weft::autograd {

/// An array of `size()` default-constructed elements. Up to N of them are stored inside of the object.
template <class T, size_t N> class NodeArray {
 public:
  NodeArray() = default;
  explicit NodeArray(size_t size) { reset(size); }
  ~NodeArray() { reset(0); }
  NodeArray(const NodeArray&) = delete;
  NodeArray& operator=(const NodeArray&) = delete;

  /// Destroys the elements and constructs `size` new ones.
  void reset(size_t size) {
    std::destroy_n(data_, size_);
    if (data_ != inside()) release();
    data_ = inside();
    size_ = 0;
    if (size > N) data_ = static_cast<T*>(allocate(size * sizeof(T)));
    // Default-initialized: value-initialization would first set every byte to 0.
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
  /// The largest size that the free lists serve; larger arrays (cat of very many tensors) are rare.
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
