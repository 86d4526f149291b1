// A reduction's output as plan_reduction() requires it: with the reduced axes of size 1, as with keepdim.
#pragma once

#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

struct KeepdimOutput {
  /// `axes` are sorted; with `keepdim` they are in `out` already.
  KeepdimOutput(const Operand& out, const IntList& axes, bool keepdim)
      : view(keepdim || axes.empty() ? View() : with_axes(*out.view, axes)),
        operand(keepdim || axes.empty() ? out : out.with(view)) {}
  KeepdimOutput(const KeepdimOutput&) = delete;

  View view;
  Operand operand;

 private:
  static View with_axes(const View& out, const IntList& axes) {
    Shape shape = out.shape();
    Strides strides = out.strides();
    for (int64_t axis : axes) {
      shape.insert(static_cast<size_t>(axis), 1);
      strides.insert(static_cast<size_t>(axis), 1);
    }
    return View::create(std::move(shape), std::move(strides), out.offset());
  }
};

}  // namespace weft::kernels::cpu
