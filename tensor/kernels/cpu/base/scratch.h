// Scratch: memory that a kernel needs while it runs, from the caching allocator.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/core/error.h"
#include "tensor/core/shape.h"
#include "tensor/memory/allocator.h"

namespace weft::kernels::cpu {

/// The bytes of `count` elements, refused where they leave ptrdiff_t. oneDNN wraps silently (2^32 x 2^32 floats count
/// as 17 GB there); what reaches it is either memory that exists or a copy of strides that repeat some, whose size was
/// checked here.
inline size_t checked_bytes(int64_t count, size_t element_size) {
  return static_cast<size_t>(checked_multiply(count, static_cast<int64_t>(element_size)));
}

/// Uninitialized, 64-byte aligned room for `count` elements; released at the end of the scope.
template <class T> class Scratch {
 public:
  explicit Scratch(int64_t count) : bytes_(checked_bytes(count, sizeof(T))) {
    if (bytes_ != 0) data_ = static_cast<T*>(weft::detail::allocate_block(bytes_));
  }
  ~Scratch() {
    if (data_ != nullptr) weft::detail::free_block(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  T* data() const { return data_; }

 private:
  size_t bytes_;
  T* data_ = nullptr;
};

}  // namespace weft::kernels::cpu
