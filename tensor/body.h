// TensorBody: what a Tensor points to.
#pragma once

#include <utility>

#include "tensor/core/dtype.h"
#include "tensor/core/intrusive.h"
#include "tensor/core/view.h"
#include "tensor/memory/allocator.h"
#include "tensor/memory/storage.h"
#include "tensor/provenance.h"

namespace weft::internal {

struct TensorBody final : RefCounted {
  // The view is built in place: it is the largest part, and small ops feel each copy of it.
  template <class V>
  TensorBody(IntrusivePtr<Storage>&& s, V&& v, DType d)
      : storage(std::move(s)), view(std::forward<V>(v)), dtype(d), version(storage->version()) {}

  IntrusivePtr<Storage> storage;
  View view;
  DType dtype;
  bool copies_padded = false;        // a copy in place of a view of one with zero padding, or a view of such a copy
  uint16_t output_index = 0;         // which output of its history it is
  uint64_t version;                  // the storage version that this body's history describes
  IntrusivePtr<Provenance> history;  // null: no gradient flows
  const OpInfo* cut = nullptr;       // the op without a gradient that cut a path to a parameter
  IntrusivePtr<TensorBody> base;     // what it is a view (of a view ...) of, where it was taken while recording

  /// `version`, which threads that read one tensor may bring up to date (dispatch/view_history.cc).
  /// (<atomic> would be a fifth of what each user's file takes to compile.)
  uint64_t described() const { return __atomic_load_n(&version, __ATOMIC_ACQUIRE); }
  void describe(uint64_t now) { __atomic_store_n(&version, now, __ATOMIC_RELEASE); }

  static void* operator new(size_t bytes) { return detail::allocate_object(bytes); }
  static void operator delete(void* p, size_t bytes) noexcept { detail::free_object(p, bytes); }
  friend void destroy(TensorBody* body) noexcept { delete body; }
};

}  // namespace weft::internal
