// Objects of each thread that destructors may still use.
#pragma once

#include <pthread.h>

namespace weft::detail {

/// The calling thread's object of `Tag`, made by `make()` (which returns a T) at its first use. It is destroyed when
/// the thread ends, but after all thread_local objects, whose destructors may compute; the main thread's is not, as
/// destructors of static objects may compute as well. A `thread_local T` would be used there after its end.
template <class Tag, class Make> auto& thread_object(const Make& make) {
  using T = decltype(make());
  static thread_local constinit T* object = nullptr;
  if (object == nullptr) [[unlikely]] {
    // Destructors of keys run last. (Without one, where a program has used up its keys, the object is never destroyed.)
    struct Key {
      pthread_key_t key{};
      bool made = pthread_key_create(&key, [](void* p) {
                    object = nullptr;
                    delete static_cast<T*>(p);
                  }) == 0;
    };
    static const Key key;
    object = new T(make());
    if (key.made) pthread_setspecific(key.key, object);
  }
  return *object;
}

}  // namespace weft::detail
