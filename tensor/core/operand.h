// Operand: a tensor in the form that descriptors and kernels use. Spec: the layout and dtype of a result.
#pragma once

#include <span>

#include "tensor/core/device.h"
#include "tensor/core/dtype.h"
#include "tensor/core/view.h"

namespace weft {

/// The memory, view, dtype and device of a tensor. `base` is the start of the storage; `data<T>()` adds the view's
/// offset. An absent input (for example a bias) has no view. The memory may belong to a device; then only kernels of
/// that device may read it.
///
/// Kernels may rely on the following. `infer` has checked shapes and dtypes. All operands are on the kernel's device.
/// An output never overlaps itself; if it overlaps an input, the elements at equal indices share memory. No input has a
/// mask unless the op's policy has reads_masked.
struct Operand {
  void* base = nullptr;
  const View* view = nullptr;
  DType dtype = DType::f32;
  Device device = {};

  bool defined() const { return view != nullptr; }
  template <class T> T* data() const { return static_cast<T*>(base) + view->offset(); }
  /// The first element, whatever its type.
  char* first() const { return static_cast<char*>(base) + view->offset() * static_cast<int64_t>(size_of(dtype)); }
  const View& layout() const { return *view; }
  // (The analyzer wrongly assumes that the tensor is undefined.)
  const Shape& shape() const { return view->shape(); }  // NOLINT(clang-analyzer-core.CallAndMessage)
  const Strides& strides() const { return view->strides(); }
  int64_t rank() const { return view->rank(); }
  int64_t numel() const { return view->numel(); }
  /// `axis` in [0, rank).
  int64_t size(int64_t axis) const { return view->shape()[static_cast<size_t>(axis)]; }
  int64_t stride(int64_t axis) const { return view->strides()[static_cast<size_t>(axis)]; }
  /// The same memory through another view, which must outlive the result.
  Operand with(const View& other) const { return {base, &other, dtype, device}; }
};

using Operands = std::span<const Operand>;

/// The result of an op before it is computed: its layout in memory and its dtype.
struct Spec {
  View view;
  DType dtype = DType::f32;
};

}  // namespace weft
