// Owned: the only owner of an object. (<memory>, which brings streams, would be a tenth of the compile time of weft.h.)
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace weft {

/// Empty, or the only owner of a T on the heap, as std::unique_ptr, from which it can be made.
template <class T> class Owned {
 public:
  Owned() = default;
  Owned(std::nullptr_t) noexcept {}
  explicit Owned(T* object) noexcept : object_(object) {}
  Owned(Owned&& other) noexcept : object_(other.release()) {}
  /// Takes over the object of another owner, of the same class or a derived one. It must come from `new`: a deleter of
  /// its own is not taken over.
  template <class Owner>
    requires(!std::is_lvalue_reference_v<Owner> &&
             std::is_convertible_v<decltype(std::declval<Owner&>().release()), T*>)
  Owned(Owner&& other) : object_(other.release()) {}
  Owned& operator=(Owned&& other) noexcept {
    delete_object(std::exchange(object_, other.release()));
    return *this;
  }
  ~Owned() { delete_object(object_); }

  explicit operator bool() const noexcept { return object_ != nullptr; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  T* get() const noexcept { return object_; }
  T* release() noexcept { return std::exchange(object_, nullptr); }

 private:
  static void delete_object(T* object) noexcept {
    static_assert(sizeof(T) > 0, "a class that owns a T has its constructors and destructor where T is defined");
    delete object;
  }
  T* object_ = nullptr;
};

}  // namespace weft
