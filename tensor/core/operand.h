// Operand: a tensor as an op's descriptor and its kernels see it. Spec: what a result will be.
#pragma once

#include <optional>
#include <span>

#include "tensor/core/device.h"
#include "tensor/core/dtype.h"
#include "tensor/core/view.h"

namespace weft {

/// Memory, how it is addressed, its dtype and device. `base` is the start of the storage; `data<T>()` adds the view's
/// offset. An input that is absent (a bias) has no view. The memory may belong to a device that the host cannot read:
/// only kernels of that device look at it.
///
/// Kernels may rely on: shapes and dtypes were checked by `infer`, all operands are on the kernel's device, an output
/// overlaps an input only element for element and never itself, and no input has a mask unless the op's policy has
/// reads_masked.
struct Operand {
  void* base = nullptr;
  const View* view = nullptr;
  DType dtype = DType::f32;
  Device device = {};

  bool defined() const { return view != nullptr; }
  template <class T> T* data() const { return static_cast<T*>(base) + view->offset(); }
  const View& layout() const { return *view; }
  // (The analyzer takes a tensor that was checked before for an undefined one.)
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

/// What an op will produce: how it lies in memory, and its dtype.
struct Spec {
  View view;
  DType dtype = DType::f32;
};

}  // namespace weft
