// Boxed: an optional value stored on the heap, for members that few objects of a class have.
#pragma once

#include <utility>

namespace weft {

/// Empty, or the owner of a T on the heap. Copying a Boxed copies the T.
template <class T> class Boxed {
 public:
  Boxed() = default;
  explicit Boxed(T value) : value_(new T(std::move(value))) {}
  Boxed(const Boxed& other) : value_(other.value_ ? new T(*other.value_) : nullptr) {}
  Boxed(Boxed&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  Boxed& operator=(Boxed other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Boxed() { delete value_; }

  explicit operator bool() const noexcept { return value_ != nullptr; }
  T& operator*() noexcept { return *value_; }
  const T& operator*() const noexcept { return *value_; }
  T* operator->() noexcept { return value_; }
  const T* operator->() const noexcept { return value_; }
  T* get() noexcept { return value_; }
  const T* get() const noexcept { return value_; }
  void reset() noexcept { delete std::exchange(value_, nullptr); }
  bool operator==(const Boxed& other) const {
    return value_ && other.value_ ? *value_ == *other.value_ : value_ == other.value_;
  }

 private:
  T* value_ = nullptr;
};

}  // namespace weft
