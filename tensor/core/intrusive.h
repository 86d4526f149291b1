// Intrusive reference counting: a handle is one pointer, and a copy costs one atomic operation, or none while the
// program has a single thread (as in libstdc++'s shared_ptr). The count uses compiler builtins, because <atomic> would
// be a sixth of the compile time of tensor.h.
#pragma once

#include <cstdint>
#include <utility>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace weft {

/// Whether the program has only one thread. False if the C library does not provide this information.
inline bool is_single_threaded() noexcept {
#if __has_include(<sys/single_threaded.h>)
  return __libc_single_threaded != 0;
#else
  return false;
#endif
}

/// Base class of a counted object. The count starts at one, for the reference that IntrusivePtr::adopt takes over.
class RefCounted {
 public:
  void retain() const noexcept {
    if (is_single_threaded())
      ++references_;
    else
      __atomic_fetch_add(&references_, 1U, __ATOMIC_RELAXED);
  }
  /// Drops a reference. True if it was the last one; the caller then destroys the object.
  bool release() const noexcept {
    // A sole owner needs no atomic write: no other thread can change the count.
    if (references() == 1) return true;
    if (is_single_threaded()) return --references_ == 0;
    return __atomic_fetch_sub(&references_, 1U, __ATOMIC_ACQ_REL) == 1;
  }
  bool unique() const noexcept { return references() == 1; }
  uint32_t references() const noexcept { return __atomic_load_n(&references_, __ATOMIC_ACQUIRE); }

 protected:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  ~RefCounted() = default;

 private:
  mutable uint32_t references_ = 1;
};

/// Owning pointer to a RefCounted T. `destroy(T*)` is found by argument-dependent lookup.
template <class T> class IntrusivePtr {
 public:
  IntrusivePtr() = default;
  IntrusivePtr(std::nullptr_t) noexcept {}
  static IntrusivePtr adopt(T* object) noexcept {
    IntrusivePtr p;
    p.object_ = object;
    return p;
  }
  static IntrusivePtr share(T* object) noexcept {
    if (object != nullptr) object->retain();
    return adopt(object);
  }
  IntrusivePtr(const IntrusivePtr& other) noexcept : object_(other.object_) {
    if (object_ != nullptr) object_->retain();
  }
  IntrusivePtr(IntrusivePtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  IntrusivePtr& operator=(IntrusivePtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~IntrusivePtr() {
    if (object_ != nullptr && object_->release()) destroy(object_);
  }
  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  friend bool operator==(const IntrusivePtr& a, const IntrusivePtr& b) noexcept { return a.object_ == b.object_; }
  /// Returns the pointer and gives up ownership without changing the count.
  T* detach() noexcept { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

/// Base of counted objects that are deleted through it, for headers that do not know their class.
struct SharedObject : RefCounted {
  virtual ~SharedObject() = default;
  friend void destroy(const SharedObject* object) noexcept { delete object; }
};

}  // namespace weft
