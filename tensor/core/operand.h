// Operand: a tensor as a kernel sees it.
#pragma once

#include "tensor/core/dtype.h"
#include "tensor/core/view.h"

namespace weft::kernels::cpu {

/// Memory, how it is addressed, and its type. `base` is the start of the storage; `data<T>()` adds the view's offset.
/// Kernels may rely on: shapes and dtypes were checked by the op, an output never overlaps an input other than element
/// for element, an output never overlaps itself, and there is no mask unless the op declares that it reads masks.
struct Operand {
  void* base;
  const View* view;
  DType dtype;

  template <class T>
  T* data() const {
    return static_cast<T*>(base) + view->offset();
  }
  const Shape& shape() const { return view->shape(); }
  const Strides& strides() const { return view->strides(); }
  int64_t rank() const { return view->rank(); }
  int64_t numel() const { return view->numel(); }
  int64_t size(int64_t axis) const { return view->shape()[static_cast<size_t>(axis)]; }
  int64_t stride(int64_t axis) const { return view->strides()[static_cast<size_t>(axis)]; }
};

}  // namespace weft::kernels::cpu
